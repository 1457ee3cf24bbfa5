/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/flow.h"
#include "collective/schedule.h"

/* Share of the bytes that the busiest server holds: tensors stay whole, the
 * largest go first, each to the least loaded server. */
static double
busiest_share (const CollectiveCall *call, const Paths *paths)
{
  const double even = 1 / (double) paths->servers;

  return paths->server_local_reduction ? even : fmax (even, fmin (call->largest / call->size, 1));
}

/* Servers on the workers: a node sends what the others hold, and as a server the
 * sums to all others: g S (1 - f) + (N - 1) g S f on the busiest, which holds f.
 * All nodes carry 2(N-1)/N g S on average; the busiest sets the time. */
static void
on_workers (Flow *flow, double copies, double share)
{
  const double average = 2 * (flow->nodes - 1) / flow->nodes * copies;
  const double busiest = copies * (1 - share + (flow->nodes - 1) * share);

  flow_nics (flow, average, flow->paths->server_nic_efficiency * fmin (average / busiest, 1));
}

/* Servers on the n workers, x of the bytes on each, and k besides.  With equal cards
 * 2n(n - 1)/(n^2 + k n - 2k) S/B. */
static void
on_both (Flow *flow)
{
  const Paths *paths = flow->paths;
  const double n = flow->nodes, k = (double) paths->servers;
  const double x = server_worker_share (paths, n), y = (1 - n * x) / k;
  const double cap = paths->server_sum / (n * fmax (x, y) * flow->twins);
  const double in_hops = 2 * (flow->per_node - 1) * paths->in_node.hop[PROTOCOL_SIMPLE];
  const double hops = 2 * paths->between.hop[PROTOCOL_LL];
  double bytes;

  flow_gpus (flow, 2 * (flow->per_node - 1) / flow->per_node, 1);
  flow_nics (flow, 1 + (n - 2) * x, paths->server_nic_efficiency);
  flow_servers (flow, n * y, paths->server_efficiency);
  flow_server_leaves (flow, 1);
  bytes = flow->size / fmin (flow->rate, cap);
  flow_end (flow, cap, paths->server_latency + in_hops + hops + flow_fill (flow, hops, bytes) + bytes);
  flow->out->messages = 2 * (k + n);
}

/* Synchronous push and pull.  Every GPU for itself: g S each way on a node's NICs,
 * N g S over the servers.  With reduction in the node g is 1. */
static gboolean
parameter_server_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  Flow flow = flow_begin (call, group, paths, out);
  const gboolean local = paths->server_local_reduction;
  const double servers = (double) paths->servers, copies = local ? 1 : flow.per_node;
  const double share = paths->servers > 0 ? busiest_share (call, paths) : 1;
  const double cap = paths->server_sum / (flow.nodes * copies * share * flow.twins);
  const double in_hops = local ? 2 * (flow.per_node - 1) * paths->in_node.hop[PROTOCOL_SIMPLE] : 0;
  const double hops = 2 * paths->between.hop[PROTOCOL_LL];
  double bytes;

  if (paths->servers == 0)
    {
      g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED,
                   "[parameter-server] count: 0, but the algorithm parameter-server needs servers; give 1 or more");
      return FALSE;
    }
  if (paths->server_on_both)
    {
      on_both (&flow);
      return TRUE;
    }
  if (local && !paths->server_colocated)
    {
      servers_flow (call, group, paths, out);
      return TRUE;
    }
  if (local)
    flow_gpus (&flow, 2 * (flow.per_node - 1) / flow.per_node, 1);
  if (paths->server_colocated)
    on_workers (&flow, copies, share);
  else
    {
      flow_nics (&flow, copies, paths->server_nic_efficiency);
      flow_servers (&flow, flow.nodes * copies / servers, paths->server_efficiency / (servers * share));
    }
  flow_server_leaves (&flow, copies);
  bytes = flow.size / fmin (flow.rate, cap);
  flow_end (&flow, cap, paths->server_latency + in_hops + hops + flow_fill (&flow, hops, bytes) + bytes);
  out->messages = 2 * servers * copies;
  return TRUE;
}

/* Its only server sits in the same node: nothing leaves it. */
static const CollectiveAlgorithm *
stands_for (const CollectiveCall *call, const RankGroup *group, const Paths *paths)
{
  (void) call;
  return paths->servers > 0 && group->n_nodes < 2 && (paths->server_colocated || paths->server_local_reduction)
           ? &collective_automatic : NULL;
}

const CollectiveAlgorithm collective_parameter_server = {
  .name = "parameter-server",
  .summary = "push and pull of whole tensors to servers, every GPU for itself (local-reduction: BytePS)",
  .ops = OP_ALL_REDUCE,
  .paths = "parameter-server",
  .stands_for = stands_for,
  .flow = parameter_server_flow,
  .steps = &parameter_server_steps,
};
