/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/validate.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/random.h"

/* A training step is some hundred kernels: how well are their sums known? */
#define BAG 100u
#define BAGS 400u

typedef struct
{
  guint       source, row;
  double      measured, predicted, lo, hi, beside;
  const char *skip, *parts;
} Row;

typedef struct
{
  char           *name;
  const CsvTable *csv;
  guint           fitted;
} Source;

struct Validation
{
  GArray       *rows;      /* Row */
  GArray       *sources;   /* Source */
  GStringChunk *texts;
};

static void
source_clear (gpointer data)
{
  g_free (((Source *) data)->name);
}

Validation *
validation_new (void)
{
  Validation *validation = g_new0 (Validation, 1);

  validation->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  validation->sources = g_array_new (FALSE, FALSE, sizeof (Source));
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
  const Source source = { g_strdup (name), csv, 0 };

  g_array_append_val (validation->sources, source);
  return validation->sources->len - 1;
}

void
validation_add (Validation *validation, guint source, guint row, double measured, double predicted, double lo, double hi,
                const char *parts)
{
  const Row added = { source, row, measured, predicted, lo, hi, NAN, NULL,
                      parts != NULL ? g_string_chunk_insert_const (validation->texts, parts) : NULL };

  g_array_append_val (validation->rows, added);
}

void
validation_beside (Validation *validation, double predicted)
{
  if (validation->rows->len > 0)
    g_array_index (validation->rows, Row, validation->rows->len - 1).beside = predicted;
}

void
validation_skip (Validation *validation, guint source, guint row, const char *reason)
{
  const Row added = { source, row, NAN, NAN, NAN, NAN, NAN, g_string_chunk_insert_const (validation->texts, reason), NULL };

  g_array_append_val (validation->rows, added);
}

void
validation_fitted (Validation *validation, guint source, guint rows)
{
  g_array_index (validation->sources, Source, source).fitted += rows;
}

guint
validation_n_sources (const Validation *validation)
{
  return validation->sources->len;
}

static const Row *
row_at (const Validation *validation, guint i)
{
  return &g_array_index (validation->rows, Row, i);
}

static const Source *
source_at (const Validation *validation, guint i)
{
  return &g_array_index (validation->sources, Source, i);
}

static double
sorted_quantile (double *values, guint n, double p)
{
  if (n == 0)
    return NAN;
  gsl_sort (values, 1, n);
  return gsl_stats_quantile_from_sorted_data (values, 1, n, p);
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
  out->bag_median = sorted_quantile (errors, BAGS, 0.5);
  out->bag_p90 = sorted_quantile (errors, BAGS, 0.9);
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
    out->fitted += source == G_MAXUINT || source == i ? source_at (validation, i)->fitted : 0;
  for (guint i = 0; i < validation->rows->len; i++)
    {
      const Row *row = row_at (validation, i);

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
  out->median = sorted_quantile (error, n, 0.5);
  out->p90 = gsl_stats_quantile_from_sorted_data (error, 1, n, 0.9);
  out->beside_median = sorted_quantile (beside, with_beside, 0.5);
  out->beside_p90 = sorted_quantile (beside, with_beside, 0.9);
  out->mean = sum / n;
  out->bias = signed_sum / n;
  if (with_interval > 0)
    {
      out->coverage = (double) inside / with_interval;
      out->half_width = sorted_quantile (half, with_interval, 0.5);
    }
}

/* Counts of the texts of one column, in the order of their first row. */
typedef struct { const char *text; guint n; } Count;

static GArray *
count_texts (const Validation *validation, guint source, gboolean skips)
{
  GArray *counts = g_array_new (FALSE, FALSE, sizeof (Count));

  for (guint i = 0; i < validation->rows->len; i++)
    {
      const Row *row = row_at (validation, i);
      const char *text = skips ? row->skip : row->parts;
      guint at = 0;

      if (text == NULL || (source != G_MAXUINT && row->source != source))
        continue;
      while (at < counts->len && g_array_index (counts, Count, at).text != text)   /* one copy of each text */
        at++;
      if (at == counts->len)
        g_array_append_val (counts, ((Count) { text, 0 }));
      g_array_index (counts, Count, at).n++;
    }
  return counts;
}

static void
append_percent (GString *out, const char *name, double share)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (isfinite (share))
    g_string_append_printf (out, "%s %s%%", name, g_ascii_formatd (text, sizeof text, "%.1f", share * 100));
  else
    g_string_append_printf (out, "%s -", name);
}

