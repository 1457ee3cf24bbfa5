/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/gpu.h"

#include <math.h>
#include <string.h>

/* The keys of one part, as they stand in the file. */
typedef struct
{
  char   *name, *aliases, *generation, *kernels_of;
  double  fp32, tf32, fp16_tensor, bf16_tensor, fp8;
  double  memory, memory_bandwidth, nvlink, pcie, l2;
  guint64 nvlink_links, sms;
  double  kernels_rate, issue_share;
} GpuPart;

#define FIELD(field) offsetof (GpuPart, field)
const Key gpu_keys[] = {
  { .name = "name", .type = KEY_STRING, .offset = FIELD (name), .required = TRUE,
    .help = "Name as tables write it." },
  { .name = "aliases", .type = KEY_STRING, .offset = FIELD (aliases),
    .help = "Other names, separated by commas." },
  { .name = "generation", .type = KEY_STRING, .offset = FIELD (generation), .required = TRUE,
    .help = "Architecture: Volta, Ampere, ..." },
  { .name = "fp32", .type = KEY_QUANTITY, .unit = UNIT_FLOP_RATE, .offset = FIELD (fp32),
    .help = "Peak rate of fp32 without tensor cores." },
  { .name = "tf32", .type = KEY_QUANTITY, .unit = UNIT_FLOP_RATE, .offset = FIELD (tf32),
    .help = "Dense peak rate of TF32 tensor cores." },
  { .name = "fp16-tensor", .type = KEY_QUANTITY, .unit = UNIT_FLOP_RATE, .offset = FIELD (fp16_tensor),
    .help = "Dense peak rate of fp16, tensor cores where there are any." },
  { .name = "bf16-tensor", .type = KEY_QUANTITY, .unit = UNIT_FLOP_RATE, .offset = FIELD (bf16_tensor),
    .help = "Dense peak rate of bf16 tensor cores." },
  { .name = "fp8", .type = KEY_QUANTITY, .unit = UNIT_FLOP_RATE, .offset = FIELD (fp8),
    .help = "Dense peak rate of fp8 tensor cores." },
  { .name = "memory", .type = KEY_QUANTITY, .unit = UNIT_BYTES, .offset = FIELD (memory), .required = TRUE,
    .help = "Memory of the GPU." },
  { .name = "memory-bandwidth", .type = KEY_QUANTITY, .unit = UNIT_RATE, .offset = FIELD (memory_bandwidth),
    .required = TRUE, .help = "Peak bandwidth of the memory." },
  { .name = "nvlink", .type = KEY_QUANTITY, .unit = UNIT_RATE, .offset = FIELD (nvlink),
    .help = "Bandwidth of all its NVLinks (or the maker's own links) together, one way." },
  { .name = "nvlink-links", .type = KEY_COUNT, .offset = FIELD (nvlink_links),
    .help = "Number of its NVLinks." },
  { .name = "pcie", .type = KEY_QUANTITY, .unit = UNIT_RATE, .offset = FIELD (pcie),
    .help = "Nominal bandwidth of its PCIe slot, one way." },
  { .name = "l2", .type = KEY_QUANTITY, .unit = UNIT_BYTES, .offset = FIELD (l2),
    .help = "Last-level cache." },
  { .name = "sms", .type = KEY_COUNT, .offset = FIELD (sms),
    .help = "Multiprocessors (compute units)." },
  { .name = "kernels-of", .type = KEY_STRING, .offset = FIELD (kernels_of),
    .help = "GPU with the same multiprocessors whose measured kernels (models/kernel) stand for its own, at its own peaks." },
  { .name = "kernels-rate", .type = KEY_NUMBER, .offset = FIELD (kernels_rate), .default_text = "1", .min = 0.1, .max = 10,
    .help = "Factor on the share of the peak that those reach." },
  { .name = "issue-share", .type = KEY_NUMBER, .offset = FIELD (issue_share), .default_text = "1", .min = 0.1, .max = 1,
    .help = "Share of the fp32 peak that is left where instructions do not pair (Kepler: 128 of 192 lanes)." },
  { .name = NULL },
};
#undef FIELD

static const KeyGroup gpu_groups[] = {
  { "gpu", "A GPU as its maker specifies it.", gpu_keys, sizeof (GpuPart) },
  { "origin", "Where each figure comes from.", NULL, 0 },
  { NULL, NULL, NULL, 0 },
};

/* A mixed precision's matrix kernels run at the half format's peak.  Without a
 * half rate of its own (before Volta, mostly) the math is fp32. */
