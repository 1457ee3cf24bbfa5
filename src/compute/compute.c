/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/compute.h"

#include <math.h>
#include <string.h>

#include "compute/efficiency.h"

static const char *const models[] = { "roofline", "ideal", "detailed", NULL };

/* The shape of the roofline was chosen once and the efficiencies of
 * models/efficiency.csv were fitted over it: change one and the other no longer
 * holds.  A norm, not a maximum: near the ridge compute and memory do not overlap
 * perfectly, and max() over-predicts the rate of GEMM tables by 3 to 12 % in sums. */
const Key compute_keys[] = {
  { .name = "model", .type = KEY_CHOICE, .offset = offsetof (ComputeSpec, model), .choices = models,
    .default_text = "roofline",
    .help = "How a kernel's time is found; detailed: by its shape, from models/kernel; ideal: no kernel takes time." },
  { .name = "tuning", .type = KEY_STRING, .offset = offsetof (ComputeSpec, tuning), .default_text = "auto",
    .help = "How the software is tuned, a key of models/efficiency.csv: plain, graph, fused, nhwc, xla or mlperf; auto: graph with TensorFlow, else plain." },
  { .name = "efficiency", .type = KEY_QUANTITY, .unit = UNIT_SHARE, .offset = offsetof (ComputeSpec, efficiency),
    .min = 0.001, .max = 100,
    .help = "Divides every kernel's time; may exceed 1 (default: from models/efficiency.csv)." },
  { .name = "compute-efficiency", .type = KEY_QUANTITY, .unit = UNIT_SHARE,
    .offset = offsetof (ComputeSpec, compute_efficiency), .default_text = "0.75", .min = 0.001, .max = 1,
    .help = "Share of the peak FLOP rate that a large kernel reaches." },
  { .name = "memory-efficiency", .type = KEY_QUANTITY, .unit = UNIT_SHARE,
    .offset = offsetof (ComputeSpec, memory_efficiency), .default_text = "0.80", .min = 0.001, .max = 1,
    .help = "Share of the peak memory bandwidth that a large kernel reaches." },
  { .name = "norm", .type = KEY_NUMBER, .offset = offsetof (ComputeSpec, norm), .default_text = "1.5",
    .min = 1, .max = 16,
    .help = "Norm of a kernel's compute and memory time: 1 adds them, a large one takes the longer." },
  { .name = "kernel-floor", .type = KEY_QUANTITY, .unit = UNIT_TIME,
    .offset = offsetof (ComputeSpec, kernel_floor), .default_text = "3 us", .min = 1e-9, .max = 1,
    .help = "Time on the GPU of a kernel with next to no work." },
  { .name = "winograd", .type = KEY_QUANTITY, .unit = UNIT_SHARE, .offset = offsetof (ComputeSpec, winograd),
    .default_text = "0.45", .min = 0.1, .max = 1,
    .help = "Share of the direct FLOP that a 3x3 stride-1 ungrouped convolution runs in fp32." },
  { .name = "depthwise", .type = KEY_QUANTITY, .unit = UNIT_SHARE, .offset = offsetof (ComputeSpec, depthwise),
    .default_text = "0.03", .min = 1e-3, .max = 1,
    .help = "Share of the fp32 peak that a depthwise convolution reaches in fp32 and TF32, whose kernels are the framework's own." },
  { .name = "large-gemm-rate", .type = KEY_QUANTITY, .unit = UNIT_FLOP_RATE,
    .offset = offsetof (ComputeSpec, large_gemm_rate),
    .help = "Rate of a matrix product of 8192 cubed, measured: detailed rescales its fits to it." },
  { .name = "without-source", .type = KEY_STRING, .offset = offsetof (ComputeSpec, without),
    .help = "A source of measured steps, as under sources in models/efficiency.csv and models/llm.csv, that nothing is taken from: to predict its steps from all the others." },
  { .name = NULL },
};

