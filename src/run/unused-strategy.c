/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/unused-rules.h"
#include "strategy/blocks.h"
#include <math.h>

/* Each condition is necessary for its keys to do anything, by the code that reads them:
 * the test of this file changes every key that breaks a rule and compares the steps. */

#define SPEC(name)  (point->scenario->name)
#define STRATEGY    (point->scenario->strategy)

static gboolean
transformer (const Point *point)
{
  return blocks_transformer (point->workload);
}

static gboolean
counts_samples (const Point *point)
{
  return SPEC (training).samples > 0 || isfinite (point->workload->samples_per_epoch);
}

static gboolean
accumulation_open (const Point *point)
{
  return SPEC (training).accumulation == 0;
}

static gboolean
accumulates (const Point *point)
{
  return point->input.batch.accumulation > 1;
}

static gboolean
offloads_activations (const Point *point)
{
  return SPEC (training).offload_activations > 0;
}

static gboolean
strategy_noise (const Point *point)
{
  return point->input.noise;
}

static gboolean
box_noise (const Point *point)
{
  return STRATEGY.box_noise;
}

/* Such stacks have a rank-noise of their own. */
static gboolean
own_box (const Point *point)
{
  static const char *const kinds[] = { "zero", "fsdp", NULL };

  return !g_strv_contains (kinds, point->strategy->name) || !transformer (point);
}

static gboolean
uncompressed (const Point *point)
{
  return STRATEGY.compression == COMPRESSION_NONE;
}

static gboolean
has_buffers (const Point *point)
{
  return point->workload->buffers > 0;
}

static gboolean
no_algorithm (const Point *point)
{
  return SPEC (collective).algorithm == NULL || g_str_equal (SPEC (collective).algorithm, "auto");
}

static gboolean
has_embeddings (const Point *point)
{
  for (guint i = 0; i < point->workload->n_layers; i++)
    if (point->workload->layers[i].kind == LAYER_EMBEDDING)
      return TRUE;
  return FALSE;
}

static gboolean
no_cache (const Point *point)
{
  return !STRATEGY.response_cache;
}

static gboolean
one_node (const Point *point)
{
  return cluster_nodes (point->cluster) == 1;
}

static gboolean
copies_to_host (const Point *point)
{
  return STRATEGY.offload || g_str_equal (point->strategy->name, "parameter-server");
}

static gboolean
offloads (const Point *point)
{
  return STRATEGY.offload;
}

static gboolean
stage_one_or_two (const Point *point)
{
  return STRATEGY.stage == 1 || STRATEGY.stage == 2;
}

static gboolean
stage_three (const Point *point)
{
  return STRATEGY.stage == 3;
}

static gboolean
version_one (const Point *point)
{
  return STRATEGY.version == 1;
}

static gboolean
version_two (const Point *point)
{
  return STRATEGY.version == 2;
}

static gboolean
hybrid (const Point *point)
{
  return STRATEGY.sharding == SHARDING_HYBRID || STRATEGY.sharding == SHARDING_HYBRID_GRAD_OP;
}

static gboolean
shards (const Point *point)
{
  return STRATEGY.sharding != SHARDING_NO;
}

static gboolean
wraps_by_size (const Point *point)
{
  return STRATEGY.wrap == WRAP_SIZE;
}

static gboolean
tensor_parallel (const Point *point)
{
  return STRATEGY.tensor_parallel > 1;
}

static gboolean
pipeline_parallel (const Point *point)
{
  return STRATEGY.pipeline_parallel > 1;
}

static gboolean
interleaves (const Point *point)
{
  return STRATEGY.virtual_stages > 1;
}

static gboolean
context_parallel (const Point *point)
{
  return STRATEGY.context_parallel > 1;
}

static gboolean
has_experts (const Point *point)
{
  return point->workload->dims.experts > 1;
}

