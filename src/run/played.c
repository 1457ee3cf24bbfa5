/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/played.h"
#include "run/episode.h"
#include "run/quantile.h"
#include "run/tier.h"

/* Steps that count, without --runs.  Steps before those of each portion let it
 * settle: they are the ones that ended the portion before. */
static const guint usual_runs = 200, warm_steps = 2;
/* Tasks of a portion: what stays in memory at a time. */
static const guint portion_tasks = 400000, least_portion = 4;
/* Rounds of a second job that are played at most, and steps for them at least. */
static const double most_rounds = 1e6;
static const guint  least_runs = 8;
/* Portions in which it begins at another phase of its computing. */
static const guint  phases = 8;
/* Ranks, and tasks of a step, up to which every rank is drawn. */
static const guint64 each_ranks = 4096;
static const double  each_tasks = 150000, most_tasks = 4e6;
/* Where only packing makes ranks differ, of which the slowest is told well. */
static const double  packed_tasks = 8000;

void
played_clear (Played *played)
{
  draws_free (played->draws);
  ledger_free (played->ledger);
  execution_free (played->x);
  messages_free (played->messages);
  graph_free (played->graph);
  g_free (played->lengths);
  *played = (Played) { 0 };
}

static gboolean
build (const Point *point, const StepInput *input, Played *out, GError **error)
{
  g_clear_pointer (&out->messages, messages_free);
  return tier_build (point, input, &out->graph, &out->messages, error);
}

/* Tasks of a step with a class for every rank. */
static double
unfolded_tasks (const StepGraph *graph)
{
  return (double) graph->tasks->len / graph->classes->len * (double) graph_world (graph);
}

/* Of messages the slowest of a class is nobody's: they are drawn for each rank. */
static gboolean
choose_each (const NoiseSpec *spec, const StepInput *input, const StepGraph *graph, gboolean messages, gboolean *each, GError **error)
{
  const double tasks = unfolded_tasks (graph), few = noise_drawn (spec) ? each_tasks : packed_tasks;

  *each = input->unfold || messages || spec->ranks == NOISE_RANKS_EACH
          || (spec->ranks == NOISE_RANKS_AUTO && graph_world (graph) <= each_ranks && tasks <= few);
  if (!*each || tasks <= most_tasks)
    return TRUE;
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[noise] ranks: each makes %.3g tasks in a step; at most %.3g are taken; "
               "slowest draws the slowest alone", tasks, most_tasks);
  return FALSE;
}

/* One portion: `n` steps that count behind those that let it settle; `done` of
 * `all` before it. */
static gboolean
play_portion (Played *played, guint done, guint n, guint all, gboolean with_ledger, double *lengths, GError **error)
{
  g_autoptr (Ledger) part = NULL;
  Tick before;

  const double wait = played->job ? execution_others (played->x)->job_compute * (1 - (double) done / all) : 0;
  const TrafficChoice others = { .read = played->read, .job = played->job, .job_wait = wait };

  if (played->draws != NULL)
    execution_draw (played->x, draws_step, played->draws, done, played->each);
  execution_traffic (played->x, &others);
  if (!execution_run (played->x, warm_steps + n, error))
    return FALSE;
  before = execution_end (played->x, warm_steps - 1);
  played->ticks += execution_end (played->x, warm_steps + n - 1) - before;
  if (with_ledger)
    part = ledger_new (played->x, before, execution_end (played->x, warm_steps + n - 1), FALSE);
  for (guint i = 0; i < n; i++)
    {
      const Tick end = execution_end (played->x, warm_steps + i);

      lengths[i] = seconds_from_ticks (end - before);
      played->window = (Window) { .from = before, .to = end, .first = warm_steps + i, .n = 1, .steady = TRUE };
      before = end;
    }
  if (played->ledger == NULL)
    played->ledger = g_steal_pointer (&part);
  else if (with_ledger)
    ledger_add (played->ledger, part, played->graph->calls->len);
  return TRUE;
}

