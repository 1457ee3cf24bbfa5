/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/blocks.h"
#include "strategy/data-parallel.h"
#include "strategy/sparse.h"
#include <string.h>

/* CUDA context, cuDNN and cuBLAS workspaces, NCCL channels: assumed, 0.6 to 1.2 GB seen. */
static const double context_bytes = 0.8e9;

/* "80 GB" of a GPU are 80 GiB, of which the driver keeps a little: nvidia-smi
 * shows 81,559 MiB of an H100's 81,920, 40,536 of an A100's 40,960, 16,160 of a
 * V100's 16,384. */
static const double label_gb = 1024.0 * 1024 * 1024 / 1e9, driver_share = 0.985;

double
memory_reserve (void)
{
  return context_bytes;
}

static gboolean
adds_residual (const Workload *workload, guint i)
{
  return i < workload->n_layers && workload->layers[i].kind == LAYER_ELEMENTWISE && strstr (workload->layers[i].name, "add") != NULL;
}

static gboolean
drops (const StepInput *in)
{
  const int architecture = in->workload->dims.architecture;

  return architecture != ARCHITECTURE_LLAMA && architecture != ARCHITECTURE_MPT;
}

static double
kept_element (const StepInput *in, const Layer *layer)
{
  const double element = precision_activation_bytes (in->compute->precision);
  const gboolean activation = layer->kind == LAYER_ELEMENTWISE && (strstr (layer->name, "gelu") != NULL || strstr (layer->name, "swiglu") != NULL);

  if (in->compute->precision != PRECISION_FP8)
    return element;
  return layer->kind == LAYER_NORM || activation ? 1 : layer_scores (layer) > 0 ? element + 1 : element;
}

static gboolean
is_loss (const Workload *workload, guint i)
{
  return i < workload->n_layers && strstr (workload->layers[i].name, "cross_entropy") != NULL;
}

/* Bytes kept of one row of a transformer and one sample.  Over a GPT block of
 * width h and s tokens they add up to s h (34 + 5 a s/h): Korthikanti and others
 * 2022, equation 2, at two bytes a value.  A product whose output goes into a
 * residual leaves the dropout's mask, one byte, which Llama and MPT do without;
 * scores leave the softmax, its mask and what the dropout gives; logits are turned
 * to fp32.  FP8 products keep what they read in one byte (TransformerEngine
 * module/linear.py): the output of norms and activations, and of attention besides
 * what its own backward pass reads. */
static double
kept_bytes (const StepInput *in, guint i)
{
  const Layer *layer = &in->workload->layers[i];
  const double element = precision_activation_bytes (in->compute->precision);
  const gboolean scores = !blocks_flash (in) && in->training->recompute != RECOMPUTE_SELECTIVE;

  if (layer_is_softmax (layer) || strstr (layer->name, "rope") != NULL)
    return 0;
  if (in->training->chunked_loss && (is_loss (in->workload, i) || is_loss (in->workload, i + 1)))
    return 0;   /* Hsu and others 2024 (Liger): neither logits nor their gradient are ever whole */
  if (is_loss (in->workload, i))
    return 4 * layer->out_elems;
  if (layer->kind == LAYER_GEMM && adds_residual (in->workload, i + 1))
    return drops (in) ? layer->out_elems : 0;
  return kept_element (in, layer) * layer->out_elems + (scores ? (2 * element + 1) * layer_scores (layer) : 0);
}

/* Values kept for the backward pass: what a layer writes, except where it writes
 * in place (ReLU in convolutional networks keeps its output only, which is the
 * next layer's input and counted there as the norm's). */
static double
plain_bytes (const StepInput *in, guint i)
{
  const Layer *layer = &in->workload->layers[i];
  const gboolean in_place = layer->kind == LAYER_ELEMENTWISE && strstr (layer->name, "relu") != NULL;

  return in_place ? 0 : layer->out_elems * precision_activation_bytes (in->compute->precision);
}

guint64
memory_offloaded (const StepInput *in)
{
  const char *kind = in->spec->kind;

  return kind != NULL && (g_str_equal (kind, "fsdp") || g_str_equal (kind, "zero")) ? in->training->offload_activations : 0;
}

double
memory_offloaded_bytes (const StepInput *in)
{
  TrainingSpec training = *in->training;
  StepInput here = *in;

  training.offload_activations = 0;
  here.training = &training;
  return memory_activations (&here) - memory_activations (in);
}

/* A block that is computed again keeps its input, by op what is not computed
 * again, and the one at work everything. */
