/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/validated.h"
#include "base/csv.h"
#include "base/origin.h"
#include <math.h>
#include <string.h>

enum { TABLE, GPU, NODES, ROWS, MEDIAN, P90, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = { "table", "gpu", "nodes", "rows", "median", "p90" };

static gpointer
load_table (gconstpointer what, GError **error)
{
  g_autofree char *path = g_build_filename (part_folder (), "validated.csv", NULL);

  (void) what;
  return csv_load (path, error);
}

static void
free_table (gpointer table)
{
  csv_free (table);
}

static const char *
nodes_word (const Point *point)
{
  return point_gpus (point) < 2 ? "none" : cluster_nodes (point->cluster) > 1 ? "several" : "one";
}

/* 3: this GPU; 2: its generation; 0: neither.  The line names a model ("V100")
 * that stands in the part's name ("V100-SXM2-16GB"). */
static int
gpu_score (const Gpu *gpu, const char *model)
{
  g_autoptr (Gpu) other = NULL;

  if (g_str_has_prefix (gpu->name, model))
    return 3;
  other = gpu_load (model, NULL);
  return other != NULL && g_strcmp0 (other->generation, gpu->generation) == 0 ? 2 : 0;
}

static char *
sentence (const CsvTable *table, guint row, const guint column[N_COLUMNS], int score, gboolean same_nodes, GError **error)
{
  double median, p90;
  const char *nodes = csv_text (table, row, column[NODES]);

  if (!csv_number_in (table, row, column[MEDIAN], 0, 1e3, &median, error)
      || !csv_number_in (table, row, column[P90], 0, 1e3, &p90, error))
    return NULL;
  return g_strdup_printf ("%s, %s%s on %s%s: %s rows, median error %.0f %%, 90 %% of them within %.0f %%",
                          csv_text (table, row, column[TABLE]), csv_text (table, row, column[GPU]),
                          score < 3 ? " (same generation)" : "",
                          g_str_equal (nodes, "none") ? "one GPU" : g_str_equal (nodes, "one") ? "one node" : "several nodes",
                          same_nodes ? "" : " (no table for yours)", csv_text (table, row, column[ROWS]), 100 * median, 100 * p90);
}

char *
validated_nearest (const Point *point, Shelf *parts, GError **error)
{
  static const ShelfKind kind = { "validated", load_table, free_table };
  const CsvTable *table = shelf_get (parts, &kind, "validated", NULL, error);
  const Gpu *gpu = cluster_gpu (point->cluster);
  int best = 0, best_gpu = 0;
  gboolean best_nodes = FALSE;
  guint column[N_COLUMNS], nearest = 0;
  double most_rows = 0;

  if (table == NULL)
    return NULL;
  for (guint i = 0; i < N_COLUMNS; i++)
    {
      if (!csv_require (table, column_names[i], &column[i], error))
        return NULL;
    }
  for (guint row = 0; row < csv_rows (table); row++)
    {
      const int of_gpu = gpu_score (gpu, csv_text (table, row, column[GPU]));
      const gboolean nodes = g_str_equal (csv_text (table, row, column[NODES]), nodes_word (point));
      const int score = of_gpu == 0 ? 0 : 2 * of_gpu + (nodes ? 1 : 0);
      double rows;

      if (!csv_number_in (table, row, column[ROWS], 0, 1e9, &rows, error))
        return NULL;
      if (score < best || score == 0 || (score == best && rows <= most_rows))
        continue;
      best = score;
      best_gpu = of_gpu;
      best_nodes = nodes;
      nearest = row;
      most_rows = rows;
    }
  if (best == 0)
    return g_strdup_printf ("no published table with a GPU like %s", gpu->name);
  return sentence (table, nearest, column, best_gpu, best_nodes, error);
}
