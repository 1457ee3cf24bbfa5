/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/quantile.h"
#include <stdlib.h>

static int
by_value (gconstpointer a, gconstpointer b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

void
quantile_sort (double *values, guint n)
{
  qsort (values, n, sizeof *values, by_value);
}

double
quantile_at (const double *sorted, guint n, double share)
{
  const double at = share * (n - 1);
  const guint below = MIN ((guint) at, n - 1), above = MIN (below + 1, n - 1);

  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}
