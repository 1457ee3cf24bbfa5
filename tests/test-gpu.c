/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "compute/gpu.h"

/* Both NAN, or equal to 1e-9. */
static void
same (double got, double want)
{
  if (isnan (want))
    g_assert_true (isnan (got));
  else
    g_assert_cmpfloat_with_epsilon (got, want, fabs (want) * 1e-9 + 1e-12);
}

static double
number (const CsvTable *table, guint row, const char *name)
{
  g_autoptr (GError) error = NULL;
  guint column;
  double value;

  g_assert_true (csv_require (table, name, &column, &error));
  g_assert_true (csv_number (table, row, column, &value, &error));
  return value;
}

/* GB/s one way of one lane: 8 GT/s and 128b/130b in generation 3, twice the
 * transfers in each later one, FLIT mode (242 of 256 bytes) in generation 6. */
static double
slot (double generation, double lanes)
{
  static const double lane[] = { NAN, NAN, NAN, 0.984375, 1.96875, 3.9375, 7.5625 };

  return isnan (generation) ? NAN : lane[(guint) generation] * lanes * 1e9;
}

static void
check_row (const CsvTable *table, guint row)
{
  g_autoptr (GError) error = NULL;
  guint name, arch;

  g_assert_true (csv_require (table, "name", &name, &error));
  g_assert_true (csv_require (table, "arch", &arch, &error));
  g_autoptr (Gpu) gpu = gpu_load (csv_text (table, row, name), &error);
  g_assert_no_error (error);
  g_assert_cmpstr (gpu->name, ==, csv_text (table, row, name));
  g_assert_cmpstr (gpu->generation, ==, csv_text (table, row, arch));
  same (gpu->peak[PRECISION_FP32], number (table, row, "fp32_tflops") * 1e12);
  same (gpu->peak[PRECISION_TF32], number (table, row, "tf32_tflops") * 1e12);
  same (gpu->peak[PRECISION_FP16], number (table, row, "fp16_tensor_tflops") * 1e12);
  same (gpu->peak[PRECISION_BF16], number (table, row, "bf16_tensor_tflops") * 1e12);
  same (gpu->peak[PRECISION_MIXED_BF16], number (table, row, "bf16_tensor_tflops") * 1e12);
  same (gpu->peak[PRECISION_FP8], number (table, row, "fp8_tflops") * 1e12);
  const gboolean half = !isnan (number (table, row, "fp16_tensor_tflops"));
  same (gpu->peak[PRECISION_MIXED_FP16], number (table, row, half ? "fp16_tensor_tflops" : "fp32_tflops") * 1e12);
  same (gpu->memory, number (table, row, "mem_GB") * 1e9);
  same (gpu->memory_bandwidth, number (table, row, "mem_GBps") * 1e9);
  same (gpu->l2, number (table, row, "l2_MB") * 1e6);
  same (gpu->pcie, slot (number (table, row, "pcie_gen"), number (table, row, "pcie_lanes")));
  const double nvlink = number (table, row, "nvlink_GBps_total_bidir");
  same (gpu->nvlink, isnan (nvlink) ? 0.0 : nvlink / 2 * 1e9);
  const double links = number (table, row, "nvlink_links"), sms = number (table, row, "sms");
  g_assert_cmpuint (gpu->nvlink_links, ==, isnan (links) ? 0 : (guint64) links);
  g_assert_cmpuint (gpu->sms, ==, isnan (sms) ? 0 : (guint64) sms);
  g_assert_nonnull (gpu->origin.text);
}

static void
test_table (void)
{
  g_autoptr (GError) error = NULL;
  const char *folder = g_getenv ("LOCKSTEP_MEASURED");
  g_autofree char *path = g_build_filename (folder != NULL ? folder : "", "specs", "gpus.csv", NULL);

  if (folder == NULL || !g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("no specs/gpus.csv");
      return;
    }
  g_autoptr (CsvTable) table = csv_load (path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (csv_rows (table), >, 0);
  for (guint row = 0; row < csv_rows (table); row++)
    check_row (table, row);
}

/* One name, one GPU: file names and aliases of all parts together, case and
 * separators aside. */
static void
test_aliases_unique (void)
{
  g_auto (GStrv) parts = part_list ("gpu");
  g_autoptr (GHashTable) owner = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  g_assert_cmpuint (g_strv_length (parts), >, 0);
  for (guint i = 0; parts[i] != NULL; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Gpu) gpu = gpu_load (parts[i], &error);
      g_assert_no_error (error);
      const char *list = key_file_get (gpu->part, "gpu", "aliases");
      g_autofree char *all = g_strjoin (",", parts[i], list, NULL);
      g_auto (GStrv) names = g_strsplit (all, ",", 0);
      for (guint j = 0; names[j] != NULL; j++)
        {
          g_autoptr (Gpu) same_gpu = gpu_load (g_strstrip (names[j]), &error);
          g_assert_no_error (error);
          g_assert_cmpstr (same_gpu->name, ==, gpu->name);
          g_autofree char *lower = g_ascii_strdown (names[j], -1);
          char *folded = g_strdelimit (g_steal_pointer (&lower), "_ ", '-');
          const char *other = g_hash_table_lookup (owner, folded);
          g_assert_true (other == NULL || g_str_equal (other, parts[i]));
          g_hash_table_replace (owner, folded, parts[i]);
        }
    }
}

