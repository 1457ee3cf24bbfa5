/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/compute.h"

#include <math.h>
#include <string.h>

#include "workload/workload.h"

static void
near (double got, double want, double relative)
{
  g_assert_cmpfloat_with_epsilon (got, want, fabs (want) * relative);
}

/* On failure TAP shows both texts. */
static void
starts_with (const char *text, const char *prefix)
{
  g_autofree char *start = g_strndup (text, strlen (prefix));

  if (!g_str_equal (start, prefix))
    g_assert_cmpstr (text, ==, prefix);
}

static Gpu *
load_gpu (const char *name)
{
  g_autoptr (GError) error = NULL;
  Gpu *gpu = gpu_load (name, &error);

  g_assert_no_error (error);
  return gpu;
}

static ComputeModel
model_of (const Gpu *gpu, Precision precision, const char *family, ComputeSpec spec)
{
  g_autoptr (GError) error = NULL;
  ComputeModel model;

  g_assert_true (compute_init (&model, &spec, gpu, precision, family, &error));
  g_assert_no_error (error);
  return model;
}

/* layer1.0.conv2 of ResNet-50, 3x3, 64 to 64 channels at 56x56, batch 37, V100
 * SXM2 (15.7 and 125 TFLOP/s, 900 GB/s).
 *   FLOP 2*56*56*64*64*9 = 231,211,008 a sample; activations 4*2*56*56*64 =
 *   1,605,632 B a sample; 36,864 weights.
 * fp32, e 0.98:  F = 0.45*37*231,211,008 = 3.849663e9,  F/(0.75*15.7e12) = 326.935 us
 *                B = 37*1,605,632 + 4*36,864 = 59,555,840, B/(0.80*900e9) = 82.7164 us
 *                (326.935^1.5 + 82.7164^1.5)^(2/3) = (5911.41 + 752.296)^(2/3) = 354.115 us
 *                (354.115 + 3) / 0.98 = 364.403 us
 * AMP, e 0.83:   F = 8.554807e9, /(0.75*125e12) = 91.2513 us
 *                B = 29,704,192 + 147,456 = 29,851,648, /720e9 = 41.4606 us
 *                (871.682 + 266.964)^(2/3) = 109.042 us;  112.042 / 0.83 = 134.990 us
 * The same work as an element-wise kernel under AMP: at the fp32 rate, 726.523 us of
 * math: (19582.8 + 266.964)^(2/3) = 733.111 us;  736.111 / 0.83 = 886.880 us. */
static void
test_one_layer (void)
{
  g_autoptr (Gpu) v100 = load_gpu ("V100");
  const ComputeModel fp32 = model_of (v100, PRECISION_FP32, "resnet", (ComputeSpec) { .efficiency = 0.98 });
  const ComputeModel amp = model_of (v100, PRECISION_MIXED_FP16, "resnet", (ComputeSpec) { .efficiency = 0.83 });
  KernelWork work = { KERNEL_CONV, 231211008.0 * 37, 59555840, TRUE };

  near (compute_seconds (&fp32, &work), 364.403e-6, 1e-5);
  work.bytes = 29851648;
  near (compute_seconds (&amp, &work), 134.990e-6, 1e-5);   /* tensor cores: no Winograd */
  work.kind = KERNEL_ELEMENTWISE;
  near (compute_seconds (&amp, &work), 886.880e-6, 1e-5);
}

/* TF32 has its own peak and no Winograd: 8.554807e9 / (0.75*156e12) = 73.1180 us
 * against 59,555,840 / (0.8*1555e9) = 47.8744 us on an A100 of 40 GB:
 * (625.225 + 331.249)^(2/3) = 97.0769 us;  (97.0769 + 3) / 0.79 = 126.680 us. */
