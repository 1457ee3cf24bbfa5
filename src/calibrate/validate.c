/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/validate-rows.h"

#include <math.h>

#include "base/random.h"
#include "calibrate/fit.h"

/* A training step is some hundred kernels: how well are their sums known? */
#define BAG 100u
#define BAGS 400u

static void
source_clear (gpointer data)
{
  g_free (((ValidationSource *) data)->name);
}

Validation *
validation_new (void)
{
  Validation *validation = g_new0 (Validation, 1);

  validation->rows = g_array_new (FALSE, FALSE, sizeof (ValidationRow));
  validation->sources = g_array_new (FALSE, FALSE, sizeof (ValidationSource));
  g_array_set_clear_func (validation->sources, source_clear);
  validation->texts = g_string_chunk_new (4096);
  return validation;
}

void
validation_free (Validation *validation)
{
  if (validation == NULL)
    return;
  g_array_unref (validation->rows);
  g_array_unref (validation->sources);
  g_string_chunk_free (validation->texts);
  g_free (validation);
}

guint
validation_source (Validation *validation, const char *name, const CsvTable *csv)
{
  const ValidationSource source = { g_strdup (name), csv, 0 };

  g_array_append_val (validation->sources, source);
  return validation->sources->len - 1;
}

void
validation_add (Validation *validation, guint source, guint row, double measured, double predicted, double lo, double hi,
                const char *parts)
{
  const ValidationRow added = { source, row, measured, predicted, lo, hi, NAN, NULL,
                      parts != NULL ? g_string_chunk_insert_const (validation->texts, parts) : NULL };

  g_array_append_val (validation->rows, added);
}

void
validation_beside (Validation *validation, double predicted)
{
  if (validation->rows->len > 0)
    g_array_index (validation->rows, ValidationRow, validation->rows->len - 1).beside = predicted;
}

void
validation_skip (Validation *validation, guint source, guint row, const char *reason)
{
  const ValidationRow added = { source, row, NAN, NAN, NAN, NAN, NAN, g_string_chunk_insert_const (validation->texts, reason), NULL };

  g_array_append_val (validation->rows, added);
}

void
validation_fitted (Validation *validation, guint source, guint rows)
{
  g_array_index (validation->sources, ValidationSource, source).fitted += rows;
}

guint
validation_n_sources (const Validation *validation)
{
  return validation->sources->len;
}

/* Drawn with replacement, always the same draws. */
static void
summarise_bags (const double *measured, const double *predicted, guint n, ValidationSummary *out)
{
  const RandomKey key = { .seed = 1, .run = 0, .entity = n, .purpose = BAG };
  double errors[BAGS];

  for (guint bag = 0; bag < BAGS; bag++)
    {
      double m = 0, p = 0;

      for (guint i = 0; i < BAG; i++)
        {
          const guint at = MIN ((guint) (random_uniform (&key, (uint64_t) bag * BAG + i) * n), n - 1);

          m += measured[at];
          p += predicted[at];
        }
      errors[bag] = fabs (p / m - 1);
    }
  out->bag_median = fit_quantile (errors, BAGS, 0.5);
  out->bag_p90 = fit_quantile (errors, BAGS, 0.9);
}

void
validation_summary (const Validation *validation, guint source, gboolean bags, ValidationSummary *out)
{
  const guint most = MAX (validation->rows->len, 1);
  g_autofree double *error = g_new (double, most), *measured = g_new (double, most), *predicted = g_new (double, most);
  g_autofree double *half = g_new (double, most), *beside = g_new (double, most);
  guint with_interval = 0, with_beside = 0, inside = 0, n = 0;
  double sum = 0, signed_sum = 0;

  *out = (ValidationSummary) { .median = NAN, .mean = NAN, .p90 = NAN, .bias = NAN, .coverage = NAN, .half_width = NAN,
                               .beside_median = NAN, .beside_p90 = NAN,
                               .bag_median = NAN, .bag_p90 = NAN };
  for (guint i = 0; i < validation->sources->len; i++)
    out->fitted += source == G_MAXUINT || source == i ? validation_source_at (validation, i)->fitted : 0;
  for (guint i = 0; i < validation->rows->len; i++)
    {
      const ValidationRow *row = validation_row_at (validation, i);

      if (source != G_MAXUINT && row->source != source)
        continue;
      out->rows++;
      if (row->skip != NULL)
        continue;
      measured[n] = row->measured;
      predicted[n] = row->predicted;
      error[n] = fabs (row->predicted / row->measured - 1);
      sum += error[n];
      signed_sum += row->predicted / row->measured - 1;
      if (isfinite (row->beside))
        beside[with_beside++] = fabs (row->beside / row->measured - 1);
      if (isfinite (row->lo) && isfinite (row->hi))
        {
          inside += row->lo <= row->measured && row->measured <= row->hi;
          half[with_interval++] = sqrt (row->hi / row->lo) - 1;
        }
      n++;
    }
  out->used = n;
  out->skipped = out->rows - n;
  if (n == 0)
    return;
  if (bags)
    summarise_bags (measured, predicted, n, out);
  out->median = fit_quantile (error, n, 0.5);
  out->p90 = fit_quantile (error, n, 0.9);
  out->beside_median = fit_quantile (beside, with_beside, 0.5);
  out->beside_p90 = fit_quantile (beside, with_beside, 0.9);
  out->mean = sum / n;
  out->bias = signed_sum / n;
  if (with_interval > 0)
    {
      out->coverage = (double) inside / with_interval;
      out->half_width = fit_quantile (half, with_interval, 0.5);
    }
}
