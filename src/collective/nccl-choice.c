/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/flow.h"

/* Factor of a tree's rate: the dip at 128 KiB to 1 MiB is the pipeline's fill. */
static double
tree_size_factor (const NcclTable *table, Protocol p, double size)
{
  const double index = floor (log2 (size / 64));

  if (table->tree_size == NULL || index < 0 || index >= NCCL_SIZES)
    return 1;
  return table->tree_size[p][(int) index];
}

typedef struct
{
  const CollectiveAlgorithm *algorithm;
  Protocol protocol;
  double   seconds;
} Pick;

static void
consider (Pick *best, const CollectiveCall *call, const CollectiveAlgorithm *algorithm, Protocol p, double seconds)
{
  if ((call->algorithm != NULL && call->algorithm != algorithm)
      || (call->protocol != PROTOCOL_AUTO && call->protocol != p) || !(seconds < best->seconds))
    return;
  *best = (Pick) { algorithm, p, seconds };
}

/* NCCL 2.30 src/graph/tuning.cc and src/enqueue.cc: latency + bytes/bandwidth with
 * NCCL's constants, the least wins.  The system's own numbers price the choice:
 * that is where measured curves jump up.  A tree in one node is a chain up and
 * down; tree rates are of its algorithm bandwidth, twice. */
void
nccl_box_choice (const CollectiveCall *call, const RankGroup *group, const Paths *paths,
                 const CollectiveAlgorithm **algorithm, Protocol *protocol)
{
  static const Protocol order[] = { PROTOCOL_SIMPLE, PROTOCOL_LL128, PROTOCOL_LL };
  const NcclTable *table = &paths->nccl;
  const double n = (double) group->n_ranks, hops = ring_hops (call->op) * (n - 1), w = ring_wire (call->op, n);
  const gboolean reduces = call->op == OP_ALL_REDUCE;
  Pick best = { call->algorithm != NULL ? call->algorithm : &collective_ring,
                call->protocol != PROTOCOL_AUTO ? call->protocol : PROTOCOL_SIMPLE, INFINITY };

  for (gsize i = 0; i < G_N_ELEMENTS (order); i++)
    {
      const Protocol p = order[i];

      if (table->ring.rate[p] > 0)
        consider (&best, call, &collective_ring, p, table->ring.base[p] + hops * table->ring.hop[p] + call->size * w / table->ring.rate[p]);
      if (reduces && table->tree.rate[p] > 0)
        consider (&best, call, &collective_tree, p,
                  table->tree.base[p] + hops * table->tree.hop[p]
                    + 2 * call->size / (table->tree.rate[p] * tree_size_factor (table, p, call->size)));
    }
  if (reduces && table->nvls_rate > 0)
    consider (&best, call, &collective_nvls, PROTOCOL_SIMPLE, table->nvls_latency + call->size * w / table->nvls_rate);
  *algorithm = best.algorithm;
  *protocol = best.protocol;
}
