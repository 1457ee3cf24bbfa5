/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network-fit.h"

#include <math.h>
#include <string.h>

#include "calibrate/fit.h"

/* A row this far off in ln begins to count as far off. */
static const double row_scale = 0.06;
/* What of a residual is taken over to the sizes between. */
static const double residual_share = 0.7;
static const double normal_90 = 1.645;

/* Misfit of form dominates the covariance; both factors were chosen on sizes and
 * placements left out of fits of 27 systems. */
typedef struct { double factor, least; } Widening;
static const Widening within = { 1.5, 0.06 }, outside = { 2.5, 0.09 };

typedef struct
{
  const NetworkModel *model;
  const GPtrArray    *rows;
  Paths              *base;       /* of each placement */
  guint              *placement;  /* of each row */
  double              held[N_SYSTEM];
  guint               at[N_SYSTEM], n;   /* of the free ones */
} Problem;

static double
time_of (const double *values, guint row, gpointer user)
{
  const Problem *problem = user;
  double all[N_SYSTEM];

  memcpy (all, problem->held, sizeof all);
  for (guint i = 0; i < problem->n; i++)
    all[problem->at[i]] = values[i];
  return network_model_time (problem->model, &problem->base[problem->placement[row]], all, g_ptr_array_index (problem->rows, row), NULL);
}

static void
find_placements (Problem *problem)
{
  const GPtrArray *rows = problem->rows;
  guint n = 0;

  problem->base = g_new (Paths, MAX (rows->len, 1));
  problem->placement = g_new (guint, MAX (rows->len, 1));
  for (guint i = 0; i < rows->len; i++)
    {
      const NcclTestsRow *row = g_ptr_array_index (rows, i);
      guint j = 0;

      while (j < i && (((NcclTestsRow *) g_ptr_array_index (rows, j))->nodes != row->nodes
                       || ((NcclTestsRow *) g_ptr_array_index (rows, j))->per_node != row->per_node))
        j++;
      if (j < i)
        problem->placement[i] = problem->placement[j];
      else
        {
          const RankGroup group = network_row_group (row);

          problem->placement[i] = n;
          network_model_paths (problem->model, &group, &problem->base[n++]);
        }
    }
}

/* A parameter that moves no row would only slow the search: it stays at its prior. */
static void
find_informed (Problem *problem, const NetworkPriors *priors, gboolean informed[N_SYSTEM])
{
  for (int i = 0; i < N_SYSTEM; i++)
    {
      informed[i] = FALSE;
      problem->n = 0;
      for (guint row = 0; row < problem->rows->len && !informed[i]; row++)
        for (int side = -1; side <= 1 && !informed[i]; side += 2)
          {
            const double before = time_of (NULL, row, problem);

            problem->held[i] = priors->centre[i] * exp (side * 2 * priors->sd[i]);
            informed[i] = fabs (log (time_of (NULL, row, problem) / before)) > 1e-4;
            problem->held[i] = priors->centre[i];
          }
    }
}

static FitResult *
solve (Problem *problem, const NetworkPriors *priors, gboolean informed[N_SYSTEM], GError **error)
{
  FitParameter parameters[N_SYSTEM];
  g_autofree double *measured = g_new (double, problem->rows->len);
  FitProblem fit = { .parameters = parameters, .n_rows = problem->rows->len, .measured = measured, .scale = row_scale,
                     .model = time_of, .user = problem };

  memcpy (problem->held, priors->centre, sizeof problem->held);
  find_informed (problem, priors, informed);
  problem->n = 0;
  for (guint i = 0; i < N_SYSTEM; i++)
    if (informed[i])
      {
        problem->at[problem->n] = i;
        parameters[problem->n++] = (FitParameter) { system_parameters[i].name, priors->centre[i], priors->sd[i] };
      }
  for (guint row = 0; row < problem->rows->len; row++)
    measured[row] = ((NcclTestsRow *) g_ptr_array_index (problem->rows, row))->time;
  fit.n_parameters = problem->n;
  return fit_solve (&fit, error);
}

static void
keep (NetworkFit *fit, const Problem *problem, const NetworkPriors *priors, const FitResult *result)
{
  memcpy (fit->values, problem->held, sizeof fit->values);
  memset (fit->covariance, 0, sizeof fit->covariance);
  for (guint i = 0; i < N_SYSTEM; i++)
    fit->covariance[i][i] = priors->sd[i] * priors->sd[i];
  for (guint i = 0; i < problem->n; i++)
    {
      fit->values[problem->at[i]] = result->values[i];
      for (guint j = 0; j < problem->n; j++)
        fit->covariance[problem->at[i]][problem->at[j]] = result->covariance[i * result->n_parameters + j];
    }
  fit->median = result->median;
  fit->q90 = result->q90;
  fit->bias = result->bias;
  g_array_set_size (fit->points, 0);
  for (guint row = 0; row < problem->rows->len; row++)
    {
      const NetworkPoint point = { g_ptr_array_index (problem->rows, row), result->residuals[row] };

      g_array_append_val (fit->points, point);
    }
}

/* Several GPU counts on several nodes, and the large messages of more GPUs faster:
 * each brings NICs.  Else as many NICs as GPUs, which only divides Bn. */
static guint
find_rails (const GPtrArray *rows)
{
  guint64 most = 1;

  for (guint i = 0; i < rows->len; i++)
    {
      const NcclTestsRow *row = g_ptr_array_index (rows, i);

      if (row->nodes > 1)
        most = MAX (most, row->per_node);
    }
  return (guint) most;
}

