/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/run.h"
#include "run/summary.h"
#include <math.h>

/* Relative slack of sums of doubles; ticks are exact. */
static const double dust = 1e-9;

static void
add_check (Result *r, const char *name, gboolean ok, char *detail)
{
  r->checks = g_renew (Check, r->checks, r->n_checks + 1);
  r->checks[r->n_checks++] = (Check) { g_strdup (name), detail, ok };
}

static void
check_ledger (Result *r)
{
  double sum = 0;

  for (guint i = 0; i < N_CAUSES; i++)
    sum += r->ledger[i];
  add_check (r, "ledger sums to the step", fabs (sum - r->step_time) <= dust * r->step_time,
             g_strdup_printf ("%.12g s of %.12g s", sum, r->step_time));
}

/* Bytes that the calls put on a link as flows, and the busy seconds these take, in one step. */
static void
expected_load (const Execution *x, const Network *network, Id link, double *bytes, double *busy)
{
  const StepGraph *graph = execution_graph (x);

  *bytes = *busy = 0;
  for (guint i = 0; i < graph->calls->len; i++)
    {
      const GraphCall *call = graph_get_call (graph, i);

      for (guint k = 0; k < call->flow.n_loads && !execution_plays (x, i); k++)
        {
          const LinkLoad *load = &call->flow.load[k];

          if (load->link != link)
            continue;
          *bytes += call->call.size * load->bytes;
          *busy += call->call.size * load->bytes / load->efficiency / network_link (network, link)->capacity;
        }
    }
}

static void
check_links (Result *r, const Execution *x, const Network *network)
{
  const NetworkRun *run = execution_network (x);
  const double steps = execution_steps (x);
  gboolean conserved = TRUE, within = TRUE, bounded = TRUE;
  g_autoptr (GString) detail = g_string_new (NULL);

  for (Id link = 1; link <= network_n_links (network); link++)
    {
      const double carried = network_run_bytes (run, link), busy_run = network_run_busy (run, link);
      double bytes, busy;

      expected_load (x, network, link, &bytes, &busy);
      conserved = conserved && fabs (carried - steps * bytes) <= 1e-6 * (steps * bytes) + 1;
      within = within && busy_run <= seconds_from_ticks (engine_now (execution_engine (x))) * (1 + dust) + 1e-9;
      bounded = bounded && busy <= r->step_time * (1 + 1e-6) + 1e-9;
      g_string_append_printf (detail, "%s%s %.6g B of %.6g B, busy %.6g s a step", link > 1 ? "; " : "",
                              network_link (network, link)->name, carried / steps, bytes, busy);
    }
  add_check (r, "bytes are conserved on every link", conserved, g_strdup (detail->str));
  add_check (r, "no link carries more than its capacity", within, g_strdup (detail->str));
  add_check (r, "the step is no shorter than its bytes", bounded, g_strdup (detail->str));
}

/* Messages: all that was sent came, and no link had more than its time holds. */
static void
check_messages (Result *r, const Execution *x)
{
  const Play *play = execution_play (x);
  const Network *network = execution_play_network (x);
  const double seconds = seconds_from_ticks (engine_now (execution_engine (x)));
  double sent = 0, got = 0, busiest = 0;

  if (play == NULL)
    return;
  play_totals (play, &sent, &got);
  for (Id link = 1; link <= network_n_links (network); link++)
    busiest = MAX (busiest, execution_play_busy (x, link));
  add_check (r, "every message that was sent came", fabs (sent - got) <= dust * sent,
             g_strdup_printf ("%.9g B sent, %.9g B came", sent, got));
  add_check (r, "no link carries more messages than its capacity", busiest <= seconds * (1 + dust) + 1e-9,
             g_strdup_printf ("%.9g s of bytes on the busiest in %.9g s", busiest, seconds));
}

/* What each queue has to do in all steps played, when nothing slows it.  Caller frees. */
static double *
queue_seconds (const Execution *x)
{
  const StepGraph *graph = execution_graph (x);
  double *seconds = g_new0 (double, MAX (graph->queues->len, 1)), own;

  for (guint i = 0; i < graph->tasks->len; i++)
    for (guint step = 0; step < execution_steps (x); step++)
      {
        execution_seconds (x, execution_task_id (x, step, i), &own);
        seconds[graph_task (graph, i)->queue] += own;
      }
  return seconds;
}

/* Where nothing is drawn, of one step; else of the last ones played, from their
 * first on: there a host may be ahead of its GPU. */
static void
check_queues (Result *r, const Played *played)
{
  const GArray *queues = played->graph->queues;
  const guint steps = execution_steps (played->x);
  const double step = played->draws == NULL ? r->step_time : seconds_from_ticks (execution_end (played->x, steps - 1)) / steps;
  g_autofree double *seconds = queue_seconds (played->x);
  double most = 0;

  for (guint i = 0; i < queues->len; i++)
    if (played->draws == NULL || g_array_index (queues, GraphQueue, i).kind == LANE_COMPUTE)
      most = MAX (most, seconds[i] / steps);
  add_check (r, "the step is no shorter than any of its queues", most <= step * (1 + dust),
             g_strdup_printf ("%.9g s in the longest, step %.9g s", most, step));
}

static void
check_bounds (Result *r)
{
  double path = 0;

  for (guint i = 0; i < r->n_path; i++)
    path += r->path[i].seconds;
  add_check (r, "the critical path is as long as the step", fabs (path - r->step_time) <= dust * r->step_time,
             g_strdup_printf ("%.9g s, step %.9g s", path, r->step_time));
  add_check (r, "shares are shares", r->gpu_idle_share >= -dust && r->gpu_idle_share <= 1 + dust && r->step_time > 0
             && isfinite (r->step_time), g_strdup_printf ("idle share %.9g", r->gpu_idle_share));
}

gboolean
summary_checks (Result *r, const Played *played, const Network *network, GError **error)
{
  check_ledger (r);
  check_queues (r, played);
  check_bounds (r);
  check_links (r, played->x, network);
  check_messages (r, played->x);
  for (guint i = 0; i < r->n_checks; i++)
    {
      if (r->checks[i].ok)
        continue;
      g_set_error (error, RUN_ERROR, RUN_ERROR_CHECK, "self-check failed: %s: %s", r->checks[i].name, r->checks[i].detail);
      return FALSE;
    }
  return TRUE;
}
