/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/validated.h"
#include "base/csv.h"
#include "base/origin.h"
#include <math.h>
#include <string.h>

enum { TABLE, STRATEGY, NETWORKS, GPU, NODES, ROWS, MEDIAN, P90, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = { "table", "strategy", "networks", "gpu", "nodes", "rows", "median", "p90" };

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

/* One of a fixed list: no copy. */
static const char *
strategy_word (const char *kind)
{
  static const char *const sharded[] = { "zero", "fsdp", NULL };

  if (g_strv_contains (sharded, kind))
    return "sharded";
  return g_str_equal (kind, "megatron") ? "split" : g_str_equal (kind, "parameter-server") ? "servers" : "replicas";
}

static const char *
networks_word (const Workload *workload)
{
  static const char *const sequences[] = { "bert", "gnmt", "transformer", NULL };
  static const char *const recommenders[] = { "ncf", "dlrm", NULL };

  if (workload->dims.experts > 1)
    return "experts";
  return g_strv_contains (sequences, workload->family) ? "sequences"
         : g_strv_contains (recommenders, workload->family) ? "recommenders" : "images";
}

ValidatedKind
validated_kind (const Point *point)
{
  return (ValidatedKind) {
    .strategy = strategy_word (point->strategy->name),
    .networks = networks_word (point->workload),
    .nodes = point_gpus (point) < 2 ? "none" : cluster_nodes (point->cluster) > 1 ? "several" : "one",
  };
}

/* 2: this GPU; 1: its generation; 0: neither.  The line names a model ("V100")
 * that stands in the part's name ("V100-SXM2-16GB"). */
static guint
gpu_score (const Gpu *gpu, const char *model)
{
  g_autoptr (Gpu) other = NULL;
  const gsize length = strlen (model);

  if (g_str_has_prefix (gpu->name, model) && !g_ascii_isalnum (gpu->name[length]))
    return 2;
  other = gpu_load (model, NULL);
  return other != NULL && g_strcmp0 (other->generation, gpu->generation) == 0 ? 1 : 0;
}

/* How a line agrees with a point. */
typedef struct { gboolean strategy, networks, gpu, nodes; } Agreement;

/* Strategy and networks before the product and the number of nodes: they decide
 * which terms of the model a row tests. */
static guint
agreement_score (const Agreement *a)
{
  return 8 * a->strategy + 4 * a->networks + 2 * a->gpu + a->nodes;
}

static char *
sentence (const CsvTable *table, guint row, const guint column[N_COLUMNS], const Agreement *agrees, GError **error)
{
  double median, p90;
  const char *nodes = csv_text (table, row, column[NODES]);
  g_autoptr (GPtrArray) other = g_ptr_array_new ();
  g_autofree char *differs = NULL;

  if (!csv_number_in (table, row, column[MEDIAN], 0, 1e3, &median, error)
      || !csv_number_in (table, row, column[P90], 0, 1e3, &p90, error))
    return NULL;
  if (!agrees->strategy)
    g_ptr_array_add (other, "another strategy");
  if (!agrees->networks)
    g_ptr_array_add (other, "other networks");
  if (!agrees->gpu)
    g_ptr_array_add (other, "a GPU of the same generation");
  if (!agrees->nodes)
    g_ptr_array_add (other, "another number of nodes");
  g_ptr_array_add (other, NULL);
  differs = g_strjoinv (", ", (char **) other->pdata);
  return g_strdup_printf ("%s, %s on %s%s%s%s: %s rows, median error %.0f %%, 90 %% of them within %.0f %%",
                          csv_text (table, row, column[TABLE]), csv_text (table, row, column[GPU]),
                          g_str_equal (nodes, "none") ? "one GPU" : g_str_equal (nodes, "one") ? "one node" : "several nodes",
                          *differs != '\0' ? " (" : "", differs, *differs != '\0' ? ")" : "",
                          csv_text (table, row, column[ROWS]), 100 * median, 100 * p90);
}

char *
validated_nearest (const Point *point, Shelf *parts, GError **error)
{
  static const ShelfKind shelf_kind = { "validated", load_table, free_table };
  const CsvTable *table = shelf_get (parts, &shelf_kind, "validated", NULL, error);
  const Gpu *gpu = cluster_gpu (point->cluster);
  const ValidatedKind kind = validated_kind (point);
  guint column[N_COLUMNS], nearest = G_MAXUINT;
  Agreement best = { FALSE, FALSE, FALSE, FALSE };
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
      const guint of_gpu = gpu_score (gpu, csv_text (table, row, column[GPU]));
      const Agreement agrees = { g_str_equal (csv_text (table, row, column[STRATEGY]), kind.strategy),
                                 g_str_equal (csv_text (table, row, column[NETWORKS]), kind.networks), of_gpu == 2,
                                 g_str_equal (csv_text (table, row, column[NODES]), kind.nodes) };
      const guint score = agreement_score (&agrees), best_score = agreement_score (&best);
      double rows;

      if (!csv_number_in (table, row, column[ROWS], 0, 1e9, &rows, error))
        return NULL;
      if (of_gpu == 0 || (nearest != G_MAXUINT && (score < best_score || (score == best_score && rows <= most_rows))))
        continue;
      best = agrees;
      nearest = row;
      most_rows = rows;
    }
  if (nearest == G_MAXUINT)
    return g_strdup_printf ("no published table with a GPU like %s", gpu->name);
  return sentence (table, nearest, column, &best, error);
}
