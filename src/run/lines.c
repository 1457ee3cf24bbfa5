/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/lines.h"

/* Queues that meet are one line; a class may have only one queue on each. */
static guint
root_of (guint *parent, guint queue)
{
  while (parent[queue] != queue)
    queue = parent[queue] = parent[parent[queue]];
  return queue;
}

static gboolean
several_on_line (const StepGraph *graph, guint *parent)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_direct_hash, g_direct_equal);

  for (guint i = 0; i < graph->queues->len; i++)
    {
      const GraphQueue *queue = &g_array_index (graph->queues, GraphQueue, i);
      const gsize key = (gsize) root_of (parent, i) * graph->classes->len + queue->rank_class + 1;

      if (queue->kind == LANE_COMM && !g_hash_table_add (seen, GSIZE_TO_POINTER (key)))
        return TRUE;
    }
  return FALSE;
}

/* Where it is not plain, each call is taken as apart, so that its messages share with
 * all others. */
guint *
lines_of (const StepGraph *graph)
{
  g_autofree guint *parent = g_new (guint, graph->queues->len), *first = g_new (guint, MAX (graph->calls->len, 1));
  guint *line = g_new (guint, MAX (graph->calls->len, 1));
  gboolean mixed;

  for (guint i = 0; i < graph->queues->len; i++)
    parent[i] = i;
  for (guint i = 0; i < graph->calls->len; i++)
    first[i] = G_MAXUINT;
  for (guint i = 0; i < graph->tasks->len; i++)
    {
      const GraphTask *task = graph_task (graph, i);

      if (task->kind == GRAPH_MEET && first[task->call] == G_MAXUINT)
        first[task->call] = task->queue;
      else if (task->kind == GRAPH_MEET)
        parent[root_of (parent, task->queue)] = root_of (parent, first[task->call]);
    }
  mixed = several_on_line (graph, parent);
  for (guint i = 0; i < graph->calls->len; i++)
    line[i] = mixed || first[i] == G_MAXUINT ? i : root_of (parent, first[i]);
  return line;
}
