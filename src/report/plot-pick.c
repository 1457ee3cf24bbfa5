/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/plot-pick.h"
#include "report/report.h"
#include <math.h>

/* A picture over the swept key needs some of its values. */
#define LEAST_VALUES 3u

/* Beyond any count, byte or second; gnuplot's axes go wrong near 1e308. */
static const double largest = 1e30;

static gboolean
has_columns (const CsvTable *table, const char *const *names)
{
  for (gsize i = 0; names[i] != NULL; i++)
    {
      if (csv_column (table, names[i]) < 0)
        return FALSE;
    }
  return TRUE;
}

/* How many different scales (GPUs) the rows have; every row of the swept key a number? */
static gboolean
few_scales_many_values (const CsvTable *table)
{
  const guint rows = csv_rows (table), gpus = (guint) csv_column (table, "gpus");
  g_autoptr (GHashTable) scales = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) values = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint row = 0; row < rows; row++)
    {
      double number = NAN;

      if (!csv_number (table, row, 0, &number, NULL) || !(number > 0))
        return FALSE;
      g_hash_table_add (scales, (gpointer) csv_text (table, row, gpus));
      g_hash_table_add (values, (gpointer) csv_text (table, row, 0));
    }
  return g_hash_table_size (values) >= LEAST_VALUES && g_hash_table_size (scales) >= 2
         && g_hash_table_size (values) > g_hash_table_size (scales);
}

const char *
plot_pick (const CsvTable *table)
{
  static const char *const collective[] = { "op", "size_bytes", "busbw_Bps", "algorithm", NULL };
  static const char *const scale[] = { "nodes", "gpus", "throughput_samples_per_s", "throughput_per_gpu_samples_per_s",
                                       "scaling_efficiency", "step_time_s", "compute_s", "other_s", NULL };

  static const char *const calibration[] = { "fit", "measured_s", "fitted_s", NULL };

  if (has_columns (table, calibration))
    return "calibration.gp";
  if (has_columns (table, collective))
    return "collective.gp";
  if (!has_columns (table, scale))
    return NULL;
  /* run and compare: scenarios side by side */
  if (csv_column (table, "scenario") == 0)
    return "ledger.gp";
  /* one swept key with more values than there are scales: where do the scales cross? */
  if (csv_column (table, "nodes") == 1 && few_scales_many_values (table))
    return "crossing.gp";
  return "scaling.gp";
}

gboolean
plot_check (const CsvTable *table, GError **error)
{
  static const char *const needed[] = { "gpus", "step_time_s", "throughput_samples_per_s", "size_bytes", "time_s", "busbw_Bps",
                                        "measured_s", "fitted_s" };

  for (gsize i = 0; i < G_N_ELEMENTS (needed); i++)
    {
      const int column = csv_column (table, needed[i]);

      for (guint row = 0; column >= 0 && row < csv_rows (table); row++)
        {
          double number = NAN;

          if (!csv_number_in (table, row, (guint) column, 0, largest, &number, error))
            return FALSE;
          /* busbw of one rank is 0 */
          if (!(number > 0 || (number >= 0 && g_str_equal (needed[i], "busbw_Bps"))))
            {
              g_set_error (error, PLOT_ERROR, PLOT_ERROR_INPUT, "%s:%u: %s: '%s'; a picture needs a number above zero",
                           csv_name (table), csv_line (table, row), needed[i], csv_text (table, row, (guint) column));
              return FALSE;
            }
        }
    }
  return TRUE;
}