static const KeyGroup compute_group
    = { "compute", "Seconds for a kernel.", compute_keys, sizeof (ComputeSpec) };

/* The table's defaults: there is no second copy of a number. */
static gboolean
read_defaults (ComputeSpec *out, GError **error)
{
  static const char text[] = "[compute]\n";
  g_autoptr (KeyFile) file = key_file_parse ("default", text, strlen (text), error);

  return file != NULL && key_file_read (file, &compute_group, out, error);
}

static double
given_or (double value, double otherwise)
{
  return value > 0 ? value : otherwise;   /* NAN too */
}

static gboolean
set_shape (ComputeModel *model, const ComputeSpec *spec, GError **error)
{
  ComputeSpec defaults = { 0 };

  if (!read_defaults (&defaults, error))
    return FALSE;
  model->ec = given_or (spec->compute_efficiency, defaults.compute_efficiency);
  model->em = given_or (spec->memory_efficiency, defaults.memory_efficiency);
  model->q = given_or (spec->norm, defaults.norm);
  model->t0 = given_or (spec->kernel_floor, defaults.kernel_floor);
  model->winograd = given_or (spec->winograd, defaults.winograd);
  model->depthwise = given_or (spec->depthwise, defaults.depthwise);
  keys_clear (compute_keys, &defaults);
  return TRUE;
}

static gboolean
set_efficiency (ComputeModel *model, const ComputeSpec *spec, const char *workload_class, GError **error)
{
  const char *tuning = spec->tuning != NULL && !g_str_equal (spec->tuning, "auto") ? spec->tuning : "plain";
  Efficiency found;

  if (spec->efficiency > 0)
    {
      model->efficiency = model->efficiency_low = model->efficiency_high = spec->efficiency;
      model->efficiency_origin = (Origin) { ORIGIN_USER, "[compute] efficiency" };
      model->efficiency_match = "user";
      return TRUE;
    }
  if (model->detailed)   /* its kernels carry their own */
    {
      model->efficiency = model->efficiency_low = model->efficiency_high = 1;
      model->efficiency_origin = (Origin) { ORIGIN_DERIVED, "models/kernel: each kernel has its own" };
      return TRUE;
    }
  if (!efficiency_find (workload_class, tuning, efficiency_precision (model->precision), model->gpu->generation, model->without,
                                &found, error))
    return FALSE;
  model->efficiency = found.value;
  model->efficiency_low = found.low;
  model->efficiency_high = found.high;
  model->efficiency_origin = found.origin;
  model->efficiency_match = found.match;
  return TRUE;
}

gboolean
compute_init (ComputeModel *model, const ComputeSpec *spec, const Gpu *gpu, Precision precision,
              const char *workload_class, GError **error)
{
  *model = (ComputeModel) { .gpu = gpu, .precision = precision, .ideal = spec->model == COMPUTE_IDEAL,
                            .detailed = spec->model == COMPUTE_DETAILED,
                            .without = spec->without != NULL && *spec->without != '\0' ? g_intern_string (spec->without) : NULL };
  if (!gpu_require (gpu, precision, error))
    return FALSE;
  if (isnan (gpu->peak[PRECISION_FP32]))
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                   "[cluster] gpu: %s has no fp32 rate in its part, which kernels other than gemm, conv and "
                   "attention need; add 'fp32 = ... TFLOP/s' to models/gpu", gpu->name);
      return FALSE;
    }
  model->peak_plain = gpu->peak[PRECISION_FP32] * gpu->issue_share;
  model->peak_tensor = gpu->peak[precision] > gpu->peak[PRECISION_FP32] ? gpu->peak[precision] : gpu->peak[precision] * gpu->issue_share;
  model->bandwidth = gpu->memory_bandwidth;
  if (model->detailed && !detailed_init (&model->kernels, gpu, precision, spec->large_gemm_rate, error))
    return FALSE;
  return set_shape (model, spec, error) && set_efficiency (model, spec, workload_class, error);
}

