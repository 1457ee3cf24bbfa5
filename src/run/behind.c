/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/behind.h"

/* Edges by the task that they leave: `to` of task i at [from[i], from[i + 1]).  The
 * task before on the queue counts as one. */
typedef struct { guint *from, *to, *open; } Ways;

static void
for_each_way (const StepGraph *graph, void (*way) (Ways *, guint, guint), Ways *ways)
{
  g_autofree guint *last = g_new0 (guint, MAX (graph->queues->len, 1));

  for (guint i = 0; i < graph->edges->len; i++)
    way (ways, g_array_index (graph->edges, GraphEdge, i).before, g_array_index (graph->edges, GraphEdge, i).after);
  for (guint i = 0; i < graph->tasks->len; i++)
    {
      guint *before = &last[graph_task (graph, i)->queue];

      if (*before > 0)
        way (ways, *before - 1, i);
      *before = i + 1;
    }
}

static void
count_way (Ways *ways, guint before, guint after)
{
  ways->from[before + 1]++;
  ways->open[after]++;
}

/* `from` has been moved to the end of each task's ways by then, and goes back. */
static void
put_way (Ways *ways, guint before, guint after)
{
  ways->to[--ways->from[before + 1]] = after;
}

static guint
class_of (const StepGraph *graph, guint task)
{
  return g_array_index (graph->queues, GraphQueue, graph_task (graph, task)->queue).rank_class;
}

/* What is passed on along a way: indices of other classes' tasks mean nothing there. */
static guint
passed_on (const StepGraph *graph, const guint *behind, guint task, guint to)
{
  const guint class = class_of (graph, task);

  if (class_of (graph, to) != class)
    return 0;
  return graph_task (graph, task)->queue == g_array_index (graph->classes, RankClass, class).compute ? task + 1 : behind[task];
}

/* Kahn 1962, "Topological sorting of large networks". */
guint *
behind_find (const StepGraph *graph)
{
  const guint n = graph->tasks->len;
  g_autofree guint *from = g_new0 (guint, n + 2), *open = g_new0 (guint, n + 1), *ready = g_new (guint, n + 1);
  g_autofree guint *to = g_new (guint, graph->edges->len + n + 1);
  guint *behind = g_new0 (guint, n + 1), n_ready = 0;
  Ways ways = { from, to, open };

  for_each_way (graph, count_way, &ways);
  for (guint i = 0; i <= n; i++)
    from[i + 1] += from[i];
  for_each_way (graph, put_way, &ways);
  for (guint i = 0; i < n; i++)
    if (open[i] == 0)
      ready[n_ready++] = i;
  for (guint k = 0; k < n_ready; k++)
    {
      const guint task = ready[k];

      for (guint w = from[task + 1]; w < from[task + 2]; w++)
        {
          behind[to[w]] = MAX (behind[to[w]], passed_on (graph, behind, task, to[w]));
          if (--open[to[w]] == 0)
            ready[n_ready++] = to[w];
        }
    }
  return behind;
}