/* Data-parallel ones, or parts of a context, which sum gradients too. */
static gboolean
replicas (const Point *point)
{
  return point_gpus (point) > STRATEGY.tensor_parallel * STRATEGY.pipeline_parallel;
}

static gboolean
shares_optimizer (const Point *point)
{
  return STRATEGY.distributed_optimizer != 0;
}

static const char no_offload[] = "offload-optimizer is false";
#define DATA_PARALLEL "mirrored multi-worker-mirrored ddp flat horovod replicated data-parallel parameter-server"

const UnusedRule unused_of_strategy[] = {
  { "training", "batch-per-gpu-max accumulation", NULL, unused_not_megatron, "megatron's micro-steps follow from [strategy] micro-batch" },
  { "training", "batch-per-gpu-max", NULL, accumulation_open, "accumulation is given" },
  { "training", "epochs", NULL, counts_samples, "the samples of an epoch are not known; give samples" },
  { "training", "recompute-modules attention chunked-loss", NULL, transformer, "the workload is no transformer" },
  { "training", "recompute-modules", "megatron", NULL, NULL },
  { "training", "chunked-loss", NULL, unused_not_megatron, "megatron has no loss in pieces" },
  { "training", "offload-activations offload-rate", "zero fsdp", NULL, NULL },
  { "training", "offload-activations", NULL, transformer, "the workload is no transformer" },
  { "training", "offload-rate", NULL, offloads_activations, "offload-activations is not given" },
  { "strategy", "communication", "multi-worker-mirrored", NULL, NULL },
  { "strategy", "communication", NULL, no_algorithm, "[collective] algorithm is given" },
  { "strategy", "communication", NULL, unused_several_nodes, UNUSED_ONE_NODE },
  { "strategy", "bytes-per-pack", "mirrored multi-worker-mirrored", NULL, NULL },
  { "strategy", "bucket-size first-bucket-size gradient-as-bucket-view broadcast-buffers", "ddp", NULL, NULL },
  { "strategy", "broadcast-buffers", NULL, has_buffers, "the workload has no BatchNorm, so no buffers" },
  { "strategy", "compression", DATA_PARALLEL, NULL, NULL },
  { "strategy", "gradients", DATA_PARALLEL " zero", NULL, NULL },
  { "strategy", "gradients", NULL, uncompressed, "compression is given" },
  { "strategy", "no-sync", "mirrored multi-worker-mirrored ddp flat horovod replicated parameter-server", NULL, NULL },
  { "strategy", "gradient-sync", "fsdp", NULL, NULL },
  { "strategy", "no-sync gradient-sync", NULL, accumulates, "a step is one micro-step: nothing is accumulated" },
  { "strategy", "fixed", DATA_PARALLEL " megatron", NULL, NULL },
  { "strategy", "host-sync", "single " DATA_PARALLEL " zero fsdp", NULL, NULL },
  { "strategy", "box-noise box rank-noise", NULL, strategy_noise, "[noise] gives the spread itself" },
  { "strategy", "box rank-noise", NULL, box_noise, "box-noise is false" },
  { "strategy", "box rank-noise", NULL, unused_not_megatron, "megatron's stack has its own (models/llm.csv)" },
  { "strategy", "box rank-noise", NULL, own_box, "transformers under zero and fsdp have their stack's own (models/llm.csv)" },
  { "strategy", "framework fusion-size cycle-time response-cache coordinator-time hierarchical-allreduce operations", "horovod", NULL, NULL },
  { "strategy", "coordinator-time", NULL, no_cache, "response-cache is true" },
  { "strategy", "replicated-variables rpc-efficiency rpc-overlap endpoint-rate variable-rate", "parameter-server", NULL, NULL },
  { "strategy", "replicated-variables rpc-efficiency rpc-overlap endpoint-rate", NULL, unused_several_nodes, UNUSED_ONE_NODE },
  { "strategy", "variable-rate", NULL, one_node, "variables are on servers; it is of one box" },
  { "strategy", "sparse", "ddp flat horovod replicated", NULL, NULL },
  { "strategy", "sparse", NULL, has_embeddings, "the workload has no embeddings" },
  { "strategy", "host-copy-rate", "parameter-server zero fsdp", NULL, NULL },
  { "strategy", "host-copy-rate", NULL, copies_to_host, no_offload },
  { "strategy", "offload-optimizer host-optimizer-rate", "zero fsdp", NULL, NULL },
  { "strategy", "host-optimizer-rate", NULL, offloads, no_offload },
  { "strategy", "stage overlap-comm multi-rank-allreduce reduce-bucket-size allgather-bucket-size prefetch-bucket-size "
    "persistence-threshold max-live-parameters max-reuse-distance hpz-partition-size mics-shard-size", "zero", NULL, NULL },
  { "strategy", "multi-rank-allreduce allgather-bucket-size", NULL, stage_one_or_two, "it is of stages 1 and 2" },
  { "strategy", "prefetch-bucket-size persistence-threshold max-live-parameters max-reuse-distance hpz-partition-size mics-shard-size",
    NULL, stage_three, "it is of stage 3" },
  { "strategy", "gradient-clipping", "zero fsdp", NULL, NULL },
  { "strategy", "version sharding shard-size wrap min-wrap-params backward-prefetch forward-prefetch limit-all-gathers "
    "reshard-after-forward param-dtype reduce-dtype", "fsdp", NULL, NULL },
  { "strategy", "shard-size", NULL, hybrid, "it is of hybrid sharding" },
  { "strategy", "min-wrap-params", NULL, wraps_by_size, "it is of wrap = size" },
  { "strategy", "backward-prefetch limit-all-gathers", NULL, version_one, "it is of version 1" },
  { "strategy", "reshard-after-forward", NULL, version_two, "it is of version 2" },
  { "strategy", "backward-prefetch forward-prefetch limit-all-gathers reshard-after-forward", NULL, shards,
    "sharding is no: nothing is gathered" },
  { "strategy", "tensor-parallel sequence-parallel pipeline-parallel virtual-stages schedule interleave-group micro-batch context-parallel cp-comm "
    "expert-parallel expert-tensor-parallel token-dispatcher imbalance distributed-optimizer shard-gradients free-stage-inputs "
    "overlap-grad-reduce overlap-param-gather tp-comm-overlap overlap-p2p grad-reduce-in-fp32 account-for-embedding account-for-loss "
    "last-stage-layers stage-layers stages-by-cost dropout", "megatron", NULL, NULL },
  { "strategy", "stack", "megatron zero fsdp", NULL, NULL },
  { "strategy", "sequence-parallel tp-comm-overlap", NULL, tensor_parallel, "tensor-parallel is 1" },
  { "strategy", "interleave-group overlap-p2p account-for-embedding account-for-loss stages-by-cost", NULL, pipeline_parallel, "pipeline-parallel is 1" },
  { "strategy", "interleave-group", NULL, interleaves, "virtual-stages is 1" },
  { "strategy", "cp-comm", NULL, context_parallel, "context-parallel is 1" },
  { "strategy", "expert-tensor-parallel token-dispatcher imbalance", NULL, has_experts, "the workload has no experts" },
  { "strategy", "overlap-grad-reduce overlap-param-gather", NULL, replicas, "one replica fills the GPUs: gradients are nobody else's" },
  { "strategy", "overlap-param-gather", NULL, shares_optimizer, "distributed-optimizer is no" },
  { "strategy", "communication bytes-per-pack bucket-size first-bucket-size gradient-as-bucket-view broadcast-buffers compression gradients "
    "no-sync fixed launch slowdown box-noise box rank-noise framework fusion-size cycle-time response-cache coordinator-time "
    "hierarchical-allreduce operations sparse sharding shard-size", NULL, unused_several_gpus, UNUSED_ONE_GPU },
  { NULL, NULL, NULL, NULL, NULL }
};
