/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/blocks.h"
#include "strategy/data-parallel.h"
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

/* Values kept for the backward pass: what each layer writes, except where it
 * writes in place (ReLU in convolutional networks keeps its output only, which
 * is the next layer's input and counted there as the norm's). */
static double
kept_elements (const Workload *workload)
{
  double elements = 0;

  for (guint i = 0; i < workload->n_layers; i++)
    {
      const Layer *layer = &workload->layers[i];

      if (layer->kind != LAYER_ELEMENTWISE || strstr (layer->name, "relu") == NULL)
        elements += layer->out_elems;
    }
  return elements;
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

/* Bytes kept of one row of a transformer and one sample.  Over a GPT block of
 * width h and s tokens they add up to s h (34 + 5 a s/h): Korthikanti and others
 * 2022, equation 2, at two bytes a value.  A product whose output goes into a
 * residual leaves the dropout's mask, one byte, which Llama and MPT do without;
 * scores leave the softmax, its mask and what the dropout gives; logits are turned
 * to fp32. */
static double
kept_bytes (const StepInput *in, guint i)
{
  const Layer *layer = &in->workload->layers[i];
  const double element = precision_activation_bytes (in->compute->precision);
  const gboolean scores = !blocks_flash (in) && in->training->recompute != RECOMPUTE_SELECTIVE;

  if (blocks_softmax (layer) || strstr (layer->name, "rope") != NULL)
    return 0;
  if (strstr (layer->name, "cross_entropy") != NULL)
    return 4 * layer->out_elems;
  if (layer->kind == LAYER_GEMM && adds_residual (in->workload, i + 1))
    return drops (in) ? layer->out_elems : 0;
  return element * layer->out_elems + (scores ? (2 * element + 1) * blocks_scores (layer) : 0);
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

  for (guint i = 0; i < workload->n_layers; i++)
    {
      const double kept = kept_bytes (in, i);

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

  return batch * (blocks_transformer (in->workload) ? transformer_bytes (in)
                  : kept_elements (in->workload) * precision_activation_bytes (in->compute->precision));
}

void
memory_settle (const StepInput *in, MemoryUse *out)
{
  out->buffers += context_bytes;
  out->capacity = cluster_gpu (in->cluster)->memory * label_gb * driver_share;
  out->total = out->weights + out->gradients + out->optimizer + out->activations + out->buffers;
  out->margin = out->capacity - out->total;
  out->fits = out->total <= out->capacity;
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

void
data_parallel_memory (const StepInput *in, double group_bytes, MemoryUse *out)
{
  const double params = in->workload->params;
  const Precision precision = in->compute->precision;

  *out = (MemoryUse) {
    .weights = params * weight_bytes (precision),
    .gradients = params * (precision == PRECISION_FP16 || precision == PRECISION_BF16 ? 2 : 4),
    .optimizer = params * software_optimizer_state (in->training->optimizer),
    .activations = memory_activations (in),
    .buffers = group_bytes,
  };
  memory_settle (in, out);
}
