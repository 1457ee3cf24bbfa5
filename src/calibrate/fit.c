/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/fit.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

G_DEFINE_QUARK (lockstep-fit-error-quark, fit_error)

/* Box of the search, in deviations of the prior. */
#define BOX 4.0
/* Other starts are displaced by this, in deviations, to alternating sides. */
#define DISPLACED 0.7
/* Stands for ln(0) and for what is not a number: far, but finite. */
#define FAR_OFF 50.0

typedef struct
{
  const FitProblem *problem;
  guint             free[FIT_MAX_PARAMETERS];   /* which parameters are searched */
  guint             n_free;
  double            values[FIT_MAX_PARAMETERS];
} Search;

/* z is in deviations near the centre and cannot leave the box. */
static void
set_values (Search *search, const gsl_vector *z)
{
  for (guint i = 0; i < search->n_free; i++)
    {
      const FitParameter *p = &search->problem->parameters[search->free[i]];

      search->values[search->free[i]] = p->centre * exp (p->sd * BOX * tanh (gsl_vector_get (z, i) / BOX));
    }
}

static double
log_ratio (const FitProblem *problem, const double *values, guint row)
{
  const double model = problem->model (values, row, problem->user);
  const double ratio = model > 0 ? log (model / problem->measured[row]) : FAR_OFF;

  return isfinite (ratio) ? ratio : FAR_OFF;
}

/* Square root of the pseudo-Huber loss, so that plain least squares sees it. */
static double
soften (double e, double knee)
{
  const double loss = 2 * knee * knee * (sqrt (1 + e * e / (knee * knee)) - 1);

  return copysign (sqrt (loss), e);
}

static int
residuals (const gsl_vector *z, void *user, gsl_vector *out)
{
  Search *search = user;
  const FitProblem *problem = search->problem;
  const double knee = problem->knee > 0 ? problem->knee : 2.0;

  set_values (search, z);
  for (guint row = 0; row < problem->n_rows; row++)
    gsl_vector_set (out, row, soften (log_ratio (problem, search->values, row) / problem->scale, knee));
  for (guint i = 0; i < search->n_free; i++)
    gsl_vector_set (out, problem->n_rows + i, BOX * tanh (gsl_vector_get (z, i) / BOX));
  return GSL_SUCCESS;
}

static gboolean
solver_failed (int status, GError **error)
{
  g_set_error (error, FIT_ERROR, FIT_ERROR_SOLVER, "the fit failed: %s", gsl_strerror (status));
  return FALSE;
}

/* A solver that stops moving is at its minimum as far as it can see. */
static gboolean
status_is_fine (int status)
{
  return status == GSL_SUCCESS || status == GSL_EMAXITER || status == GSL_ENOPROG;
}

static double
half_square (const gsl_vector *f)
{
  double dot = 0;

  gsl_blas_ddot (f, f, &dot);
  return dot / 2;
}

static void
keep_covariance (const Search *search, const gsl_multifit_nlinear_workspace *w, const gsl_matrix *cov, FitResult *result)
{
  const gsl_vector *z = gsl_multifit_nlinear_position (w);
  const guint n = result->n_parameters;

  for (guint i = 0; i < search->n_free; i++)
    for (guint j = 0; j < search->n_free; j++)
      {
        const double si = search->problem->parameters[search->free[i]].sd / pow (cosh (gsl_vector_get (z, i) / BOX), 2);
        const double sj = search->problem->parameters[search->free[j]].sd / pow (cosh (gsl_vector_get (z, j) / BOX), 2);

        result->covariance[search->free[i] * n + search->free[j]] = si * sj * gsl_matrix_get (cov, i, j);
      }
}

/* One start; better than what `result` holds: kept. */
static gboolean
try_start (Search *search, guint start, FitResult *result, GError **error)
{
  const FitProblem *problem = search->problem;
  gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters ();
  gsl_multifit_nlinear_fdf system = { .f = residuals, .n = problem->n_rows + search->n_free, .p = search->n_free, .params = search };
  gsl_multifit_nlinear_workspace *w;
  gsl_vector *z;
  gsl_matrix *cov;
  int info = 0, status;

  how.h_df = 1e-6;   /* of the forward differences: the model's own rounding is 1e-15 */
  w = gsl_multifit_nlinear_alloc (gsl_multifit_nlinear_trust, &how, system.n, system.p);
  z = gsl_vector_alloc (system.p);
  cov = gsl_matrix_alloc (system.p, system.p);
  for (guint i = 0; i < search->n_free; i++)
    gsl_vector_set (z, i, start == 0 ? 0.0 : (i + start) % 2 ? DISPLACED : -DISPLACED);
  status = gsl_multifit_nlinear_init (z, &system, w);
  if (status == GSL_SUCCESS)
    status = gsl_multifit_nlinear_driver (problem->max_iterations ? problem->max_iterations : 60, 1e-7, 1e-7, 1e-7, NULL, NULL, &info, w);
  if (status_is_fine (status) && half_square (gsl_multifit_nlinear_residual (w)) < result->cost)
    {
      const int covar = gsl_multifit_nlinear_covar (gsl_multifit_nlinear_jac (w), 0.0, cov);

      if (covar == GSL_SUCCESS)
        {
          set_values (search, gsl_multifit_nlinear_position (w));
          memcpy (result->values, search->values, result->n_parameters * sizeof (double));
          result->cost = half_square (gsl_multifit_nlinear_residual (w));
          result->iterations = (guint) gsl_multifit_nlinear_niter (w);
          keep_covariance (search, w, cov, result);
        }
      status = covar;
    }
  gsl_matrix_free (cov);
  gsl_vector_free (z);
  gsl_multifit_nlinear_free (w);
  return status_is_fine (status) || solver_failed (status, error);
}

