/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/training-validate.h"

/* Published steps of GPT and Llama under Megatron and its kin, predicted.
 * none: constants of models/llm.csv less those that steps of the row's own source
 * set; what tables do not print was assumed with them in sight; smallest: one
 * efficiency a group of rows.
 * Thresholds: as reached, with room for a percent or two.  The two large tables
 * stay outside the tree. */
typedef struct { const char *name, *folder, *table, *where; TrainingAnchor anchor; guint rows; double mean, p90, coverage; } Whole;
static const Whole wholes[] = {
  { "sequence-parallel-steps", NULL, "megatron_sp_2022", "model!=*one transformer layer", ANCHOR_NONE, 4, 0.03, 0.07, 0.9 },
  { "sequence-parallel-blocks", NULL, "megatron_sp_2022", "model=*one transformer layer", ANCHOR_NONE, 5, 0.03, 0.05, 0.9 },
  { "sc21-none", NULL, "megatron_sc21", "nodes>0", ANCHOR_NONE, 5, 0.035, 0.05, 0.9 },
  { "sc21-smallest", NULL, "megatron_sc21", "nodes>0", ANCHOR_SMALLEST, 4, 0.03, 0.05, 0.9 },
  { "megascale-none", NULL, "megascale", "nodes>0", ANCHOR_NONE, 6, 0.045, 0.08, 0.9 },
  { "megascale-smallest", NULL, "megascale", "nodes>0", ANCHOR_SMALLEST, 4, 0.06, 0.09, 0.9 },
  { "megatron-h100-none", NULL, "megatron_h100", "nodes>0", ANCHOR_NONE, 7, 0.055, 0.09, 0.8 },
  { "megatron-h100-smallest", NULL, "megatron_h100", "nodes>0", ANCHOR_SMALLEST, 4, 0.055, 0.08, 0.8 },
  { "megatron-bridge-experts", NULL, "megatron_bridge", "model=Qwen3*", ANCHOR_NONE, 66, 0.135, 0.3, 0.85 },
  { "megatron-bridge-deepseek", NULL, "megatron_bridge", "model=DeepSeek*", ANCHOR_NONE, 22, 0.175, 0.33, 0.85 },
  { "megatron-bridge-none", NULL, "megatron_bridge", "model=LLAMA3*", ANCHOR_NONE, 36, 0.06, 0.11, 0.85 },
  { "megatron-bridge-smallest", NULL, "megatron_bridge", "nodes>0", ANCHOR_SMALLEST, 32, 0.045, 0.1, 0.85 },
  { "nanotron-none", NULL, "nanotron", "nodes>0", ANCHOR_NONE, 14, 0.14, 0.26, 0.9 },
  { "nanotron-smallest", NULL, "nanotron", "nodes>0", ANCHOR_SMALLEST, 12, 0.125, 0.26, 0.9 },
  { "jean-zay-none", NULL, "bigscience_jz", "total_gpus>0", ANCHOR_NONE, 40, 0.14, 0.25, 0.8 },
  { "jean-zay-pipelines", NULL, "bigscience_jz", "global_batch=4; total_gpus!=256", ANCHOR_NONE, 6, 0.035, 0.065, 0.9 },
  { "nemo-long-none", NULL, "nemo_long_seq", "total_gpus>0", ANCHOR_NONE, 8, 0.1, 0.13, 0.9 },
  { "stas-none", NULL, "stas_llama8b", "total_gpus>0", ANCHOR_NONE, 7, 0.1, 0.2, 0.7 },
  { "llama3-405b-none", NULL, "llama3_405b", "nodes>0", ANCHOR_NONE, 2, 0.07, 0.09, 0.9 },
  { "dlperf-none", NULL, "dlperf_gpt", "nodes>0", ANCHOR_NONE, 21, 0.14, 0.3, 0.75 },
  { "vtrain-nodes-none", "training", "vtrain_a100", "nodes>1", ANCHOR_NONE, 48, 0.1, 0.165, 0.85 },
  { "vtrain-node-none", "training", "vtrain_a100", "nodes=1", ANCHOR_NONE, 700, 0.125, 0.22, 0.85 },
  { "vtrain-nodes-smallest", "training", "vtrain_a100", "nodes>1", ANCHOR_SMALLEST, 35, 0.09, 0.14, 0.85 },
  { "vtrain-node-smallest", "training", "vtrain_a100", "nodes=1", ANCHOR_SMALLEST, 450, 0.04, 0.08, 0.85 },
  { "mlperf-gpt3-none", "training", "mlperf_training", "model=gpt3*", ANCHOR_NONE, 5, 0.04, 0.06, 0.85 },
  { "mlperf-gpt3-smallest", "training", "mlperf_training", "model=gpt3*", ANCHOR_SMALLEST, 4, 0.03, 0.05, 0.85 },
};