static void
set_peaks (Gpu *gpu, const GpuPart *part)
{
  gpu->peak[PRECISION_FP32] = part->fp32;
  gpu->peak[PRECISION_TF32] = part->tf32;
  gpu->peak[PRECISION_FP16] = part->fp16_tensor;
  gpu->peak[PRECISION_BF16] = part->bf16_tensor;
  gpu->peak[PRECISION_FP8] = part->fp8;
  gpu->peak[PRECISION_MIXED_BF16] = part->bf16_tensor;
  gpu->peak[PRECISION_MIXED_FP16] = isnan (part->fp16_tensor) ? part->fp32 : part->fp16_tensor;
}

static gboolean
set_origins (Gpu *gpu, GError **error)
{
  if (!origin_read (gpu->part, "default", &gpu->origin, error))
    return FALSE;
  for (guint i = 0; i < N_PRECISIONS; i++)
    {
      if (!origin_read (gpu->part, precision_names[i], &gpu->peak_origin[i], error))
        return FALSE;
    }
  return TRUE;
}

static Gpu *
gpu_from_part (KeyFile *file, GError **error)
{
  g_autoptr (Gpu) gpu = g_new0 (Gpu, 1);
  GpuPart part = { 0 };

  gpu->part = file;
  if (!key_file_check (file, gpu_groups, error) || !key_file_read (file, &gpu_groups[0], &part, error))
    return NULL;
  gpu->name = g_steal_pointer (&part.name);
  gpu->generation = g_steal_pointer (&part.generation);
  set_peaks (gpu, &part);
  gpu->memory = part.memory;
  gpu->memory_bandwidth = part.memory_bandwidth;
  gpu->nvlink = isnan (part.nvlink) ? 0.0 : part.nvlink;
  gpu->nvlink_links = part.nvlink_links;
  gpu->pcie = part.pcie;
  gpu->l2 = part.l2;
  gpu->sms = part.sms;
  gpu->kernels_of = g_steal_pointer (&part.kernels_of);
  gpu->kernels_rate = part.kernels_rate;
  gpu->issue_share = part.issue_share;
  keys_clear (gpu_keys, &part);
  if (!set_origins (gpu, error))
    return NULL;
  return g_steal_pointer (&gpu);
}

Gpu *
gpu_load (const char *name, GError **error)
{
  g_autofree char *path = part_find ("gpu", name, error);

  if (path == NULL)
    return NULL;
  KeyFile *file = key_file_load (path, error);
  return file != NULL ? gpu_from_part (file, error) : NULL;
}

void
gpu_free (Gpu *gpu)
{
  if (gpu == NULL)
    return;
  g_free (gpu->name);
  g_free (gpu->generation);
  g_free (gpu->kernels_of);
  key_file_free (gpu->part);
  g_free (gpu);
}

/* What comes nearest to each precision, best first; ends at fp32. */
static const Precision substitutes[N_PRECISIONS][4] = {
  [PRECISION_FP32] = { PRECISION_MIXED_BF16, PRECISION_MIXED_FP16, PRECISION_TF32, PRECISION_FP32 },
  [PRECISION_TF32] = { PRECISION_FP32 },
  [PRECISION_MIXED_FP16] = { PRECISION_MIXED_BF16, PRECISION_FP32 },
  [PRECISION_MIXED_BF16] = { PRECISION_MIXED_FP16, PRECISION_FP32 },
  [PRECISION_FP16] = { PRECISION_BF16, PRECISION_MIXED_FP16, PRECISION_FP32 },
  [PRECISION_BF16] = { PRECISION_FP16, PRECISION_MIXED_FP16, PRECISION_FP32 },
  [PRECISION_FP8] = { PRECISION_MIXED_BF16, PRECISION_MIXED_FP16, PRECISION_FP32 },
};

gboolean
gpu_require (const Gpu *gpu, Precision precision, GError **error)
{
  const Precision *near = substitutes[precision];
  g_autoptr (GString) has = g_string_new (NULL);

  if (!isnan (gpu->peak[precision]))
    return TRUE;
  while (isnan (gpu->peak[*near]) && *near != PRECISION_FP32)
    near++;
  for (guint i = 0; i < N_PRECISIONS; i++)
    {
      if (!isnan (gpu->peak[i]))
        g_string_append_printf (has, "%s%s", has->len > 0 ? ", " : "", precision_names[i]);
    }
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
               "[workload] precision: %s (%s) has no %s rate; %s would do (it has %s)", gpu->name,
               gpu->generation, precision_names[precision], precision_names[*near], has->str);
  return FALSE;
}
