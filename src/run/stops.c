/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/stops.h"

static const RankClass *
class_of (const StepGraph *graph, guint task)
{
  const GraphQueue *queue = &g_array_index (graph->queues, GraphQueue, graph_task (graph, task)->queue);

  return &g_array_index (graph->classes, RankClass, queue->rank_class);
}

/* The end of what the queue ran before each task: of the step before for the first. */
static Tick *
ends_before (const Execution *x, guint step)
{
  const StepGraph *graph = execution_graph (x);
  const Engine *engine = execution_engine (x);
  Tick *ends = g_new0 (Tick, graph->tasks->len), *last = g_new0 (Tick, graph->queues->len);

  for (guint i = 0; step > 0 && i < graph->tasks->len; i++)
    last[graph_task (graph, i)->queue] = engine_get_task (engine, execution_task_id (x, step - 1, i))->end;
  for (guint i = 0; i < graph->tasks->len; i++)
    {
      const guint queue = graph_task (graph, i)->queue;

      ends[i] = last[queue];
      last[queue] = engine_get_task (engine, execution_task_id (x, step, i))->end;
    }
  g_free (last);
  return ends;
}

/* Members `stride` apart, or one a node with as many twins beside it. */
static Stop
stop_at (const RankGroup *group, const RankClass *class)
{
  const guint64 apart = group->per_node <= 1 ? MAX (group->twins_per_node, 1) : MAX (group->stride, 1);

  return (Stop) { MIN (group->n_ranks, class->multiplicity), group->n_ranks * apart, group->per_node <= 1 };
}

Stop
stops_of (const StepGraph *graph, const GraphEdge *edge)
{
  const GraphTask *meet = graph_task (graph, edge->before);
  const RankClass *class = class_of (graph, edge->after);

  if (meet->kind != GRAPH_MEET || graph_task (graph, edge->after)->queue != class->compute || class_of (graph, edge->before) != class)
    return (Stop) { 0 };
  const GraphCall *call = graph_get_call (graph, meet->call);

  return call->call.op == OP_SEND_RECV ? (Stop) { 0 } : stop_at (&call->group, class);
}

Stop *
stops_find (const Execution *x, guint step)
{
  const StepGraph *graph = execution_graph (x);
  const Engine *engine = execution_engine (x);
  g_autofree Tick *before = ends_before (x, step);
  Stop *stops = g_new0 (Stop, MAX (graph->tasks->len, 1));

  for (guint i = 0; i < graph->edges->len; i++)
    {
      const GraphEdge *edge = &g_array_index (graph->edges, GraphEdge, i);
      const Stop stop = stops_of (graph, edge);

      if (stop.ranks > 1 && stop.span > stops[edge->after].span
          && engine_get_task (engine, execution_task_id (x, step, edge->before))->end >= before[edge->after])
        stops[edge->after] = stop;
    }
  return stops;
}
