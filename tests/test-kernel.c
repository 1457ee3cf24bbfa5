/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/compute.h"

#include <math.h>

static const KernelDevice plain = { .peak = 1e14, .bandwidth = 1e12, .l2 = NAN, .sms = 100 };

static void
near (double got, double want, double relative)
{
  g_assert_cmpfloat_with_epsilon (got, want, fabs (want) * relative);
}

/* 128x128x4096, two bytes an element; t0 2 us, no loss but k0 = 100, norm 8, cap 0.5.
 * Unsplit, tiles of 64x64 are best: one wave, 2*64*64*100/1e14 = 8.192e-9 s a step of k,
 *   times 4096 + 100: 34.3736 us; memory 2129920 B / 1e12 = 2.13 us, lost in the norm.
 * Split by 16, each split 1 us: 8.192e-9 * (256 + 100) = 2.91635 us; memory with the parts
 *   (2129920 + 8*16*16384)/1e12 = 4.22707 us; (2.91635^8 + 4.22707^8)^(1/8) = 4.2536 us. */
static void
test_one_tile (void)
{
  /* t0 emax em a0 k0 norm-excess ts ecap l2-gain l2-share winograd */
  double p[] = { 2e-6, 1, 1, 1e-9, 100, 7, 1, 0.5, 1, 1, 1 };
  KernelShape shape;

  kernel_shape_gemm (&shape, 128, 128, 4096, 1, 2, 2);
  near (shape.flop, 134217728, 1e-12);
  near (shape.bytes, 2129920, 1e-12);
  near (kernel_gemm.seconds (p, &plain, &shape), 36.3736e-6, 1e-5);
  p[6] = 1e-6;
  near (kernel_gemm.seconds (p, &plain, &shape), (2 + 4.2536 + 1) * 1e-6, 1e-4);
}

/* 2*3*5*7e9 FLOP at 0.6*1e14: 3.5 ms; 4e9 B at 0.8e12: 5 ms; norm 2: sqrt(12.25 + 25) = 6.10328 ms. */
static void
test_roofline (void)
{
  const double p[] = { 7e-6, 0.6, 0.8, 1 };
  const KernelShape shape = { .flop = 2.1e11, .bytes = 4e9, .working_set = INFINITY };

  near (kernel_roofline.seconds (p, &plain, &shape), 6.10328e-3 + 7e-6, 1e-5);
}

/* 6e8 B, rows of 40, half a row lost at 10: 6e8*1.25/(0.75e12) = 1 ms, t0 3 us added (norm 1, as far as it goes).
 * In a cache of 1e9 B that is filled to 0.6, gain 2: / (1 + 2/1.216) = 0.37811 ms. */
static void
test_stream (void)
{
  const double p[] = { 3e-6, 0.75, 2, 1, 10, 1e-9 };
  KernelDevice device = plain;
  KernelShape shape = { .bytes = 6e8, .cols = 40, .working_set = 6e8 };

  near (kernel_stream.seconds (p, &device, &shape), 1.003e-3, 1e-6);
  device.l2 = 1e9;
  near (kernel_stream.seconds (p, &device, &shape), 0.378109e-3 + 3e-6, 1e-5);
  shape.working_set = INFINITY;
  near (kernel_stream.seconds (p, &device, &shape), 1.003e-3, 1e-6);
}

/* Nothing that is faster makes a kernel slower. */
static void
test_faster_is_never_slower (void)
{
  static const double sizes[] = { 1, 17, 130, 1111, 9000 };
  double p[KERNEL_MAX_PARAMETERS];

  for (guint i = 0; i < kernel_gemm.n_parameters; i++)
    p[i] = kernel_gemm.parameters[i].centre;
  for (guint m = 0; m < 5; m++)
    for (guint n = 0; n < 5; n++)
      for (guint k = 0; k < 5; k++)
        {
          KernelDevice fast = plain;
          KernelShape shape;

          kernel_shape_gemm (&shape, sizes[m], sizes[n], sizes[k], 3, 2, 2);
          const double before = kernel_gemm.seconds (p, &plain, &shape);
          fast.bandwidth *= 1.3;
          g_assert_cmpfloat (kernel_gemm.seconds (p, &fast, &shape), <=, before);
          fast.peak *= 1.3;
          g_assert_cmpfloat (kernel_gemm.seconds (p, &fast, &shape), <=, before);
          g_assert_cmpfloat (before, >=, p[0] + shape.flop / plain.peak);
        }
}

