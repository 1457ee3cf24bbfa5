/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/names.h"
#include "calibrate/fit.h"
#include "calibrate/training-validate.h"
#include "calibrate/validate-rows.h"
#include "run/validated.h"
#include <math.h>
#include <string.h>

/* models/validated.csv says what `lockstep validate training TABLE --anchor none`
 * gives now.  UPDATE=1 writes it anew. */

static const char head[] =
  "# How far catalogue predictions lie from published training rows: `lockstep validate training TABLE --anchor none`, rows of one\n"
  "# strategy, kind of network, GPU model and number of nodes together (three or more); median and p90 of |predicted/measured - 1|.\n"
  "# strategy: replicas (each GPU holds all weights), servers, sharded (ZeRO, FSDP), split (Megatron).  networks: images, sequences,\n"
  "# experts (mixtures of experts), recommenders.  nodes: none (one GPU), one, several.  No row is in a fit that predicts it.\n"
  "# `run` names the nearest line.\n"
  "table,strategy,networks,gpu,nodes,rows,median,p90\n";

enum { ROWS_MIN = 3 };

static int
compare_keys (gconstpointer a, gconstpointer b, gpointer unused)
{
  (void) unused;
  return strcmp (a, b);
}

/* "replicas,images,V100,several"; NULL: not a row of whole steps. */
static char *
line_of (const TrainingReader *reader, const CsvTable *table, guint row)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TrainingRow) read = training_row_read (reader, table, row);
  g_autoptr (Point) point = read->layer ? NULL : point_new (read->scenario, &error);

  g_assert_no_error (error);
  if (point == NULL)
    return NULL;
  const ValidatedKind kind = validated_kind (point);
  g_auto (GStrv) gpu = g_strsplit_set (cluster_gpu (point->cluster)->name, "- ", 2);
  return g_strjoin (",", kind.strategy, kind.networks, gpu[0], kind.nodes, NULL);
}

static void
add_table (const TrainingReader *reader, const char *path, GString *out)
{
  const char *const paths[] = { path, NULL };
  const TrainingValidation how = { ANCHOR_NONE, NULL };
  g_autoptr (GPtrArray) keep = g_ptr_array_new_with_free_func ((GDestroyNotify) csv_free);
  g_autoptr (Validation) validation = validation_new ();
  g_autoptr (GTree) lines = g_tree_new_full (compare_keys, NULL, g_free, (GDestroyNotify) g_array_unref);
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_path_get_basename (path);

  training_validate (paths, &how, validation, keep, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < validation->rows->len; i++)
    {
      const ValidationRow *row = validation_row_at (validation, i);
      const double off = fabs (row->predicted / row->measured - 1);
      char *line = row->skip != NULL ? NULL : line_of (reader, validation_source_at (validation, row->source)->csv, row->row);
      GArray *errors = line != NULL ? g_tree_lookup (lines, line) : NULL;

      if (line == NULL)
        continue;
      if (errors == NULL)
        g_tree_insert (lines, g_strdup (line), errors = g_array_new (FALSE, FALSE, sizeof (double)));
      g_array_append_val (errors, off);
      g_free (line);
    }
  for (GTreeNode *node = g_tree_node_first (lines); node != NULL; node = g_tree_node_next (node))
    {
      const GArray *errors = g_tree_node_value (node);
      double *values = (double *) (gpointer) errors->data;

      if (errors->len >= ROWS_MIN)
        g_string_append_printf (out, "%s,%s,%u,%.3f,%.3f\n", name, (const char *) g_tree_node_key (node), errors->len,
                                fit_quantile (values, errors->len, 0.5), fit_quantile (values, errors->len, 0.9));
    }
}

/* Tables of whole training steps, by file name. */
static void
add_folder (const TrainingReader *reader, const char *folder, const char *const *only, GString *out)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GDir) dir = g_dir_open (folder, 0, &error);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  g_assert_no_error (error);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      if (g_str_has_suffix (name, ".csv") && (only == NULL || g_strv_contains (only, name)))
        g_ptr_array_add (names, g_build_filename (folder, name, NULL));
    }
  g_ptr_array_sort (names, names_compare);
  for (guint i = 0; i < names->len; i++)
    add_table (reader, names->pdata[i], out);
}

static void
test_table (void)
{
  static const char *const own[] = { "training", "training-llm", "transformers" };
  static const char *const large[] = { "mlperf_training.csv", "vtrain_a100.csv", NULL };
  const char *data = g_getenv ("LOCKSTEP_MEASURED");
  g_autofree char *more = data != NULL && *data != '\0' ? g_build_filename (data, "training", NULL) : NULL;
  g_autofree char *kept = g_build_filename (g_getenv ("LOCKSTEP_MODELS"), "validated.csv", NULL), *text = NULL;
  g_autoptr (TrainingReader) reader = NULL;
  g_autoptr (GString) out = g_string_new (head);
  g_autoptr (GError) error = NULL;

  if (more == NULL || !g_file_test (more, G_FILE_TEST_IS_DIR))
    {
      g_test_skip ("no folder of measured tables");
      return;
    }
  reader = training_reader_new (&error);
  g_assert_no_error (error);
  for (gsize i = 0; i < G_N_ELEMENTS (own); i++)
    {
      g_autofree char *folder = g_build_filename (g_getenv ("LOCKSTEP_SOURCE"), "calibration", own[i], NULL);

      add_folder (reader, folder, NULL, out);
    }
  add_folder (reader, more, large, out);
  if (g_getenv ("UPDATE") != NULL)
    g_file_set_contents (kept, out->str, (gssize) out->len, &error);
  else
    g_file_get_contents (kept, &text, NULL, &error);
  g_assert_no_error (error);
  if (text != NULL)
    g_assert_cmpstr (text, ==, out->str);
}

/* Which line is the nearest: strategy, then networks, the GPU, the nodes. */
typedef struct { const char *scenario, *starts; } Nearest;
static const Nearest nearest[] = {
  { "resnet50-dgx-a100", "dle_cnn.csv, A100 on several nodes: " },
  { "flat-bert-large-dgx-1", "dle_bert.csv, V100 on one node: " },
  { "fsdp-7b-h100", "llm_foundry.csv, H100 on several nodes: " },
  { "aws-g5", "dle_bert.csv, A100 on several nodes (a GPU of the same generation): " },
  { "deepseek-v3-gb300", "megatron_bridge.csv, GB300 on several nodes: " },
  { "gcp-g2", "no published table with a GPU like L4" },
};

static void
test_nearest (gconstpointer data)
{
  const Nearest *want = data;
  g_autofree char *file = g_strconcat (want->scenario, ".ini", NULL);
  g_autofree char *path = g_build_filename (g_getenv ("LOCKSTEP_SOURCE"), "scenarios", file, NULL), *said = NULL;
  g_autoptr (Shelf) parts = shelf_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) scenario = scenario_load (path, NULL, &error);
  g_autoptr (Point) point = scenario != NULL ? point_new (scenario, &error) : NULL;

  g_assert_no_error (error);
  said = validated_nearest (point, parts, &error);
  g_assert_no_error (error);
  if (!g_str_has_prefix (said, want->starts))
    g_test_message ("%s", said);
  g_assert_true (g_str_has_prefix (said, want->starts));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/validated/table", test_table);
  for (gsize i = 0; i < G_N_ELEMENTS (nearest); i++)
    {
      g_autofree char *path = g_strconcat ("/validated/nearest/", nearest[i].scenario, NULL);

      g_test_add_data_func (path, &nearest[i], test_nearest);
    }
  return g_test_run ();
}
