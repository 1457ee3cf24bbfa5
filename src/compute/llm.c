/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/llm.h"

#include <math.h>

static gboolean
is_half (Precision precision)
{
  return precision != PRECISION_FP32 && precision != PRECISION_TF32;
}

gboolean
llm_init (LlmModel *model, const ComputeModel *compute, int stack, GError **error)
{
  const Gpu *gpu = compute->gpu;
  const gboolean half = is_half (compute->precision), fp8 = compute->precision == PRECISION_FP8;
  /* fp16 and bf16 run alike; bf16 has the tables with most rows */
  const char *dtype = half ? "bf16" : compute->precision == PRECISION_TF32 ? "tf32" : "fp32";
  const GPtrArray *parts = detailed_parts (error);

  *model = (LlmModel) { .ideal = compute->ideal, .fp8 = fp8, .element = precision_activation_bytes (compute->precision) };
  if (parts == NULL || !llm_constants (model, stack, gpu->generation, compute->without, error))
    return FALSE;
  if (compute->efficiency_origin.kind == ORIGIN_USER)
    {
      model->value[LLM_EFFICIENCY] = compute->efficiency;
      model->origin[LLM_EFFICIENCY] = compute->efficiency_origin;
    }
  model->device = kernel_device (gpu, kernel_precision (dtype));
  model->device.peak = compute->peak_tensor * (fp8 ? model->value[LLM_FP8] : 1);
  model->device.bandwidth = compute->bandwidth;
  model->half = model->device;
  if (fp8 && !isnan (gpu->peak[PRECISION_BF16]))
    model->half.peak = compute->peak_tensor / gpu->peak[PRECISION_FP8] * gpu->peak[PRECISION_BF16];
  kernel_choose_for (parts, gpu, "gemm", dtype, &kernel_gemm, &model->matrix);
  kernel_choose_for (parts, gpu, "attention-causal", half ? "bf16" : dtype, &kernel_attention, &model->attention);
  return TRUE;
}

static double
gemm_on (const LlmModel *model, const KernelDevice *device, double m, double n, double k, double batch)
{
  KernelShape shape;

  if (model->ideal)
    return 0;
  kernel_shape_gemm (&shape, m, n, k, batch, model->element, model->element);
  shape.working_set = INFINITY;
  return kernel_predict (&model->matrix, device, &shape, NULL) / model->value[LLM_EFFICIENCY];
}

double
llm_gemm (const LlmModel *model, double m, double n, double k, double batch)
{
  return gemm_on (model, &model->device, m, n, k, batch);
}

double
llm_head (const LlmModel *model, double m, double n, double k)
{
  return gemm_on (model, model->value[LLM_FP8_HEAD] > 0 ? &model->device : &model->half, m, n, k, 1);
}

double
llm_cast (const LlmModel *model, double elements)
{
  return model->fp8 && model->value[LLM_CAST_BYTES] > 0 ? llm_stream (model, LLM_ADD, model->value[LLM_CAST_BYTES] * elements) : 0;
}

double
llm_stream (const LlmModel *model, LlmConstant share, double bytes)
{
  if (model->ideal)
    return 0;
  return (model->value[LLM_FLOOR] + bytes / (model->value[share] * model->device.bandwidth)) / model->value[LLM_EFFICIENCY];
}

double
llm_attention (const LlmModel *model, double batch, double seq, double heads, double kv_heads, double head_dim, double part)
{
  KernelShape shape;

  if (model->ideal)
    return 0;
  kernel_shape_attention (&shape, batch, seq, heads, kv_heads, head_dim, TRUE, model->element);
  return kernel_predict (&model->attention, &model->half, &shape, NULL) * part / model->value[LLM_FLASH_EFFICIENCY];
}
