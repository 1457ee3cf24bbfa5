/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/flow.h"

/* NCCL 2.30 src/graph/tuning.cc and src/enqueue.cc: latency + bytes/bandwidth with
 * NCCL's constants, the least wins.  The system's own numbers price the choice:
 * that is where measured curves jump up. */
Protocol
nccl_box_protocol (const CollectiveCall *call, const RankGroup *group, const Paths *paths)
{
  static const Protocol order[] = { PROTOCOL_SIMPLE, PROTOCOL_LL128, PROTOCOL_LL };
  const double n = (double) group->n_ranks;
  const double hops = ring_hops (call->op) * (n - 1), w = ring_wire (call->op, n);
  Protocol best = PROTOCOL_SIMPLE;
  double least = G_MAXDOUBLE;

  for (gsize i = 0; i < G_N_ELEMENTS (order); i++)
    {
      const Protocol p = order[i];
      const double rate = paths->nccl.rate[p];
      const double seconds = rate > 0 ? paths->nccl.launch[p] + hops * paths->nccl.hop[p] + call->size * w / rate : G_MAXDOUBLE;

      if (seconds < least)
        {
          least = seconds;
          best = p;
        }
    }
  return best;
}
