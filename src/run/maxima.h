/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* Times of known mean and variance, and the largest of n of them. */
typedef struct
{
  double   mean, variance;     /* s, s^2 */
  gboolean normal;             /* else lognormal.  A sum of lognormals is taken for one of its mean and variance
                                * (Fenton 1960, "The sum of log-normal probability distributions in scatter transmission systems") */
} TimeSpread;

/* The value at the place where a normal variate has z deviations; never below 0. */
double maxima_value   (const TimeSpread *spread, double z);
/* One number of mean 1 and deviation cv from a normal number. */
double maxima_factor  (double cv, gboolean normal, double z);
/* Where the largest of n lies, in deviations, if one normal number in its place is
 * z: the inverse of the distribution at U^(1/n), U = Phi (z).  n from 1. */
double maxima_largest (double z, double n);
/* Mean and variance of the largest of n, by quadrature. */
TimeSpread maxima_of  (const TimeSpread *spread, double n);