/* Where many of its rounds fit in a step, few steps show them all. */
static guint
runs_of_job (const Played *played, const Traffic *others)
{
  const double round = played->job ? others->job_seconds + others->job_compute : 0;
  const double step = steady_seconds (&played->window);

  return round > 0 && step > 0 ? (guint) CLAMP (most_rounds * round / step, least_runs, usual_runs) : usual_runs;
}

gboolean
played_draw (Played *played, const NoiseSpec *spec, const PlayedOptions *options, GError **error)
{
  const DrawsChoice choice = { spec, options->seed, played->each };
  const Traffic *others = execution_others (played->x);
  const guint runs = options->runs > 0 ? options->runs : MIN (usual_runs, runs_of_job (played, others));
  const guint fits = MAX (portion_tasks / MAX (played->graph->tasks->len, 1), least_portion);
  const guint portion = played->job ? MIN (fits, (runs + phases - 1) / phases) : fits;

  played->spec = spec;
  played->read = others != NULL ? others->input_size / steady_seconds (&played->window) : 0;
  if (spec != NULL)
    played->draws = draws_new (&choice, played->x, played->window.first);
  played->lengths = g_new (double, runs);
  for (guint done = 0; done < runs; done += portion)
    {
      if (!play_portion (played, done, MIN (portion, runs - done), runs, !options->no_ledger, played->lengths + done, error))
        return FALSE;
    }
  quantile_sort (played->lengths, runs);
  played->steps = runs;
  played->seconds = seconds_from_ticks (played->ticks) / runs;
  return TRUE;
}

/* Kernels of no time have nothing to draw. */
static gboolean
is_drawn (const NoiseSpec *spec, const StepInput *input, const StepGraph *graph)
{
  return input->compute->ideal ? spec->pause > 0 : noise_drawn (spec) || graph->spreads->len > 0;
}

static gboolean
play (const Point *point, const StepInput *input, const PlayedOptions *options, Played *out, GError **error)
{
  static const NoiseSpec none = { 0 };
  const NoiseSpec *spec = input->uneven != NULL ? input->uneven : &none;
  const Traffic *others = options->ideal_network ? NULL : input->traffic;
  StepInput unfolded = *input;

  if (!build (point, input, out, error))
    return FALSE;
  const gboolean drawn = is_drawn (spec, input, out->graph);

  if (drawn && !choose_each (spec, input, out->graph, out->messages != NULL, &out->each, error))
    return FALSE;
  out->tasks = out->graph->tasks->len;
  unfolded.unfold = TRUE;
  if (out->each && !input->unfold && !build (point, &unfolded, out, error))
    return FALSE;
  out->x = execution_new (out->graph, cluster_network (point->cluster), options->ideal_network);
  if (out->messages != NULL)
    execution_messages (out->x, out->messages);
  if (!steady_run (out->x, &out->window, error))
    return FALSE;
  out->rare_job = others != NULL && episode_job (others, steady_seconds (&out->window), options->runs > 0 ? options->runs : usual_runs);
  out->job = others != NULL && others->job_size > 0 && !out->rare_job;
  if (others != NULL && !episode_watch (out, others, error))
    return FALSE;
  if (drawn || out->job)
    return played_draw (out, drawn ? spec : NULL, options, error);
  out->steps = out->window.n;
  out->ticks = out->window.to - out->window.from;
  out->seconds = steady_seconds (&out->window);
  if (!options->no_ledger)
    out->ledger = ledger_new (out->x, out->window.from, out->window.to, out->window.steady);
  return TRUE;
}

gboolean
played_step (const Point *point, const StepInput *input, const PlayedOptions *options, Played *out, GError **error)
{
  const Traffic *others = options->ideal_network ? NULL : input->traffic;

  if (!play (point, input, options, out, error))
    return FALSE;
  if (others != NULL)
    episode_add (out, others);
  return TRUE;
}
