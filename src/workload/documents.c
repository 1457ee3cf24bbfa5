/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/documents.h"
#include <math.h>

/* log L = m + s Z. */
typedef struct { double mean, m, s; } Lognormal;

static Lognormal
lognormal_of (const Documents *documents)
{
  const double s2 = log1p (documents->cv * documents->cv);

  return (Lognormal) { documents->mean, log (documents->mean) - s2 / 2, sqrt (s2) };
}

static double
below (double z)
{
  return 0.5 * erfc (-z * sqrt (0.5));
}

/* E [L^k; L <= t] and E [L^k; L > t]. */
static double
low_moment (const Lognormal *d, int k, double t)
{
  return t > 0 ? exp (k * d->m + k * k * d->s * d->s / 2) * below ((log (t) - d->m) / d->s - k * d->s) : 0;
}

static double
high_moment (const Lognormal *d, int k, double t)
{
  return exp (k * d->m + k * k * d->s * d->s / 2) * (t > 0 ? below (k * d->s - (log (t) - d->m) / d->s) : 1);
}

static Moments
central (double mean, double second, double third)
{
  return (Moments) { mean, fmax (0, second - mean * mean), third - 3 * mean * second + 2 * mean * mean * mean };
}

Moments
documents_power (const Documents *documents, int power)
{
  const Lognormal d = lognormal_of (documents);
  double raw[3];

  if (!(documents->cv > 0))
    return (Moments) { pow (fmin (documents->mean, 1), power), 0, 0 };
  for (int k = 0; k < 3; k++)
    raw[k] = low_moment (&d, (k + 1) * power, 1) + high_moment (&d, 0, 1);
  return central (raw[0], raw[1], raw[2]);
}

/* Documents of one length; the sequence starts `phase` behind the start of one. */
static double
equal_squares (double length, double phase)
{
  const double rest = 1 - (length - phase);

  if (rest <= 0)
    return 1;
  const double whole = floor (rest / length * (1 + 1e-12)), last = fmax (0, rest - whole * length);

  return (length - phase) * (length - phase) + whole * length * length + last * last;
}

static Moments
equal_documents (double length, guint64 phases)
{
  double raw[3] = { 0, 0, 0 };

  for (guint64 i = 0; i < phases; i++)
    {
      const double w = equal_squares (length, length * (double) i / (double) phases);

      raw[0] += w / (double) phases;
      raw[1] += w * w / (double) phases;
      raw[2] += w * w * w / (double) phases;
    }
  return phases > 1 ? central (raw[0], raw[1], raw[2]) : (Moments) { raw[0], 0, 0 };
}

/* Two places x, y lie in one document with probability E (L - |x - y|)+ / E L
 * (stationary renewals: Cox 1962, "Renewal Theory", chapter 5); of all pairs of
 * the sequence that is 2/E L E [integral of (1 - t)(L - t)+]. */
static double
mean_squares (const Lognormal *d)
{
  const double inside = low_moment (d, 2, 1) / 2 - low_moment (d, 3, 1) / 6;
  const double across = high_moment (d, 1, 1) / 2 - high_moment (d, 0, 1) / 6;

  return 2 / d->mean * (inside + across);
}

/* Grid of lengths for the moments that have no closed form: at least `fine` points
 * a mean length.  In sequences of more than `many` documents cumulants grow in
 * proportion to the sequence, as those of any renewal reward. */
static const double fine = 16, many = 128;
static const guint least_points = 1024;

/* Of lengths and of what is left of the first document, a stretch i h of it each:
 * E (X - t)+ at the grid's points gives hat-shaped weights that keep the mean. */
typedef struct { guint n; double h, *length, *first; } Grid;

static double
excess (const Lognormal *d, double t)
{
  return fmax (0, high_moment (d, 1, t) - t * high_moment (d, 0, t));
}

static double
first_excess (const Lognormal *d, double t)
{
  return fmax (0, high_moment (d, 2, t) - 2 * t * high_moment (d, 1, t) + t * t * high_moment (d, 0, t)) / (2 * d->mean);
}

