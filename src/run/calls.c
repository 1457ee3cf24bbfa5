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

static CollectiveUse
use_of (const Kind *kind, const Network *network)
{
  const GraphCall *call = kind->call;

  return (CollectiveUse) {
    .label = g_strdup (call->label), .op = g_strdup (collective_op_name (call->call.op)),
    .algorithm = g_strdup (call->flow.algorithm != NULL ? call->flow.algorithm->name : NULL),
    .protocol = g_strdup (protocol_names[call->flow.protocol]),
    .link = kind->link != 0 ? g_strdup (network_link (network, kind->link)->name) : NULL,
    .bytes = call->call.size, .nic_bytes = call->call.size * call->flow.nic_bytes,
    .start = INFINITY, .end = -INFINITY,
  };
}

static void
add_call (CollectiveUse *use, const GraphCall *call, const Meeting *meeting, const Window *window)
{
  const double wire = seconds_from_ticks (meeting->end - meeting->last);

  use->calls++;
  use->start = MIN (use->start, ((double) meeting->last - (double) window->from) / TICKS_PER_S);
  use->end = MAX (use->end, ((double) meeting->end - (double) window->from) / TICKS_PER_S);
  use->wire_s += wire;
  use->latency_s += MIN (call->launch + call->flow.latency, wire);
}

guint *
summary_collectives (Result *r, const Execution *x, const Window *window, const Network *network)
{
  const StepGraph *graph = execution_graph (x);
  const guint n = graph->calls->len;
  guint *kind_of = g_new (guint, MAX (n, 1));
  g_autofree Kind *kinds = g_new (Kind, MAX (n, 1));
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
      add_call (&g_array_index (uses, CollectiveUse, kind_of[i]), call,
                engine_get_meeting (execution_engine (x), window->first * n + i + 1), window);
    }
  for (guint i = 0; i < uses->len; i++)
    {
      CollectiveUse *use = &g_array_index (uses, CollectiveUse, i);

      use->busbw = use->wire_s > 0 ? use->bytes * (double) use->calls / use->wire_s
                                       * collective_bus_factor (kinds[i].call->call.op, kinds[i].call->group.n_ranks) : NAN;
    }
  r->n_collectives = uses->len;
  r->collectives = (CollectiveUse *) (void *) g_array_steal (uses, NULL);
  return kind_of;
}