double
fit_quantile (double *values, guint n, double p)
{
  if (n == 0)
    return NAN;
  gsl_sort (values, 1, n);
  return gsl_stats_quantile_from_sorted_data (values, 1, n, p);
}

static void
summarise (const FitProblem *problem, FitResult *result)
{
  const guint n = problem->n_rows;
  g_autofree double *sorted = g_new (double, n);

  for (guint row = 0; row < n; row++)
    sorted[row] = result->residuals[row] = -log_ratio (problem, result->values, row);
  result->bias = fit_quantile (sorted, n, 0.5);
  for (guint row = 0; row < n; row++)
    sorted[row] = fabs (result->residuals[row]);
  result->median = fit_quantile (sorted, n, 0.5);
  result->q90 = gsl_stats_quantile_from_sorted_data (sorted, 1, n, 0.9);
}

static gboolean
check_problem (const FitProblem *problem, Search *search, GError **error)
{
  if (problem->n_parameters == 0 || problem->n_parameters > FIT_MAX_PARAMETERS || !(problem->scale > 0))
    g_set_error (error, FIT_ERROR, FIT_ERROR_INPUT, "a fit takes 1 to %u parameters and a scale above 0", FIT_MAX_PARAMETERS);
  else if (problem->n_rows < 3)
    g_set_error (error, FIT_ERROR, FIT_ERROR_INPUT, "%u usable rows are too few for a fit; give at least 3", problem->n_rows);
  else
    {
      for (guint i = 0; i < problem->n_parameters; i++)
        {
          search->values[i] = problem->parameters[i].centre;
          if (problem->parameters[i].sd > 0)
            search->free[search->n_free++] = i;
        }
      for (guint row = 0; row < problem->n_rows; row++)
        if (!(problem->measured[row] > 0) || !isfinite (problem->measured[row]))
          {
            g_set_error (error, FIT_ERROR, FIT_ERROR_INPUT, "row %u has no positive measured value", row + 1);
            return FALSE;
          }
      return TRUE;
    }
  return FALSE;
}

FitResult *
fit_solve (const FitProblem *problem, GError **error)
{
  Search search = { .problem = problem };
  g_autoptr (FitResult) result = g_new0 (FitResult, 1);
  const guint starts = problem->n_starts ? problem->n_starts : 3, n = problem->n_parameters;

  if (!check_problem (problem, &search, error))
    return NULL;
  result->n_parameters = n;
  result->n_rows = problem->n_rows;
  result->values = g_memdup2 (search.values, n * sizeof (double));
  result->covariance = g_new0 (double, n * n);
  result->residuals = g_new (double, problem->n_rows);
  result->cost = INFINITY;
  for (guint start = 0; start < starts && search.n_free > 0; start++)
    {
      g_autoptr (GError) wrong = NULL;

      /* one start may fail where another does not */
      if (!try_start (&search, start, result, &wrong) && start + 1 == starts && isinf (result->cost))
        {
          g_propagate_error (error, g_steal_pointer (&wrong));
          return NULL;
        }
    }
  summarise (problem, result);
  return g_steal_pointer (&result);
}

void
fit_free (FitResult *result)
{
  if (result == NULL)
    return;
  g_free (result->values);
  g_free (result->covariance);
  g_free (result->residuals);
  g_free (result);
}

double
fit_variance (const double *values, const double *covariance, guint n,
              double (*model) (const double *values, guint row, gpointer user), guint row, gpointer user)
{
  static const double step = 1e-4;
  double moved[FIT_MAX_PARAMETERS], slope[FIT_MAX_PARAMETERS], sum = 0;

  memcpy (moved, values, n * sizeof (double));
  for (guint i = 0; i < n; i++)
    {
      slope[i] = 0;
      if (!(covariance[i * n + i] > 0))
        continue;
      moved[i] = values[i] * exp (step);
      slope[i] = log (model (moved, row, user));
      moved[i] = values[i] * exp (-step);
      slope[i] = (slope[i] - log (model (moved, row, user))) / (2 * step);
      moved[i] = values[i];
    }
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++)
      sum += slope[i] * covariance[i * n + j] * slope[j];
  return fmax (sum, 0);
}
