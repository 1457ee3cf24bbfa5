/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/findings.h"
#include "run/played.h"
#include <math.h>

/* Below this share of the step a cost is said to be none. */
static const double nothing = 5e-4;

void
findings_add (Result *r, char *text)
{
  const guint n = r->findings != NULL ? g_strv_length (r->findings) : 0;

  r->findings = g_renew (char *, r->findings, n + 2);
  r->findings[n] = text;
  r->findings[n + 1] = NULL;
}

void
findings_slowest (Result *r)
{
  findings_add (r, g_strdup_printf ("each step draws how late the slowest of %" G_GUINT64_FORMAT " ranks is, not every rank ([noise] ranks = each does): exact "
                                    "where all ranks stop at every collective, an approximation where collectives overlap computation", r->gpus));
}

gboolean
findings_step_with (const Point *point, const RunOptions *options, Shelf *parts, const char *set, double *seconds, GError **error)
{
  const PlayedOptions how = { FALSE, TRUE, options->runs, options->seed };
  const char *const sets[] = { set, NULL };
  g_autoptr (Scenario) scenario = scenario_with (point->scenario, sets, error);
  g_autoptr (Point) other = scenario != NULL ? point_new_from (parts, scenario, error) : NULL;
  g_auto (Played) played = { 0 };

  if (other == NULL)
    return FALSE;
  other->input.unfold = options->unfold;
  other->tier = point->tier;
  if (!played_step (other, &other->input, &how, &played, error))
    return FALSE;
  *seconds = played.seconds;
  return TRUE;
}

char *
findings_cost (double step, double without)
{
  const double share = 1 - without / step;
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (!(share >= nothing))
    return NULL;
  return g_strdup_printf ("%s %%", g_ascii_formatd (text, sizeof text, "%.1f", 100 * share));
}

static char *
number (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_strdup (g_ascii_formatd (text, sizeof text, "%.4g", value));
}

static gboolean
slow_ranks (Result *r, const Point *point, const RunOptions *options, Shelf *parts, GError **error)
{
  const NoiseSpec *spec = &point->scenario->noise;
  g_autofree char *factor = number (spec->slow_factor), *share = NULL;
  double without;

  if (spec->slow_ranks == 0 || !(spec->slow_factor > 1))
    return TRUE;
  if (!findings_step_with (point, options, parts, "noise.slow-ranks=0", &without, error))
    return FALSE;
  share = findings_cost (r->step_time, without);
  findings_add (r, g_strdup_printf ("%" G_GUINT64_FORMAT " slow rank%s of %" G_GUINT64_FORMAT " at %sx cost%s %s of the step: %s",
                                    spec->slow_ranks, spec->slow_ranks == 1 ? "" : "s", r->gpus, factor, spec->slow_ranks == 1 ? "s" : "",
                                    share != NULL ? share : "nothing",
                                    share == NULL ? "something else bounds it" : r->gpus > spec->slow_ranks ? "everybody waits" : "there are no others"));
  return TRUE;
}

static gboolean
slow_nodes (Result *r, const Point *point, const RunOptions *options, Shelf *parts, GError **error)
{
  const NoiseSpec *spec = &point->scenario->noise;
  g_autofree char *left = number (100 * spec->slow_nic), *share = NULL;
  double without;

  if (spec->slow_nodes == 0 || !(spec->slow_nic < 1))
    return TRUE;
  if (!findings_step_with (point, options, parts, "noise.slow-nodes=0", &without, error))
    return FALSE;
  share = findings_cost (r->step_time, without);
  findings_add (r, g_strdup_printf ("%" G_GUINT64_FORMAT " node%s of %" G_GUINT64_FORMAT " with %s %% of the line left cost%s %s of the step: %s",
                                    spec->slow_nodes, spec->slow_nodes == 1 ? "" : "s", r->nodes, left, spec->slow_nodes == 1 ? "s" : "",
                                    share != NULL ? share : "nothing",
                                    share != NULL ? "what all nodes share is as slow as the slowest card" : "the network does not bound it"));
  return TRUE;
}

static gboolean
pauses (Result *r, const Point *point, const RunOptions *options, Shelf *parts, GError **error)
{
  const NoiseSpec *spec = &point->scenario->noise;
  const char *together = spec->pause_together ? "noise.pause-together=false" : "noise.pause-together=true";
  g_autofree char *length = quantity_format (spec->pause, UNIT_TIME), *share = NULL, *other = NULL;
  double without, otherwise;

  if (!(spec->pause > 0))
    return TRUE;
  if (!findings_step_with (point, options, parts, "noise.pause=0 s", &without, error)
      || !findings_step_with (point, options, parts, together, &otherwise, error))
    return FALSE;
  share = findings_cost (r->step_time, without);
  other = findings_cost (otherwise, without);
  findings_add (r, g_strdup_printf ("pauses of %s, %s, cost %s of the step; %s %s", length,
                                    spec->pause_together ? "all ranks at once" : "each rank at its own time", share != NULL ? share : "nothing",
                                    spec->pause_together ? "each rank at its own time" : "all ranks at once", other != NULL ? other : "nothing"));
  return TRUE;
}

gboolean
findings_uneven (Result *r, const Point *point, const RunOptions *options, Shelf *parts, GError **error)
{
  return slow_ranks (r, point, options, parts, error) && slow_nodes (r, point, options, parts, error)
         && pauses (r, point, options, parts, error);
}
