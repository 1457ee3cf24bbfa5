/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "noise-fixture.h"
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>

/* The steps of the fixture by a Monte Carlo that shares no line with the program: GSL's
 * generator and distributions, and a loop over steps, ranks and kernels. */

/* One number of mean 1 and deviation cv; a normal one not below 0. */
static inline double
apart_factor (gsl_rng *rng, double cv, gboolean normal)
{
  const double s2 = log1p (cv * cv);

  if (!(cv > 0))
    return 1;
  return normal ? fmax (0, 1 + gsl_ran_gaussian_ziggurat (rng, cv)) : exp (gsl_ran_gaussian_ziggurat (rng, sqrt (s2)) - s2 / 2);
}

/* A bucket's call starts when the slowest rank has its kernels behind it and the call
 * before is over; the step ends with the last call. */
static inline double
apart_step (const Drawing *shape, const NoiseSpec *spec, gsl_rng *rng, double *ready)
{
  const gboolean normal = spec->distribution == NOISE_NORMAL;
  const guint each = shape->kernels / shape->buckets;
  double end = 0;

  for (guint b = 0; b < shape->buckets; b++)
    ready[b] = 0;
  for (guint64 rank = 0; rank < shape->ranks; rank++)
    {
      const double whole = apart_factor (rng, spec->step_cv, normal);
      double now = 0;

      for (guint b = 0; b < shape->buckets; b++)
        {
          for (guint k = 0; k < each; k++)
            now += whole * apart_factor (rng, spec->kernel_cv, normal) / shape->kernels;
          ready[b] = fmax (ready[b], now);
        }
    }
  for (guint b = 0; b < shape->buckets; b++)
    end = fmax (end, ready[b]) + shape->call_s;
  return end;
}

/* `buckets` divides `kernels`; no pauses. */
static inline Drawn
apart_draw (const Drawing *shape, const NoiseSpec *spec, guint steps)
{
  gsl_rng *rng = gsl_rng_alloc (gsl_rng_mt19937);   /* Matsumoto and Nishimura 1998 */
  g_autofree double *lengths = g_new (double, steps), *ready = g_new (double, shape->buckets);
  Drawn drawn = { 0 };

  for (guint step = 0; step < steps; step++)
    lengths[step] = apart_step (shape, spec, rng, ready);
  gsl_rng_free (rng);
  drawn.mean = gsl_stats_mean (lengths, 1, steps);
  gsl_sort (lengths, 1, steps);
  drawn.p95 = gsl_stats_quantile_from_sorted_data (lengths, 1, steps, 0.95);
  drawn.wait = drawn.mean - 1 - shape->buckets * shape->call_s;
  return drawn;
}
