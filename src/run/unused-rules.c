/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/unused-rules.h"
#include "strategy/blocks.h"
#include <math.h>

/* Each condition is necessary for its keys to do anything, by the code that reads them:
 * the test of this file changes every key that breaks a rule and compares the steps. */

#define SPEC(name)  (point->scenario->name)
#define NOISE       (point->scenario->noise)
#define TRAFFIC     (point->scenario->traffic)

static gboolean
several_in_node (const Point *point)
{
  return cluster_gpus_per_node (point->cluster) > 1;
}

static gboolean
over_cards (const Point *point)
{
  return unused_several_nodes (point) || point->input.traffic != NULL || isfinite (cluster_reading (point->cluster, &TRAFFIC));
}

static gboolean
nic_by_machine (const Point *point)
{
  return isnan (SPEC (network).nic_bandwidth);
}

static gboolean
ring_by_machine (const Point *point)
{
  return isnan (SPEC (network).node_bandwidth);
}

/* Nodes and servers, on leaves that take so many each. */
static gboolean
several_leaves (const Point *point)
{
  const NetworkSpec *network = &SPEC (network);
  const guint64 leaf = network->topology == TOPOLOGY_DRAGONFLY ? network->nodes_per_group : network->nodes_per_leaf;
  const char *placement = SPEC (cluster).placement;
  const guint64 all = cluster_nodes (point->cluster) + SPEC (reducers).count + SPEC (servers).count;

  return all > leaf || network->topology == TOPOLOGY_SWITCH || network->topology == TOPOLOGY_RAIL || (placement != NULL && !g_str_equal (placement, "packed"));
}

static gboolean
has_leaves (const Point *point)
{
  return SPEC (network).topology == TOPOLOGY_FAT_TREE || SPEC (network).topology == TOPOLOGY_RAIL;
}

static gboolean
has_levels (const Point *point)
{
  return SPEC (network).topology != TOPOLOGY_SWITCH;
}

static gboolean
has_pods (const Point *point)
{
  return has_leaves (point) && SPEC (network).leaves_per_pod > 0;
}

static gboolean
has_groups (const Point *point)
{
  return SPEC (network).topology == TOPOLOGY_DRAGONFLY;
}

static gboolean
has_rails (const Point *point)
{
  return SPEC (network).topology == TOPOLOGY_RAIL;
}

static gboolean
takes_time (const Point *point)
{
  return SPEC (compute).model != COMPUTE_IDEAL;
}

static gboolean
by_roofline (const Point *point)
{
  static const char *const kinds[] = { "zero", "fsdp", "megatron", NULL };

  return !g_strv_contains (kinds, point->strategy->name) || !blocks_transformer (point->workload);
}

static gboolean
has_winograd (const Point *point)
{
  for (guint i = 0; i < point->workload->n_layers && point->compute.precision == PRECISION_FP32; i++)
    if (point->workload->layers[i].winograd)
      return TRUE;
  return FALSE;
}

static gboolean
has_depthwise (const Point *point)
{
  for (guint i = 0; i < point->workload->n_layers; i++)
    if (point->workload->layers[i].depthwise)
      return TRUE;
  return FALSE;
}

static gboolean
table_efficiency (const Point *point)
{
  return !(SPEC (compute).efficiency > 0);
}

static gboolean
detailed (const Point *point)
{
  return SPEC (compute).model == COMPUTE_DETAILED;
}

static gboolean
given_spread (const Point *point)
{
  return noise_spread (&NOISE);
}

static gboolean
given_draws (const Point *point)
{
  return noise_drawn (&NOISE) || SPEC (workload).packing.kind != 0;
}

static gboolean
slow_ranks (const Point *point)
{
  return NOISE.slow_ranks > 0;
}

static gboolean
slow_nodes (const Point *point)
{
  return NOISE.slow_nodes > 0;
}

static gboolean
pauses (const Point *point)
{
  return NOISE.pause > 0;
}

static gboolean
steady_flows (const Point *point)
{
  return TRAFFIC.nic_rate > 0 || TRAFFIC.uplink_rate > 0;
}

static gboolean
second_job (const Point *point)
{
  return TRAFFIC.job_size > 0;
}

static gboolean
checkpoints (const Point *point)
{
  return TRAFFIC.checkpoint_steps > 0;
}

static gboolean
packs (const Point *point)
{
  return SPEC (workload).packing.kind != 0;
}

static gboolean
uses_storage (const Point *point)
{
  return TRAFFIC.input_size > 0 || TRAFFIC.checkpoint_steps > 0;
}

static gboolean
crosses_cards (const Point *point)
{
  return unused_several_nodes (point) || uses_storage (point);
}

static gboolean
waits_for_input (const Point *point)
{
  return isfinite (SPEC (input).rate) || SPEC (input).serial_time > 0 || TRAFFIC.input_size > 0;
}

static gboolean
by_algorithm (const Point *point, const char *name)
{
  return SPEC (collective).algorithm != NULL && g_str_equal (SPEC (collective).algorithm, name);
}

static gboolean
to_reducers (const Point *point)
{
  return by_algorithm (point, "reduction-server");
}

static gboolean
to_servers (const Point *point)
{
  return by_algorithm (point, "parameter-server") || g_str_equal (point->strategy->name, "parameter-server");
}

static gboolean
some_reducers (const Point *point)
{
  return SPEC (reducers).count > 0;
}

static gboolean
some_servers (const Point *point)
{
  return SPEC (servers).count > 0;
}

static gboolean
server_machines (const Point *point)
{
  return SPEC (servers).colocated != COLOCATED_TRUE;
}

