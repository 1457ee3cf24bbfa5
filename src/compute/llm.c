/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/llm.h"

#include <math.h>

#include "base/csv.h"

const char *const llm_constant_names[] = {
  "efficiency", "flash-efficiency", "flash-attention", "flash-backward", "dropout", "async-backward", "tp-overlap",
  "slices", "accumulate-bytes", "add-share", "norm-share", "activation-share", "kernel-floor", "fp8-share", "fp8-cast-bytes", "fp8-head", "loss-bytes",
  "optimizer-extra", "host-forward", "host-backward", "host-recompute", "host-checkpoint", "host-collective",
  "host-micro-batch", "overlap-slowdown", "rank-noise",
  "fixed", "reserve", NULL
};
const char *const llm_stacks[] = { "auto", "megatron-2021", "megatron-2022", "megatron-core-2023", "megatron-core-2025",
                                   "llm-foundry-2023", "torchtitan-2024", "nanotron-2024", NULL };

#define ANY "any"
enum { NAME, STACK, GENERATION, VALUE, LOW, HIGH, KIND, ORIGIN, N_COLUMNS };
static const char *const columns[N_COLUMNS] = { "name", "stack", "generation", "value", "low", "high", "kind", "origin" };

typedef struct
{
  const CsvTable *table;
  guint           column[N_COLUMNS];
} Table;

static gboolean
cell_is (const Table *t, guint row, guint column, const char *text)
{
  return g_str_equal (csv_text (t->table, row, t->column[column]), text);
}

/* The narrowest row: stack and generation, stack, generation, any. */
static gboolean
find_row (const Table *t, const char *name, const char *stack, const char *generation, guint *out)
{
  const char *const keys[4][2] = { { stack, generation }, { stack, ANY }, { ANY, generation }, { ANY, ANY } };

  for (guint level = 0; level < 4; level++)
    for (guint row = 0; row < csv_rows (t->table); row++)
      if (cell_is (t, row, NAME, name) && cell_is (t, row, STACK, keys[level][0]) && cell_is (t, row, GENERATION, keys[level][1]))
        {
          *out = row;
          return TRUE;
        }
  return FALSE;
}

static OriginKind
kind_of (const char *word)
{
  return g_str_equal (word, "measured") ? ORIGIN_MEASURED : g_str_equal (word, "derived") ? ORIGIN_DERIVED : ORIGIN_ASSUMED;
}

static gboolean
read_constant (LlmModel *model, const Table *t, LlmConstant i, const char *stack, const char *generation, GError **error)
{
  guint row;

  if (!find_row (t, llm_constant_names[i], stack, generation, &row))
    {
      g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "%s: no row '%s' for any stack and generation", csv_name (t->table),
                   llm_constant_names[i]);
      return FALSE;
    }
  g_autofree char *text = g_strdup_printf ("models/llm.csv: %s, %s: %s", csv_text (t->table, row, t->column[STACK]),
                                           csv_text (t->table, row, t->column[GENERATION]), csv_text (t->table, row, t->column[ORIGIN]));
  model->origin[i] = (Origin) { kind_of (csv_text (t->table, row, t->column[KIND])), g_intern_string (text) };
  return csv_number (t->table, row, t->column[VALUE], &model->value[i], error)
         && csv_number (t->table, row, t->column[LOW], &model->low[i], error)
         && csv_number (t->table, row, t->column[HIGH], &model->high[i], error);
}

static gboolean
read_constants (LlmModel *model, const char *stack, const char *generation, GError **error)
{
  g_autofree char *path = g_build_filename (part_folder (), "llm.csv", NULL);
  g_autoptr (CsvTable) table = csv_load (path, error);
  Table t = { .table = table };

  if (table == NULL)
    return FALSE;
  for (guint i = 0; i < N_COLUMNS; i++)
    if (!csv_require (table, columns[i], &t.column[i], error))
      return FALSE;
  for (guint i = 0; i < N_LLM; i++)
    if (!read_constant (model, &t, (LlmConstant) i, stack, generation, error))
      return FALSE;
  return TRUE;
}

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
  if (parts == NULL || !read_constants (model, stack == 0 ? ANY : llm_stacks[stack], gpu->generation, error))
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
  kernel_choose (parts, gpu->name, "gemm", dtype, NULL, &kernel_gemm, NULL, NULL, &model->matrix);
  kernel_choose (parts, gpu->name, "attention-causal", half ? "bf16" : dtype, NULL, &kernel_attention, NULL, NULL, &model->attention);
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
