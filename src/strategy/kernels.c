/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/data-parallel.h"
#include "strategy/blocks.h"
#include "strategy/packed.h"
#include "strategy/sparse.h"
#include <math.h>

/* FLOP of a flash attention's backward pass are 2.5 times the forward's (Dao 2023,
 * section 3.1: scores are computed again), at 0.8 of its rate. */
static const double flash_backward = 2.5 / 0.8;

static const KernelClass kernel_classes[] = {
  [LAYER_CONV] = KERNEL_CONV, [LAYER_GEMM] = KERNEL_GEMM, [LAYER_ATTENTION] = KERNEL_ATTENTION,
  [LAYER_SOFTMAX] = KERNEL_SOFTMAX, [LAYER_NORM] = KERNEL_NORM, [LAYER_ELEMENTWISE] = KERNEL_ELEMENTWISE,
  [LAYER_POOL] = KERNEL_POOL, [LAYER_EMBEDDING] = KERNEL_EMBEDDING, [LAYER_RECURRENT] = KERNEL_GEMM, [LAYER_OTHER] = KERNEL_ELEMENTWISE,
};

/* An LSTM's time steps wait for each other: each is a product of its own, which
 * reads the recurrent weights (width x gates, a quarter of them the width) again. */
static double
recurrent_seconds (const StepInput *in, const Layer *layer, const KernelWork *whole)
{
  const double steps = layer->m, recurrent = layer->n * layer->n / 4;
  KernelWork step = *whole;

  step.flop /= steps;
  step.m /= steps;
  step.bytes = (whole->bytes - 4 * recurrent) / steps + precision_activation_bytes (in->compute->precision) * recurrent;
  return steps * compute_seconds (in->compute, &step);
}

/* A layer's kernel over so many rows of a sequence each, and so much of its FLOP. */
static double
row_seconds (const StepInput *in, const Layer *layer, double rows, double work)
{
  const double scores = blocks_flash (in) ? layer_scores (layer) : 0;
  const KernelWork kernel = {
    .kind = layer->depthwise ? KERNEL_DEPTHWISE : kernel_classes[layer->kind],
    .flop = layer->flop * work,
    .bytes = (layer->bytes_fp32 / 4 - 2 * scores) * precision_activation_bytes (in->compute->precision) * rows + (sparse_owned (in, layer) ? 0 : 4 * layer->params),
    .winograd = layer->winograd,
    .m = layer->m * rows, .n = layer->n, .k = layer->k,
  };

  return layer->kind == LAYER_RECURRENT ? recurrent_seconds (in, layer, &kernel) : compute_seconds (in->compute, &kernel);
}

double *
data_parallel_forward (const StepInput *in)
{
  double *seconds = g_new (double, in->workload->n_layers);
  const double batch = (double) in->batch.per_gpu;
  const gboolean fused = blocks_flash (in) && blocks_transformer (in->workload);

  for (guint i = 0; i < in->workload->n_layers; i++)
    {
      const Layer *layer = &in->workload->layers[i];
      const double tables = sparse_tables (in, i);   /* of this row's kind on a GPU, each for all samples */
      const double share = sparse_share (in, i) / tables, rows = share * (packed_row (in, layer) ? batch * packed_tokens (in) : batch);

      seconds[i] = fused && layer_is_softmax (layer) ? 0 : tables * row_seconds (in, layer, rows, share * batch * packed_work (in, layer));
    }
  sparse_pace (in, seconds);
  return seconds;
}

double
data_parallel_whole (const StepInput *in, const double *forward)
{
  const double batch = (double) in->batch.per_gpu;

  for (guint i = 0; i < in->workload->n_layers; i++)
    if (layer_scores (&in->workload->layers[i]) > 0 && forward[i] > 0)
      return row_seconds (in, &in->workload->layers[i], batch, batch) / forward[i];
  return 1;
}

/* By input and by weight: two kernels of a forward one's work. */
double *
data_parallel_backward (const StepInput *in, const double *forward)
{
  g_autofree guint *blocks = blocks_find (in->workload);
  double *seconds = g_new (double, MAX (in->workload->n_layers, 1));
  const gboolean flash = blocks_flash (in);

  for (guint i = 0; i < in->workload->n_layers; i++)
    {
      const Layer *layer = &in->workload->layers[i];

      seconds[i] = (flash && layer_scores (layer) > 0 ? flash_backward : 2) * forward[i];
      if (blocks_recomputed (in, blocks, i))
        seconds[i] += forward[i];
    }
  return seconds;
}

double *
data_parallel_ready (const StepInput *in, const DataParallel *policy)
{
  const HostCosts *host = software_host (in, in->spec->host == HOST_AUTO ? policy->host : in->spec->host);
  const guint64 ranks = cluster_nodes (in->cluster) * cluster_gpus_per_node (in->cluster);
  const double noise = in->noise && in->spec->box_noise ? software_box (in->spec, ranks) : 1;
  const double issue = policy->one_process ? (double) cluster_gpus_per_node (in->cluster) : 1;
  g_autofree double *forward = data_parallel_forward (in);
  double *seconds = data_parallel_backward (in, forward), ready = 0;

  for (guint i = in->workload->n_layers; i-- > 0;)
    {
      ready += fmax (seconds[i] * noise, 2 * host->operator_s * issue);
      seconds[i] = ready;
    }
  return seconds;
}
