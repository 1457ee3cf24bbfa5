/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/flow.h"
#include "collective/levels.h"
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

/* Rails that a group has cards on, in each node. */
static double
rails_of (const Flow *flow)
{
  const Paths *paths = flow->paths;

  return paths->rails ? fmax (fmin (paths->between.links, flow->per_node) / (double) paths->box, 1) : 1;
}

/* From rail to rail the way is over the spine, or (PXN, NCCL 2.12) over NVLink to the
 * GPU whose card is on the other's rail. */
static double
other_rails (const Flow *flow)
{
  return flow->paths->pxn ? 0 : 1 - 1 / rails_of (flow);
}

static double
levels_of (CollectiveOp op, Flow *flow, double between, double used)
{
  const double others = other_rails (flow);

  if (op == OP_ALL_TO_ALL)
    return flow_levels_all (flow, between, others);
  return flow_levels (flow, pattern_ring, &(PatternData) { .bytes = 1, .share = used, .other_rail = others > 0, .at_once = TRUE });
}

/* s a byte of message inside the node, at `share` of the links' rate.  In a mesh the
 * busiest link decides, with what others pass over it. */
static double
inside_of (CollectiveOp op, const Flow *flow, double in, double share)
{
  const Paths *paths = flow->paths;
  const double even = in > 0 ? in / (paths->in_node.rate * share) : 0;
  const gboolean all = op == OP_ALL_TO_ALL;

  if (paths->mesh == NULL || !(in > 0))
    return even;
  return fmax (even, (all ? 1 / flow->n : 1) / (paths->mesh_link * share)
                       * mesh_busiest (paths->mesh, (guint) flow->group->per_node, paths->mesh_stride, all));
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
  const double proxied = paths->pxn && call->op == OP_ALL_TO_ALL ? shape.between / flow.per_node * (1 - 1 / rails_of (&flow)) : 0;
  const double in = shape.in + proxied;
  const double used = nodes ? nics_used (call->op, &flow) : 1, share = ll ? paths->p2p_ll : 1;
  const double of_line = fmin (paths->p2p_share, shape.peers * path_pair_share (paths, flow.n)) * used / paths->between.links * share;
  const double wire = nodes ? shape.between / (flow_between_rate (&flow) * of_line) : 0;
  const double inside = inside_of (call->op, &flow, in, paths->p2p_node_share * share);
  const double bytes = fmax (wire, inside);
  const gboolean message = nodes && call->op == OP_SEND_RECV;
  double hop = (nodes ? &paths->between : &paths->in_node)->hop[message ? PROTOCOL_LL : p];

  (void) error;
  out->protocol = p;
  if (in > 0)
    flow_gpus (&flow, in, in / (inside * paths->in_node.rate));
  if (nodes)
    flow_nics (&flow, shape.between, of_line * paths->between_efficiency);
  hop += nodes ? levels_of (call->op, &flow, shape.between, used / paths->between.links) : 0;
  const double way = nodes ? hop : path_point_hop (paths, p);
  if (ll)
    flow_end (&flow, 1 / bytes, paths->p2p_launch + way + flow.size * bytes);
  else if (message)
    flow_end (&flow, 1 / bytes, paths->launch[PROTOCOL_LL] + hop + flow.size * bytes);
  else
    flow_end (&flow, 1 / bytes,
              paths->p2p_launch + flow_norm (paths->p2p_simple + way,
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

#define MOST_PAIRS 2048u

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
  const double inside = inside_of (OP_ALL_TO_ALL, &flow, shape.in, paths->p2p_node_share * share);
  double hops = (flow.per_node - 1) * paths->in_node.hop[p] + (nodes ? shape.peers * paths->between.hop[p] : 0);

  (void) error;
  out->protocol = p;
  if (shape.in > 0)
    flow_gpus (&flow, shape.in, shape.in / (inside * paths->in_node.rate));
  if (nodes)
    flow_nics (&flow, shape.between, of_line * paths->between_efficiency);
  /* the square of many nodes is not counted: as if all partners came at once */
  if (nodes && group->n_nodes <= MOST_PAIRS && !(other_rails (&flow) > 0))
    hops += flow.per_node * flow_levels_rounds (&flow, pattern_pairs, shape.between, (guint) group->n_nodes - 1,
                                                flow_between_rate (&flow) * of_line, wire + inside);
  else if (nodes)
    hops += shape.peers * flow_levels_all (&flow, shape.between, other_rails (&flow));
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
