/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/summary.h"
#include <math.h>

/* A large pipeline makes a hundred thousand calls a step and a dozen of them differ. */
typedef struct { const GraphCall *call; Id link; } Kind;

static guint
kind_hash (gconstpointer key)
{
  const Kind *kind = key;

  return g_str_hash (kind->call->label) ^ g_double_hash (&kind->call->call.size);
}

static gboolean
kind_equal (gconstpointer x, gconstpointer y)
{
  const Kind *a = x, *b = y;
  const GraphCall *p = a->call, *q = b->call;

  return a->link == b->link && p->call.op == q->call.op && p->flow.algorithm == q->flow.algorithm
         && p->flow.protocol == q->flow.protocol && p->group.n_ranks == q->group.n_ranks && p->group.n_nodes == q->group.n_nodes
         && !(p->call.size < q->call.size || p->call.size > q->call.size) && g_str_equal (p->label, q->label);
}

/* What bounds a call when it is alone: a link, or the transport's software where that
 * carries less than the line of the NICs.  Borrowed; NULL: latency. */
static const char *
bound_of (const GraphCall *call, Id link, const Network *network)
{
  const char *name = link != 0 ? network_link (network, link)->name : NULL;

  return name != NULL && call->flow.software && g_str_has_prefix (name, "nic-") ? "software" : name;
}

static CollectiveUse
use_of (const Kind *kind, const Network *network)
{
  const GraphCall *call = kind->call;

  return (CollectiveUse) {
    .label = g_strdup (call->label), .op = g_strdup (collective_op_name (call->call.op)),
    .algorithm = g_strdup (call->flow.algorithm != NULL ? call->flow.algorithm->name : NULL),
    .protocol = g_strdup (protocol_names[call->flow.protocol]),
    .link = g_strdup (bound_of (call, kind->link, network)),
    .bytes = call->call.size, .nic_bytes = call->call.size * call->flow.nic_bytes,
    .start = INFINITY, .end = -INFINITY,
  };
}

/* Of each call the share of its stages' ranks that are in it: twins that the graph has
 * one by one count as one together.  Caller frees. */
static double *
shares (const StepGraph *graph)
{
  g_autofree guint64 *of_stage = g_new0 (guint64, graph->classes->len + 1), *all = g_new0 (guint64, graph->calls->len + 1);
  g_autofree guint *last = g_new0 (guint, graph->calls->len + 1);   /* + 1 */
  double *share = g_new0 (double, graph->calls->len + 1);

  for (guint i = 0; i < graph->classes->len; i++)
    {
      const RankClass *class = &g_array_index (graph->classes, RankClass, i);

      of_stage[class->stage] += class->multiplicity;
    }
  for (guint i = 0; i < graph->tasks->len; i++)
    {
      const GraphTask *task = graph_task (graph, i);
      const RankClass *class = &g_array_index (graph->classes, RankClass, g_array_index (graph->queues, GraphQueue, task->queue).rank_class);

      if (task->kind != GRAPH_MEET)
        continue;
      share[task->call] += (double) class->multiplicity;
      if (last[task->call] != class->stage + 1)   /* members come stage by stage */
        all[task->call] += of_stage[class->stage];
      last[task->call] = class->stage + 1;
    }
  for (guint i = 0; i < graph->calls->len; i++)
    share[i] = all[i] > 0 ? share[i] / (double) all[i] : 1;
  return share;
}

static void
add_call (CollectiveUse *use, double *calls, const GraphCall *call, const Meeting *meeting, const Window *window, double share)
{
  const double wire = seconds_from_ticks (meeting->end - meeting->last) * share;

  *calls += share;
  use->start = MIN (use->start, ((double) meeting->last - (double) window->from) / TICKS_PER_S);
  use->end = MAX (use->end, ((double) meeting->end - (double) window->from) / TICKS_PER_S);
  use->wire_s += wire;
  use->latency_s += MIN ((call->launch + call->flow.latency) * share, wire);
}

guint *
summary_collectives (Result *r, const Execution *x, const Window *window, const Network *network)
{
  const StepGraph *graph = execution_graph (x);
  const guint n = graph->calls->len;
  guint *kind_of = g_new (guint, MAX (n, 1));
  g_autofree Kind *kinds = g_new (Kind, MAX (n, 1));
  g_autofree double *share = shares (graph), *calls = g_new0 (double, MAX (n, 1));
  g_autoptr (GHashTable) known = g_hash_table_new (kind_hash, kind_equal);
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (CollectiveUse));

  for (guint i = 0; i < n; i++)
    {
      const GraphCall *call = graph_get_call (graph, i);
      Kind *kind = &kinds[uses->len];
      gpointer index;

      *kind = (Kind) { call, execution_call_link (call, network) };
      if (!g_hash_table_lookup_extended (known, kind, NULL, &index))
        {
          const CollectiveUse use = use_of (kind, network);

          index = GUINT_TO_POINTER (uses->len);
          g_hash_table_insert (known, kind, index);
          g_array_append_val (uses, use);
        }
      kind_of[i] = GPOINTER_TO_UINT (index);
      add_call (&g_array_index (uses, CollectiveUse, kind_of[i]), &calls[kind_of[i]], call,
                engine_get_meeting (execution_engine (x), window->first * n + i + 1), window, share[i]);
    }
  for (guint i = 0; i < uses->len; i++)
    {
      CollectiveUse *use = &g_array_index (uses, CollectiveUse, i);

      use->calls = (guint64) (calls[i] + 0.5);
      use->busbw = use->wire_s > 0 ? use->bytes * (double) use->calls / use->wire_s
                                       * collective_bus_factor (kinds[i].call->call.op, kinds[i].call->group.n_ranks) : NAN;
    }
  r->n_collectives = uses->len;
  r->collectives = (CollectiveUse *) (void *) g_array_steal (uses, NULL);
  return kind_of;
}
