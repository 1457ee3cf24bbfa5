/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/run.h"
#include <math.h>
#include <string.h>

/* The interval to first order and that by Monte Carlo come from the same spreads
 * by different ways: they must agree within 20 % of their width on every shipped
 * scenario (the design's own bound), hold the prediction, and come out the same
 * bytes again. */

static Result *
run (const char *path, gboolean monte_carlo)
{
  const RunOptions options = { .interval = TRUE, .monte_carlo = monte_carlo, .validated = TRUE };
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) scenario = scenario_load (path, NULL, &error);
  Result *result;

  g_assert_no_error (error);
  result = run_scenario (scenario, &options, &error);
  g_assert_no_error (error);
  return result;
}

static void
test_scenario (gconstpointer path)
{
  g_autoptr (Result) first = run (path, FALSE);
  g_autoptr (Result) drawn = run (path, TRUE);
  g_autoptr (Result) again = run (path, TRUE);

  g_assert_nonnull (first->validated);
  if (isnan (first->step_lo))
    {
      g_assert_true (isnan (drawn->step_lo));
      g_test_skip ("no spread is known");
      return;
    }
  const double width = log (first->step_hi / first->step_lo);
  g_test_message ("first order %.4g to %.4g, drawn %.4g to %.4g", first->step_lo, first->step_hi, drawn->step_lo, drawn->step_hi);
  g_assert_cmpfloat (first->step_lo, <, first->step_time);
  g_assert_cmpfloat (first->step_hi, >, first->step_time);
  g_assert_cmpfloat (fabs (log (drawn->step_lo / first->step_lo)), <, 0.2 * width);
  g_assert_cmpfloat (fabs (log (drawn->step_hi / first->step_hi)), <, 0.2 * width);
  g_assert_true (memcmp (&drawn->step_lo, &again->step_lo, sizeof (double)) == 0);
  g_assert_true (memcmp (&drawn->step_hi, &again->step_hi, sizeof (double)) == 0);
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = g_build_filename (g_getenv ("LOCKSTEP_SOURCE"), "scenarios", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  g_test_init (&argc, &argv, NULL);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *test = g_strdup_printf ("/uncertainty/%s", name);

      if (!g_str_has_suffix (name, ".ini"))
        continue;
      g_ptr_array_add (paths, g_build_filename (folder, name, NULL));
      g_test_add_data_func (test, g_ptr_array_index (paths, paths->len - 1), test_scenario);
    }
  g_assert_cmpuint (paths->len, >, 0);
  return g_test_run ();
}
