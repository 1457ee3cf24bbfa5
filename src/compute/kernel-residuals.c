/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/kernel-part.h"

#include <math.h>

/* What a fit leaves is not noise: libraries change their kernels along m, n and
 * k.  Its residuals near a shape are carried over, the less the farther they
 * lie: weights 1/(d^2 + D0^2) over the nearest rows, with a row of residual 0
 * at distance D1 among them. */
#define NEAREST 8u
#define D0 0.15   /* of ln: rows nearer than this are as good as each other */
#define D1 0.70   /* a row an octave away counts half as much as none */
/* Rows whose leftovers say how well this works here. */
#define JUDGES 32u
/* Leaves 88 % of the left-out rows of A100, H100, B200 and L40S GEMM tables
 * inside, at 2.4 to 2.8 times the median error. */
#define WIDTH 2.1
/* Few rows know their own spread badly: wider by FEW/sqrt(rows). */
#define FEW 2.0

typedef struct { double distance; guint row; } Near;

/* Inserts into an ascending list of at most `most`. */
static guint
keep_near (Near *near, guint n, guint most, double distance, guint row)
{
  guint at = n < most ? n : most - 1;

  if (n == most && distance >= near[most - 1].distance)
    return n;
  for (; at > 0 && near[at - 1].distance > distance; at--)
    near[at] = near[at - 1];
  near[at] = (Near) { distance, row };
  return MIN (n + 1, most);
}

static guint
find_near (const KernelResiduals *residuals, const double *features, guint skip, Near *near, guint most)
{
  const guint f = residuals->n_features;
  guint n = 0;

  for (guint row = 0; row < residuals->n; row++)
    {
      const double *other = residuals->features + (gsize) row * f;
      double d = 0;

      for (guint i = 0; i < f; i++)
        d += (features[i] - other[i]) * (features[i] - other[i]);
      if (row != skip)
        n = keep_near (near, n, most, d, row);
    }
  return n;
}

static double
weigh (const KernelResiduals *residuals, const Near *near, guint n)
{
  double sum = 0, weight = 1 / (D1 * D1);

  for (guint i = 0; i < MIN (n, NEAREST); i++)
    {
      const double w = 1 / (near[i].distance + D0 * D0);

      sum += w * residuals->residual[near[i].row];
      weight += w;
    }
  return sum / weight;
}

KernelResiduals *
kernel_residuals_new (const KernelForm *form, const KernelShape *const *shapes, const double *residual, guint n)
{
  KernelResiduals *residuals = g_new0 (KernelResiduals, 1);
  double features[KERNEL_MAX_FEATURES];
  Near near[NEAREST];

  residuals->n = n;
  residuals->residual = g_memdup2 (residual, n * sizeof (double));
  residuals->left = g_new (double, n);
  for (guint row = 0; row < n; row++)
    {
      residuals->n_features = form->features (shapes[row], features);
      if (row == 0)
        residuals->features = g_new (double, (gsize) n * residuals->n_features);
      for (guint i = 0; i < residuals->n_features; i++)
        residuals->features[(gsize) row * residuals->n_features + i] = features[i];
    }
  for (guint row = 0; row < n; row++)
    {
      const guint k = find_near (residuals, residuals->features + (gsize) row * residuals->n_features, row, near, NEAREST);

      residuals->left[row] = residual[row] - weigh (residuals, near, k);
    }
  return residuals;
}

void
kernel_residuals_free (KernelResiduals *residuals)
{
  if (residuals == NULL)
    return;
  g_free (residuals->features);
  g_free (residuals->residual);
  g_free (residuals->left);
  g_free (residuals);
}

/* How much neighbours leave, and how far they are from each other: where
 * kernels change both are large.  Mean of square roots, so that one slip does
 * not make its whole neighbourhood uncertain. */
static double
spread_near (const KernelResiduals *residuals, const Near *near, guint n, double mean)
{
  double left = 0, apart = 0, weights = 0, near_weights = 0;

  for (guint i = 0; i < n; i++)
    {
      const double w = 1 / (near[i].distance + D0 * D0);

      left += w * sqrt (fabs (residuals->left[near[i].row]));
      weights += w;
      if (i < NEAREST)
        {
          apart += w * fabs (residuals->residual[near[i].row] - mean);
          near_weights += w;
        }
    }
  if (n == 0)
    return 0.0;
  left = left / weights * (left / weights);
  return WIDTH * (1 + FEW / sqrt (residuals->n)) * sqrt (left * apart / near_weights);
}

double
kernel_residuals_at (const KernelResiduals *residuals, const KernelForm *form, const KernelShape *shape, double *spread)
{
  double features[KERNEL_MAX_FEATURES], mean;
  Near near[JUDGES];
  guint n;

  form->features (shape, features);
  n = find_near (residuals, features, residuals->n, near, JUDGES);
  mean = weigh (residuals, near, n);
  *spread = spread_near (residuals, near, n, mean);
  return mean;
}
