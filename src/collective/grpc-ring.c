/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/flow.h"
#include "collective/levels.h"
#include "collective/schedule.h"

/* TensorFlow's RING (tensorflow core/common_runtime/ring_alg.cc, ring_reducer.cc):
 * steps over all devices; a rank's block is cut into at most 2 x devices-of-a-task
 * parts to keep a message under 4 MiB, and the parts' rings run side by side.  A
 * message that leaves the node is copied to the host, sent and copied back.  While
 * one part is copied the others use the wire: a step takes the longer of all parts
 * on the wire and one part through copy, wire, copy. */
static gboolean
grpc_ring_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out, GError **error)
{
  Flow flow = flow_begin (call, group, paths, out);
  const double steps = ring_hops (call->op) * (flow.n - 1), w = steps / flow.n;
  const double block = flow.size / flow.n;
  const double in_step = flow.per_node > 1 ? block / paths->in_node.rate : 0;
  double parts = 1, step = in_step, message = paths->local_message;

  (void) error;
  flow_gpus (&flow, w, 1);
  if (group->n_nodes > 1)
    {
      const double rate = flow_between_rate (&flow);

      if (paths->chunk > 0)
        parts = CLAMP (ceil (block / paths->chunk), 1, 2 * flow.per_node);
      step = fmax (in_step, fmax (block / rate, block / parts * (2 / paths->host_copy + 1 / rate)));
      flow_nics (&flow, w, paths->between_efficiency);
      message = fmax (message, paths->between.hop[PROTOCOL_SIMPLE] + flow_levels (&flow, pattern_ring, &(PatternData) { .bytes = w }));
    }
  flow_end (&flow, flow.size / (steps * step), steps * (message + step));
  out->messages = steps * parts;
  return TRUE;
}

const CollectiveAlgorithm collective_grpc_ring = {
  .name = "grpc-ring",
  .summary = "TensorFlow's RING: remote calls over gRPC, staged in host memory",
  .ops = OP_ALL_REDUCE | OP_REDUCE_SCATTER | OP_ALL_GATHER,
  .paths = "grpc",
  .flow = grpc_ring_flow,
  .steps = &grpc_ring_steps,
};