static void
append_summary (GString *out, const ValidationSummary *s)
{
  g_string_append_printf (out, "rows %u used %u skipped %u | ", s->rows, s->used, s->skipped);
  append_percent (out, "median", s->median);
  append_percent (out, " mean", s->mean);
  append_percent (out, " p90", s->p90);
  append_percent (out, " bias", s->bias);
  append_percent (out, " | interval covers", s->coverage);
}

static void
append_beside (GString *out, const ValidationSummary *s)
{
  if (isnan (s->beside_median))
    return;
  append_percent (out, " | ideal scaling median", s->beside_median);
  append_percent (out, " p90", s->beside_p90);
}

static void
append_texts (GString *out, const Validation *validation, guint source, gboolean skips, const char *title)
{
  static const guint most = 4;
  g_autoptr (GArray) counts = count_texts (validation, source, skips);

  for (guint i = 0; i < MIN (counts->len, most); i++)
    {
      const Count *count = &g_array_index (counts, Count, i);

      g_string_append_printf (out, "%s%s", i == 0 ? title : "; ", count->text);
      if (skips || counts->len > 1)
        g_string_append_printf (out, " (%u)", count->n);
    }
  if (counts->len > most)
    g_string_append_printf (out, "; %u more", counts->len - most);
}

void
validation_print (const Validation *validation, gboolean bags, GString *out)
{
  ValidationSummary s;

  for (guint i = 0; i < validation->sources->len; i++)
    {
      validation_summary (validation, i, bags, &s);
      g_string_append_printf (out, "%s: ", source_at (validation, i)->name);
      append_summary (out, &s);
      append_percent (out, ", half-width", s.half_width);
      append_beside (out, &s);
      if (bags)
        {
          append_percent (out, " | bags of 100 median", s.bag_median);
          append_percent (out, " p90", s.bag_p90);
        }
      if (s.fitted > 0)
        g_string_append_printf (out, " | fitted to %u other rows", s.fitted);
      append_texts (out, validation, i, FALSE, " | from ");
      append_texts (out, validation, i, TRUE, " | skipped: ");
      g_string_append_c (out, '\n');
    }
  validation_summary (validation, G_MAXUINT, FALSE, &s);
  if (!isnan (s.beside_median))
    {
      append_percent (out, "ideal scaling of the same rows: median", s.beside_median);
      append_percent (out, " p90", s.beside_p90);
      g_string_append_c (out, '\n');
    }
  append_summary (out, &s);
  g_string_append_c (out, '\n');
}

static void
append_json_text (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (const char *p = text; *p != '\0'; p++)
    if (*p == '"' || *p == '\\')
      g_string_append_printf (out, "\\%c", *p);
    else if ((guchar) *p < 0x20)
      g_string_append_printf (out, "\\u%04x", (guint) (guchar) *p);
    else
      g_string_append_c (out, *p);
  g_string_append_c (out, '"');
}

static void
append_json_number (GString *out, const char *name, double value)
{
  g_string_append_printf (out, ", \"%s\": ", name);
  if (isfinite (value))
    csv_append_number (out, value);
  else
    g_string_append (out, "null");
}

static void
append_json_counts (GString *out, const Validation *validation, guint source, gboolean skips, const char *name)
{
  g_autoptr (GArray) counts = count_texts (validation, source, skips);

  g_string_append_printf (out, ", \"%s\": {", name);
  for (guint i = 0; i < counts->len; i++)
    {
      g_string_append (out, i ? ", " : "");
      append_json_text (out, g_array_index (counts, Count, i).text);
      g_string_append_printf (out, ": %u", g_array_index (counts, Count, i).n);
    }
  g_string_append_c (out, '}');
}

