/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "calibrate/validate-rows.h"

/* A validation as lines for people, JSON and CSV. */

/* Counts of the texts of one column, in the order of their first row. */
typedef struct { const char *text; guint n; } Count;

static GArray *
count_texts (const Validation *validation, guint source, gboolean skips)
{
  GArray *counts = g_array_new (FALSE, FALSE, sizeof (Count));

  for (guint i = 0; i < validation->rows->len; i++)
    {
      const ValidationRow *row = validation_row_at (validation, i);
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
      g_string_append_printf (out, "%s: ", validation_source_at (validation, i)->name);
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
      append_json_text (out, validation_source_at (validation, i)->name);
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
      csv_append_text (out, validation_source_at (validation, i)->name);
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
      const CsvTable *csv = validation_source_at (validation, i)->csv;

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
      const ValidationRow *row = validation_row_at (validation, i);
      const ValidationSource *source = validation_source_at (validation, row->source);
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