static gboolean
on_tensor_cores (KernelClass kind)
{
  return kind == KERNEL_GEMM || kind == KERNEL_CONV || kind == KERNEL_ATTENTION;
}

/* By the kernel's own shape; NAN where the work does not say it (attention,
 * pooling, embeddings): the roofline then. */
static double
seconds_of_shape (const ComputeModel *model, const KernelWork *work)
{
  const DetailedModel *kernels = &model->kernels;
  const double element = precision_activation_bytes (model->precision);
  KernelShape shape;

  switch (work->kind)
    {
    case KERNEL_GEMM:
    case KERNEL_CONV:
      if (!(work->m > 0 && work->n > 0 && work->k > 0))
        return NAN;
      /* more FLOP than one product has: so many of them */
      kernel_shape_gemm (&shape, work->m, work->n, work->k, fmax (round (work->flop / (2 * work->m * work->n * work->k)), 1), element, element);
      shape.flop = work->flop;
      shape.bytes = work->bytes;
      shape.working_set = INFINITY;   /* a step comes back to it too late */
      shape.winograd = work->winograd && model->precision == PRECISION_FP32;
      return detailed_matrix (kernels, work->kind == KERNEL_CONV, &shape);
    case KERNEL_ELEMENTWISE:
      return detailed_stream (kernels, &kernels->element, work->bytes);
    case KERNEL_NORM:
      return detailed_stream (kernels, &kernels->norm, work->bytes);
    case KERNEL_SOFTMAX:
      return detailed_stream (kernels, &kernels->softmax, work->bytes);
    default:
      return NAN;
    }
}

/* FLOP/s that large kernels of the kind reach.  Depthwise convolutions do not run on
 * tensor cores; in four-byte precision they are no library's but the framework's own
 * (PyTorch conv_depthwise2d, TensorFlow depthwise_conv_op), slow in the weight gradient
 * most. */
static double
reached (const ComputeModel *model, KernelClass kind)
{
  const gboolean four = model->precision == PRECISION_FP32 || model->precision == PRECISION_TF32;

  if (kind == KERNEL_DEPTHWISE && four)
    return model->depthwise * model->peak_plain;
  return model->ec * (on_tensor_cores (kind) ? model->peak_tensor : model->peak_plain);
}

/* The p-norm roofline; form and shape fitted on GEMM tables of seven GPUs, the
 * efficiency on measured training steps (models/efficiency.csv). */
double
compute_seconds (const ComputeModel *model, const KernelWork *work)
{
  const gboolean winograd = work->winograd && model->precision == PRECISION_FP32;

  if (model->ideal)
    return 0.0;
  if (work->kind == KERNEL_OPTIMIZER)
    return compute_copy_seconds (model, work->bytes);
  if (model->detailed)
    {
      const double seconds = seconds_of_shape (model, work);

      if (!isnan (seconds))
        return seconds / model->efficiency;
    }
  const double math = work->flop * (winograd ? model->winograd : 1.0) / reached (model, work->kind);
  const double memory = work->bytes / (model->em * model->bandwidth);
  return (model->t0 + pow (pow (math, model->q) + pow (memory, model->q), 1 / model->q)) / model->efficiency;
}

double
compute_copy_seconds (const ComputeModel *model, double bytes)
{
  return model->ideal ? 0.0 : bytes / (model->em * model->bandwidth);
}

double
precision_activation_bytes (Precision precision)
{
  static const double bytes[N_PRECISIONS] = {
    [PRECISION_FP32] = 4, [PRECISION_TF32] = 4, [PRECISION_MIXED_FP16] = 2, [PRECISION_MIXED_BF16] = 2,
    [PRECISION_FP16] = 2, [PRECISION_BF16] = 2,
    [PRECISION_FP8] = 2,   /* only the inputs of matrix products are fp8 */
  };

  return bytes[precision];
}
