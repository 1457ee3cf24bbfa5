/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network-part.h"
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

/* What fits reach on rows that they did not see.  The limits are what was reached
 * and a little slack, from the tables of open nccl-tests runs (data/nccl). */

static const char *
measured_folder (void)
{
  static char *folder;

  if (folder == NULL && g_getenv ("LOCKSTEP_MEASURED") != NULL)
    folder = g_build_filename (g_getenv ("LOCKSTEP_MEASURED"), "nccl", NULL);
  return folder != NULL && g_file_test (folder, G_FILE_TEST_IS_DIR) ? folder : NULL;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Tables whose names match one of the patterns ("a*|b*"), sorted; NULL ends. */
static GPtrArray *
tables (const char *patterns)
{
  GPtrArray *found = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) list = g_strsplit (patterns, "|", -1);
  g_autoptr (GDir) dir = g_dir_open (measured_folder (), 0, NULL);

  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
    for (guint i = 0; list[i] != NULL; i++)
      if (g_pattern_match_simple (list[i], name))
        {
          g_ptr_array_add (found, g_build_filename (measured_folder (), name, NULL));
          break;
        }
  g_ptr_array_sort (found, compare_names);
  g_ptr_array_add (found, NULL);
  return found;
}

typedef struct
{
  const char *name, *predicted, *fit;    /* fit NULL: sizes are left out; "": the catalogue */
  double      min_size;
  double      median, p90;               /* at most */
  double      covers_least, covers_most;
  guint       rows;                      /* used, at least */
} Case;

#define BOX "_1x2-4-8_nccl*"
static const Case cases[] = {
  { "sizes", "allreduce_*", NULL, 0, 0.045, 0.20, 0.85, 0.97, 650 },
  { "sizes-1mib", "allreduce_*", NULL, 1 << 20, 0.042, 0.165, 0.85, 0.97, 320 },
  { "sizes-all-gather", "allgather_*", NULL, 0, 0.07, 0.20, 0.85, 0.99, 300 },
  { "sizes-reduce-scatter", "reducescatter_*", NULL, 0, 0.07, 0.20, 0.85, 0.99, 150 },
  { "operations-h100", "allgather_h100-sxm" BOX "|reducescatter_h100-sxm" BOX, "allreduce_h100-sxm" BOX, 0, 0.05, 0.14, 0.85, 0.99, 120 },
  { "operations-a100", "allgather_a100-sxm" BOX "|reducescatter_a100-sxm" BOX, "allreduce_a100-sxm" BOX, 0, 0.055, 0.14, 0.85, 0.99, 120 },
  { "operations-b200", "allgather_b200-sxm" BOX, "allreduce_b200-sxm" BOX, 0, 0.05, 0.14, 0.85, 0.99, 60 },
  { "polaris-256", "allreduce_a100-40g_256x4_*", "allreduce_a100-40g_2x4_slingshot-ofi*|allreduce_a100-40g_8x4_slingshot-ofi*", 1 << 20,
    0.15, 0.70, 0.90, 1, 11 },
  { "catalogue-same-generation", "*_h100-sxm" BOX "|*_b200-sxm" BOX "|allreduce_gb200_1x2*|allreduce_h100_1x8_nvswitch_[dp]*", "", 1 << 20,
    0.07, 0.25, 0.80, 1, 200 },
  { "catalogue", "allreduce_*", "", 1 << 20, 0.165, 0.61, 0.85, 0.97, 480 },
  { "catalogue-rdma", "allreduce_h100_1*x*|*a100_2x8_ib8x200*|*a100-40g_2x8-plateau*|*a100-40g_2x8_ib8x200*", "", 1 << 20, 0.16, 0.35, 0.85, 1, 55 },
};

static void
test_case (gconstpointer data)
{
  const Case *row = data;
  NetworkValidation how = { .hold_out_sizes = row->fit == NULL, .catalogue = row->fit != NULL && *row->fit == '\0',
                            .min_size = row->min_size, .hold_out_first = NETWORK_HOLD_OUT_FIRST };
  g_autoptr (GPtrArray) paths = NULL, fit = NULL;
  g_autoptr (GPtrArray) keep = g_ptr_array_new_with_free_func ((GDestroyNotify) network_table_free);
  g_autoptr (GPtrArray) remarks = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (Validation) validation = validation_new ();
  g_autoptr (GError) error = NULL;
  ValidationSummary summary;

  if (measured_folder () == NULL)
    {
      g_test_skip ("no measured data; set LOCKSTEP_MEASURED");
      return;
    }
  paths = tables (row->predicted);
  if (row->fit != NULL && *row->fit != '\0')
    {
      fit = tables (row->fit);
      how.fit = (const char *const *) fit->pdata;
    }
  network_validate ((const char *const *) paths->pdata, &how, validation, keep, remarks, &error);
  g_assert_no_error (error);
  validation_summary (validation, G_MAXUINT, FALSE, &summary);
  g_test_message ("median %.4f p90 %.4f covers %.3f half-width %.3f used %u", summary.median, summary.p90, summary.coverage,
                  summary.half_width, summary.used);
  g_assert_cmpuint (summary.used, >=, row->rows);
  g_assert_cmpfloat (summary.median, <=, row->median);
  g_assert_cmpfloat (summary.p90, <=, row->p90);
  g_assert_cmpfloat (summary.coverage, >=, row->covers_least);
  g_assert_cmpfloat (summary.coverage, <=, row->covers_most);
  if (g_str_equal (row->name, "polaris-256"))   /* what would settle it is said */
    {
      g_assert_cmpuint (remarks->len, ==, 1);
      g_assert_nonnull (strstr (g_ptr_array_index (remarks, 0), "would settle"));
    }
}

