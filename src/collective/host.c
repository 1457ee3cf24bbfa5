/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/flow.h"
#include "collective/levels.h"
#include "collective/schedule.h"

/* CPUs reduce in host memory: copies off the GPU, sums and copies back pass so many
 * bytes of message a second whatever the ranks (fit over Horovod on CPU and Gloo),
 * while each node's NICs carry w of them. */
static void
host_flow (Flow *flow, double steps_in, double steps_between, double w, gboolean halves)
{
  const Paths *paths = flow->paths;
  const double cap = paths->host_reduce / flow->twins;
  double bytes = 0, hops;

  if (flow->nodes > 1)
    flow_nics (flow, w, paths->between_efficiency);
  hops = steps_in * paths->local_message + steps_between * paths->between.hop[PROTOCOL_LL];
  if (halves)
    hops += flow_levels_rounds (flow, pattern_halving, 1, rounds_halving (flow->group->n_nodes), flow_between_rate (flow),
                                1 / fmin (flow->rate, cap));
  else
    hops += steps_between * flow_levels (flow, pattern_ring, &(PatternData) { .bytes = w });
  if (isinf (cap))   /* no limit known: the GPUs' links, as a ring */
    flow_gpus (flow, 2 * (flow->n - 1) / flow->n, 1);
  bytes = flow->size / fmin (flow->rate, cap);
  flow_end (flow, cap, hops + bytes);
  flow->out->messages = steps_in + steps_between;
}

/* 2 log2 n steps, near partners first, so that what leaves a node is summed in it before
 * (Thakur, Rabenseifner, Gropp 2005); a ring's bytes where they are no power of two. */
static gboolean
host_mpi_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  Flow flow = flow_begin (call, group, paths, out);
  const gboolean halves = host_mpi_halves (call->size, group->n_nodes, group->per_node);
  const double members = halves ? flow.nodes : flow.n;

  (void) error;
  host_flow (&flow, 2 * log2 (flow.per_node), 2 * log2 (flow.nodes), 2 * (members - 1) / members, halves);
  return TRUE;
}

const CollectiveAlgorithm collective_host_mpi = {
  .name = "host-mpi",
  .summary = "MPI on the CPUs: copied off the GPUs, summed in host memory, copied back",
  .ops = OP_ALL_REDUCE,
  .paths = "nccl",
  .flow = host_mpi_flow,
  .steps = &host_mpi_steps,
};

/* A ring: of its 2(n-1) steps 2(N-1) cross nodes. */
static gboolean
gloo_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  Flow flow = flow_begin (call, group, paths, out);

  (void) error;
  host_flow (&flow, 2 * (flow.n - flow.nodes), 2 * (flow.nodes - 1), 2 * (flow.n - 1) / flow.n, FALSE);
  return TRUE;
}

const CollectiveAlgorithm collective_gloo = {
  .name = "gloo",
  .summary = "Gloo on the CPUs: as host-mpi, in a ring",
  .ops = OP_ALL_REDUCE,
  .paths = "nccl",
  .flow = gloo_flow,
  .steps = &gloo_steps,
};
