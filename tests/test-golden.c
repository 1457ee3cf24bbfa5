/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/csv.h"
#include "report/report.h"
#include <math.h>
#include <string.h>

/* Runs each scenarios/NAME.ini as a scaling study and compares its CSV with
 * NAME.expected.csv: row by row, only the columns and fields given there, within
 * the tolerance of a line "# tolerance: COLUMN N %" (else 1e-6). */

static double
tolerance (const char *text, const char *column)
{
  g_autofree char *lead = g_strdup_printf ("# tolerance: %s ", column);
  const char *line = strstr (text, lead);

  return line != NULL ? g_ascii_strtod (line + strlen (lead), NULL) / 100 : 1e-6;
}

static CsvTable *
run_csv (const char *path)
{
  const ScaleOptions options = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) scenario = scenario_load (path, NULL, &error);
  g_autoptr (ScaleStudy) study = NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  CsvTable *table;

  g_assert_no_error (error);
  study = study_scale (scenario, &options, &error);
  g_assert_no_error (error);
  report_scale (out, FORMAT_CSV, scenario, study, &look_plain);
  table = csv_parse ("scale", out->str, out->len, &error);
  g_assert_no_error (error);
  return table;
}

static void
compare_column (const CsvTable *expected, const CsvTable *got, guint column, double within)
{
  guint at;

  g_assert_true (csv_require (got, csv_column_name (expected, column), &at, NULL));
  for (guint row = 0; row < csv_rows (expected); row++)
    {
      double want, have;

      g_assert_true (csv_number (expected, row, column, &want, NULL));
      if (isnan (want))
        continue;
      g_assert_true (csv_number (got, row, at, &have, NULL));
      if (!(fabs (have - want) <= within * fabs (want)))
        g_error ("row %u: %s is %.9g, expected %.9g within %.3g %%", row + 1, csv_column_name (expected, column),
                 have, want, 100 * within);
    }
}

static void
test_scenario (gconstpointer data)
{
  const char *path = data;
  g_autofree char *base = g_strndup (path, strlen (path) - strlen (".ini"));
  g_autofree char *expected_path = g_strconcat (base, ".expected.csv", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (CsvTable) expected = csv_load (expected_path, &error);
  g_autoptr (CsvTable) got = run_csv (path);

  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (expected_path, &text, NULL, NULL));
  g_assert_true (g_str_has_prefix (text, "# "));
  g_assert_cmpuint (csv_rows (got), ==, csv_rows (expected));
  for (guint column = 0; column < csv_columns (expected); column++)
    compare_column (expected, got, column, tolerance (text, csv_column_name (expected, column)));
}

/* A scenario opens with its question: the first line is a comment that asks. */
static void
test_question (gconstpointer data)
{
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (data, &text, NULL, NULL));
  g_assert_true (g_str_has_prefix (text, "# "));
  *strchr (text, '\n') = '\0';
  g_assert_nonnull (strchr (text, '?'));
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
      g_autofree char *run = g_strdup_printf ("/golden/%s", name);
      g_autofree char *question = g_strdup_printf ("/question/%s", name);

      if (!g_str_has_suffix (name, ".ini"))
        continue;
      g_ptr_array_add (paths, g_build_filename (folder, name, NULL));
      g_test_add_data_func (run, g_ptr_array_index (paths, paths->len - 1), test_scenario);
      g_test_add_data_func (question, g_ptr_array_index (paths, paths->len - 1), test_question);
    }
  g_assert_cmpuint (paths->len, >, 0);
  return g_test_run ();
}