static void
test_tf32 (void)
{
  g_autoptr (Gpu) a100 = load_gpu ("A100-SXM-40GB");
  const ComputeModel tf32 = model_of (a100, PRECISION_TF32, "resnet", (ComputeSpec) { .efficiency = 0.79 });
  const KernelWork work = { KERNEL_CONV, 231211008.0 * 37, 59555840, TRUE };

  near (compute_seconds (&tf32, &work), 126.680e-6, 1e-5);
}

/* Far from the ridge one side vanishes: 7.3e12 FLOP and 11 bytes take
 * 7.3e12/(0.75*15.7e12) = 0.619958 s; 13 FLOP and 5.3e10 bytes 5.3e10/720e9 =
 * 73.6111 ms; nothing at all, the floor.  All over e = 0.5. */
static void
test_regimes (void)
{
  g_autoptr (Gpu) v100 = load_gpu ("V100");
  const ComputeModel model = model_of (v100, PRECISION_FP32, "resnet", (ComputeSpec) { .efficiency = 0.5 });

  near (compute_seconds (&model, &(KernelWork) { KERNEL_GEMM, 7.3e12, 11, FALSE }), (0.619958 + 3e-6) / 0.5, 1e-5);
  near (compute_seconds (&model, &(KernelWork) { KERNEL_NORM, 13, 5.3e10, FALSE }), (73.6111e-3 + 3e-6) / 0.5, 1e-5);
  near (compute_seconds (&model, &(KernelWork) { KERNEL_POOL, 0, 0, FALSE }), 6e-6, 1e-12);
  g_assert_cmpint (model.efficiency_origin.kind, ==, ORIGIN_USER);
  near (model.efficiency_low, 0.5, 1e-12);
  near (model.efficiency_high, 0.5, 1e-12);
}

/* A depthwise convolution reaches 0.03 of the plain peak in fp32: 7.3e10 FLOP take
 * 7.3e10/(0.03*15.7e12) = 154.989 ms; under AMP cuDNN's 0.75 of it, without tensor
 * cores: 7.3e12/(0.75*15.7e12) = 0.619958 s.  On a K80 no kernel has more than 0.67 of
 * the peak: 7.3e12/(0.75*0.67*4.37e12) = 3.32433 s. */
static void
test_depthwise (void)
{
  g_autoptr (Gpu) v100 = load_gpu ("V100");
  g_autoptr (Gpu) k80 = load_gpu ("K80");
  const ComputeModel fp32 = model_of (v100, PRECISION_FP32, "resnet", (ComputeSpec) { .efficiency = 1 });
  const ComputeModel amp = model_of (v100, PRECISION_MIXED_FP16, "resnet", (ComputeSpec) { .efficiency = 1 });
  const ComputeModel kepler = model_of (k80, PRECISION_FP32, "resnet", (ComputeSpec) { .efficiency = 1 });

  near (compute_seconds (&fp32, &(KernelWork) { KERNEL_DEPTHWISE, 7.3e10, 11, FALSE }), 154.989e-3 + 3e-6, 1e-5);
  near (compute_seconds (&amp, &(KernelWork) { KERNEL_DEPTHWISE, 7.3e12, 11, FALSE }), 0.619958 + 3e-6, 1e-5);
  near (compute_seconds (&kepler, &(KernelWork) { KERNEL_CONV, 7.3e12, 11, FALSE }), 3.32433 + 3e-6, 1e-5);
}

/* Copies and the optimizer see the memory only, without e: 7.3e9/720e9 = 10.1389 ms. */
static void
test_copies (void)
{
  g_autoptr (Gpu) v100 = load_gpu ("V100");
  const ComputeModel model = model_of (v100, PRECISION_FP32, "resnet", (ComputeSpec) { .efficiency = 0.5 });

  near (compute_copy_seconds (&model, 7.3e9), 10.1389e-3, 1e-5);
  near (compute_seconds (&model, &(KernelWork) { KERNEL_OPTIMIZER, 1e9, 7.3e9, FALSE }), 10.1389e-3, 1e-5);
}

