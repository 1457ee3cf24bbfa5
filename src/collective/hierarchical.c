/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/flow.h"
#include "collective/levels.h"
#include "collective/schedule.h"

/* Reduce-scatter in the node, a ring of nodes for each shard, all-gather in the
 * node, one after the other (Horovod's hierarchical all-reduce): 2(N-1)/N of the
 * bytes pass a node's NICs instead of 2(n-1)/n. */
static gboolean
hierarchical_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  Flow flow = flow_begin (call, group, paths, out);
  const Protocol p = call->protocol;
  const double ranks = flow.per_node, nodes = flow.nodes;
  const double in_w = 2 * (ranks - 1) / ranks, node_w = 2 * (nodes - 1) / nodes;
  const double l = isfinite (paths->local) ? 2 / ranks + 1 / (ranks * nodes) : 0;
  const double in_hops = 2 * (ranks - 1) * paths->in_node.hop[p];
  const double in_rate = paths->in_node.rate * paths->in_node.share[p];
  const double node_wire = node_w / (flow_between_rate (&flow) * paths->between.share[p]);
  const double bytes = in_w / in_rate + node_wire + (l > 0 ? l / paths->local : 0);
  const PatternData ring = { .bytes = node_w, .node_rate = flow_between_rate (&flow) * paths->between.share[p], .seconds = bytes };
  double node_hops, latency;

  (void) error;
  flow_gpus (&flow, in_w, paths->in_node.share[p]);
  flow_nics (&flow, node_w, paths->between.share[p] * paths->between_efficiency);
  node_hops = 2 * (nodes - 1) * (paths->between.hop[p] + flow_levels (&flow, pattern_ring, &ring));
  latency = (3 * paths->launch[p] + in_hops + node_hops) * (1 + flow_ramp (&flow, p));
  if (p != PROTOCOL_SIMPLE)
    flow_end (&flow, 1 / bytes, latency + flow.size * bytes);
  else
    flow_end (&flow, 1 / bytes, 3 * paths->launch[p] + flow_norm (in_hops + node_hops, flow.size * bytes, paths->norm)
                                  + flow_fill (&flow, node_hops, flow.size * node_wire));
  out->messages = 2 * (ranks - 1) + 2 * (nodes - 1);
  return TRUE;
}

/* One level only: nothing to divide. */
static const CollectiveAlgorithm *
stands_for (const CollectiveCall *call, const RankGroup *group, const Paths *paths)
{
  (void) call;
  (void) paths;
  return group->n_nodes < 2 || group->per_node < 2 ? &collective_ring : NULL;
}

const CollectiveAlgorithm collective_hierarchical = {
  .name = "hierarchical",
  .summary = "in the node, between nodes by shards, in the node: 2(N-1)/N of the bytes a node",
  .ops = OP_ALL_REDUCE,
  .protocols = TRUE,
  .on_gpu = TRUE,
  .paths = "nccl",
  .stands_for = stands_for,
  .flow = hierarchical_flow,
  .steps = &hierarchical_steps,
};