static double *
weights (const Lognormal *d, double (*over) (const Lognormal *, double), guint n, double h)
{
  double *w = g_new (double, n + 1), before = 0, here = over (d, 0);

  for (guint i = 0; i <= n; i++)
    {
      const double next = over (d, (i + 1) * h);

      w[i] = fmax (0, i == 0 ? (next - here) / h + 1 : (before - 2 * here + next) / h);
      before = here;
      here = next;
    }
  return w;
}

/* Raw moments of the sum of squares in a stretch of i h that starts with a document:
 * the first one of l leaves a stretch of i h - l. */
static void
renew (const Grid *g, double *raw[3])
{
  g_autofree double *square = g_new (double, g->n + 1), *fourth = g_new (double, g->n + 1);
  double sums[3] = { 0, 0, 0 }, passed = g->length[0];

  for (guint i = 0; i <= g->n; i++)
    {
      const double l = i * g->h * i * g->h;

      square[i] = g->length[i] * l;
      fourth[i] = square[i] * l;
    }
  raw[0][0] = raw[1][0] = raw[2][0] = 0;
  for (guint i = 1; i <= g->n; i++)
    {
      const double x = i * g->h * i * g->h, tail = fmax (0, 1 - passed);
      double a = 0, b = 0, c = 0;

      for (guint j = 1; j < i; j++)
        {
          a += g->length[j] * raw[0][i - j];
          b += g->length[j] * raw[1][i - j] + 2 * square[j] * raw[0][i - j];
          c += g->length[j] * raw[2][i - j] + 3 * (square[j] * raw[1][i - j] + fourth[j] * raw[0][i - j]);
        }
      raw[0][i] = (a + sums[0] + tail * x) / (1 - g->length[0]);
      raw[1][i] = (b + sums[1] + tail * x * x) / (1 - g->length[0]);
      raw[2][i] = (c + sums[2] + tail * x * x * x) / (1 - g->length[0]);
      passed += g->length[i];
      sums[0] += g->length[i] * x;
      sums[1] += g->length[i] * x * x;
      sums[2] += g->length[i] * x * x * x;
    }
}

/* The sequence starts anywhere in the stream: what is left of a document comes first. */
static Moments
start_anywhere (const Grid *g, double *const raw[3])
{
  double sums[3] = { 0, 0, 0 }, passed = 0;

  for (guint j = 0; j < g->n; j++)
    {
      const double l = j * g->h * j * g->h, w = g->first[j];
      const double a = raw[0][g->n - j], b = raw[1][g->n - j], c = raw[2][g->n - j];

      sums[0] += w * (l + a);
      sums[1] += w * (l * l + 2 * l * a + b);
      sums[2] += w * (l * l * l + 3 * l * l * a + 3 * l * b + c);
      passed += w;
    }
  for (guint k = 0; k < 3; k++)
    sums[k] += fmax (0, 1 - passed);
  return central (sums[0], sums[1], sums[2]);
}

/* Of a sequence with at most `many` documents, in shares of it. */
static Moments
stream (const Documents *documents)
{
  const Lognormal d = lognormal_of (documents);
  const guint n = MAX (least_points, (guint) ceil (fine / documents->mean));
  const Grid grid = { n, 1.0 / n, weights (&d, excess, n, 1.0 / n), weights (&d, first_excess, n, 1.0 / n) };
  double *raw[3] = { g_new (double, n + 1), g_new (double, n + 1), g_new (double, n + 1) };
  Moments out;

  renew (&grid, raw);
  out = start_anywhere (&grid, raw);
  for (guint k = 0; k < 3; k++)
    g_free (raw[k]);
  g_free (grid.length);
  g_free (grid.first);
  return out;
}

Moments
documents_squares (const Documents *documents, guint64 phases)
{
  const Lognormal d = lognormal_of (documents);
  const double window = fmin (1, many * documents->mean);
  const Documents seen = { documents->mean / window, documents->cv };

  if (!(documents->cv > 0))
    return equal_documents (documents->mean, phases);
  const Moments part = stream (&seen);

  return (Moments) { mean_squares (&d), part.variance * pow (window, 3), part.third * pow (window, 5) };
}