static void
test_ideal (void)
{
  g_autoptr (Gpu) v100 = load_gpu ("V100");
  const ComputeModel model = model_of (v100, PRECISION_FP32, "resnet", (ComputeSpec) { .model = COMPUTE_IDEAL });

  g_assert_cmpfloat (compute_seconds (&model, &(KernelWork) { KERNEL_GEMM, 7.3e12, 11, FALSE }), <=, 0.0);
  g_assert_cmpfloat (compute_copy_seconds (&model, 7.3e9), <=, 0.0);
}

/* The keys of the shape reach the formula: ec 0.5, em 0.4, q 2, t0 7 us, winograd
 * 0.6, e 1.25 on the fp32 layer above: 8.554807e9*0.6/(0.5*15.7e12) = 653.871 us,
 * 59,555,840/(0.4*900e9) = 165.433 us; hypot 674.474 us;  681.474/1.25 = 545.179 us. */
static void
test_shape_keys (void)
{
  g_autoptr (Gpu) v100 = load_gpu ("V100");
  const ComputeModel model = model_of (v100, PRECISION_FP32, "resnet",
                                       (ComputeSpec) { .efficiency = 1.25, .compute_efficiency = 0.5,
                                                       .memory_efficiency = 0.4, .norm = 2,
                                                       .kernel_floor = 7e-6, .winograd = 0.6 });
  const KernelWork work = { KERNEL_CONV, 231211008.0 * 37, 59555840, TRUE };

  near (compute_seconds (&model, &work), 545.179e-6, 1e-5);
}

static KernelClass
kernel_of (LayerKind kind)
{
  static const KernelClass classes[] = {
    [LAYER_CONV] = KERNEL_CONV, [LAYER_GEMM] = KERNEL_GEMM, [LAYER_ATTENTION] = KERNEL_ATTENTION,
    [LAYER_SOFTMAX] = KERNEL_SOFTMAX, [LAYER_NORM] = KERNEL_NORM, [LAYER_ELEMENTWISE] = KERNEL_ELEMENTWISE,
    [LAYER_POOL] = KERNEL_POOL, [LAYER_EMBEDDING] = KERNEL_EMBEDDING, [LAYER_OTHER] = KERNEL_ELEMENTWISE,
  };

  return classes[kind];
}

static double
forward (const ComputeModel *model, const Workload *w, double batch)
{
  double sum = 0;

  for (guint i = 0; i < w->n_layers; i++)
    {
      const Layer *l = &w->layers[i];
      const double bytes = l->bytes_fp32 * batch * precision_activation_bytes (model->precision) / 4 + 4 * l->params;

      sum += compute_seconds (model, &(KernelWork) { kernel_of (l->kind), l->flop * batch, bytes, l->winograd });
    }
  return sum;
}

/* BERT-base, 128 tokens, batch 24, mixed precision on a V100 SXM2 at e = 0.61:
 * a separate calculation gave 19.1524 ms with the box factor of 40 ranks,
 * 1 + 0.005 + 0.017 sqrt(2 ln 40) = 1.0511754, so 18.2200 ms without. */
static void
test_bert_base (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Gpu) v100 = load_gpu ("V100-SXM2-16GB");
  g_autoptr (Workload) bert = workload_load (&(WorkloadSpec) { .name = (char *) "bert_base_seq128" }, &error);
  g_assert_no_error (error);
  const ComputeModel model = model_of (v100, PRECISION_MIXED_FP16, bert->family, (ComputeSpec) { .efficiency = 0.61 });

  near (forward (&model, bert, 24), 19.1524e-3 / 1.0511754, 1e-4);
}

