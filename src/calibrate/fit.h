/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* The least squares of every calibration.  Unknowns are ln(parameter) with a
 * normal prior and a box of +-4 of its deviations; residuals are
 * ln(model/measured)/scale under a pseudo-Huber loss; several starts; no random
 * number, so the same rows give the same bits. */

#define FIT_ERROR (fit_error_quark ())
typedef enum { FIT_ERROR_INPUT, FIT_ERROR_SOLVER } FitError;
GQuark fit_error_quark (void);

#define FIT_MAX_PARAMETERS 64u

typedef struct
{
  const char *name;
  double      centre, sd;   /* of the parameter (> 0); of its ln.  sd 0: held at the centre */
} FitParameter;

typedef struct
{
  const FitParameter *parameters;
  guint               n_parameters;
  guint               n_rows;
  const double       *measured;    /* > 0 */
  double              scale;       /* of ln residuals: where a row begins to count as far off */
  double              knee;        /* in scales; 0: 2 */
  guint               n_starts;    /* 0: 3 */
  guint               max_iterations;   /* of each start; 0: 60 */
  /* > 0, of one row; `values` in the order of `parameters`. */
  double            (*model) (const double *values, guint row, gpointer user);
  gpointer            user;
} FitProblem;

typedef struct
{
  guint   n_parameters, n_rows;
  double *values;        /* of the parameters */
  double *covariance;    /* n x n, of ln(parameter); 0 where held */
  double *residuals;     /* ln(measured/model) a row */
  double  median, q90;   /* of |residual| */
  double  bias;          /* median residual */
  double  cost;          /* half the sum of squares, priors in it */
  guint   iterations;    /* of the best start */
} FitResult;

/* NULL and an error: too few rows, a model that is not a positive number at the
 * start, or what GSL says. */
FitResult *fit_solve (const FitProblem *problem, GError **error);
void       fit_free  (FitResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FitResult, fit_free)

/* Variance of ln(model) from the covariance, by central differences. */
double     fit_variance (const double *values, const double *covariance, guint n,
                         double (*model) (const double *values, guint row, gpointer user), guint row, gpointer user);
/* Value below which a share p of the n lies (sorts them); NAN of none. */
double     fit_quantile (double *values, guint n, double p);
