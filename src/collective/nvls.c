/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/flow.h"
#include "collective/levels.h"
#include "collective/schedule.h"

static gboolean
has_nvls (const CollectiveCall *call, const RankGroup *group, const Paths *paths, const CollectiveAlgorithm *algorithm, GError **error)
{
  (void) call;
  (void) group;
  if (paths->nvls_rate > 0)
    return TRUE;
  g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED,
               "[collective] algorithm: %s needs several GPUs on NVSwitch, Hopper or newer; give auto, ring or tree", algorithm->name);
  return FALSE;
}

/* The switch reads a shard from all GPUs, adds, and writes the sum to all: a GPU
 * sends S for the reads and S/p for its own shard's sum, (p+1)/p S, each way. */
static void
in_switch (Flow *flow)
{
  const Paths *paths = flow->paths;
  const double p = flow->per_node, bytes = (p + 1) / p, bus = 2 * (p - 1) / p;

  flow_gpus (flow, bytes, bytes / bus * paths->nvls_rate / paths->in_node.rate);
}

static gboolean
nvls_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  Flow flow = flow_begin (call, group, paths, out);
  const double wire = ring_wire (call->op, flow.n) / paths->nvls_rate;
  const double hops = paths->nvls_latency;

  if (!has_nvls (call, group, paths, &collective_nvls, error))
    return FALSE;
  in_switch (&flow);
  flow_end (&flow, 1 / wire,
            paths->launch[PROTOCOL_LL] + flow_norm (hops, flow.size * wire + flow_fill (&flow, 2 * hops, flow.size * wire), paths->norm));
  out->messages = 2;
  return TRUE;
}

static const CollectiveAlgorithm *
nvls_stands_for (const CollectiveCall *call, const RankGroup *group, const Paths *paths)
{
  (void) call;
  (void) paths;
  return group->n_nodes > 1 ? &collective_nvls_tree : NULL;
}

/* Where NCCL has it at all; its table says at which sizes. */
static gboolean
nvls_exists (const RankGroup *group, const Paths *paths)
{
  return group->n_nodes < 2 && paths->nvls_rate > 0 && paths->nccl.nvls_rate > 0;
}

const CollectiveAlgorithm collective_nvls = {
  .name = "nvls",
  .summary = "NVSwitch adds and multicasts inside a node (Hopper and newer)",
  .ops = OP_ALL_REDUCE,
  .automatic = TRUE,
  .on_gpu = TRUE,
  .paths = "nccl",
  .exists = nvls_exists,
  .stands_for = nvls_stands_for,
  .flow = nvls_flow,
  .steps = &nvls_steps,
};

/* Sums in the switch of each node, trees of the nodes between. */
static gboolean
nvls_tree_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  Flow flow = flow_begin (call, group, paths, out);
  const double hops = tree_depth (flow.nodes) * paths->between.hop[PROTOCOL_SIMPLE] + flow_tree_climb (&flow);
  const double wire = tree_busiest (flow.nodes) / (flow_between_rate (&flow) * paths->tree_share);
  const double inside = ring_wire (call->op, flow.per_node) / paths->nvls_rate;
  const double bytes = isinf (paths->blend) ? fmax (wire, inside) : flow_norm (wire, inside, paths->blend);

  if (!has_nvls (call, group, paths, &collective_nvls_tree, error))
    return FALSE;
  in_switch (&flow);
  tree_nics (&flow, paths->tree_share);
  flow_end (&flow, 1 / bytes, paths->launch[PROTOCOL_SIMPLE] + paths->nvls_latency + hops + flow.size * bytes
                                + flow_fill (&flow, hops, flow.size * wire));
  out->messages = 2 + tree_depth (flow.nodes);
  return TRUE;
}

static const CollectiveAlgorithm *
nvls_tree_stands_for (const CollectiveCall *call, const RankGroup *group, const Paths *paths)
{
  (void) call;
  (void) paths;
  if (group->n_nodes < 2)
    return &collective_nvls;
  return group->per_node < 2 ? &collective_tree : NULL;
}

/* NCCL takes it where it takes NVLS in the node. */
static gboolean
nvls_tree_exists (const RankGroup *group, const Paths *paths)
{
  return group->n_nodes > 1 && paths->nccl.nvls_rate > 0;
}

const CollectiveAlgorithm collective_nvls_tree = {
  .name = "nvls-tree",
  .summary = "NVSwitch adds inside nodes, trees of nodes between (Hopper and newer)",
  .ops = OP_ALL_REDUCE,
  .automatic = TRUE,
  .on_gpu = TRUE,
  .paths = "nccl",
  .exists = nvls_tree_exists,
  .stands_for = nvls_tree_stands_for,
  .flow = nvls_tree_flow,
  .steps = &nvls_steps,
};
