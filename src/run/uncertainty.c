/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/uncertainty.h"
#include "base/random.h"
#include "compute/llm.h"
#include "run/interval.h"
#include "run/played.h"
#include "run/quantile.h"
#include "run/steady.h"
#include "strategy/packed.h"
#include <math.h>
#include <stdlib.h>

/* Draws, fewer where a step has so many tasks that they would be felt; where not
 * even the least are to be had, the first order stands. */
static const guint most_draws = 64, least_draws = 16;
static const guint draw_tasks = 200000;
/* Deviations from the mean to 5 and 95 % of a normal distribution. */
static const double to_quantile = 1.6448536;

/* One scenario's graph, played again and again. */
typedef struct { StepGraph *graph; Execution *x; } Replay;

static void
replay_clear (Replay *replay)
{
  execution_free (replay->x);
  graph_free (replay->graph);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Replay, replay_clear)

static gboolean
replay_init (Replay *replay, const Point *point, GError **error)
{
  replay->graph = graph_new ();
  if (!strategy_build (point->strategy, &point->input, replay->graph, error))
    return FALSE;
  replay->x = execution_new (replay->graph, cluster_network (point->cluster), FALSE);
  return TRUE;
}

static gboolean
replay_step (Replay *replay, const DurationScale *scale, double *seconds, GError **error)
{
  Window window;

  execution_scale (replay->x, scale);
  if (!steady_run (replay->x, &window, error))
    return FALSE;
  *seconds = steady_seconds (&window);
  return TRUE;
}

/* The step over that of the replay as it is: what [noise] draws, a second job and
 * checkpoints are not in replays. */
static gboolean
replay_share (Replay *replay, const Result *r, gboolean traffic, double *share, GError **error)
{
  *share = 1;
  if (r->runs == 0 && !traffic)
    return TRUE;
  if (!replay_step (replay, &duration_as_is, share, error))
    return FALSE;
  *share = *share > 0 ? r->step_time / *share : 1;
  return TRUE;
}

static gpointer
load_intervals (gconstpointer what, GError **error)
{
  (void) what;
  return interval_table_load (error);
}

static void
free_intervals (gpointer table)
{
  interval_table_free (table);
}

/* A rented link is known by its name; one whose rate the scenario gives, or of a
 * machine of one's own, is known. */
static gboolean
link_assumed (const Point *point)
{
  const NetworkSpec *spec = &point->scenario->network;

  return cluster_nodes (point->cluster) > 1 && cluster_machine (point->cluster)->cloud != NULL && isnan (spec->efficiency)
         && isnan (spec->nic_bandwidth);
}

/* The ledger's shares say what waits and communication do to the step; links are
 * replayed at both ends of their spread. */
static gboolean
first_order (Result *r, const Point *point, Interval *interval, GError **error)
{
  double ends[2] = { r->step_time, r->step_time };

  if (interval->slow > 1)
    {
      const double factors[2] = { interval->slow, interval->fast };
      g_auto (Replay) replay = { 0 };
      double share;

      if (!replay_init (&replay, point, error) || !replay_share (&replay, r, point->input.traffic != NULL, &share, error))
        return FALSE;
      for (guint i = 0; i < 2; i++)
        {
          DurationScale scale = duration_as_is;

          scale.link = factors[i];
          if (!replay_step (&replay, &scale, &ends[i], error))
            return FALSE;
          ends[i] *= share;
        }
    }
  interval_widen (interval, r->step_time, ends[0], ends[1]);
  r->step_lo = r->step_time * interval->lo;
  r->step_hi = r->step_time * interval->hi;
  return TRUE;
}

/* What is drawn, each a purpose of the random stream. */
enum { DRAW_ALL, DRAW_WAIT, DRAW_OTHER, DRAW_LINK, N_DRAWS };

typedef struct { double key; guint index; } Place;

static int
by_key (gconstpointer a, gconstpointer b)
{
  const double x = ((const Place *) a)->key, y = ((const Place *) b)->key;

  return (x > y) - (x < y);
}

/* n normal numbers, one from each of n equally likely strata, in random order. */
static void
draw_normals (guint64 seed, guint purpose, guint n, double *out)
{
  const RandomKey order = { .seed = seed, .entity = 1, .purpose = purpose };
  const RandomKey within = { .seed = seed, .entity = 2, .purpose = purpose };
  g_autofree Place *places = g_new (Place, n);

  for (guint i = 0; i < n; i++)
    places[i] = (Place) { random_uniform (&order, i), i };
  qsort (places, n, sizeof *places, by_key);
  for (guint i = 0; i < n; i++)
    out[places[i].index] = random_normal_quantile ((i + random_uniform (&within, i)) / n) / to_quantile;
}

