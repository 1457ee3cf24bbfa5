/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network-fit.h"

#include <math.h>
#include <string.h>

#include "calibrate/fit.h"

/* A row this far off in ln begins to count as far off. */
static const double row_scale = 0.06;

typedef struct
{
  const NetworkModel *model;
  const GPtrArray    *rows;
  Paths              *base;       /* of each placement */
  guint              *placement;  /* of each row */
  double              held[N_SYSTEM];
  guint               at[N_SYSTEM], n;   /* of the free ones */
  gboolean            informed[N_SYSTEM], searched;
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
      for (guint row = 0; row < problem->rows->len && !informed[i] && priors->sd[i] > 0; row++)
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
solve (Problem *problem, const NetworkPriors *priors, gboolean quick, gboolean informed[N_SYSTEM], GError **error)
{
  FitParameter parameters[N_SYSTEM];
  g_autofree double *measured = g_new (double, problem->rows->len);
  FitProblem fit = { .parameters = parameters, .n_rows = problem->rows->len, .measured = measured, .scale = row_scale,
                     .model = time_of, .user = problem, .n_starts = quick ? 1 : 0, .max_iterations = quick ? 10 : 0 };

  memcpy (problem->held, priors->centre, sizeof problem->held);
  if (!quick || !problem->searched)
    find_informed (problem, priors, problem->informed);
  problem->searched = TRUE;
  memcpy (informed, problem->informed, sizeof problem->informed);
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

/* A NIC for each of the most GPUs of a node: more or fewer would only divide the
 * node's rate, which is fitted, otherwise. */
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

/* NCCL's table of today may not be that of an older library, or of another: where
 * the version is not known to have it, what describes the rows better picks. */
static gboolean
fit_choices (NetworkFit *fit, const NetworkPriors *priors, Problem *problem, const char *version, GError **error)
{
  double least = INFINITY;
  gboolean table = TRUE, any_box = FALSE;

  for (guint i = 0; i < problem->rows->len; i++)
    any_box |= ((NcclTestsRow *) g_ptr_array_index (problem->rows, i))->nodes < 2;
  for (int choice = 1; choice >= (any_box && !network_table_version (version) ? 0 : 1); choice--)
    {
      g_autoptr (FitResult) result = NULL;
      gboolean informed[N_SYSTEM];

      fit->model.table = choice;
      result = solve (problem, priors, FALSE, informed, error);
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

/* A size of its own where NCCL takes Simple must make the rows this much likelier (ln). */
static const double onset_worth = 3;

static double
onset_cost (NetworkFit *fit, const NetworkPriors *priors, Problem *problem)
{
  gboolean informed[N_SYSTEM];
  g_autoptr (FitResult) result = NULL;

  for (guint row = 0; row < problem->rows->len; row++)
    {
      const RankGroup group = network_row_group (g_ptr_array_index (problem->rows, row));

      system_onset (fit->model.onset, fit->model.n_onsets, group.n_nodes, &problem->base[problem->placement[row]]);
    }
  result = solve (problem, priors, TRUE, informed, NULL);
  return result != NULL ? result->cost : INFINITY;
}

/* Between nodes no rule is known by which NCCL leaves LL for Simple, and at the
 * wrong size it costs a factor: each number of nodes tries the sizes that it has. */
static void
find_onset (NetworkFit *fit, const NetworkPriors *priors, Problem *problem, const NcclTestsRow *of, double *least)
{
  SystemOnset *onset = &fit->model.onset[fit->model.n_onsets], best = { 0 };

  fit->model.n_onsets++;
  for (guint i = 0; i < problem->rows->len; i++)
    {
      const NcclTestsRow *row = g_ptr_array_index (problem->rows, i);
      double cost;

      if (row->nodes != of->nodes || row->per_node != of->per_node || row->op_name != of->op_name
          || row->size < 512 * 1024 || row->size > 64 << 20)
        continue;
      *onset = (SystemOnset) { of->nodes, of->per_node, row->size * (row->op == OP_ALL_REDUCE ? 1 : 2), FALSE };
      cost = onset_cost (fit, priors, problem);
      if (cost < *least - onset_worth)
        {
          *least = cost;
          best = *onset;
        }
    }
  *onset = best;
  if (!(best.size > 0))
    fit->model.n_onsets--;
}

static void
find_onsets (NetworkFit *fit, const NetworkPriors *priors, Problem *problem)
{
  double least = onset_cost (fit, priors, problem);

  for (guint i = 0; i < problem->rows->len && fit->model.n_onsets < SYSTEM_MAX_ONSETS; i++)
    {
      const NcclTestsRow *row = g_ptr_array_index (problem->rows, i);
      gboolean known = row->nodes < 2 || row->op == OP_ALL_TO_ALL || row->op == OP_SEND_RECV || row->algorithm != NULL;

      for (guint j = 0; j < i && !known; j++)
        known = ((NcclTestsRow *) g_ptr_array_index (problem->rows, j))->nodes == row->nodes;
      if (!known)
        find_onset (fit, priors, problem, row, &least);
    }
  onset_cost (fit, priors, problem);
}

static void
mark_ring (NetworkModel *model, const NcclTestsRow *row)
{
  for (guint i = 0; i < model->n_onsets; i++)
    if (model->onset[i].nodes == row->nodes)
      {
        model->onset[i].ring = TRUE;
        return;
      }
  if (model->n_onsets < SYSTEM_MAX_ONSETS)
    model->onset[model->n_onsets++] = (SystemOnset) { row->nodes, row->per_node, 0, TRUE };
}

/* Where the rows are as likely with rings for all of Simple, the least cost would
 * only make trees so dear that they never win: keep to rings there, and let other
 * numbers of nodes have trees as they are elsewhere. */
static void
settle_rings (NetworkFit *fit, const NetworkPriors *priors, Problem *problem)
{
  const double before = onset_cost (fit, priors, problem);
  const NetworkModel kept = fit->model;

  for (guint i = 0; i < problem->rows->len; i++)
    {
      const NcclTestsRow *row = g_ptr_array_index (problem->rows, i);

      if (row->nodes > 1 && row->op == OP_ALL_REDUCE && row->algorithm == NULL)
        mark_ring (&fit->model, row);
    }
  problem->searched = FALSE;
  if (onset_cost (fit, priors, problem) <= before)
    return;
  memcpy (fit->model.onset, kept.onset, sizeof kept.onset);
  fit->model.n_onsets = kept.n_onsets;
  problem->searched = FALSE;
  onset_cost (fit, priors, problem);
}

static gboolean
several_counts (const GPtrArray *rows)
{
  guint64 one = 0;

  for (guint i = 0; i < rows->len; i++)
    {
      const NcclTestsRow *row = g_ptr_array_index (rows, i);

      if (row->nodes < 2)
        continue;
      if (one > 0 && row->nodes != one)
        return TRUE;
      one = row->nodes;
    }
  return FALSE;
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
  if (fit->nodes > 1)
    {
      find_onsets (fit, &priors, &problem);
      if (several_counts (rows))
        settle_rings (fit, &priors, &problem);
    }
  fine = fit_choices (fit, &priors, &problem, names->version, error);
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
