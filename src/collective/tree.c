/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/flow.h"
#include "collective/levels.h"
#include "collective/schedule.h"

/* Double binary tree over nodes, a chain inside each (Sanders, Speck, Traeff 2009;
 * NCCL src/graph/trees.cc): an inner node of one tree is a leaf of the other, each
 * carries half of the bytes up and down.  Of 2(N-1)/N S that a node sends on
 * average the busiest sends S with two nodes, 2 S with more. */
double
tree_busiest (double nodes)
{
  return nodes > 2 ? 2 : 1;
}

double
tree_depth (double nodes)
{
  return 2 * log2 (nodes);
}

void
tree_nics (Flow *flow, double share)
{
  const double average = 2 * (flow->nodes - 1) / flow->nodes;

  flow_nics (flow, average, share * flow->paths->between_efficiency * average / tree_busiest (flow->nodes));
  flow_levels (flow, pattern_tree, &(PatternData) { .bytes = 1 });
}

/* Hops and bytes add: a level waits for the one below it. */
static void
across (Flow *flow, Protocol p)
{
  const Paths *paths = flow->paths;
  const double tree = p == PROTOCOL_SIMPLE ? paths->tree_share : paths->tree_share_ll;
  const double share = paths->between.share[p] * tree, in_bytes = 2 * (flow->per_node - 1) / flow->per_node;
  const double in_hops = 2 * (flow->per_node - 1) * paths->in_node.hop[p], hops = tree_depth (flow->nodes) * paths->between.hop[p] + flow_tree_climb (flow);
  const double wire = tree_busiest (flow->nodes) / (flow_between_rate (flow) * share);
  const double inside = flow->per_node > 1 ? 2 / (paths->in_node.rate * share) : 0;
  const double bytes = isinf (paths->blend) ? fmax (wire, inside) : flow_norm (wire, inside, paths->blend);
  const double latency = (paths->launch[p] + in_hops + hops) * (1 + flow_ramp (flow, p));
  const double fill = p == PROTOCOL_SIMPLE ? flow_fill (flow, hops, flow->size * wire) : 0;

  /* the middle of the chain sends all of it up and all of it down */
  flow_gpus (flow, in_bytes, share * in_bytes / 2);
  tree_nics (flow, share);
  flow_end (flow, 1 / bytes, latency + flow->size * bytes + fill);
}

static gboolean
tree_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  Flow flow = flow_begin (call, group, paths, out);

  (void) error;
  if (group->n_nodes > 1)
    across (&flow, call->protocol);
  else
    ring_box (&flow, call, call->protocol);   /* as many hops and, over all channels' chains, as many bytes */
  out->messages = 2 * (flow.per_node - 1) + (flow.nodes > 1 ? tree_depth (flow.nodes) : 0);
  return TRUE;
}

const CollectiveAlgorithm collective_tree = {
  .name = "tree",
  .summary = "two binary trees over the nodes, half of the bytes each: latency grows with log2 of the nodes",
  .ops = OP_ALL_REDUCE,
  .automatic = TRUE,
  .protocols = TRUE,
  .on_gpu = TRUE,
  .paths = "nccl",
  .flow = tree_flow,
  .steps = &tree_steps,
};