/* z in units of the 5 and 95 % points. */
static double
two_sided (double z, double below, double above)
{
  return exp (z > 0 ? z * above : z * below);
}

static DurationScale
draw_scale (const Interval *interval, double wait, double other, double link)
{
  const double rest = fmax (0, 1 + other * interval->other);
  DurationScale scale = duration_as_is;

  scale.host = scale.framework = scale.input = scale.latency = rest;
  scale.link = fmax (1e-3, rest * two_sided (link, -log (interval->fast), log (interval->slow)));
  scale.wait = fmax (0, 1 + wait * interval->wait);
  return scale;
}

static gboolean
draw_steps (Result *r, const Point *point, Interval *interval, guint64 seed, GError **error)
{
  double normals[N_DRAWS][64], steps[64];
  g_auto (Replay) replay = { 0 };
  double share;
  guint n;

  if (!replay_init (&replay, point, error) || !replay_share (&replay, r, point->input.traffic != NULL, &share, error))
    return FALSE;
  n = MIN (draw_tasks / MAX (replay.graph->tasks->len, 1), most_draws);
  if (n < least_draws)
    return first_order (r, point, interval, error);
  for (guint purpose = 0; purpose < N_DRAWS; purpose++)
    draw_normals (seed, purpose, n, normals[purpose]);
  for (guint i = 0; i < n; i++)
    {
      const DurationScale scale = draw_scale (interval, normals[DRAW_WAIT][i], normals[DRAW_OTHER][i], normals[DRAW_LINK][i]);

      if (!replay_step (&replay, &scale, &steps[i], error))
        return FALSE;
      steps[i] *= share * two_sided (normals[DRAW_ALL][i], interval->all_lo, interval->all_hi);
    }
  quantile_sort (steps, n);
  r->step_lo = fmin (quantile_at (steps, n, 0.05), r->step_time);
  r->step_hi = fmax (quantile_at (steps, n, 0.95), r->step_time);
  return TRUE;
}

/* Waits that [noise] and packing give are as well known as what is waited for: shares are those
 * of the step with all ranks alike. */
static gboolean
find_shares (const Result *r, const Point *point, IntervalSituation *situation, GError **error)
{
  const PlayedOptions how = { 0 };
  StepInput alike = point->input;
  g_auto (Played) played = { 0 };
  double ledger[N_CAUSES];

  if (!noise_uneven (point->input.uneven) && !packed_uneven (&point->input))
    {
      interval_shares (situation, r->ledger, r->step_time, NULL, 0);
      return TRUE;
    }
  alike.uneven = NULL;
  alike.even = TRUE;
  if (!played_step (point, &alike, &how, &played, error))
    return FALSE;
  for (guint i = 0; i < N_CAUSES; i++)
    ledger[i] = (double) played.ledger->cause[i] / (double) played.ledger->world / played.steps / TICKS_PER_S;
  interval_shares (situation, ledger, played.seconds, NULL, 0);
  situation->seconds = r->step_time;
  return TRUE;
}

/* A stack that models/llm.csv knows is better known than its strategy. */
static const char *
software_of (const Point *point)
{
  static const char *const kinds[] = { "fsdp", "zero", "megatron", NULL };
  const char *tuning = point->scenario->compute.tuning;
  const int stack = point->scenario->strategy.stack;

  if (g_strcmp0 (tuning, "mlperf") == 0)
    return tuning;
  if (point->workload->dims.experts > 1)
    return "experts";
  return stack > 0 && g_strv_contains (kinds, point->strategy->name) ? llm_stacks[stack] : point->strategy->name;
}

/* Nothing is said of a step without kernels, or over wires of the textbook. */
gboolean
uncertainty_fill (Result *r, const Point *point, Shelf *parts, gboolean monte_carlo, guint64 seed, GError **error)
{
  static const ShelfKind kind = { "intervals", load_intervals, free_intervals };
  const IntervalTable *table = shelf_get (parts, &kind, "", NULL, error);
  IntervalSituation situation = {
    .anchor = point->compute.efficiency_match, .software = software_of (point),
    .nodes = r->nodes, .gpus = r->gpus, .tensor = point->compute.precision != PRECISION_FP32, .link_assumed = link_assumed (point),
  };
  Interval interval;

  if (table == NULL)
    return FALSE;
  if (!find_shares (r, point, &situation, error))
    return FALSE;
  if (situation.anchor == NULL || point->compute.ideal || g_strcmp0 (point->scenario->network.transport, "plain") == 0
      || !interval_find (table, &situation, &interval))
    return TRUE;
  return monte_carlo ? draw_steps (r, point, &interval, seed, error) : first_order (r, point, &interval, error);
}