static const char one_in_node[] = "a node has one GPU at work", at_one_switch[] = "[network] topology is switch, which has no leaves or groups",
  at_one_leaf[] = "all nodes are at one leaf (or in one group)", ideal_kernels[] = "[compute] model is ideal: no kernel takes time",
  no_count[] = "count is 0";

const UnusedRule unused_of_others[] = {
  { "cluster", "placement rank-order", NULL, unused_several_nodes, UNUSED_ONE_NODE },
  { "cluster", "placement rank-order", NULL, has_levels, at_one_switch },
  { "cluster", "nics nic-bandwidth", NULL, over_cards, UNUSED_ONE_NODE },
  { "cluster", "nic-bandwidth", NULL, nic_by_machine, "[network] nic-bandwidth says the same and holds" },
  { "cluster", "ring-bandwidth", NULL, several_in_node, one_in_node },
  { "cluster", "ring-bandwidth", NULL, ring_by_machine, "[network] node-bandwidth says the same and holds" },
  { "network", "topology transport nic-bandwidth latency efficiency oversubscription nodes-per-leaf leaves-per-pod pod-oversubscription "
    "nodes-per-group groups routing ecmp-share pxn level-latency switch-reduction", NULL, over_cards, UNUSED_ONE_NODE },
  { "network", "node-bandwidth", NULL, several_in_node, one_in_node },
  { "network", "oversubscription ecmp-share level-latency", NULL, has_levels, at_one_switch },
  { "network", "nodes-per-leaf leaves-per-pod pod-oversubscription", NULL, has_leaves, "it is of topology = fat-tree and rail" },
  { "network", "nodes-per-group groups routing", NULL, has_groups, "it is of topology = dragonfly" },
  { "network", "pxn", NULL, has_rails, "it is of topology = rail" },
  { "network", "pod-oversubscription", NULL, has_pods, "leaves-per-pod is not given: there are no pods" },
  { "network", "topology oversubscription ecmp-share pod-oversubscription groups routing", NULL, several_leaves, at_one_leaf },
  { "workload", "document-length document-length-cv", NULL, packs, "packing is none" },   /* other values than 0 are refused */
  { "compute", "tuning efficiency compute-efficiency memory-efficiency norm kernel-floor winograd depthwise large-gemm-rate without-source",
    NULL, takes_time, ideal_kernels },
  { "compute", "compute-efficiency norm kernel-floor winograd depthwise tuning", NULL, by_roofline,
    "kernels of transformers under zero, fsdp and megatron come from models/kernel and models/llm.csv" },
  { "compute", "memory-efficiency", NULL, unused_not_megatron, "megatron's kernels come from models/kernel and models/llm.csv" },
  { "compute", "winograd", NULL, has_winograd, "it is of 3x3 convolutions in fp32" },
  { "compute", "depthwise", NULL, has_depthwise, "it is of depthwise convolutions" },
  { "compute", "tuning", NULL, table_efficiency, "efficiency is given" },
  { "compute", "large-gemm-rate", NULL, detailed, "it is of model = detailed" },
  { "collective", "algorithm protocol", NULL, unused_several_gpus, UNUSED_ONE_GPU },
  { "collective", "protocol", NULL, unused_not_megatron, "under megatron NCCL chooses" },
  { "reduction-server", "count machine efficiency latency sum-rate", NULL, to_reducers, "[collective] algorithm is not reduction-server, so nothing uses the servers (they are paid for)" },
  { "reduction-server", "machine efficiency latency sum-rate", NULL, some_reducers, no_count },
  { "parameter-server", "count machine efficiency latency sum-rate colocated local-reduction", NULL, to_servers,
    "neither [collective] algorithm nor [strategy] kind is parameter-server, so nothing uses the servers (they are paid for)" },
  { "parameter-server", "machine efficiency latency sum-rate colocated local-reduction", NULL, some_servers, no_count },
  { "parameter-server", "machine", NULL, server_machines, "colocated is true: the servers run on the workers" },
  { "input", "rate serial-time in-step", NULL, unused_not_megatron, "megatron's input is not modelled" },
  { "input", "in-step", NULL, waits_for_input, "neither rate nor serial-time is given" },
  { "noise", "distribution", NULL, given_spread, "neither kernel-cv nor step-cv is given" },
  { "noise", "ranks", NULL, given_draws, "neither a spread nor a pause is given: nothing is drawn" },
  { "noise", "slow-factor", NULL, slow_ranks, "slow-ranks is 0" },
  { "noise", "slow-nic", NULL, slow_nodes, "slow-nodes is 0" },
  { "noise", "slow-nodes slow-nic", NULL, over_cards, UNUSED_ONE_NODE },
  { "noise", "pause-steps pause-interval pause-together", NULL, pauses, "pause is not given" },
  { "traffic", "nic-rate uplink-rate job-size", NULL, crosses_cards, "all GPUs are in one node, and nothing is read or written over its cards" },
  { "traffic", "flows", NULL, steady_flows, "neither nic-rate nor uplink-rate is given" },
  { "traffic", "uplink-rate", NULL, has_levels, at_one_switch },
  { "traffic", "job-compute", NULL, second_job, "job-size is not given" },
  { "traffic", "checkpoint-size checkpoint-blocking", NULL, checkpoints, "checkpoint-steps is not given" },
  { "traffic", "storage-rate", NULL, uses_storage, "neither input-size nor checkpoint-steps is given" },
  { "calibration", "system", NULL, unused_several_gpus, UNUSED_ONE_GPU },
  { NULL, NULL, NULL, NULL, NULL }
};
