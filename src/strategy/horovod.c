/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/horovod.h"
#include "strategy/builder.h"
#include "strategy/sparse.h"
#include <math.h>

/* Horovod (horovod/common/operations.cc, controller.cc, ops/nccl_operations.cc): a
 * background thread in each process wakes every cycle, agrees with the others on
 * the gradients that all have, copies them into the fusion buffer, reduces them and
 * copies them back.  One after another, beside the backward pass. */

static int
framework (const StepInput *in)
{
  return in->spec->framework == FRAMEWORK_AUTO ? FRAMEWORK_TF1 : in->spec->framework;
}

/* MXNet's optimizer multiplies in two bytes under AMP, and so do its gradients travel. */
static double
wire_bytes (const StepInput *in)
{
  return software_gradient_bytes (in->spec, in->compute->precision, framework (in) == FRAMEWORK_MXNET);
}

static const char *
algorithm (const StepInput *in)
{
  static const char *const names[] = { [OPERATIONS_NCCL] = NULL, [OPERATIONS_MPI] = "host-mpi", [OPERATIONS_GLOO] = "gloo" };

  return in->spec->operations == OPERATIONS_NCCL && in->spec->hierarchical ? "hierarchical" : names[in->spec->operations];
}

/* A single tensor is reduced where it lies; several pass the fusion buffer, each
 * copy at 0.4 of the memory's rate: 2 S/(0.4 W), which is 4 S at 0.8 W.  Without
 * the response cache rank 0 hears of each tensor from each rank. */
static double
group_seconds (const StepInput *in, const Bucket *group)
{
  const double bytes = group->elements * wire_bytes (in);
  const gboolean fused = group->n_tensors > 1 && in->spec->operations == OPERATIONS_NCCL;
  const double requests = in->spec->response_cache ? 0 : (double) group->n_tensors * (double) builder_world (in);

  return (fused ? compute_copy_seconds (in->compute, 4 * bytes) : 0) + requests * in->spec->coordinator_time;
}

/* MPI and Gloo reduce in the background thread itself, which gathers nothing
 * meanwhile: the choice of the groups needs their time. */
typedef struct { const StepInput *in; CollectiveFlow flow; double per_byte; } Blocking;

static double
blocking_seconds (gpointer user, double bytes)
{
  const Blocking *b = user;

  return software_cost (b->in, COST_HOROVOD_LAUNCH)->value + b->flow.latency + b->per_byte * bytes;
}

static gboolean
price_blocking (Blocking *b)
{
  const double size = (b->in->workload->params - sparse_owned_params (b->in)) * wire_bytes (b->in);
  GraphCall call = { .call = { .op = OP_ALL_REDUCE, .size = size, .protocol = PROTOCOL_AUTO } };
  gboolean on_gpu;

  if (!collective_find (algorithm (b->in), &call.call.algorithm, NULL)
      || !price_call (b->in->cluster, &call.call, &call.group, &b->flow, &on_gpu, NULL))
    return FALSE;
  b->per_byte = fmax (0, collective_estimate (&b->flow, cluster_network (b->in->cluster), size) - b->flow.latency) / size;
  return TRUE;
}

/* A wait for the cycle up to a group's launch is in it. */
static void
shorten_delays (GArray *groups, const StepInput *in)
{
  const double covered = software_settled (in->spec->launch, software_cost (in, COST_HOROVOD_LAUNCH));

  for (guint i = 0; i < groups->len; i++)
    {
      Bucket *group = &g_array_index (groups, Bucket, i);

      group->delay = fmax (0, group->delay - covered);
    }
}

static DataParallel
policy (const StepInput *in)
{
  const gboolean eager = framework (in) == FRAMEWORK_PYTORCH;

  return (DataParallel) {
    .host = eager ? HOST_EAGER : HOST_GRAPH,
    .launch = software_cost (in, COST_HOROVOD_LAUNCH),
    .always_sync = TRUE,
    .algorithm = algorithm (in),
    .view = in->spec->compression == COMPRESSION_NONE,
    .half = framework (in) == FRAMEWORK_MXNET,
    .group_s = group_seconds,
  };
}

static GArray *
fused_groups (const StepInput *in, const DataParallel *horovod)
{
  const StrategySpec *spec = in->spec;
  g_autofree double *ready = data_parallel_ready (in, horovod);
  Blocking blocking = { .in = in };
  const gboolean blocks = spec->operations != OPERATIONS_NCCL && builder_world (in) > 1 && price_blocking (&blocking);
  Workload copy;
  GArray *groups = buckets_by_cycle (sparse_rest (in, &copy), wire_bytes (in), spec->fusion_size, spec->cycle_time, ready,
                                     blocks ? blocking_seconds : NULL, &blocking);

  g_free (copy.layers);
  shorten_delays (groups, in);
  return groups;
}

static gboolean
build (const StepInput *in, StepGraph *graph, GError **error)
{
  DataParallel horovod = policy (in);
  g_autoptr (GArray) groups = fused_groups (in, &horovod);

  horovod.groups = groups;
  return data_parallel_build (in, &horovod, graph, error);
}

static void
memory (const StepInput *in, MemoryUse *out)
{
  const double all = (in->workload->params - sparse_owned_params (in)) * wire_bytes (in);

  data_parallel_memory (in, builder_world (in) == 1 ? 0 : fmin (all, in->spec->fusion_size), out);
}

static void
values (const StepInput *in, ClusterValue value, gpointer user)
{
  static const char *const names[] = { [FRAMEWORK_TF1] = "tf1", [FRAMEWORK_PYTORCH] = "pytorch", [FRAMEWORK_MXNET] = "mxnet" };
  DataParallel horovod = policy (in);
  g_autoptr (GArray) groups = fused_groups (in, &horovod);

  horovod.groups = groups;
  if (in->spec->framework == FRAMEWORK_AUTO)
    data_parallel_say (value, user, "framework", g_strdup (names[framework (in)]), ORIGIN_ASSUMED, "the published Horovod tables are TensorFlow's");
  data_parallel_values (in, &horovod, value, user);
  if (builder_world (in) < 2)
    return;
  data_parallel_say (value, user, "fusion copies", g_strdup ("2 S at 0.4 of the memory rate"), ORIGIN_ASSUMED, "in and out of the fusion buffer, on the communication stream; none for a tensor alone");
  if (horovod.algorithm != NULL)
    data_parallel_say (value, user, "algorithm", g_strdup (horovod.algorithm), ORIGIN_DERIVED, "operations and hierarchical-allreduce");
}

const Strategy strategy_horovod = {
  .name = "horovod",
  .summary = "Horovod: a process a GPU, gradients fused by cycle and size, overlap with backward; NCCL, MPI or Gloo",
  .build = build,
  .memory = memory,
  .values = values,
};
