/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/plot-pick.h"
#include "report/report.h"
#include <math.h>
#include <string.h>

G_DEFINE_QUARK (lockstep-plot-error, plot_error)

/* A picture over the swept key needs some of its values. */
#define LEAST_VALUES 3u
/* What scaling.gp has room for above its panels, and ledger.gp draws. */
#define LEGEND_ROWS 10u
#define MOST_CURVES 16u
#define MOST_BARS 64u

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

/* As label() in plots/common.gp: the values of the swept columns but for those that the
 * GPUs tell. */
static char *
curve_name (const CsvTable *table, guint row, guint n_swept)
{
  const int nodes = csv_column (table, "cluster.nodes");
  GString *name = g_string_new (NULL);

  for (guint i = 0; i < n_swept; i++)
    {
      const char *key = csv_column_name (table, i), *dot = strchr (key, '.');

      if ((int) i == nodes || ((nodes < 0 || (guint) nodes >= n_swept) && g_str_equal (key, "cluster.gpus-per-node")))
        continue;
      g_string_append_printf (name, "%s%s %s", name->len > 0 ? ", " : "", dot != NULL ? dot + 1 : key, csv_text (table, row, i));
    }
  return g_string_free (name, FALSE);
}

/* Do a legend and one line a curve show these rows?  As cols() and rows() in
 * plots/common.gp count. */
static gboolean
curves_fit (const CsvTable *table, guint n_swept)
{
  g_autoptr (GHashTable) curves = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) scales = g_hash_table_new (g_str_hash, g_str_equal);
  gsize longest = 22;

  for (guint row = 0; row < csv_rows (table); row++)
    {
      char *name = curve_name (table, row, n_swept);

      longest = MAX (longest, strlen (name));
      g_hash_table_add (curves, name);
      g_hash_table_add (scales, (gpointer) csv_text (table, row, (guint) csv_column (table, "gpus")));
    }
  const guint n = g_hash_table_size (curves), columns = longest > 30 ? 1 : (guint) (840 / (11 * longest + 90));

  return n == 1 || (g_hash_table_size (scales) > 1 && n <= MOST_CURVES && (n + 1 + columns - 1) / columns <= LEGEND_ROWS);
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
  if (curves_fit (table, (guint) csv_column (table, "nodes")))
    return "scaling.gp";
  return csv_rows (table) <= MOST_BARS ? "ledger.gp" : NULL;
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
