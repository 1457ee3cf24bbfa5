/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/pytorch.h"
#include "strategy/data-parallel.h"
#include "strategy/sparse.h"
#include <math.h>

/* torch/csrc/distributed/c10d/reducer.hpp kDefaultFirstBucketBytes and
 * torch/nn/parallel/distributed.py bucket_cap_mb, both in MiB. */
static const double default_bucket = 25.0 * 1024 * 1024, default_first_bucket = 1024 * 1024;

static const DataParallel single = { .host = HOST_EAGER };

static gboolean
single_build (const StepInput *in, StepGraph *graph, GError **error)
{
  return data_parallel_build (in, &single, graph, error);
}

static void
single_memory (const StepInput *in, MemoryUse *out)
{
  data_parallel_memory (in, 0, out);
}

/* The small first bucket exists only where the size was left to PyTorch. */
static GArray *
ddp_buckets (const StepInput *in)
{
  const StrategySpec *spec = in->spec;
  const double cap = isnan (spec->bucket_size) ? default_bucket : spec->bucket_size;
  const double first = !isnan (spec->first_bucket_size) ? spec->first_bucket_size
                       : isnan (spec->bucket_size)      ? default_first_bucket
                                                        : cap;
  Workload copy;
  GArray *buckets = buckets_by_size (sparse_rest (in, &copy), software_gradient_bytes (spec, in->compute->precision, FALSE), first, cap);

  g_free (copy.layers);
  return buckets;
}

static DataParallel
ddp_policy (const StepInput *in)
{
  return (DataParallel) {
    .host = HOST_EAGER,
    .fixed = software_cost (in, in->spec->host == HOST_CUDA_GRAPH ? COST_DDP_FIXED_GRAPH : COST_DDP_FIXED),
    .launch = software_cost (in, COST_DDP_LAUNCH),
    .buffers = in->spec->broadcast_buffers,
    .view = in->spec->bucket_view && in->spec->compression == COMPRESSION_NONE,
    .groups = ddp_buckets (in),
  };
}

static gboolean
ddp_build (const StepInput *in, StepGraph *graph, GError **error)
{
  const DataParallel ddp = ddp_policy (in);
  g_autoptr (GArray) buckets = ddp.groups;

  return data_parallel_build (in, &ddp, graph, error);
}

static void
ddp_values (const StepInput *in, ClusterValue value, gpointer user)
{
  const DataParallel ddp = ddp_policy (in);
  g_autoptr (GArray) buckets = ddp.groups;

  data_parallel_values (in, &ddp, value, user);
}

static void
single_values (const StepInput *in, ClusterValue value, gpointer user)
{
  data_parallel_values (in, &single, value, user);
}

/* Buckets stay from the first step on, and hold the gradients a second time unless these
 * are views into them (torch, DistributedDataParallel, gradient_as_bucket_view). */
static void
ddp_memory (const StepInput *in, MemoryUse *out)
{
  const double wire = software_gradient_bytes (in->spec, in->compute->precision, FALSE);
  const double buckets = (in->workload->params - sparse_owned_params (in)) * wire;

  data_parallel_memory (in, in->spec->bucket_view ? 0 : buckets, out);
  if (!in->spec->bucket_view)
    {
      if (out->note != NULL)
        out->note = "Gradients come as activations go: only what they add at the fullest moment is counted.  The buckets "
                    "that they are copied to are among the buffers.";
      return;
    }
  out->gradients = buckets;
  out->note = "Gradients are views into the buckets, which stay.";
  memory_sum (in, out);
}

const Strategy strategy_single = {
  .name = "single",
  .summary = "one GPU, no communication (PyTorch eager host)",
  .max_gpus = 1,
  .instead = "ddp",
  .build = single_build,
  .memory = single_memory,
  .values = single_values,
};

const Strategy strategy_ddp = {
  .name = "ddp",
  .summary = "PyTorch DistributedDataParallel: a process a GPU, buckets in ready order, overlap with backward",
  .build = ddp_build,
  .memory = ddp_memory,
  .values = ddp_values,
};

/* All gradients once after the backward pass, in one piece: MLPerf's BERT, and a
 * bucket cap above the size of the model. */
static DataParallel
flat_policy (const StepInput *in)
{
  Workload copy;
  GArray *groups = buckets_by_pack (sparse_rest (in, &copy), software_gradient_bytes (in->spec, in->compute->precision, TRUE), 0);

  g_free (copy.layers);
  return (DataParallel) {
    .host = HOST_EAGER,
    .fixed = software_cost (in, COST_FLAT_FIXED),
    .launch = software_cost (in, COST_FLAT_LAUNCH),
    .view = TRUE,
    .half = TRUE,
    .groups = groups,
  };
}

static gboolean
flat_build (const StepInput *in, StepGraph *graph, GError **error)
{
  const DataParallel flat = flat_policy (in);
  g_autoptr (GArray) groups = flat.groups;

  return data_parallel_build (in, &flat, graph, error);
}

static void
flat_memory (const StepInput *in, MemoryUse *out)
{
  const double wire = software_gradient_bytes (in->spec, in->compute->precision, TRUE);
  const gboolean alone = cluster_nodes (in->cluster) * cluster_gpus_per_node (in->cluster) == 1;

  data_parallel_memory (in, alone ? 0 : (in->workload->params - sparse_owned_params (in)) * wire, out);
}

static void
flat_values (const StepInput *in, ClusterValue value, gpointer user)
{
  const DataParallel flat = flat_policy (in);
  g_autoptr (GArray) groups = flat.groups;

  data_parallel_values (in, &flat, value, user);
}

const Strategy strategy_flat = {
  .name = "flat",
  .summary = "PyTorch, all gradients in one all-reduce after backward; two bytes each under mixed precision",
  .build = flat_build,
  .memory = flat_memory,
  .values = flat_values,
};
