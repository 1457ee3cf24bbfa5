/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/execute-private.h"
#include <math.h>
#include <string.h>

const DurationScale duration_as_is = { 1, 1, 1, 1, 1, 1, { 0, 0 }, 1, 1 };

const StepGraph *
execution_graph (const Execution *x)
{
  return x->graph;
}

const Engine *
execution_engine (const Execution *x)
{
  return x->engine;
}

const NetworkRun *
execution_network (const Execution *x)
{
  return x->network;
}

gboolean
execution_plays (const Execution *x, guint call)
{
  return message_plays (x, call);
}

Tick
execution_met (const Execution *x, const Task *member)
{
  const Tick last = engine_get_meeting (x->engine, member->what)->last;

  return last <= member->end ? last : member->start;
}

guint
execution_steps (const Execution *x)
{
  return x->steps;
}

Id
execution_task_id (const Execution *x, guint step, guint graph_task)
{
  return step * x->graph->tasks->len + graph_task + 1;
}

const GraphTask *
execution_task (const Execution *x, Id task, guint *step)
{
  const guint n = x->graph->tasks->len;

  if (step != NULL)
    *step = (task - 1) / n;
  return graph_task (x->graph, (task - 1) % n);
}

guint
execution_call (const Execution *x, Id meeting, guint *step)
{
  if (step != NULL)
    *step = execute_step (x, meeting);
  return execute_index (x, meeting);
}

Id
execution_queue (const Execution *x, guint graph_queue)
{
  (void) x;
  return graph_queue + 1;
}

Tick
execution_end (const Execution *x, guint step)
{
  Tick end = 0;

  for (guint i = 0; i < x->graph->classes->len; i++)
    {
      const Task *task = engine_get_task (x->engine, execution_task_id (x, step, x->last_compute[i]));

      end = MAX (end, task->end);
    }
  return end;
}

static void
on_wait (gpointer user, Engine *e, Id task)
{
  (void) e;
  transfer_arrived (user, task);
}

static void
on_meet (gpointer user, Engine *e, Id meeting)
{
  (void) e;
  transfer_met (user, meeting);
}

static void
on_meeting_end (gpointer user, Engine *e, Id meeting)
{
  (void) e;
  transfer_ended (user, meeting);
}

static void
on_start (gpointer user, Engine *e, Id task)
{
  (void) e;
  beside_kernel (user, task);
}

static void
on_end (gpointer user, Engine *e, Id activity)
{
  Execution *x = user;

  if (engine_activity_task (e, activity) != 0)
    {
      beside_kernel_ended (x, engine_activity_task (e, activity));
      return;
    }
  network_end (x->network, activity);
  traffic_activity_ended (x, activity);
  if (x->messages != NULL)
    message_activity_ended (x, activity);
}

static void
on_instant (gpointer user, Engine *e)
{
  Execution *x = user;

  (void) e;
  beside_instant (x);
  network_run_instant (x->network);
  if (x->messages != NULL)
    message_run_instant (x->messages);
}

static void
describe (gpointer user, Id task, GString *out)
{
  const Execution *x = user;
  guint step;
  const GraphTask *what = execution_task (x, task, &step);
  const GraphQueue *queue = &g_array_index (x->graph->queues, GraphQueue, what->queue);

  g_string_append_printf (out, "'%s' on the %s queue of rank class %u in step %u",
                          what->label, queue->name, queue->rank_class + 1, step + 1);
}

Execution *
execution_new (const StepGraph *graph, const Network *network, gboolean ideal_network)
{
  static const EngineHooks hooks = {
    .on_meet = on_meet, .on_wait = on_wait, .on_start = on_start, .on_end = on_end,
    .on_meeting_end = on_meeting_end, .on_instant = on_instant, .describe = describe,
  };
  Execution *x = g_new0 (Execution, 1);

  x->graph = graph;
  x->links = network;
  x->scale = duration_as_is;
  x->ideal_network = ideal_network;
  x->engine = engine_new (&hooks, x);
  transfer_init (x);
  traffic_init (x);
  x->classes = g_new0 (ClassState, graph->classes->len);
  x->changed = g_array_new (FALSE, FALSE, sizeof (guint));
  x->drawn = g_array_new (FALSE, FALSE, sizeof (double));
  x->last_compute = g_new0 (guint, graph->classes->len);
  for (guint i = 0; i < graph->tasks->len; i++)
    {
      const GraphQueue *queue = &g_array_index (graph->queues, GraphQueue, graph_task (graph, i)->queue);

      if (queue->kind == LANE_COMPUTE)
        x->last_compute[queue->rank_class] = i;
    }
  return x;
}

void
execution_free (Execution *x)
{
  if (x == NULL)
    return;
  message_run_free (x->messages);
  g_free (x->traffic);
  network_run_free (x->network);
  engine_free (x->engine);
  g_free (x->classes);
  g_array_unref (x->changed);
  g_array_unref (x->drawn);
  g_free (x->last_compute);
  g_free (x);
}

void
execution_scale (Execution *x, const DurationScale *scale)
{
  x->scale = *scale;
}

void
execution_draw (Execution *x, ExecutionDraw draw, gpointer user, guint64 first, gboolean own)
{
  x->draw = draw;
  x->draw_user = user;
  x->draw_first = first;
  x->draw_own = own;
}

static double
drawn_seconds (const Execution *x, guint step, guint task)
{
  return x->draw != NULL ? g_array_index (x->drawn, double, step * x->graph->tasks->len + task) : graph_task (x->graph, task)->seconds;
}

