/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report-parts.h"
#include "report/table.h"
#include "report/words.h"
#include "base/csv.h"
#include <math.h>
#include <string.h>

/* The point that is best at one thing. */
typedef struct { double value; char *name, *text; } Best;

/* What heads a table where all points have it. */
enum { WORKLOAD, PRECISION, STRATEGY, MACHINE, N_SHARED };

struct SweepReport
{
  Format          format;
  const Scenario *scenario;
  const Look     *look;
  guint           n;
  GString        *rows;       /* CSV, JSON */
  TextTable      *table;
  char           *title;
  char           *shared[N_SHARED];   /* NULL: not of all points */
  char           *baseline;   /* of the efficiency; NULL: there is none */
  Best            fastest, cheapest;
};

SweepReport *
sweep_report_new (Format format, const Scenario *scenario, const Look *look)
{
  SweepReport *report = g_new0 (SweepReport, 1);

  report->format = format;
  report->scenario = scenario;
  report->look = look;
  report->rows = g_string_new (NULL);
  report->table = text_table_new ("");
  return report;
}

static void
best_clear (Best *best)
{
  g_free (best->name);
  g_free (best->text);
}

void
sweep_report_free (SweepReport *report)
{
  if (report == NULL)
    return;
  g_string_free (report->rows, TRUE);
  text_table_free (report->table);
  g_free (report->title);
  for (guint i = 0; i < N_SHARED; i++)
    g_free (report->shared[i]);
  g_free (report->baseline);
  best_clear (&report->fastest);
  best_clear (&report->cheapest);
  g_free (report);
}

static void
csv_head (GString *out, const SetPoint *point)
{
  for (guint i = 0; i < point->n; i++)
    {
      csv_append_text (out, point->keys[i]);
      g_string_append_c (out, ',');
    }
  result_csv_header (out);
  g_string_append_c (out, '\n');
}

static void
csv_point (GString *out, const SetPoint *point, const Result *result)
{
  for (guint i = 0; i < point->n; i++)
    {
      csv_append_text (out, point->values[i]);
      g_string_append_c (out, ',');
    }
  result_csv_row (out, result);
  g_string_append_c (out, '\n');
}

/* What every point says beside the values that are swept. */
static const struct { const char *title, *key; gboolean right; } columns[] = {
  { "nodes", "cluster.nodes", TRUE }, { "GPUs", NULL, TRUE }, { "batch", "training.global-batch", TRUE },
  { "step ms", NULL, TRUE }, { "samples/s", NULL, TRUE }, { "per GPU", NULL, TRUE }, { "efficiency", NULL, TRUE },
  { "idle", NULL, TRUE }, { "USD/M samples", NULL, TRUE }, { "largest loss", NULL, FALSE }, { "fits", NULL, FALSE },
};

static gboolean
is_swept (const SetPoint *point, const char *key)
{
  return key != NULL && g_strv_contains ((const char *const *) point->keys, key);
}

static void
table_head (TextTable *table, const SetPoint *point)
{
  for (guint i = 0; i < point->n; i++)
    text_table_column (table, strchr (point->keys[i], '.') + 1, g_ascii_isdigit (point->values[i][0]));
  for (gsize i = 0; i < G_N_ELEMENTS (columns); i++)
    if (!is_swept (point, columns[i].key))
      text_table_column (table, columns[i].title, columns[i].right);
  text_table_keys (table, point->n);
}

static void
table_point (TextTable *table, const SetPoint *point, const Result *r)
{
  char *cells[G_N_ELEMENTS (columns)] = {
    g_strdup_printf ("%" G_GUINT64_FORMAT, r->nodes), g_strdup_printf ("%" G_GUINT64_FORMAT, r->gpus),
    g_strdup_printf ("%" G_GUINT64_FORMAT, r->global_batch), text_ms (r->step_time, r->step_time), text_number (r->throughput),
    text_number (r->throughput_per_gpu), text_percent (r->scaling_efficiency, 1), text_percent (r->gpu_idle_share, 1),
    text_number (r->cost_per_million_samples), words_loss (r), g_strdup (r->memory.fits ? "" : "NO"),
  };

  for (guint i = 0; i < point->n; i++)
    text_table_add (table, point->values[i]);
  for (gsize i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      if (!is_swept (point, columns[i].key))
        text_table_add (table, cells[i]);
      g_free (cells[i]);
    }
}