/* More work is never faster, in either direction, across the ridge. */
static void
test_monotone (void)
{
  g_autoptr (Gpu) v100 = load_gpu ("V100");
  const ComputeModel model = model_of (v100, PRECISION_MIXED_FP16, "bert", (ComputeSpec) { .efficiency = NAN });

  for (double flop = 13; flop < 1e15; flop *= 7.3)
    {
      double by_flop = 0, by_bytes = 0;
      for (double step = 1; step < 1e12; step *= 1.7)
        {
          const double a = compute_seconds (&model, &(KernelWork) { KERNEL_GEMM, step, flop / 100, FALSE });
          const double b = compute_seconds (&model, &(KernelWork) { KERNEL_GEMM, flop, step, FALSE });
          g_assert_cmpfloat (a, >=, by_flop);
          g_assert_cmpfloat (b, >=, by_bytes);
          by_flop = a;
          by_bytes = b;
        }
    }
}

/* Values and ranges as in models/efficiency.csv; medians over sources by hand:
 *  - plain resnet on Volta, amp: 0.702 (DLPerf) and 0.728 (Lambda), so 0.715;
 *  - bert on Ampere, amp: 0.649 (0.567 to 0.679) and 0.688 (0.601 to 0.756);
 *  - resnet, xla and nhwc on Volta: 1.05 (1.01 to 1.11) and 1.05;
 *  - fp32 of plain resnet nearest to Ampere: Turing's 0.858; fused nearest to Hopper: Ampere's 1.29;
 *  - a transformer has no row: bert's of Volta, amp, 0.614 0.605 0.725; nor has vgg on Hopper: resnet's 0.767;
 *  - bert on Volta, fp32, has no fused row: next to it stands xla, 1.04; resnet there under amp has, without dlperf, no
 *    graph row: next to it stand plain, 0.728, and nhwc and xla, 1.05, not fused, 1.21;
 *  - all amp rows of Volta but MLPerf's, 16 of them: the middle two are 0.722 and 0.725, the ends 0.605 and 1.22;
 *  - bert on Hopper by MLPerf 3.1, 0.976 (0.956 to 0.981), and 4.1, 0.97 (0.805 to 1.01);
 *  - fp8 has MLPerf rows only, and no one else takes those: the constant 0.8.
 * A range that is not in the table is 1/1.5 to 1.5 times the value, or that of the rows. */
typedef struct { const char *name, *gpu, *family, *tuning; Precision precision; double e, low, high; const char *match, *says, *without; } Lookup;
static const Lookup lookups[] = {
  { "full-key", "V100", "resnet", "plain", PRECISION_MIXED_FP16, 0.715, 0.702, 0.728, "key", "resnet, plain, amp, Volta" },
  { "bf16-is-amp", "A100", "bert", NULL, PRECISION_MIXED_BF16, 0.6685, 0.567, 0.756, "key", "bert, plain, amp, Ampere" },
  { "tf32", "H100", "resnet", "plain", PRECISION_TF32, 0.767, 0.71, 0.769, "key", "resnet, plain, tf32, Hopper" },
  { "one-group", "T4", "resnet", "plain", PRECISION_MIXED_FP16, 0.70, 0.70 / 1.5, 1.05, "key", "resnet, plain, amp, Turing" },
  { "shared-row", "V100", "resnet", "xla", PRECISION_MIXED_FP16, 1.05, 1.01, 1.11, "key", "resnet, xla, amp, Volta" },
  { "next-generation", "A100", "resnet", "plain", PRECISION_FP32, 0.858, 0.572, 1.287, "generation", "none for Ampere" },
  { "next-generation-2", "H100", "resnet", "fused", PRECISION_MIXED_FP16, 1.29, 0.86, 1.935, "generation", "none for Hopper" },
  { "far-generation", "H100", "resnet", "plain", PRECISION_FP32, 0.858, 0.572, 1.287, "far", "none for Hopper" },
  { "no-tuning", "V100", "bert", "fused", PRECISION_FP32, 1.04, 1.04 / 1.5, 1.56, "class", "none for tuning fused" },
  { "between-tunings", "V100", "resnet", "graph", PRECISION_MIXED_FP16, 0.889, 0.889 / 1.5, 0.889 * 1.5, "class", "none for tuning graph", "dlperf" },
  { "kin", "V100", "transformer", "plain", PRECISION_MIXED_FP16, 0.614, 0.614 / 1.5, 0.614 * 1.5, "class", "bert, plain, amp, Volta" },
  { "kin-2", "H100", "vgg", "plain", PRECISION_TF32, 0.767, 0.767 / 1.5, 0.767 * 1.5, "class", "resnet, plain, tf32, Hopper" },
  { "no-family", "V100", "other", "plain", PRECISION_MIXED_FP16, 0.7235, 0.7235 / 1.5, 1.22, "class", "none for other" },
  { "mlperf", "H100", "bert", "mlperf", PRECISION_FP8, 0.973, 0.805, 1.01, "key", "bert, mlperf, fp8, Hopper" },
  { "nothing", "H100", "bert", "plain", PRECISION_FP8, 0.8, 0.8 / 1.5, 1.2, "class", "any, any, any" },
};