static char *
table_path (const Whole *whole)
{
  g_autofree char *file = g_strconcat (whole->table, ".csv", NULL);
  const char *data = g_getenv ("LOCKSTEP_MEASURED");

  if (whole->folder == NULL)
    return g_build_filename (g_getenv ("LOCKSTEP_SOURCE"), "calibration", "training-llm", file, NULL);
  return data != NULL && *data != '\0' ? g_build_filename (data, whole->folder, file, NULL) : NULL;
}

static void
test_whole (gconstpointer data)
{
  const Whole *whole = data;
  g_autofree char *path = table_path (whole);
  const char *const paths[] = { path, NULL }, *const where[] = { whole->where, NULL };
  const TrainingValidation how = { whole->anchor, where };
  g_autoptr (GPtrArray) keep = g_ptr_array_new_with_free_func ((GDestroyNotify) csv_free);
  g_autoptr (Validation) validation = validation_new ();
  g_autoptr (GError) error = NULL;
  ValidationSummary s;

  if (path == NULL || !g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the published measurements are not here (LOCKSTEP_MEASURED)");
      return;
    }
  g_assert_true (training_validate (paths, &how, validation, keep, NULL, &error));
  g_assert_no_error (error);
  validation_summary (validation, G_MAXUINT, FALSE, &s);
  g_assert_cmpuint (s.used, >=, whole->rows);
  g_assert_cmpfloat (s.mean, <=, whole->mean);
  g_assert_cmpfloat (s.p90, <=, whole->p90);
  g_assert_cmpfloat (s.coverage, >=, whole->coverage);
}

/* The dense rows of seven stacks together: one smaller run known, median 3 % and 90 % of
 * them within 10 %; nothing known, 6 % in the mean. */
static void
test_together (void)
{
  static const char *const tables[] = { "transformers/llm_foundry", "transformers/torchtitan", "training-llm/megatron_h100", "training-llm/megatron_sc21",
                                        "training-llm/megascale", "training-llm/nanotron", "training-llm/megatron_bridge" };
  static const char *const where[] = { "model!=Qwen3*", "model!=DeepSeek*", NULL };
  char *paths[G_N_ELEMENTS (tables) + 1] = { NULL };
  ValidationSummary s[2];

  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++)
    paths[i] = g_strdup_printf ("%s/calibration/%s.csv", g_getenv ("LOCKSTEP_SOURCE"), tables[i]);
  for (guint i = 0; i < 2; i++)
    {
      const TrainingValidation how = { i == 0 ? ANCHOR_SMALLEST : ANCHOR_NONE, where };
      g_autoptr (GPtrArray) keep = g_ptr_array_new_with_free_func ((GDestroyNotify) csv_free);
      g_autoptr (Validation) validation = validation_new ();
      g_autoptr (GError) error = NULL;

      g_assert_true (training_validate ((const char *const *) paths, &how, validation, keep, NULL, &error));
      g_assert_no_error (error);
      validation_summary (validation, G_MAXUINT, FALSE, &s[i]);
    }
  g_assert_cmpuint (s[0].used, >=, 87);
  g_assert_cmpfloat (s[0].median, <=, 0.03);
  g_assert_cmpfloat (s[0].p90, <=, 0.1);
  g_assert_cmpuint (s[1].used, >=, 172);
  g_assert_cmpfloat (s[1].mean, <=, 0.06);
  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++)
    g_free (paths[i]);
}

/* Mixtures of experts have a line of their own: 88 of the table's 140 rows. */
static void
test_apart (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("LOCKSTEP_SOURCE"), "calibration", "training-llm", "megatron_bridge.csv", NULL);
  const char *const paths[] = { path, NULL };
  const TrainingValidation how = { ANCHOR_NONE, NULL };
  g_autoptr (GPtrArray) keep = g_ptr_array_new_with_free_func ((GDestroyNotify) csv_free);
  g_autoptr (Validation) validation = validation_new ();
  ValidationSummary dense, experts;

  g_assert_true (training_validate (paths, &how, validation, keep, NULL, NULL));
  g_assert_cmpuint (validation_n_sources (validation), ==, 2);
  validation_summary (validation, 0, FALSE, &dense);
  validation_summary (validation, 1, FALSE, &experts);
  g_assert_cmpuint (dense.used + dense.skipped, ==, 52);
  g_assert_cmpuint (experts.used + experts.skipped, ==, 88);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (wholes); i++)
    {
      g_autofree char *path = g_strdup_printf ("/validate-llm/%s", wholes[i].name);

      /* 2,000 rows more: code that the others run */
      if (wholes[i].folder != NULL && g_getenv ("LOCKSTEP_SANITIZED") != NULL)
        continue;
      g_test_add_data_func (path, &wholes[i], test_whole);
    }
  g_test_add_func ("/validate-llm/apart", test_apart);
  g_test_add_func ("/validate-llm/together", test_together);
  return g_test_run ();
}