static void
append_json_summary (GString *out, const Validation *validation, guint source, gboolean bags)
{
  ValidationSummary s;

  validation_summary (validation, source, bags, &s);
  g_string_append_printf (out, "\"rows\": %u, \"used\": %u, \"skipped\": %u", s.rows, s.used, s.skipped);
  append_json_counts (out, validation, source, TRUE, "skip_reasons");
  g_string_append_printf (out, ", \"fitted\": %u", s.fitted);
  append_json_number (out, "median_abs_error", s.median);
  append_json_number (out, "mean_abs_error", s.mean);
  append_json_number (out, "p90_abs_error", s.p90);
  append_json_number (out, "bias", s.bias);
  append_json_number (out, "interval_coverage", s.coverage);
  append_json_number (out, "interval_half_width", s.half_width);
  if (!isnan (s.beside_median))
    {
      append_json_number (out, "ideal_median_abs_error", s.beside_median);
      append_json_number (out, "ideal_p90_abs_error", s.beside_p90);
    }
  if (bags)
    {
      append_json_number (out, "bag_median_abs_error", s.bag_median);
      append_json_number (out, "bag_p90_abs_error", s.bag_p90);
    }
  if (source != G_MAXUINT)
    append_json_counts (out, validation, source, FALSE, "parts");
}

void
validation_json (const Validation *validation, gboolean bags, GString *out)
{
  g_string_append (out, "{");
  append_json_summary (out, validation, G_MAXUINT, bags);
  g_string_append (out, ", \"by_source\": [");
  for (guint i = 0; i < validation->sources->len; i++)
    {
      g_string_append (out, i ? ",\n  {\"source\": " : "\n  {\"source\": ");
      append_json_text (out, source_at (validation, i)->name);
      g_string_append (out, ", ");
      append_json_summary (out, validation, i, bags);
      g_string_append_c (out, '}');
    }
  g_string_append (out, "\n]}\n");
}

void
validation_csv (const Validation *validation, gboolean bags, GString *out)
{
  g_string_append (out, "source,rows,used,skipped,fitted,median_abs_error,mean_abs_error,p90_abs_error,bias,interval_coverage,"
                        "interval_half_width,bag_median_abs_error,bag_p90_abs_error\n");
  for (guint i = 0; i < validation->sources->len; i++)
    {
      ValidationSummary s;

      validation_summary (validation, i, bags, &s);
      const double numbers[] = { s.median, s.mean, s.p90, s.bias, s.coverage, s.half_width, s.bag_median, s.bag_p90 };
      csv_append_text (out, source_at (validation, i)->name);
      g_string_append_printf (out, ",%u,%u,%u,%u", s.rows, s.used, s.skipped, s.fitted);
      for (gsize k = 0; k < G_N_ELEMENTS (numbers); k++)
        {
          g_string_append_c (out, ',');
          csv_append_number (out, numbers[k]);
        }
      g_string_append_c (out, '\n');
    }
}

/* Names of the columns of all tables, in the order in which they come. */
static GPtrArray *
all_columns (const Validation *validation)
{
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; i < validation->sources->len; i++)
    {
      const CsvTable *csv = source_at (validation, i)->csv;

      for (guint c = 0; csv != NULL && c < csv_columns (csv); c++)
        if (!g_ptr_array_find_with_equal_func (names, csv_column_name (csv, c), g_str_equal, NULL))
          g_ptr_array_add (names, (gpointer) csv_column_name (csv, c));
    }
  return names;
}

void
validation_rows (const Validation *validation, GString *out)
{
  g_autoptr (GPtrArray) names = all_columns (validation);

  g_string_append (out, "table");
  for (guint c = 0; c < names->len; c++)
    {
      g_string_append_c (out, ',');
      csv_append_text (out, names->pdata[c]);
    }
  g_string_append (out, ",measured,predicted,lo,hi,error,skip_reason,parts\n");
  for (guint i = 0; i < validation->rows->len; i++)
    {
      const Row *row = row_at (validation, i);
      const Source *source = source_at (validation, row->source);
      const double numbers[] = { row->measured, row->predicted, row->lo, row->hi, row->predicted / row->measured - 1 };

      csv_append_text (out, source->name);
      for (guint c = 0; c < names->len; c++)
        {
          const int column = source->csv != NULL ? csv_column (source->csv, names->pdata[c]) : -1;

          g_string_append_c (out, ',');
          if (column >= 0 && row->row < csv_rows (source->csv))
            csv_append_text (out, csv_text (source->csv, row->row, (guint) column));
        }
      for (gsize k = 0; k < G_N_ELEMENTS (numbers); k++)
        {
          g_string_append_c (out, ',');
          csv_append_number (out, numbers[k]);
        }
      g_string_append_c (out, ',');
      csv_append_text (out, row->skip != NULL ? row->skip : "");
      g_string_append_c (out, ',');
      csv_append_text (out, row->parts != NULL ? row->parts : "");
      g_string_append_c (out, '\n');
    }
}