double
execution_seconds (const Execution *x, Id task, double *own)
{
  const guint n = x->graph->tasks->len, index = (task - 1) % n;
  const GraphTask *what = graph_task (x->graph, index);
  const double seconds = drawn_seconds (x, (task - 1) / n, index);

  if (own != NULL)
    *own = x->draw_own ? seconds : MIN (seconds, what->seconds);
  return seconds * what->noise;
}

static double
task_scale (const Execution *x, const GraphTask *task)
{
  switch (g_array_index (x->graph->queues, GraphQueue, task->queue).kind)
    {
    case LANE_HOST:
      return x->scale.host;
    case LANE_INPUT:
      return x->scale.input;
    case LANE_COMPUTE:
      if (task->kind == GRAPH_FIXED)
        return x->scale.framework;
      return task->cause == CAUSE_OPTIMIZER ? x->scale.optimizer : x->scale.kernel;
    default:
      return 1;
    }
}

/* Kernels are activities only where something may slow them. */
static gboolean
rated (const Execution *x, const GraphTask *task)
{
  return task->kind == GRAPH_KERNEL && !x->ideal_network && x->graph->calls->len > 0;
}

static guint
rated_tasks (const Execution *x)
{
  guint n = 0;

  for (guint i = 0; i < x->graph->tasks->len; i++)
    n += rated (x, graph_task (x->graph, i)) != 0;
  return n;
}

static void
add_task (Execution *x, guint step, guint index)
{
  const GraphTask *task = graph_task (x->graph, index);
  const Id queue = execution_queue (x, task->queue);
  const Tick work = ticks_from_seconds (drawn_seconds (x, step, index) * (1 + (task->noise - 1) * x->scale.wait) * task_scale (x, task));

  if (task->kind == GRAPH_MEET)
    engine_task_meet (x->engine, queue, step * x->graph->calls->len + task->call + 1, (uint8_t) task->cause, (uint16_t) step);
  else if (rated (x, task))
    engine_task_rated (x->engine, queue, (double) work, (uint8_t) task->cause, (uint16_t) step);
  else
    engine_task_fixed (x->engine, queue, work, (uint8_t) task->cause, (uint16_t) step);
}

static void
add_step (Execution *x, guint step)
{
  const StepGraph *graph = x->graph;

  if (x->draw != NULL)
    x->draw (x->draw_user, x->draw_first + step, &g_array_index (x->drawn, double, step * graph->tasks->len));
  for (guint i = 0; i < graph->calls->len; i++)
    engine_meeting (x->engine, i, graph_get_call (graph, i)->members);
  for (guint i = 0; i < graph->tasks->len; i++)
    add_task (x, step, i);
  for (guint i = 0; i < graph->edges->len; i++)
    {
      const GraphEdge *edge = &g_array_index (graph->edges, GraphEdge, i);

      engine_edge (x->engine, execution_task_id (x, step, edge->before), execution_task_id (x, step, edge->after));
    }
}

/* "'gradients 1' over nic-out, 1.2e+09 s": what takes longest alone.  Caller frees. */
static char *
longest (const Execution *x)
{
  const char *label = "a step", *link = NULL;
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  double most = 0;

  for (guint i = 0; i < x->graph->tasks->len; i++)
    if (graph_task (x->graph, i)->kind != GRAPH_MEET && graph_task (x->graph, i)->seconds > most)
      {
        most = graph_task (x->graph, i)->seconds;
        label = graph_task (x->graph, i)->label;
      }
  for (guint i = 0; i < x->graph->calls->len; i++)
    {
      const GraphCall *call = graph_get_call (x->graph, i);
      const double seconds = call->launch + collective_estimate (&call->flow, x->links, call->call.size);
      const Id over = execution_call_link (call, x->links);

      if (!(seconds > most))
        continue;
      most = seconds;
      label = call->label;
      link = over != 0 ? network_link (x->links, over)->name : "its own rate";
    }
  return g_strdup_printf ("'%s'%s%s, %s s", label, link != NULL ? " over " : "", link != NULL ? link : "",
                          g_ascii_formatd (text, sizeof text, "%.3g", most));
}

/* The engine's words are of ticks. */
static void
explain_time (const Execution *x, GError **error)
{
  g_autofree char *what = longest (x);

  if (error == NULL || !g_error_matches (*error, ENGINE_ERROR, ENGINE_ERROR_TIME))
    return;
  g_clear_error (error);
  g_set_error (error, ENGINE_ERROR, ENGINE_ERROR_TIME,
               "a few steps last longer than %.0f days, the most that can be simulated; the longest is %s: is a rate or a time far off?",
               floor (seconds_from_ticks (TICKS_MOST) / 86400), what);
}

gboolean
execution_run (Execution *x, guint steps, GError **error)
{
  engine_reset (x->engine);
  transfer_reset (x);
  memset (x->classes, 0, sizeof (ClassState) * x->graph->classes->len);
  g_array_set_size (x->changed, 0);
  x->steps = steps;
  if (x->draw != NULL)
    g_array_set_size (x->drawn, steps * x->graph->tasks->len);
  engine_expect (x->engine, steps * x->graph->tasks->len, steps * rated_tasks (x), steps * x->graph->edges->len);
  for (guint i = 0; i < x->graph->queues->len; i++)
    engine_queue (x->engine);
  for (guint step = 0; step < steps; step++)
    add_step (x, step);
  traffic_start (x);
  if (engine_run (x->engine, error))
    {
      if (x->messages != NULL)
        message_run_settle (x->messages);
      return TRUE;
    }
  explain_time (x, error);
  return FALSE;
}
