/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report-fixture.h"

/* Pictures: titles are data, and what is refused. */

/* A hostile title is a title: nothing of it runs, and the picture is whole. */
static void
test_plot (void)
{
  Result first = sample (1, 0.280), second = sample (2, 0.190);
  Result *points[] = { &first, &second };
  Curve curve = { .n_points = 2, .points = points, .crossing = NAN, .knee = 2 };
  ScaleStudy study = { .strong = TRUE, .n_curves = 1, .curves = &curve, .crossing = NAN };
  g_autofree char *program = g_find_program_in_path ("gnuplot");
  g_autofree char *folder = g_dir_make_tmp ("test-report-XXXXXX", NULL);
  g_autofree char *trap = g_build_filename (folder, "trap", NULL);
  g_autofree char *picture = g_build_filename (folder, "a.svg", NULL);
  g_autofree char *title = g_strdup_printf ("`touch %s`\"; system('touch %s') # \n_x^{2}", trap, trap);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  if (program == NULL)
    {
      g_rmdir (folder);
      g_test_skip ("gnuplot is not installed");
      return;
    }
  g_assert_true (plot_scaling (&study, title, picture, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (picture, &text, NULL, NULL));
  check_has (text, "</svg>");
  check_has (text, "`touch ");
  g_assert_false (g_file_test (trap, G_FILE_TEST_EXISTS));
  g_unlink (picture);
  g_rmdir (folder);
}

static void
test_plot_refused (void)
{
  g_autofree char *folder = g_dir_make_tmp ("test-report-XXXXXX", NULL);
  g_autofree char *csv = g_build_filename (folder, "a.csv", NULL);
  g_autofree char *picture = g_build_filename (folder, "a.svg", NULL);
  g_autofree char *other = g_build_filename (folder, "a.gif", NULL);
  g_autofree char *path = g_strdup (g_getenv ("PATH"));
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (csv, "a,b\n1,2\n", -1, NULL));
  g_assert_false (plot_csv (csv, picture, &error));
  g_assert_error (error, PLOT_ERROR, PLOT_ERROR_INPUT);
  g_clear_error (&error);
  g_assert_true (g_file_set_contents (csv, "op,size_bytes,time_s,algbw_Bps,busbw_Bps,wire_Bps,algorithm,protocol,time_lo_s,"
                                      "time_hi_s\nall-reduce,1024,1e-5,1e8,2e8,2e8,ring,ll,,\n", -1, NULL));
  g_assert_false (plot_csv (csv, other, &error));
  g_assert_error (error, PLOT_ERROR, PLOT_ERROR_INPUT);
  g_clear_error (&error);
  g_setenv ("PATH", folder, TRUE);
  g_assert_false (plot_csv (csv, picture, &error));
  g_assert_error (error, PLOT_ERROR, PLOT_ERROR_TOOL);
  check_has (error->message, "gnuplot-nox");
  g_assert_false (g_file_test (picture, G_FILE_TEST_EXISTS));
  g_setenv ("PATH", path, TRUE);
  g_unlink (csv);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/report/plot/title-is-data", test_plot);
  g_test_add_func ("/report/plot/refused", test_plot_refused);
  return g_test_run ();
}