typedef struct { const char *gpu; Precision precision; const char *says; } Refusal;
static const Refusal refusals[] = {
  { "V100", PRECISION_MIXED_BF16, "mixed-fp16 would do" },
  { "T4", PRECISION_MIXED_BF16, "mixed-fp16 would do" },
  { "V100", PRECISION_TF32, "fp32 would do" },
  { "A100", PRECISION_FP8, "mixed-bf16 would do" },
  { "K80", PRECISION_FP16, "mixed-fp16 would do" },
  { "TPU-v4", PRECISION_MIXED_FP16, "mixed-bf16 would do" },
};

static void
test_refusal (gconstpointer data)
{
  const Refusal *r = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (Gpu) gpu = gpu_load (r->gpu, &error);

  g_assert_no_error (error);
  g_assert_false (gpu_require (gpu, r->precision, &error));
  g_assert_error (error, KEYS_ERROR, KEYS_ERROR_VALUE);
  g_assert_true (g_str_has_prefix (error->message, "[workload] precision: "));
  g_assert_nonnull (strstr (error->message, r->says));
}

/* NVIDIA's data sheet of the V100 SXM2: 15.7 and 125 TFLOP/s, 900 GB/s, six
 * NVLinks of 25 GB/s each way; the P100's: fp16 twice fp32. */
static void
test_by_hand (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Gpu) v100 = gpu_load ("NVIDIA_TESLA_V100", &error);
  g_assert_no_error (error);
  g_autoptr (Gpu) p100 = gpu_load ("p100-sxm2-16gb", &error);
  g_assert_no_error (error);

  g_assert_cmpstr (v100->generation, ==, "Volta");
  same (v100->peak[PRECISION_FP32], 15.7e12);
  same (v100->peak[PRECISION_MIXED_FP16], 125e12);
  same (v100->memory_bandwidth, 900e9);
  same (v100->nvlink, 150e9);
  same (v100->pcie, 15.75e9);
  same (p100->peak[PRECISION_MIXED_FP16], 21.2e12);
  g_assert_nonnull (strstr (p100->peak_origin[PRECISION_MIXED_FP16].text, "without tensor cores"));
}

static void
test_unknown (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (gpu_load ("V100-SXM2-64GB", &error));
  g_assert_error (error, KEYS_ERROR, KEYS_ERROR_UNKNOWN);
  g_assert_nonnull (strstr (error->message, "did you mean"));
}

/* Before Volta there is no half rate: the fp32 rate, and the origin says so. */
static void
test_mixed_without_half (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Gpu) gpu = gpu_load ("TitanXp", &error);

  g_assert_no_error (error);
  same (gpu->peak[PRECISION_MIXED_FP16], 12.15e12);
  g_assert_cmpint (gpu->peak_origin[PRECISION_MIXED_FP16].kind, ==, ORIGIN_ASSUMED);
  g_assert_nonnull (strstr (gpu->peak_origin[PRECISION_MIXED_FP16].text, "fp32 rate"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/gpu/specs-table", test_table);
  g_test_add_func ("/gpu/aliases-unique", test_aliases_unique);
  g_test_add_func ("/gpu/by-hand", test_by_hand);
  g_test_add_func ("/gpu/unknown", test_unknown);
  g_test_add_func ("/gpu/mixed-without-half", test_mixed_without_half);
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    {
      g_autofree char *path = g_strdup_printf ("/gpu/refuses/%s-%s", refusals[i].gpu,
                                               precision_names[refusals[i].precision]);
      g_test_add_data_func (path, &refusals[i], test_refusal);
    }
  return g_test_run ();
}
