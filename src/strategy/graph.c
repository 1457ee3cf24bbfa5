/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/graph.h"
#include <string.h>

const char *const cause_names[] = {
  "compute", "host", "exposed_comm", "bubble", "wait", "input", "optimizer", "other", NULL
};
const char *const cause_titles[] = {
  "compute", "host", "exposed communication", "pipeline bubble", "wait for other ranks", "input", "optimizer", "other", NULL
};

/* Tasks of a step of a usual network, so that its arrays do not grow. */
static const guint usual_tasks = 1024;

StepGraph *
graph_new (void)
{
  StepGraph *graph = g_new0 (StepGraph, 1);

  graph->arena = arena_new ();
  graph->pauses = G_MAXUINT;
  graph->classes = g_array_new (FALSE, FALSE, sizeof (RankClass));
  graph->queues = g_array_new (FALSE, FALSE, sizeof (GraphQueue));
  graph->tasks = g_array_sized_new (FALSE, FALSE, sizeof (GraphTask), usual_tasks);
  graph->edges = g_array_sized_new (FALSE, FALSE, sizeof (GraphEdge), usual_tasks);
  graph->calls = g_array_new (FALSE, FALSE, sizeof (GraphCall));
  graph->spreads = g_array_new (FALSE, FALSE, sizeof (GraphSpread));
  graph->sharing = graph->stages = 1;
  return graph;
}

void
graph_free (StepGraph *graph)
{
  if (graph == NULL)
    return;
  arena_free (graph->arena);
  g_array_unref (graph->classes);
  g_array_unref (graph->queues);
  g_array_unref (graph->tasks);
  g_array_unref (graph->edges);
  g_array_unref (graph->calls);
  g_array_unref (graph->spreads);
  g_free (graph);
}

guint
graph_queue (StepGraph *graph, LaneKind kind, guint rank_class, const char *name)
{
  const GraphQueue queue = { kind, rank_class, name };

  g_array_append_val (graph->queues, queue);
  return graph->queues->len - 1;
}

guint
graph_class (StepGraph *graph, guint64 multiplicity)
{
  const guint index = graph->classes->len;
  const RankClass class = {
    .multiplicity = multiplicity,
    .compute = graph_queue (graph, LANE_COMPUTE, index, "GPU"),
    .comm = graph_queue (graph, LANE_COMM, index, "communication"),
  };

  g_array_append_val (graph->classes, class);
  return index;
}

static guint
add_task (StepGraph *graph, const GraphTask *task)
{
  g_array_append_val (graph->tasks, *task);
  return graph->tasks->len - 1;
}

guint
graph_fixed (StepGraph *graph, guint queue, Cause cause, double seconds, const char *label)
{
  return add_task (graph, &(GraphTask) { .kind = GRAPH_FIXED, .cause = cause, .queue = queue,
                                         .seconds = seconds, .noise = 1, .label = label });
}

guint
graph_kernel (StepGraph *graph, guint queue, Cause cause, double seconds, double noise, const char *label)
{
  return add_task (graph, &(GraphTask) { .kind = GRAPH_KERNEL, .cause = cause, .queue = queue,
                                         .seconds = seconds, .noise = noise, .label = label });
}

void
graph_pauses (StepGraph *graph, Cause cause)
{
  graph->pauses = graph->tasks->len;
  for (guint i = 0; i < graph->classes->len; i++)
    graph_fixed (graph, g_array_index (graph->classes, RankClass, i).compute, cause, 0, "pause");
}

guint
graph_spread (StepGraph *graph, const GraphSpread *spread)
{
  for (guint i = 0; i < graph->spreads->len; i++)
    if (memcmp (&g_array_index (graph->spreads, GraphSpread, i), spread, sizeof *spread) == 0)
      return i + 1;
  g_array_append_val (graph->spreads, *spread);
  return graph->spreads->len;
}

void
graph_vary (StepGraph *graph, guint task, guint spread, guint micro)
{
  graph_task (graph, task)->spread = spread;
  graph_task (graph, task)->micro = micro;
}

guint
graph_call (StepGraph *graph, const GraphCall *call)
{
  g_array_append_val (graph->calls, *call);
  graph_get_call (graph, graph->calls->len - 1)->members = 0;
  return graph->calls->len - 1;
}

guint
graph_meet (StepGraph *graph, guint queue, guint call)
{
  GraphCall *meeting = graph_get_call (graph, call);

  meeting->members++;
  return add_task (graph, &(GraphTask) { .kind = GRAPH_MEET, .cause = CAUSE_EXPOSED_COMM, .queue = queue,
                                         .noise = 1, .call = call, .label = meeting->label });
}

void
graph_edge (StepGraph *graph, guint before, guint after)
{
  const GraphEdge edge = { before, after };

  g_array_append_val (graph->edges, edge);
}

guint64
graph_world (const StepGraph *graph)
{
  guint64 world = 0;

  for (guint i = 0; i < graph->classes->len; i++)
    world += g_array_index (graph->classes, RankClass, i).multiplicity;
  return world;
}
