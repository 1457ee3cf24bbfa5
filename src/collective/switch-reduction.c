/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/flow.h"
#include "collective/levels.h"
#include "collective/schedule.h"

/* Switches between the nodes add (SHARP; NCCL's CollNet): reduce-scatter in the
 * node, every NIC sends its shards once and gets the sums once, all-gather in the
 * node.  Up to the root of the switches and back is one hop each, whatever the
 * nodes (Graham et al., COM-HPC 2016). */
static gboolean
switch_reduction_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  Flow flow = flow_begin (call, group, paths, out);
  const double in_bytes = 2 * (flow.per_node - 1) / flow.per_node;
  const double in_hops = flow.per_node > 1 ? 2 * paths->in_node.hop[PROTOCOL_SIMPLE] : 0;
  const double hops = 2 * paths->between.hop[PROTOCOL_SIMPLE];
  const double wire = 1 / (flow_between_rate (&flow) * paths->switch_share);
  const double inside = flow.per_node > 1 ? in_bytes / paths->in_node.rate : 0;
  const double bytes = isinf (paths->blend) ? fmax (wire, inside) : flow_norm (wire, inside, paths->blend);

  (void) error;
  flow_gpus (&flow, in_bytes, 1);
  flow_nics (&flow, 1, paths->switch_share * paths->between_efficiency);
  flow_levels_each (&flow, 1);
  flow_end (&flow, 1 / bytes, paths->launch[PROTOCOL_SIMPLE] + in_hops + hops + flow.size * bytes
                                + flow_fill (&flow, hops, flow.size * wire));
  out->messages = 4;
  return TRUE;
}

static const CollectiveAlgorithm *
stands_for (const CollectiveCall *call, const RankGroup *group, const Paths *paths)
{
  (void) call;
  (void) paths;
  return group->n_nodes < 2 ? &collective_automatic : NULL;
}

static gboolean
exists (const RankGroup *group, const Paths *paths)
{
  return group->n_nodes > 1 && paths->switch_reduction;
}

const CollectiveAlgorithm collective_switch_reduction = {
  .name = "switch-reduction",
  .summary = "the switches between nodes add (SHARP): each byte once each way",
  .ops = OP_ALL_REDUCE,
  .automatic = TRUE,
  .on_gpu = TRUE,
  .paths = "nccl",
  .exists = exists,
  .stands_for = stands_for,
  .flow = switch_reduction_flow,
  .steps = &switch_steps,
};
