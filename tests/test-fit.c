/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

/* t = a + x/b at lumpy points; the rows are made from a = 7.3e-6, b = 2.385e9. */
#define ROWS 12u
static const double sizes[ROWS] = { 17, 330, 2.1e3, 1.7e4, 6.1e4, 1.13e5, 3.7e5, 9.9e5, 3.3e6, 1.7e7, 7.7e7, 2.9e8 };
static const double true_a = 7.3e-6, true_b = 2.385e9;

static double
line (const double *p, guint row, gpointer user)
{
  (void) user;
  return p[0] + sizes[row] / p[1];
}

static void
make_rows (double *measured)
{
  for (guint i = 0; i < ROWS; i++)
    measured[i] = true_a + sizes[i] / true_b;
}

static FitResult *
fit_line (const double *measured, guint rows, const FitParameter *parameters, GError **error)
{
  const FitProblem problem = { .parameters = parameters, .n_parameters = 2, .n_rows = rows, .measured = measured,
                               .scale = 0.01, .model = line };

  return fit_solve (&problem, error);
}

static const FitParameter wide[] = { { "a", 1e-5, 1.0 }, { "b", 1e9, 1.0 } };

/* The prior's pull is (scale/sd)^2 of a row's, 1e-4: 0.1 % is ten times that. */
static void
test_recovers (void)
{
  g_autoptr (GError) error = NULL;
  double measured[ROWS];

  make_rows (measured);
  g_autoptr (FitResult) fit = fit_line (measured, ROWS, wide, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (fit->values[0] / true_a, 1, 1e-3);
  g_assert_cmpfloat_with_epsilon (fit->values[1] / true_b, 1, 1e-3);
  g_assert_cmpfloat (fit->q90, <, 1e-3);
  /* about five rows know each number to 1 %: 0.01/sqrt(5) = 0.0045 */
  g_assert_cmpfloat_with_epsilon (sqrt (fit->covariance[0]), 0.0045, 0.002);
  g_assert_cmpfloat_with_epsilon (sqrt (fit->covariance[3]), 0.0045, 0.002);
}

/* Two rows three times too slow: plain least squares would move b by tens of per cent. */
static void
test_robust (void)
{
  g_autoptr (GError) error = NULL;
  double measured[ROWS];

  make_rows (measured);
  measured[1] *= 3;
  measured[10] *= 3;
  g_autoptr (FitResult) fit = fit_line (measured, ROWS, wide, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (fit->values[0] / true_a, 1, 0.02);
  g_assert_cmpfloat_with_epsilon (fit->values[1] / true_b, 1, 0.02);
  g_assert_cmpfloat (fabs (fit->residuals[10] - log (3)), <, 0.03);
}

static void
test_same_bits (void)
{
  double measured[ROWS];

  make_rows (measured);
  measured[4] *= 1.07;
  g_autoptr (FitResult) one = fit_line (measured, ROWS, wide, NULL), other = fit_line (measured, ROWS, wide, NULL);
  g_assert_cmpmem (one->values, 2 * sizeof (double), other->values, 2 * sizeof (double));
  g_assert_cmpmem (one->covariance, 4 * sizeof (double), other->covariance, 4 * sizeof (double));
}

/* Four deviations of 0.1 around 1e-5 end at 1.49e-5 and 6.7e-6; a held number stays. */
static void
test_box (void)
{
  static const FitParameter narrow[] = { { "a", 3e-7, 0.1 }, { "b", 2.385e9, 0 } };
  g_autoptr (GError) error = NULL;
  double measured[ROWS];

  make_rows (measured);
  g_autoptr (FitResult) fit = fit_line (measured, ROWS, narrow, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (fit->values[0], <=, 3e-7 * exp (0.4) * (1 + 1e-9));
  g_assert_cmpfloat (fit->values[0], >, 3e-7 * exp (0.35));
  g_assert_cmpmem (&fit->values[1], sizeof (double), &narrow[1].centre, sizeof (double));
  g_assert_cmpfloat (fit->covariance[3], <=, 0);
}

static void
test_refuses (void)
{
  g_autoptr (GError) few = NULL, zero = NULL;
  double measured[ROWS];

  make_rows (measured);
  g_assert_null (fit_line (measured, 2, wide, &few));
  g_assert_error (few, FIT_ERROR, FIT_ERROR_INPUT);
  measured[3] = 0;
  g_assert_null (fit_line (measured, ROWS, wide, &zero));
  g_assert_error (zero, FIT_ERROR, FIT_ERROR_INPUT);
  g_assert_nonnull (strstr (zero->message, "row 4"));
}

static void
test_quantile (void)
{
  double values[] = { 7, 1, 3, 9, 5 };

  g_assert_cmpfloat_with_epsilon (fit_quantile (values, 5, 0.5), 5, 1e-12);
  g_assert_cmpfloat_with_epsilon (fit_quantile (values, 5, 0.9), 8.2, 1e-12);   /* 7 + 0.6*(9 - 7) */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gsl_set_error_handler_off ();
  g_test_add_func ("/fit/recovers", test_recovers);
  g_test_add_func ("/fit/robust", test_robust);
  g_test_add_func ("/fit/same-bits", test_same_bits);
  g_test_add_func ("/fit/box", test_box);
  g_test_add_func ("/fit/refuses", test_refuses);
  g_test_add_func ("/fit/quantile", test_quantile);
  return g_test_run ();
}
