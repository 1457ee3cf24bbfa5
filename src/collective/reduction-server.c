/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/flow.h"
#include "collective/schedule.h"

/* T = max (S/B_w, n S/(R B_r), n S/(R rho)) + the servers' call + 2 hops + fill; the
 * reduction in the node is one more stage of the pipeline.  Bytes: Google Cloud's
 * distributed training guide; BytePS (OSDI'20) docs/rationale.md. */
void
servers_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out)
{
  Flow flow = flow_begin (call, group, paths, out);
  const double servers = (double) paths->servers;
  const double in_hops = 2 * (flow.per_node - 1) * paths->in_node.hop[PROTOCOL_SIMPLE];
  const double hops = 2 * paths->between.hop[PROTOCOL_LL];
  const double cap = servers * paths->server_sum / (flow.nodes * flow.twins);
  double bytes;

  flow_gpus (&flow, 2 * (flow.per_node - 1) / flow.per_node, 1);
  flow_nics (&flow, 1, paths->server_nic_efficiency);
  flow_servers (&flow, flow.nodes / servers, paths->server_efficiency);
  flow_server_leaves (&flow, 1);
  bytes = flow.size / fmin (flow.rate, cap);
  flow_end (&flow, cap, paths->server_latency + in_hops + hops + flow_fill (&flow, hops, bytes) + bytes);
  out->messages = 2 * servers;
}

static gboolean
reduction_server_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  (void) error;
  servers_flow (call, group, paths, out);
  return TRUE;
}

/* No servers, or no other node to reduce with: NCCL alone. */
static const CollectiveAlgorithm *
stands_for (const CollectiveCall *call, const RankGroup *group, const Paths *paths)
{
  (void) call;
  return paths->servers == 0 || group->n_nodes < 2 ? &collective_automatic : NULL;
}

const CollectiveAlgorithm collective_reduction_server = {
  .name = "reduction-server",
  .summary = "nodes send to machines that only add: each byte once each way",
  .ops = OP_ALL_REDUCE,
  .on_gpu = TRUE,
  .paths = "nccl",
  .stands_for = stands_for,
  .flow = reduction_server_flow,
  .steps = &server_steps,
};
