/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/flow.h"
#include "collective/levels.h"
#include "collective/schedule.h"

/* Of `members` a power of two takes part; each of the others hands its bytes to a
 * partner before and gets the sums after. */
typedef struct { double steps, busiest, average; } Level;

static Level
level_of (double members)
{
  const double part = exp2 (floor (log2 (members))), others = members - part;

  return (Level) {
    .steps = 2 * log2 (part) + (others > 0 ? 2 : 0),
    .busiest = 2 * (part - 1) / part + (others > 0 ? 2 : 0),   /* one after the other */
    .average = 2 * (members - 1) / members,                    /* of all, each way: (2 (part - 1) + 2 others)/members */
  };
}

/* Recursive halving and doubling (Rabenseifner 2004; Thakur, Rabenseifner, Gropp
 * 2005), near partners first: the node's own level, then its shards between nodes.
 * On an ideal network 2 log2 n latencies and 2(n-1)/n of the bytes. */
static gboolean
halving_doubling_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  Flow flow = flow_begin (call, group, paths, out);
  const Protocol p = call->protocol;
  const Level in = level_of (flow.per_node), between = level_of (flow.nodes);
  const double in_hops = in.steps * paths->in_node.hop[p];
  const double in_share = paths->in_node.share[p], share = paths->between.share[p];
  const double in_time = in.busiest > 0 ? in.busiest / (paths->in_node.rate * in_share) : 0;
  const double time = between.busiest > 0 ? between.busiest / (flow_between_rate (&flow) * share) : 0;
  const double local = isfinite (paths->local) ? 1 / (flow.n * paths->local) : 0;
  const double bytes = in_time + time + local;
  double hops = between.steps * paths->between.hop[p];

  (void) error;
  if (in.busiest > 0)
    flow_gpus (&flow, in.average, in_share * in.average / in.busiest);
  if (between.busiest > 0)
    flow_nics (&flow, between.average, share * paths->between_efficiency * between.average / between.busiest);
  hops += flow_levels_rounds (&flow, pattern_halving, 1, rounds_halving (group->n_nodes), flow_between_rate (&flow) * share, bytes);
  flow_end (&flow, 1 / bytes, (paths->launch[p] + in_hops + hops) * (1 + flow_ramp (&flow, p)) + flow.size * bytes);
  out->messages = in.steps + between.steps;
  return TRUE;
}

const CollectiveAlgorithm collective_halving_doubling = {
  .name = "halving-doubling",
  .summary = "recursive halving and doubling, near partners first: 2 log2 n steps",
  .ops = OP_ALL_REDUCE,
  .protocols = TRUE,
  .on_gpu = TRUE,
  .paths = "nccl",
  .flow = halving_doubling_flow,
  .steps = &halving_doubling_steps,
};
