/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/flow.h"
#include "collective/levels.h"
#include "collective/schedule.h"

/* Parallel aggregated trees: a ring's bytes in log2 of its steps (Jeaugey, "PAT: a
 * new algorithm for all-gather and reduce-scatter operations at scale", 2025; NCCL
 * 2.30 src/graph/tuning.cc: hop/3.5, 0.75 of the bandwidth; its term linear in the
 * ranks is left out, the source says that it is not wanted). */
static gboolean
pat_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  Flow flow = flow_begin (call, group, paths, out);
  const double w = ring_wire (call->op, flow.n);
  const double rate = flow_between_rate (&flow) * paths->pat_share;
  double hops;

  if (group->per_node > 1)
    {
      g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED,
                   "[collective] algorithm: pat needs one GPU a node of each group; give auto or ring");
      return FALSE;
    }
  flow_nics (&flow, w, paths->pat_share * paths->between_efficiency);
  hops = log2 (flow.n) * paths->between.hop[PROTOCOL_SIMPLE] * paths->pat_hop
         + flow_levels_rounds (&flow, pattern_pat, 1, rounds_pat (group->n_nodes), rate, w / rate);
  flow_end (&flow, rate / w, paths->launch[PROTOCOL_SIMPLE] + hops + flow.size * w / rate);
  out->messages = ceil (log2 (flow.n));
  return TRUE;
}

static gboolean
exists (const RankGroup *group, const Paths *paths)
{
  (void) paths;
  return group->n_nodes > 1 && group->per_node < 2;
}

const CollectiveAlgorithm collective_pat = {
  .name = "pat",
  .summary = "all-gather and reduce-scatter in log2 of the ranks' steps, one GPU a node",
  .ops = OP_ALL_GATHER | OP_REDUCE_SCATTER,
  .automatic = TRUE,
  .on_gpu = TRUE,
  .paths = "nccl",
  .exists = exists,
  .flow = pat_flow,
  .steps = &pat_steps,
};
