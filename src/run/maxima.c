/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/maxima.h"
#include "base/random.h"
#include <math.h>

double
maxima_value (const TimeSpread *spread, double z)
{
  if (!(spread->variance > 0) || !(spread->mean > 0))
    return spread->mean;
  if (spread->normal)
    return fmax (0, spread->mean + sqrt (spread->variance) * z);
  const double s2 = log1p (spread->variance / (spread->mean * spread->mean));

  return spread->mean * exp (sqrt (s2) * z - s2 / 2);
}

double
maxima_factor (double cv, gboolean normal, double z)
{
  const TimeSpread one = { 1, cv * cv, normal };

  return maxima_value (&one, z);
}

/* By the upper tail, which keeps its digits where U^(1/n) is next to 1. */
double
maxima_largest (double z, double n)
{
  if (!(n > 1))
    return z;
  const double tail = -expm1 (log (0.5 * erfc (-z * sqrt (0.5))) / n);

  return tail < 0.5 ? -random_normal_quantile (tail) : random_normal_quantile (1 - tail);
}

/* Trapezoids over the normal number that is drawn: the integrand is smooth and
 * vanishes at both ends. */
TimeSpread
maxima_of (const TimeSpread *spread, double n)
{
  static const int points = 256;
  static const double reach = 8;
  double weights = 0, sum = 0, squares = 0;

  if (!(n > 1) || !(spread->variance > 0))
    return *spread;
  for (int i = 1; i < points; i++)
    {
      const double z = reach * (2.0 * i / points - 1), weight = exp (-z * z / 2);
      const double value = maxima_value (spread, maxima_largest (z, n));

      weights += weight;
      sum += weight * value;
      squares += weight * value * value;
    }
  const double mean = sum / weights;

  return (TimeSpread) { mean, fmax (0, squares / weights - mean * mean), spread->normal };
}
