/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/detailed.h"

#include <math.h>

/* The product whose rate stands for "large": 8192 cubed, as benchmarks of cards
 * do it. */
#define LARGE 8192.0

/* How a table of kernels writes the precision that a scenario names. */
static const char *const dtypes[N_PRECISIONS] = {
  [PRECISION_FP32] = "fp32", [PRECISION_TF32] = "tf32", [PRECISION_MIXED_FP16] = "fp16", [PRECISION_MIXED_BF16] = "bf16",
  [PRECISION_FP16] = "fp16", [PRECISION_BF16] = "bf16", [PRECISION_FP8] = "fp8",
};

const GPtrArray *
detailed_parts (GError **error)
{
  static GMutex lock;
  static GPtrArray *parts;

  g_mutex_lock (&lock);
  if (parts == NULL)
    parts = kernel_parts_load (error);
  g_mutex_unlock (&lock);
  return parts;
}

static void
rescue (KernelChoice *choice, const KernelDevice *device, const KernelPrecision *precision, double large_rate)
{
  KernelShape large;

  kernel_shape_gemm (&large, LARGE, LARGE, LARGE, 1, precision->in_bytes, precision->out_bytes);
  if (large_rate > 0)
    choice->rescue *= large_rate * kernel_predict (choice, device, &large, NULL) / large.flop;
}

gboolean
detailed_init (DetailedModel *model, const Gpu *gpu, Precision precision, double large_rate, GError **error)
{
  const GPtrArray *parts = detailed_parts (error);
  const char *dtype = dtypes[precision];
  const KernelPrecision *kernels = kernel_precision (dtype);
  const struct { KernelChoice *choice; const char *family; const KernelForm *form; } wanted[] = {
    { &model->matrix, "gemm", &kernel_gemm }, { &model->conv, "conv-fwd", &kernel_gemm }, { &model->element, "add", &kernel_stream },
    { &model->norm, "layernorm", &kernel_stream }, { &model->softmax, "softmax", &kernel_stream },
  };

  if (parts == NULL)
    return FALSE;
  model->device = kernel_device (gpu, kernels);
  model->device.peak = gpu->peak[precision];
  for (gsize i = 0; i < G_N_ELEMENTS (wanted); i++)
    kernel_choose_for (parts, gpu, wanted[i].family, dtype, wanted[i].form, wanted[i].choice);
  rescue (&model->matrix, &model->device, kernels, large_rate);
  model->conv.rescue = model->matrix.rescue;
  return TRUE;
}

double
detailed_matrix (const DetailedModel *model, gboolean conv, const KernelShape *shape)
{
  return kernel_predict (conv ? &model->conv : &model->matrix, &model->device, shape, NULL);
}

double
detailed_stream (const DetailedModel *model, const KernelChoice *choice, double bytes)
{
  const KernelShape shape = { .bytes = bytes, .working_set = INFINITY };

  return kernel_predict (choice, &model->device, &shape, NULL);
}
