/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/ledger.h"
#include <math.h>

typedef struct
{
  const Execution *x;
  const Engine    *engine;
  Ledger          *ledger;
  guint64          ranks;     /* of the class at hand */
  guint            stage;     /* its stage of a pipeline, 0: none */
} Walk;

static void
give (Walk *w, Cause cause, Tick from, Tick to)
{
  if (to > from)
    w->ledger->cause[cause] += (RankTicks) (to - from) * w->ranks;
}

static guint
stage_of (const Walk *w, Id task)
{
  const StepGraph *graph = execution_graph (w->x);
  const guint queue = execution_task (w->x, task, NULL)->queue;

  return g_array_index (graph->classes, RankClass, g_array_index (graph->queues, GraphQueue, queue).rank_class).stage;
}

/* [from, to) of the time in which a rank waits for the member that came last:
 * input if that one waits for input, the pipeline if it is at work on, or waits
 * for, a micro-batch of another stage, else simply the others. */
static void
give_wait (Walk *w, Id missing, Tick from, Tick to)
{
  Id id = engine_get_task (w->engine, missing)->last;
  const Cause others = stage_of (w, missing) != w->stage ? CAUSE_BUBBLE : CAUSE_WAIT;

  while (to > from && id != 0)
    {
      const Task *task = engine_get_task (w->engine, id);
      const Tick start = MIN (MAX (task->start, from), to);

      give (w, task->cause == CAUSE_INPUT ? CAUSE_INPUT : others, start, to);
      to = start;
      id = task->last;
    }
  give (w, others, from, to);
}

/* The part of [from, to) in which a collective was waited for.  Returns how far
 * back this explains. */
static Tick
give_meeting (Walk *w, Id id, const Task *task, Tick from, Tick to)
{
  const Meeting *meeting = engine_get_meeting (w->engine, task->what);
  const Tick met = MIN (MAX (execution_met (w->x, task), from), to);
  const Tick came = MIN (MAX (task->start, from), met);

  give (w, CAUSE_EXPOSED_COMM, met, to);
  w->ledger->by_call[execution_call (w->x, task->what, NULL)] += (RankTicks) (to - met) * w->ranks;
  if (meeting->last_task != id)
    give_wait (w, meeting->last_task, came, met);
  else
    give (w, CAUSE_WAIT, came, met);
  return came;
}

/* [from, to) in which a compute queue was idle before `head`: walk back over
 * what ended last, tick by tick. */
static void
give_idle (Walk *w, Id head, Tick from, Tick to)
{
  Id id = engine_get_task (w->engine, head)->last;

  while (to > from && id != 0)
    {
      const Task *task = engine_get_task (w->engine, id);

      if (task->kind == TASK_MEET)
        to = give_meeting (w, id, task, from, to);
      else
        {
          const Tick start = MIN (MAX (task->start, from), to);

          give (w, (Cause) task->cause, start, to);
          to = start;
        }
      id = task->last;
    }
  give (w, CAUSE_OTHER, from, to);
}

/* A task on the compute queue ran.  A kernel's time is its own, then that of
 * noise (wait), then that of slower rates (exposed, as contention).  What the
 * slowest of ranks alike was drawn to take longer, its others stand still. */
static void
give_run (Walk *w, Id id, const Task *task, Tick from, Tick to)
{
  const GraphTask *what = execution_task (w->x, id, NULL);
  const Tick whole = task->end - task->start;

  if (what->kind != GRAPH_KERNEL)
    {
      give (w, (Cause) task->cause, from, to);
      return;
    }
  double own;
  const double all = execution_seconds (w->x, id, &own);
  const Tick plain = MIN (ticks_from_seconds (own), whole), noisy = MIN (ticks_from_seconds (all), whole);
  const double part = whole > 0 ? (double) (to - from) / (double) whole : 0;
  const Tick slowed = (Tick) ((double) (whole - noisy) * part), noise = (Tick) ((double) (noisy - plain) * part);
  const Tick still = MIN (noise, (Tick) ((double) ticks_from_seconds (fmax (0, all / what->noise - own)) * part));

  give (w, (Cause) task->cause, from + noise + slowed, to);
  give (w, CAUSE_WAIT, from, from + noise);
  give (w, CAUSE_EXPOSED_COMM, from, from + slowed);
  w->ledger->contention += (RankTicks) slowed * w->ranks;
  w->ledger->kernels += (RankTicks) (to - from - still) * w->ranks;
}

