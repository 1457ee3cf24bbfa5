/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "calibrate/fit.h"
#include "calibrate/network-fit.h"

/* What of a residual is taken over to the sizes between. */
static const double residual_share = 0.8;
static const double normal_90 = 1.645;

/* Misfit of form dominates the covariance; both factors were chosen on sizes and
 * placements left out of fits of 27 systems. */
typedef struct { double factor, least; } Widening;
static const Widening within = { 1.5, 0.06 }, outside = { 2.5, 0.09 };

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

/* On more nodes than were fitted nobody knows which protocol NCCL takes: times with
 * Simple left out, and with Simple alone. */
static void
other_protocols (const NetworkFit *fit, const Paths *base, const NcclTestsRow *row, double *least, double *most)
{
  static const double never = 1e18, always = 1e-3;
  Paths paths = *base;

  for (int simple = 0; simple < 2; simple++)
    {
      double time;

      paths.simple_from = simple ? always : never;
      time = network_model_time (&fit->model, &paths, fit->values, row, NULL);
      if (time > 0)
        {
          *least = fmin (*least, time);
          *most = fmax (*most, time);
        }
    }
}

/* The row's time by other values of the parameters. */
typedef struct { const NetworkModel *model; const Paths *base; const NcclTestsRow *row; } Question;

static double
time_of (const double *values, guint row, gpointer user)
{
  const Question *question = user;

  (void) row;
  return network_model_time (question->model, question->base, values, question->row, NULL);
}

NetworkPrediction
network_fit_predict (const NetworkFit *fit, const NcclTestsRow *row, gboolean residuals)
{
  const RankGroup group = network_row_group (row);
  NetworkPrediction out = { .beyond = group.n_ranks > fit->ranks || group.n_nodes > fit->nodes };
  const Widening *wide = out.beyond ? &outside : &within;
  const double spread = fmax (wide->factor * fit->q90 / normal_90, wide->least);
  Paths base;
  Question question = { &fit->model, &base, row };
  double half, least, most;

  network_model_paths (&fit->model, &group, &base);
  half = normal_90 * sqrt (fit_variance (fit->values, &fit->covariance[0][0], N_SYSTEM, time_of, 0, &question) + spread * spread);
  out.time = network_model_time (&fit->model, &base, fit->values, row, &out.choice) * exp (residuals ? residual_share * residual_at (fit, row) : 0);
  if (fit->spread > 0)
    half = log (fit->spread);
  least = most = out.time;
  if (group.n_nodes > MAX (fit->nodes, 1) && row->algorithm == NULL)
    other_protocols (fit, &base, row, &least, &most);
  out.lo = fmin (least, out.time * exp (-half));
  out.hi = fmax (most, out.time * exp (half));
  out.doubt = most / least;
  return out;
}