static void
test_lookup (gconstpointer data)
{
  const Lookup *l = data;
  g_autoptr (Gpu) gpu = load_gpu (l->gpu);
  const ComputeModel model = model_of (gpu, l->precision, l->family,
                                       (ComputeSpec) { .tuning = (char *) l->tuning, .without = (char *) l->without, .efficiency = NAN });

  near (model.efficiency, l->e, 1e-9);
  near (model.efficiency_low, l->low, 1e-9);
  near (model.efficiency_high, l->high, 1e-9);
  g_assert_cmpstr (model.efficiency_match, ==, l->match);
  g_assert_cmpint (model.efficiency_origin.kind, ==, g_str_equal (l->match, "key") ? ORIGIN_DERIVED : ORIGIN_ASSUMED);
  g_assert_nonnull (strstr (model.efficiency_origin.text, l->says));
}

typedef struct { const char *name, *gpu, *tuning; Precision precision; const char *says; } Bad;
static const Bad bads[] = {
  { "bf16-on-volta", "V100", "plain", PRECISION_MIXED_BF16,
    "[workload] precision: V100-SXM2-16GB (Volta) has no mixed-bf16 rate; mixed-fp16 would do" },
  { "tuning", "V100", "plian", PRECISION_FP32, "[compute] tuning: unknown tuning 'plian'; did you mean 'plain'?" },
  { "no-fp32", "TPU-v4", "plain", PRECISION_MIXED_BF16, "[cluster] gpu: TPU-v4 has no fp32 rate" },
};

static void
test_bad (gconstpointer data)
{
  const Bad *bad = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (Gpu) gpu = load_gpu (bad->gpu);
  const ComputeSpec spec = { .tuning = (char *) bad->tuning, .efficiency = NAN };
  ComputeModel model;

  g_assert_false (compute_init (&model, &spec, gpu, bad->precision, "resnet", &error));
  g_assert_nonnull (error);
  starts_with (error->message, bad->says);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compute/one-layer", test_one_layer);
  g_test_add_func ("/compute/tf32", test_tf32);
  g_test_add_func ("/compute/regimes", test_regimes);
  g_test_add_func ("/compute/depthwise", test_depthwise);
  g_test_add_func ("/compute/copies", test_copies);
  g_test_add_func ("/compute/ideal", test_ideal);
  g_test_add_func ("/compute/shape-keys", test_shape_keys);
  g_test_add_func ("/compute/bert-base", test_bert_base);
  g_test_add_func ("/compute/monotone", test_monotone);
  for (guint i = 0; i < G_N_ELEMENTS (lookups); i++)
    {
      g_autofree char *path = g_strconcat ("/compute/efficiency/", lookups[i].name, NULL);
      g_test_add_data_func (path, &lookups[i], test_lookup);
    }
  for (guint i = 0; i < G_N_ELEMENTS (bads); i++)
    {
      g_autofree char *path = g_strconcat ("/compute/bad/", bads[i].name, NULL);
      g_test_add_data_func (path, &bads[i], test_bad);
    }
  return g_test_run ();
}