/* A task of a class's compute queue, none before which ends after `at`: its first one in
 * the last step of which that can be said. */
static Id
near (const Execution *x, const RankClass *class, Tick at)
{
  const Engine *engine = execution_engine (x);
  const Id first = engine_queue_first (engine, execution_queue (x, class->compute));
  guint step = first != 0 ? execution_steps (x) : 0;

  while (step-- > 1)
    {
      const Id id = first + step * execution_graph (x)->tasks->len;

      if (engine_get_task (engine, id)->end <= at)
        return id;
    }
  return first;
}

static void
walk_class (Walk *w, guint index)
{
  const RankClass *class = &g_array_index (execution_graph (w->x)->classes, RankClass, index);
  Tick at = w->ledger->from;

  w->ranks = class->multiplicity;
  w->stage = class->stage;
  for (Id id = near (w->x, class, at); id != 0 && at < w->ledger->to;)
    {
      const Task *task = engine_get_task (w->engine, id);
      const Tick start = MIN (task->start, w->ledger->to), end = MIN (task->end, w->ledger->to);

      if (start > at)
        {
          give_idle (w, id, at, start);
          at = start;
        }
      if (end > at)
        {
          give_run (w, id, task, at, end);
          at = end;
        }
      id = task->next;
    }
  give (w, CAUSE_OTHER, at, w->ledger->to);
}

/* The task whose end closes the window. */
static Id
closing_task (const Execution *x, Tick to)
{
  const Engine *engine = execution_engine (x);
  Id closing = 0;

  for (guint i = 0; i < execution_graph (x)->classes->len; i++)
    {
      const RankClass *class = &g_array_index (execution_graph (x)->classes, RankClass, i);

      for (Id id = near (x, class, to); id != 0 && engine_get_task (engine, id)->end <= to; id = engine_get_task (engine, id)->next)
        {
          if (engine_get_task (engine, id)->end == to)
            closing = id;
        }
    }
  return closing;
}

/* From the end of the window back; what lies in [from, until) counts. */
static void
walk_path (Walk *w, Tick from, Tick until)
{
  Tick to = w->ledger->to;

  for (Id id = closing_task (w->x, to); id != 0 && to > from;)
    {
      const Task *task = engine_get_task (w->engine, id);
      const Meeting *meeting = task->kind == TASK_MEET ? engine_get_meeting (w->engine, task->what) : NULL;
      /* done before all had come: it waited for nobody */
      const Meeting *waited = meeting != NULL && meeting->last <= task->end ? meeting : NULL;
      const Tick start = MIN (MAX (waited != NULL ? waited->last : task->start, from), to);

      w->ledger->path[task->cause] += MIN (to, until) - MIN (start, until);
      to = start;
      id = waited != NULL ? engine_get_task (w->engine, waited->last_task)->last : task->last;
    }
  w->ledger->path[CAUSE_OTHER] += MIN (to, until) - from;
}

Ledger *
ledger_new (const Execution *x, Tick from, Tick to, gboolean steady)
{
  Ledger *ledger = g_new0 (Ledger, 1);
  Walk w = { .x = x, .engine = execution_engine (x), .ledger = ledger };
  const Tick before = steady ? to - from : 0;

  ledger->from = from;
  ledger->to = to;
  ledger->world = graph_world (execution_graph (x));
  ledger->by_call = g_new0 (RankTicks, MAX (execution_graph (x)->calls->len, 1));
  for (guint i = 0; i < execution_graph (x)->classes->len; i++)
    walk_class (&w, i);
  walk_path (&w, from - before, to - before);
  return ledger;
}

void
ledger_add (Ledger *ledger, const Ledger *more, guint n_calls)
{
  ledger->to += more->to - more->from;
  ledger->contention += more->contention;
  ledger->kernels += more->kernels;
  for (guint i = 0; i < N_CAUSES; i++)
    {
      ledger->cause[i] += more->cause[i];
      ledger->path[i] += more->path[i];
    }
  for (guint i = 0; i < n_calls; i++)
    ledger->by_call[i] += more->by_call[i];
}

void
ledger_free (Ledger *ledger)
{
  if (ledger == NULL)
    return;
  g_free (ledger->by_call);
  g_free (ledger);
}