/* Two residuals of +10 % around a shape, half an octave to either side: most of
 * it is carried over; ten octaves away next to nothing is. */
static void
test_residuals (void)
{
  const KernelShape left = { .m = 724, .n = 64, .k = 64, .batch = 1 }, right = { .m = 1448, .n = 64, .k = 64, .batch = 1 };
  const KernelShape *shapes[] = { &left, &right };
  const double residual[] = { 0.1, 0.1 };
  KernelShape at = { .m = 1024, .n = 64, .k = 64, .batch = 1 };
  g_autoptr (KernelResiduals) residuals = kernel_residuals_new (&kernel_gemm, shapes, residual, 2);
  double spread;

  /* weights 2/(0.3466^2 + 0.15^2) = 14.02 against 1/0.7^2 = 2.04: 0.0873 */
  near (kernel_residuals_at (residuals, &kernel_gemm, &at, &spread), 0.0873, 0.01);
  at.m = 1048576;
  g_assert_cmpfloat (kernel_residuals_at (residuals, &kernel_gemm, &at, &spread), <, 0.003);
}

static double
detailed_seconds (const char *gpu_name, double large_rate)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Gpu) gpu = gpu_load (gpu_name, &error);
  const KernelWork work = { .kind = KERNEL_GEMM, .flop = 2 * 8192.0 * 8192 * 8192, .bytes = 6 * 8192.0 * 8192,
                            .m = 8192, .n = 8192, .k = 8192 };
  ComputeModel model;

  g_assert_no_error (error);
  compute_init (&model, &(ComputeSpec) { .model = COMPUTE_DETAILED, .large_gemm_rate = large_rate }, gpu, PRECISION_MIXED_BF16,
                "other", &error);
  g_assert_no_error (error);
  return compute_seconds (&model, &work);
}

/* 8192 cubed: the sustained rate is 0.74 of 989 TFLOP/s on H100 and 0.72 of 312 on
 * A100 in the median of AIConfigurator's tables, 0.80 and 0.87 at best (MAMF). */
static void
test_detailed (void)
{
  near (detailed_seconds ("H100-SXM", 0), 2 * pow (8192, 3) / (0.77 * 989e12), 0.07);
  near (detailed_seconds ("A100-SXM-80GB", 0), 2 * pow (8192, 3) / (0.79 * 312e12), 0.10);
}

/* kernels-of: the same die takes the same time for large products; another peak and
 * more power behind it, 2500 x 1.026 TFLOP/s for 2250, so much less.  A measured rate
 * of its own is what comes out in any case. */
static void
test_kernels_of (void)
{
  near (detailed_seconds ("H200-SXM", 0), detailed_seconds ("H100-SXM", 0), 0.02);
  near (detailed_seconds ("GB200", 0), detailed_seconds ("B200-SXM", 0) * 2250 / (2500 * 1.026), 0.03);
  near (detailed_seconds ("GB300", 0), detailed_seconds ("B200-SXM", 0) * 2250 / (2500 * 1.08), 0.05);
  near (detailed_seconds ("GB200", 900e12), 2 * pow (8192, 3) / 900e12, 0.01);
}

/* No table of the H200: what one measured rate says is what comes out, and half
 * the rate takes twice the time. */
static void
test_rescue (void)
{
  near (detailed_seconds ("H200-SXM", 600e12), 2 * pow (8192, 3) / 600e12, 0.01);
  near (detailed_seconds ("H200-SXM", 300e12), 2 * pow (8192, 3) / 300e12, 0.01);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernel/one-tile", test_one_tile);
  g_test_add_func ("/kernel/roofline", test_roofline);
  g_test_add_func ("/kernel/stream", test_stream);
  g_test_add_func ("/kernel/faster-is-never-slower", test_faster_is_never_slower);
  g_test_add_func ("/kernel/residuals", test_residuals);
  g_test_add_func ("/kernel/detailed", test_detailed);
  g_test_add_func ("/kernel/kernels-of", test_kernels_of);
  g_test_add_func ("/kernel/rescue", test_rescue);
  return g_test_run ();
}
