/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/data-parallel.h"
#include <string.h>

/* CUDA context, cuDNN and cuBLAS workspaces, NCCL channels: assumed, 0.6 to 1.2 GB seen. */
static const double context_bytes = 0.8e9;

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
    .activations = kept_elements (in->workload) * precision_activation_bytes (precision) * (double) in->batch.per_gpu,
    .buffers = group_bytes + context_bytes,
    .capacity = cluster_gpu (in->cluster)->memory,
  };
  out->total = out->weights + out->gradients + out->optimizer + out->activations + out->buffers;
  out->fits = out->total <= out->capacity;
}
