/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/flow.h"
#include "collective/schedule.h"

/* Bytes of a rank's message: to others in its node, and of a node over its NICs. */
typedef struct { double in, between, peers; } Shape;

/* All-to-all: 1/n to each.  Send/recv: all of it to the next rank; of a node's
 * edges one leaves it. */
static Shape
shape_of (CollectiveOp op, const Flow *flow)
{
  const double p = flow->per_node, n = flow->n;

  if (op == OP_ALL_TO_ALL)
    return (Shape) { .in = (p - 1) / n, .between = p * (n - p) / n, .peers = n - p };
  return (Shape) { .in = p > 1 ? 1 : 0, .between = flow->nodes > 1 ? 1 : 0, .peers = 1 };
}

/* NICs that the twins' GPUs with something to send have between them. */
static double
nics_used (CollectiveOp op, const Flow *flow)
{
  const double links = flow->paths->between.links;

  if (op == OP_ALL_TO_ALL)
    return links;
  return fmin (links, flow->twins * fmax (1, links / (flow->per_node * flow->twins)));
}

/* Priced apart from rings: no hop a rank (the floor of an all-to-all is the same on
 * 2, 4 and 8 GPUs), no own block, and one pair of ranks opens few channels: form and
 * parameters fitted over nccl-tests alltoall and sendrecv, NCCL 2.27-2.29.  One
 * message between two nodes fills no pipeline: 18 us + S/36 GB/s over 39 sizes of
 * Vidur's H100 table, 32 us + S/7.8 GB/s of its A100 one. */
static gboolean
point_to_point_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  Flow flow = flow_begin (call, group, paths, out);
  const gboolean ll = call->protocol == PROTOCOL_LL, nodes = group->n_nodes > 1;
  const Protocol p = ll ? PROTOCOL_LL : PROTOCOL_SIMPLE;   /* LL128 runs as Simple */
  const Shape shape = shape_of (call->op, &flow);
  const double used = nodes ? nics_used (call->op, &flow) : 1, share = ll ? paths->p2p_ll : 1;
  const double of_line = fmin (paths->p2p_share, shape.peers * path_pair_share (paths, flow.n)) * used / paths->between.links * share;
  const double wire = nodes ? shape.between / (flow_between_rate (&flow) * of_line) : 0;
  const double inside = shape.in > 0 ? shape.in / (paths->in_node.rate * paths->p2p_node_share * share) : 0;
  const double bytes = fmax (wire, inside), hop = (nodes ? &paths->between : &paths->in_node)->hop[p];

  (void) error;
  out->protocol = p;
  if (shape.in > 0)
    flow_gpus (&flow, shape.in, paths->p2p_node_share * share);
  if (nodes)
    flow_nics (&flow, shape.between, of_line * paths->between_efficiency);
  if (nodes && paths->nodes_per_leaf > 0 && flow.nodes > paths->nodes_per_leaf)
    flow_leaves (&flow, call->op == OP_ALL_TO_ALL ? shape.between * paths->nodes_per_leaf * (1 - paths->nodes_per_leaf / flow.nodes) : 1);
  if (ll)
    flow_end (&flow, 1 / bytes, paths->p2p_launch + (nodes ? hop : 0) + flow.size * bytes);
  else if (nodes && call->op == OP_SEND_RECV)
    flow_end (&flow, 1 / bytes, paths->launch[PROTOCOL_LL] + paths->between.hop[PROTOCOL_LL] + flow.size * bytes);
  else
    flow_end (&flow, 1 / bytes,
              paths->p2p_launch + flow_norm (paths->p2p_simple + (nodes ? hop : 0),
                                             flow.size * bytes + flow_fill (&flow, hop, flow.size * bytes), paths->norm));
  out->messages = call->op == OP_ALL_TO_ALL ? flow.n - 1 : 1;
  return TRUE;
}

const CollectiveAlgorithm collective_point_to_point = {
  .name = "point-to-point",
  .summary = "all-to-all and send/recv: each pair by itself",
  .ops = OP_ALL_TO_ALL | OP_SEND_RECV,
  .automatic = TRUE,
  .protocols = TRUE,
  .on_gpu = TRUE,
  .paths = "nccl",
  .flow = point_to_point_flow,
  .steps = &point_to_point_steps,
};

/* In rounds, one partner at a time: every round its hop, and the few channels that
 * one pair of ranks opens.  With a power of two ranks p - 1 rounds stay in the node. */
static gboolean
pairwise_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  Flow flow = flow_begin (call, group, paths, out);
  const gboolean ll = call->protocol == PROTOCOL_LL, nodes = group->n_nodes > 1;
  const Protocol p = ll ? PROTOCOL_LL : PROTOCOL_SIMPLE;
  const Shape shape = shape_of (OP_ALL_TO_ALL, &flow);
  const double share = ll ? paths->p2p_ll : 1, of_line = fmin (paths->p2p_share, path_pair_share (paths, flow.n)) * share;
  const double wire = nodes ? shape.between / (flow_between_rate (&flow) * of_line) : 0;
  const double inside = shape.in > 0 ? shape.in / (paths->in_node.rate * paths->p2p_node_share * share) : 0;
  const double hops = (flow.per_node - 1) * paths->in_node.hop[p] + (nodes ? shape.peers * paths->between.hop[p] : 0);

  (void) error;
  out->protocol = p;
  if (shape.in > 0)
    flow_gpus (&flow, shape.in, paths->p2p_node_share * share);
  if (nodes)
    flow_nics (&flow, shape.between, of_line * paths->between_efficiency);
  if (nodes && paths->nodes_per_leaf > 0 && flow.nodes > paths->nodes_per_leaf)
    flow_leaves (&flow, shape.between * paths->nodes_per_leaf * (1 - paths->nodes_per_leaf / flow.nodes));
  flow_end (&flow, 1 / (wire + inside), paths->p2p_launch + (ll ? 0 : paths->p2p_simple) + hops + flow.size * (wire + inside));
  out->messages = flow.n - 1;
  return TRUE;
}

const CollectiveAlgorithm collective_pairwise = {
  .name = "pairwise",
  .summary = "all-to-all in rounds, one partner at a time (MPI, long messages)",
  .ops = OP_ALL_TO_ALL,
  .protocols = TRUE,
  .on_gpu = TRUE,
  .paths = "nccl",
  .flow = pairwise_flow,
  .steps = &pairwise_steps,
};
