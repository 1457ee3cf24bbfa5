/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/training-step.h"

#include <math.h>
#include <string.h>

#include "compute/efficiency.h"
#include "run/point.h"
#include "run/run.h"

/* Micro-steps without a reduction repeat: past the longer of these two counts a
 * step grows by the same time with each. */
static const guint64 short_accumulation = 4, long_accumulation = 8;

/* Of the step, relative. */
static const double solve_tolerance = 1e-5;
static const guint  solve_iterations = 24;
/* An efficiency this many times the first guess has no more effect to give. */
static const double solve_reach = 64;

/* The row with these keys beside its own (NULL: none). */
static gboolean
run_with (Shelf *parts, const TrainingRow *row, double efficiency, const char *key, const char *other, TrainingStep *out,
          GError **error)
{
  const RunOptions options = { .parts = parts };
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *divide = g_strconcat ("compute.efficiency=", g_ascii_formatd (number, sizeof number, "%.12g", efficiency), NULL);
  const char *const all[] = { isnan (efficiency) ? key : divide, isnan (efficiency) ? other : key, isnan (efficiency) ? NULL : other, NULL };
  g_autoptr (Scenario) scenario = scenario_with (row->scenario, all, error);
  g_autoptr (Result) result = scenario != NULL ? run_scenario (scenario, &options, error) : NULL;

  if (result == NULL)
    return FALSE;
  out->seconds = result->step_time;
  memcpy (out->ledger, result->ledger, sizeof out->ledger);
  return TRUE;
}

static gboolean
run_once (Shelf *parts, const TrainingRow *row, double efficiency, guint64 accumulation, TrainingStep *out, GError **error)
{
  g_autofree char *micro = g_strdup_printf ("training.accumulation=%" G_GUINT64_FORMAT, accumulation);

  return run_with (parts, row, efficiency, micro, NULL, out, error);
}

static double
extend (double few, double more, guint64 accumulation)
{
  return more + (more - few) / (double) (long_accumulation - short_accumulation) * (double) (accumulation - long_accumulation);
}

/* One block and micro-batch: what a second of each adds, less what a second
 * block adds to a step of one micro-batch (optimizer). */
static gboolean
block_step (Shelf *parts, const TrainingRow *row, double efficiency, TrainingStep *out, GError **error)
{
  TrainingStep step[2][2];

  for (guint layers = 0; layers < 2; layers++)
    for (guint batches = 0; batches < 2; batches++)
      {
        g_autofree char *blocks = g_strdup_printf ("workload.layers=%u", layers + 1);
        g_autofree char *batch = g_strdup_printf ("training.global-batch=%" G_GUINT64_FORMAT, row->batch * (batches + 1));

        if (!run_with (parts, row, efficiency, blocks, batch, &step[layers][batches], error))
          return FALSE;
      }
  out->seconds = step[1][1].seconds - step[1][0].seconds - step[0][1].seconds + step[0][0].seconds;
  for (guint i = 0; i < N_CAUSES; i++)
    out->ledger[i] = step[1][1].ledger[i] - step[1][0].ledger[i] - step[0][1].ledger[i] + step[0][0].ledger[i];
  return TRUE;
}

gboolean
training_step (Shelf *parts, const TrainingRow *row, double efficiency, TrainingStep *out, GError **error)
{
  TrainingStep few, more;

  if (row->layer)
    return block_step (parts, row, efficiency, out, error);
  if (g_str_equal (row->scenario->strategy.kind, "megatron"))   /* its batch is of the whole job */
    return run_with (parts, row, efficiency, NULL, NULL, out, error);
  if (row->accumulation <= long_accumulation)
    return run_once (parts, row, efficiency, row->accumulation, out, error);
  if (!run_once (parts, row, efficiency, short_accumulation, &few, error)
      || !run_once (parts, row, efficiency, long_accumulation, &more, error))
    return FALSE;
  out->seconds = extend (few.seconds, more.seconds, row->accumulation);
  for (guint i = 0; i < N_CAUSES; i++)
    out->ledger[i] = extend (few.ledger[i], more.ledger[i], row->accumulation);
  return TRUE;
}

static double
step_seconds (Shelf *parts, const TrainingRow *row, double efficiency, GError **error)
{
  TrainingStep step;

  return training_step (parts, row, efficiency, &step, error) ? step.seconds : NAN;
}

/* The step is a convex rising function of 1/efficiency, nearly straight: secants,
 * held inside the bracket known so far. */
double
training_solve (Shelf *parts, const TrainingRow *row, double seconds, double start, GError **error)
{
  double x[2] = { 1 / start, 0 }, t[2];
  double low = 0, high = INFINITY;

  t[0] = step_seconds (parts, row, start, error);
  x[1] = x[0] * CLAMP (seconds / t[0], 1 / solve_reach, solve_reach);
  for (guint i = 0; i < solve_iterations; i++)
    {
      double next;

      if (isnan (t[0]) || fabs (t[0] / seconds - 1) < solve_tolerance)
        return isnan (t[0]) ? NAN : 1 / x[0];
      t[1] = step_seconds (parts, row, 1 / x[1], error);
      if (isnan (t[1]))
        return NAN;
      if (t[1] < seconds)
        low = MAX (low, x[1]);
      else
        high = MIN (high, x[1]);
      if (high * start * solve_reach <= 1.001)   /* the rest alone takes longer */
        return 1 / high;
      if (low * start >= solve_reach)
        return 1 / low;
      next = x[1] + (seconds - t[1]) * (x[1] - x[0]) / (t[1] - t[0]);
      if (!(next > low && next < high))
        next = isinf (high) ? 2 * low : 0.5 * (low + high);
      next = CLAMP (next, 1 / (start * solve_reach), solve_reach / start);
      x[0] = x[1];
      t[0] = t[1];
      x[1] = next;
    }
  return 1 / x[0];
}

gboolean
training_key (Shelf *parts, const TrainingRow *row, TrainingKey *out, GError **error)
{
  g_autoptr (Point) point = point_new_from (parts, row->scenario, error);

  if (point == NULL)
    return FALSE;
  *out = (TrainingKey) {
    .family = g_strdup (point->workload->family),
    .tuning = g_strdup (row->scenario->compute.tuning),
    .precision = g_strdup (efficiency_precision (point->compute.precision)),
    .generation = g_strdup (point->compute.gpu->generation),
  };
  return TRUE;
}

void
training_key_clear (TrainingKey *key)
{
  g_free (key->family);
  g_free (key->tuning);
  g_free (key->precision);
  g_free (key->generation);
  *key = (TrainingKey) { 0 };
}
