/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/tensorflow.h"
#include "strategy/data-parallel.h"

/* TensorFlow hands the optimizer all gradients at once; they are concatenated
 * into packs and reduced pack by pack (tensorflow/python/distribute/
 * cross_device_ops.py, cross_device_utils.py).  With the default of one pack
 * nothing overlaps with the backward pass.
 *
 * Between workers AUTO resolves to the ring over gRPC even on GPUs: the runtime
 * takes NCCL only when asked (collective_param_resolver_local.cc,
 * AssignCollectiveType). */
static DataParallel
policy (const StepInput *in, gboolean several_workers)
{
  return (DataParallel) {
    .algorithm = several_workers && in->spec->communication != COMMUNICATION_NCCL ? "grpc-ring" : NULL,
    .one_process = TRUE,
    .host = HOST_GRAPH,
    .fixed = software_cost (in, COST_MIRRORED_FIXED),
    .always_sync = TRUE,
    .groups = buckets_by_pack (in->workload, software_gradient_bytes (in->spec, in->compute->precision, FALSE),
                               in->spec->bytes_per_pack),
  };
}

static gboolean
mirrored_build (const StepInput *in, StepGraph *graph, GError **error)
{
  const DataParallel mirrored = policy (in, FALSE);
  g_autoptr (GArray) groups = mirrored.groups;

  return data_parallel_build (in, &mirrored, graph, error);
}

static gboolean
multi_worker_build (const StepInput *in, StepGraph *graph, GError **error)
{
  const DataParallel mirrored = policy (in, TRUE);
  g_autoptr (GArray) groups = mirrored.groups;

  return data_parallel_build (in, &mirrored, graph, error);
}

/* The packs are copies of the gradients. */
static void
mirrored_memory (const StepInput *in, MemoryUse *out)
{
  const double wire = software_gradient_bytes (in->spec, in->compute->precision, FALSE);
  const gboolean alone = cluster_nodes (in->cluster) * cluster_gpus_per_node (in->cluster) == 1;

  data_parallel_memory (in, alone ? 0 : in->workload->params * wire, out);
}

static void
mirrored_values (const StepInput *in, ClusterValue value, gpointer user)
{
  const DataParallel mirrored = policy (in, FALSE);
  g_autoptr (GArray) groups = mirrored.groups;

  data_parallel_values (in, &mirrored, value, user);
}

static void
multi_worker_values (const StepInput *in, ClusterValue value, gpointer user)
{
  const DataParallel mirrored = policy (in, TRUE);
  g_autoptr (GArray) groups = mirrored.groups;

  data_parallel_values (in, &mirrored, value, user);
}

const Strategy strategy_mirrored = {
  .name = "mirrored",
  .summary = "TensorFlow MirroredStrategy: one process drives the GPUs of one node, one NCCL all-reduce after backward",
  .tuning = "graph",
  .max_nodes = 1,
  .instead = "multi-worker-mirrored",
  .build = mirrored_build,
  .memory = mirrored_memory,
  .values = mirrored_values,
};

const Strategy strategy_multi_worker_mirrored = {
  .name = "multi-worker-mirrored",
  .summary = "TensorFlow MultiWorkerMirroredStrategy: a process a node; communication auto is the gRPC ring",
  .tuning = "graph",
  .build = multi_worker_build,
  .memory = mirrored_memory,
  .values = multi_worker_values,
};

/* tf_cnn_benchmarks --variable_update=replicated: each tensor its own NCCL
 * all-reduce as soon as its gradient is there. */
static DataParallel
replicated_policy (const StepInput *in)
{
  const double element = software_gradient_bytes (in->spec, in->compute->precision, FALSE);

  return (DataParallel) {
    .one_process = TRUE,
    .host = HOST_GRAPH,
    .fixed = software_cost (in, COST_REPLICATED_FIXED),
    .launch = software_cost (in, COST_REPLICATED_LAUNCH),
    .view = TRUE,
    .groups = buckets_by_size (in->workload, element, 0, 0),
  };
}

static gboolean
replicated_build (const StepInput *in, StepGraph *graph, GError **error)
{
  const DataParallel replicated = replicated_policy (in);
  g_autoptr (GArray) groups = replicated.groups;

  return data_parallel_build (in, &replicated, graph, error);
}

static void
replicated_memory (const StepInput *in, MemoryUse *out)
{
  data_parallel_memory (in, 0, out);
}

static void
replicated_values (const StepInput *in, ClusterValue value, gpointer user)
{
  const DataParallel replicated = replicated_policy (in);
  g_autoptr (GArray) groups = replicated.groups;

  data_parallel_values (in, &replicated, value, user);
}

const Strategy strategy_replicated = {
  .name = "replicated",
  .summary = "TensorFlow 1, tf_cnn_benchmarks replicated: one process a node, each tensor its own all-reduce, overlapped",
  .tuning = "graph",
  .max_nodes = 1,
  .instead = "horovod",
  .build = replicated_build,
  .memory = replicated_memory,
  .values = replicated_values,
};