static double
transformer_bytes (const StepInput *in)
{
  const Workload *workload = in->workload;
  g_autofree guint *blocks = blocks_find (workload);
  const int recompute = in->training->recompute;
  const gboolean again = recompute == RECOMPUTE_FULL || recompute == RECOMPUTE_PER_OP;
  double bytes = 0, block = 0, largest = 0;
  guint64 away = memory_offloaded (in);

  for (guint i = 0; i < workload->n_layers; i++)
    {
      const double kept = kept_bytes (in, i);

      if (away > 0 && blocks[i] != NO_BLOCK)   /* on the host but for the block at work */
        {
          block = blocks[i] == i ? kept : block + kept;
          largest = MAX (largest, block);
          away -= i + 1 < workload->n_layers && blocks[i + 1] != blocks[i] ? 1 : 0;
          continue;
        }

      if (!again || blocks[i] == NO_BLOCK)
        {
          bytes += kept;
          continue;
        }
      if (!blocks_recomputed (in, blocks, i))
        bytes += precision_activation_bytes (in->compute->precision) * workload->layers[i].out_elems;
      block = blocks[i] == i ? kept : block + kept;
      largest = MAX (largest, block);
      if (i + 1 == workload->n_layers || blocks[i + 1] != blocks[i])
        bytes += precision_activation_bytes (in->compute->precision) * workload->layers[i].out_elems;
    }
  return bytes + largest;
}

double
memory_activations (const StepInput *in)
{
  const double batch = (double) in->batch.per_gpu;
  double bytes = 0;

  if (blocks_transformer (in->workload))
    return batch * transformer_bytes (in);
  for (guint i = 0; i < in->workload->n_layers; i++)
    bytes += plain_bytes (in, i);
  return batch * bytes;
}

/* What gradients add to the fullest moment.  Optimizers drop them before the next
 * forward pass (zero_grad (set_to_none = True) of torch 2.0 on and of apex's fused
 * ones; temporary tensors in TensorFlow), so that they come as activations go,
 * layer by layer.  Sums over micro-steps lie there from the first on. */
static gboolean
gradients_stay (const StepInput *in)
{
  return in->batch.accumulation > 1 || in->training->recompute != RECOMPUTE_NONE;
}

static double
gradients_at_peak (const StepInput *in, double element)
{
  const Workload *workload = in->workload;
  const gboolean transformer = blocks_transformer (workload);
  double balance = 0, most = 0;

  if (gradients_stay (in))
    return (workload->params - sparse_owned_params (in)) * element;
  for (guint i = workload->n_layers; i-- > 0;)
    {
      balance += sparse_owned (in, &workload->layers[i]) ? 0 : element * workload->layers[i].params;
      most = MAX (most, balance);
      balance -= (double) in->batch.per_gpu * (transformer ? kept_bytes (in, i) : plain_bytes (in, i));
    }
  return most;
}

void
memory_sum (const StepInput *in, MemoryUse *out)
{
  out->capacity = cluster_gpu (in->cluster)->memory * label_gb * driver_share;
  out->total = out->weights + out->gradients + out->optimizer + out->activations + out->buffers;
  out->margin = out->capacity - out->total;
  out->fits = out->total <= out->capacity;
}

void
memory_settle (const StepInput *in, MemoryUse *out)
{
  out->buffers += context_bytes;
  memory_sum (in, out);
}

/* Mixed precision keeps fp32 weights and a two-byte copy of them. */
static double
weight_bytes (Precision precision)
{
  switch (precision)
    {
    case PRECISION_FP16:
    case PRECISION_BF16:
      return 2;
    case PRECISION_MIXED_FP16:
    case PRECISION_MIXED_BF16:
    case PRECISION_FP8:
      return 6;
    default:
      return 4;
    }
}

double
strategy_state_bytes (const StepInput *in)
{
  return in->workload->params * (weight_bytes (in->compute->precision) + software_optimizer_state (in->training->optimizer));
}

void
data_parallel_memory (const StepInput *in, double group_bytes, MemoryUse *out)
{
  const double owned = sparse_owned_params (in), ranks = (double) (cluster_nodes (in->cluster) * cluster_gpus_per_node (in->cluster));
  const double params = in->workload->params - owned, tables = owned / ranks;   /* tables: fp32, changed in place */
  const Precision precision = in->compute->precision;

  *out = (MemoryUse) {
    .weights = params * weight_bytes (precision) + 4 * tables,
    .gradients = gradients_at_peak (in, precision == PRECISION_FP16 || precision == PRECISION_BF16 ? 2 : 4),
    .optimizer = (params + tables) * software_optimizer_state (in->training->optimizer),
    .activations = memory_activations (in),
    .buffers = group_bytes,
    .note = gradients_stay (in) ? NULL : "Gradients come as activations go: only what they add at the fullest moment is counted.",
  };
  memory_settle (in, out);
}