/* From numbers made by the model itself the fit gives them back: 5 us, 1.3 us, 311 GB/s. */
static void
test_round_trip (void)
{
  const NcclTestsSystem names = { (char *) "H100-SXM", (char *) "nvswitch", (char *) "", (char *) "2.29", NAN };
  g_autoptr (Shelf) shelf = shelf_new ();
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  g_autoptr (NetworkFit) fit = NULL;
  g_autoptr (GError) error = NULL;
  NcclTestsRow row[60];
  NetworkModel model;
  NetworkPriors priors;
  guint n = 0;

  g_assert_true (network_model_init (&model, shelf, &names, 0, &error));
  network_priors (&model, rows, &priors);
  priors.centre[SYSTEM_T0] = 5e-6;
  priors.centre[SYSTEM_GL] = 1.3e-6;
  priors.centre[SYSTEM_B] = 311e9;
  for (guint64 p = 2; p <= 4; p *= 2)
    for (guint k = 9; k < 30; k++, n++)
      {
        RankGroup group;
        Paths paths;

        row[n] = (NcclTestsRow) { .op = OP_ALL_REDUCE, .op_name = "all-reduce", .nodes = 1, .per_node = p, .size = exp2 (k) };
        group = network_row_group (&row[n]);
        network_model_paths (&model, &group, &paths);
        row[n].time = network_model_time (&model, &paths, priors.centre, &row[n], NULL);
        g_ptr_array_add (rows, &row[n]);
      }
  fit = network_fit_new (shelf, &names, rows, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (fit->median, <, 0.01);
  g_assert_cmpfloat (fabs (log (fit->values[SYSTEM_T0] / 5e-6)), <, 0.03);
  g_assert_cmpfloat (fabs (log (fit->values[SYSTEM_GL] / 1.3e-6)), <, 0.05);
  g_assert_cmpfloat (fabs (log (fit->values[SYSTEM_B] / 311e9)), <, 0.05);
  network_model_clear (&model);
}

/* Bus bandwidth of their largest measured all-reduces over the nominal rate of a node's
 * NICs: 187 and 189 of 200 GB/s (AKS, OCI: two nodes), 386 of 400 (CoreWeave: 12), 43.8
 * and 78.3 of 50 (p4d, p4de: two nodes, of which the second takes trees), 36.1 of 50
 * (Polaris), 22.9 of 25 (a DGX-1 pair).  What only two nodes can do is no share of
 * more; boxes alone have none. */
static void
test_plateau (void)
{
  static const struct { const char *name; guint64 nodes; double share; } cases_of[] = {
    { "aks-a100-ib", 2, 187 / 200.0 }, { "oci-a100-2x8-roce", 2, 189 / 200.0 }, { "coreweave-h100-12x8", 12, 386 / 400.0 },
    { "p4d-efa", 2, 43.8 / 50 }, { "p4de-efa", 2, 78.3 / 50 }, { "p4de-efa", 4, 0.97 }, { "polaris-slingshot", 2, 36.1 / 50 },
    { "dgx-1-2x8-roce", 2, 22.9 / 25 }, { "h100-dgx", 2, NAN },
  };
  g_autoptr (Shelf) shelf = shelf_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (cases_of); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (System) system = system_load (cases_of[i].name, &error);

      g_assert_no_error (error);
      const double share = network_plateau_share (shelf, system, cases_of[i].nodes, &error);
      g_assert_no_error (error);
      g_test_message ("%s %.3f", cases_of[i].name, share);
      if (isnan (cases_of[i].share))
        g_assert_true (isnan (share));
      else
        g_assert_cmpfloat_with_epsilon (share, cases_of[i].share, 0.1 * cases_of[i].share);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gsl_set_error_handler_off ();
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/validate-network/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/validate-network/round-trip", test_round_trip);
  g_test_add_func ("/validate-network/plateau", test_plateau);
  return g_test_run ();
}