/* Of equal points the first stays. */
static void
keep_best (Best *best, double value, const SetPoint *point, char *text)
{
  if (isfinite (value) && (best->name == NULL || value > best->value))
    {
      best_clear (best);
      *best = (Best) { value, g_strjoinv (", ", point->sets), g_steal_pointer (&text) };
    }
  g_free (text);
}

static void
note_best (SweepReport *report, const SetPoint *point, const Result *r)
{
  g_autofree char *rate = text_number (r->throughput), *price = text_number (r->cost_per_million_samples);

  if (!r->memory.fits)
    return;
  keep_best (&report->fastest, r->throughput, point, g_strdup_printf ("%s samples/s", rate));
  keep_best (&report->cheapest, -r->cost_per_million_samples, point, g_strdup_printf ("%s USD a million samples", price));
}

static void
note_shared (SweepReport *report, const Result *r, gboolean first)
{
  const char *const has[N_SHARED] = { r->workload, r->precision, r->strategy, r->machine };

  for (guint i = 0; i < N_SHARED; i++)
    {
      if (first)
        report->shared[i] = g_strdup (has[i]);
      else if (g_strcmp0 (report->shared[i], has[i]) != 0)
        g_clear_pointer (&report->shared[i], g_free);
    }
  if (report->baseline == NULL)
    report->baseline = g_strdup (r->efficiency_baseline);
}

void
sweep_report_add (SweepReport *report, const SetPoint *point, const Result *result)
{
  const gboolean first = report->n++ == 0;

  switch (report->format)
    {
    case FORMAT_CSV:
      if (first)
        csv_head (report->rows, point);
      csv_point (report->rows, point, result);
      return;
    case FORMAT_JSON:
      g_string_append (report->rows, first ? "\n    " : ",\n    ");
      sweep_json_point (report->rows, point, result);
      return;
    default:
      if (first)
        {
          report->title = g_strdup (report->scenario->title != NULL ? report->scenario->title : result->scenario);
          table_head (report->table, point);
        }
      note_shared (report, result, first);
      table_point (report->table, point, result);
      note_best (report, point, result);
    }
}

static void
append_head (GString *out, const SweepReport *report)
{
  g_autoptr (GString) head = g_string_new (report->title);

  for (guint i = 0; i < N_SHARED; i++)
    if (report->shared[i] != NULL)
      g_string_append_printf (head, "%s%s", head->len == strlen (report->title) ? ": " : i == MACHINE ? " on " : ", ", report->shared[i]);
  report_heading (out, head->str, report->look);
}

static void
append_best (GString *out, const char *what, const Best *best, const Look *look)
{
  g_autofree char *line = best->name == NULL ? NULL : g_strdup_printf ("%s of the points that fit: %s, with %s.", what, best->name, best->text);

  if (line != NULL)
    report_text (out, line, 2, look);
}

static void
end_json (const SweepReport *report, GString *out)
{
  static const char end[] = "]\n}\n";   /* of the points, of the document */

  sweep_json_frame (out, report->scenario);
  g_assert (g_str_has_suffix (out->str, end));
  g_string_truncate (out, out->len - strlen (end));
  g_string_append (out, report->rows->str);
  g_string_append_printf (out, "\n  %s", end);
}

void
sweep_report_end (SweepReport *report, GString *out)
{
  if (report->n == 0)
    return;
  if (report->format == FORMAT_CSV)
    g_string_append_len (out, report->rows->str, (gssize) report->rows->len);
  else if (report->format == FORMAT_JSON)
    end_json (report, out);
  else
    {
      append_head (out, report);
      g_string_append_c (out, '\n');
      text_table_append (report->table, TABLE_MARKDOWN, 0, report->look->width, out);
      g_string_append_c (out, '\n');
      if (report->baseline != NULL)
        {
          g_autofree char *line = g_strdup_printf ("Efficiency: samples/s per GPU against %s alone with the settings of its row.", report->baseline);

          report_text (out, line, 2, report->look);
        }
      if (report->shared[WORKLOAD] == NULL)
        {
          report_text (out, "Samples of different workloads are different work: no point is called the fastest.", 2, report->look);
          return;
        }
      append_best (out, "Fastest", &report->fastest, report->look);
      append_best (out, "Cheapest", &report->cheapest, report->look);
    }
}