static double
box_plateau (const GPtrArray *rows)
{
  double most = 0;

  for (guint i = 0; i < rows->len; i++)
    {
      const NcclTestsRow *row = g_ptr_array_index (rows, i);

      if (row->nodes < 2 && row->size >= 16 << 20)
        most = fmax (most, row->size / row->time * collective_bus_factor (row->op, row->per_node));
    }
  return most;
}

static void
find_extent (NetworkFit *fit, const GPtrArray *rows)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const NcclTestsRow *row = g_ptr_array_index (rows, i);

      fit->ranks = MAX (fit->ranks, row->nodes * row->per_node);
      fit->nodes = MAX (fit->nodes, row->nodes);
      fit->per_node = MAX (fit->per_node, row->per_node);
      fit->largest = fmax (fit->largest, row->size);
    }
}

/* NCCL's table of today may not be that of an older library, or of another: what
 * describes the rows better picks. */
static gboolean
fit_choices (NetworkFit *fit, const NetworkPriors *priors, Problem *problem, GError **error)
{
  double least = INFINITY;
  gboolean table = TRUE, any_box = FALSE;

  for (guint i = 0; i < problem->rows->len; i++)
    any_box |= ((NcclTestsRow *) g_ptr_array_index (problem->rows, i))->nodes < 2;
  for (int choice = 1; choice >= (any_box ? 0 : 1); choice--)
    {
      g_autoptr (FitResult) result = NULL;
      gboolean informed[N_SYSTEM];

      fit->model.table = choice;
      result = solve (problem, priors, informed, error);
      if (result == NULL)
        return FALSE;
      if (result->cost < least)
        {
          least = result->cost;
          table = choice;
          memcpy (fit->informed, informed, sizeof informed);
          keep (fit, problem, priors, result);
        }
    }
  fit->model.table = table;
  return TRUE;
}

NetworkFit *
network_fit_new (Shelf *shelf, const NcclTestsSystem *names, const GPtrArray *rows, GError **error)
{
  g_autoptr (NetworkFit) fit = g_new0 (NetworkFit, 1);
  Problem problem = { .model = &fit->model, .rows = rows };
  NetworkPriors priors;
  gboolean fine;

  fit->points = g_array_new (FALSE, FALSE, sizeof (NetworkPoint));
  if (!network_model_init (&fit->model, shelf, names, box_plateau (rows), error))
    return NULL;
  fit->model.rails = find_rails (rows);
  find_extent (fit, rows);
  network_priors (&fit->model, rows, &priors);
  find_placements (&problem);
  fine = fit_choices (fit, &priors, &problem, error);
  g_free (problem.base);
  g_free (problem.placement);
  return fine ? g_steal_pointer (&fit) : NULL;
}

void
network_fit_free (NetworkFit *fit)
{
  if (fit == NULL)
    return;
  network_model_clear (&fit->model);
  g_array_unref (fit->points);
  g_free (fit);
}

/* Straight lines over ln(size) between the fitted sizes, flat beyond. */
static double
residual_at (const NetworkFit *fit, const NcclTestsRow *row)
{
  const NetworkPoint *below = NULL, *above = NULL;

  for (guint i = 0; i < fit->points->len; i++)
    {
      const NetworkPoint *point = &g_array_index (fit->points, NetworkPoint, i);

      if (point->row->op_name != row->op_name || point->row->nodes != row->nodes || point->row->per_node != row->per_node)
        continue;
      if (point->row->size <= row->size && (below == NULL || point->row->size > below->row->size))
        below = point;
      if (point->row->size >= row->size && (above == NULL || point->row->size < above->row->size))
        above = point;
    }
  if (below == NULL || above == NULL)
    return below != NULL ? below->residual : above != NULL ? above->residual : 0;
  if (!(above->row->size > below->row->size))
    return below->residual;
  return below->residual + (above->residual - below->residual) * log (row->size / below->row->size) / log (above->row->size / below->row->size);
}

NetworkPrediction
network_fit_predict (const NetworkFit *fit, const NcclTestsRow *row, gboolean residuals)
{
  const RankGroup group = network_row_group (row);
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  NetworkPrediction out = { .beyond = group.n_ranks > fit->ranks || group.n_nodes > fit->nodes };
  const Widening *wide = out.beyond ? &outside : &within;
  const double spread = fmax (wide->factor * fit->q90 / normal_90, wide->least);
  Problem problem = { .model = &fit->model, .rows = rows, .n = N_SYSTEM };
  double variance, half;
  guint placement = 0;
  Paths base;

  network_model_paths (&fit->model, &group, &base);
  g_ptr_array_add (rows, (gpointer) row);
  problem.base = &base;
  problem.placement = &placement;
  for (guint i = 0; i < N_SYSTEM; i++)
    problem.at[i] = i;
  variance = fit_variance (fit->values, &fit->covariance[0][0], N_SYSTEM, time_of, 0, &problem);
  out.time = network_model_time (&fit->model, &base, fit->values, row, &out.choice) * exp (residuals ? residual_share * residual_at (fit, row) : 0);
  half = normal_90 * sqrt (variance + spread * spread);
  out.lo = out.time * exp (-half);
  out.hi = out.time * exp (half);
  return out;
}
