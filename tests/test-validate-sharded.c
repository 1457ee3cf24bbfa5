/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/training-validate.h"
#include <math.h>

/* Published FSDP steps, predicted: nothing of the table but the marked rows, which
 * set two constants of their stack, is in the parts (none), or one row of the same
 * job (smallest).  Reached, mean and median: llm_foundry none 5.7 / 3.4, smallest
 * 3.9 / 1.8; torchtitan 6.0 / 2.4, 0.8 / 0.8 %. */
typedef struct { const char *name, *table; TrainingAnchor anchor; guint rows; double mean, median, p90; } Whole;
static const Whole wholes[] = {
  { "llm-foundry-none", "llm_foundry", ANCHOR_NONE, 92, 0.065, 0.045, 0.145 },
  { "llm-foundry-smallest", "llm_foundry", ANCHOR_SMALLEST, 28, 0.045, 0.025, 0.1 },
  { "torchtitan-none", "torchtitan", ANCHOR_NONE, 12, 0.07, 0.04, 0.155 },
  { "torchtitan-smallest", "torchtitan", ANCHOR_SMALLEST, 3, 0.03, 0.03, 0.04 },
};

static void
test_whole (gconstpointer data)
{
  const Whole *whole = data;
  g_autofree char *file = g_strconcat (whole->table, ".csv", NULL);
  g_autofree char *path = g_build_filename (g_getenv ("LOCKSTEP_SOURCE"), "calibration", "transformers", file, NULL);
  const char *const paths[] = { path, NULL };
  const TrainingValidation how = { whole->anchor, NULL };
  g_autoptr (GPtrArray) keep = g_ptr_array_new_with_free_func ((GDestroyNotify) csv_free);
  g_autoptr (Validation) validation = validation_new ();
  g_autoptr (GError) error = NULL;
  ValidationSummary s;

  g_assert_true (training_validate (paths, &how, validation, keep, NULL, &error));
  g_assert_no_error (error);
  validation_summary (validation, G_MAXUINT, FALSE, &s);
  g_assert_cmpuint (s.used, >=, whole->rows);
  g_assert_cmpfloat (s.mean, <=, whole->mean);
  g_assert_cmpfloat (s.median, <=, whole->median);
  g_assert_cmpfloat (s.p90, <=, whole->p90);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (wholes); i++)
    {
      g_autofree char *path = g_strconcat ("/training/sharded/", wholes[i].name, NULL);

      g_test_add_data_func (path, &wholes[i], test_whole);
    }
  return g_test_run ();
}
