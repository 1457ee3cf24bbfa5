/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/flow.h"
#include "collective/levels.h"
#include "collective/schedule.h"

double
ring_hops (CollectiveOp op)
{
  return op == OP_ALL_REDUCE ? 2 : 1;
}

/* A broadcast is a pipelined chain: all of it passes every rank. */
double
ring_wire (CollectiveOp op, double n)
{
  return op == OP_BROADCAST ? 1 : ring_hops (op) * (n - 1) / n;
}

/* A rank's own block [l] goes through the kernel too. */
static double
local_block (CollectiveOp op, double n, const Paths *paths)
{
  return op == OP_BROADCAST || !isfinite (paths->local) ? 0 : 1 / n;
}

/* LL and LL128: hops and bytes add, the own block passes at the protocol's rate. */
static void
end_ll (Flow *flow, Protocol protocol, double hops, double bytes, double rate)
{
  const double latency = (flow->paths->launch[protocol] + hops) * (1 + flow_ramp (flow, protocol));

  flow_end (flow, rate / bytes, latency + flow->size * bytes / rate);
}

/* One box.  The form fitted to nccl-tests sweeps of 27 systems; LL's and LL128's
 * rates and NCCL's hops: NCCL 2.30 src/graph/tuning.cc. */
void
ring_box (Flow *flow, const CollectiveCall *call, Protocol p)
{
  const Paths *paths = flow->paths;
  const double hops = ring_hops (call->op) * (flow->n - 1) * paths->in_node.hop[p];
  const double w = ring_wire (call->op, flow->n), l = local_block (call->op, flow->n, paths);
  const double rate = paths->in_node.rate * paths->in_node.share[p];
  const double wire = w / rate, bytes = wire + (l > 0 ? l / paths->local : 0);

  flow_gpus (flow, w, paths->in_node.share[p]);
  if (p != PROTOCOL_SIMPLE)
    end_ll (flow, p, hops, w + l, rate);
  else
    flow_end (flow, 1 / bytes,
              paths->launch[p] + flow_norm (hops, flow->size * bytes + flow_fill (flow, hops, flow->size * wire), paths->norm));
}

/* Latency and bandwidth, nothing that was fitted. */
static gboolean
textbook (const Paths *paths, Protocol p)
{
  return !(paths->launch[p] > 0) && !(paths->fill > 0) && paths->norm <= 1 && !isfinite (paths->local);
}

/* s a byte of message that a level above the nodes takes. */
static double
level_seconds (const Flow *flow, guint level)
{
  const PathLevel *of = &flow->paths->level[level];
  double seconds = 0;

  for (guint i = 0; i < flow->out->n_loads; i++)
    {
      const LinkLoad *load = &flow->out->load[i];

      if (load->link == of->up || load->link == of->down)
        seconds = fmax (seconds, load->bytes / (of->capacity * load->efficiency));
    }
  return seconds;
}

/* A step of a ring of uneven edges takes the largest of their bytes' times, or the mean of
 * bytes and hop over all of them if that is more (the cycle mean of the max-plus matrix:
 * Baccelli and others 1992): the quick edges' hops hide behind the slow one.  Returns what
 * shows beyond `slowest`, the bytes' time without the levels, s. */
static double
hops_shown (const Flow *flow, double wire, double hops, double one, double slowest)
{
  const double in_node = (flow->n - flow->nodes) / (flow->n - 1), line = wire / flow_between_rate (flow);
  const double inside = flow->per_node > 1 ? in_node * wire / flow->paths->in_node.rate : 0;
  double most = slowest, mean = inside + (1 - in_node) * line;

  for (guint i = 0; i < flow->paths->n_levels; i++)
    {
      const double level = level_seconds (flow, i);

      most = fmax (most, level);
      mean = fmax (mean, inside + (1 - in_node) * (line + flow->climbed[i] * fmax (level - line, 0)));
    }
  return fmax (one, hops + flow->size * (mean - most));
}

/* Across nodes: of the ring's edges one a node leaves it, so a NIC carries what a
 * rank sends. */
static void
across (Flow *flow, const CollectiveCall *call, Protocol p)
{
  const Paths *paths = flow->paths;
  const double k = ring_hops (call->op), w = ring_wire (call->op, flow->n), l = local_block (call->op, flow->n, paths);
  const double share = paths->between.share[p], nodes_rate = flow_between_rate (flow);
  const double rate = share * (flow->per_node > 1 ? flow_blend (paths->in_node.rate, nodes_rate, paths->blend) : nodes_rate);
  const double wire = w / rate, bytes = wire + (l > 0 ? l / paths->local : 0);
  double between, hops;

  flow_gpus (flow, w, share);
  flow_nics (flow, w, share * paths->between_efficiency);
  between = k * (flow->nodes - 1) * (paths->between.hop[p] + flow_levels (flow, pattern_ring, &(PatternData) { .bytes = w }));
  hops = k * (flow->n - flow->nodes) * paths->in_node.hop[p] + between;
  if (textbook (paths, p) && call->op != OP_BROADCAST)
    flow_end (flow, 1 / bytes, hops_shown (flow, w, hops, paths->between.hop[p], bytes) + flow->size * bytes);
  else if (p != PROTOCOL_SIMPLE)
    end_ll (flow, p, hops, w + l, rate);
  else
    flow_end (flow, 1 / bytes, paths->launch[p] + flow_norm (hops, flow->size * bytes, paths->norm)
                                 + flow_fill (flow, between, flow->size * wire));
}

static gboolean
ring_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  Flow flow = flow_begin (call, group, paths, out);

  (void) error;
  if (group->n_nodes > 1)
    across (&flow, call, call->protocol);
  else
    ring_box (&flow, call, call->protocol);
  out->messages = ring_hops (call->op) * (flow.n - 1);
  return TRUE;
}

const CollectiveAlgorithm collective_ring = {
  .name = "ring",
  .summary = "every rank sends to the next: 2(n-1)/n of the bytes, latency grows with the ranks",
  .ops = OP_ALL_REDUCE | OP_REDUCE_SCATTER | OP_ALL_GATHER | OP_BROADCAST,
  .automatic = TRUE,
  .protocols = TRUE,
  .on_gpu = TRUE,
  .paths = "nccl",
  .flow = ring_flow,
  .steps = &ring_steps,
};
