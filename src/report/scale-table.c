/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report-parts.h"
#include "report/table.h"
#include "report/words.h"
#include <math.h>
#include <string.h>

/* Sentences about single curves stop here. */
#define MAX_CURVES 12u

double
measured_step_time (const ScaleStudy *study, const Result *result)
{
  for (guint i = 0; i < study->n_measured; i++)
    {
      const MeasuredPoint *point = &study->measured[i];

      if (point->nodes != result->nodes || point->gpus_per_node != result->gpus_per_node)
        continue;
      if (isfinite (point->step_time))
        return point->step_time;
      if (isfinite (point->throughput))
        return (double) result->global_batch / point->throughput;
    }
  return NAN;
}

/* "training.global-batch = 64" or "". */
static char *
curve_name (const Curve *curve)
{
  GString *name = g_string_new (NULL);

  for (guint i = 0; i < curve->n_swept; i++)
    g_string_append_printf (name, "%s%s = %s", i > 0 ? ", " : "", curve->keys[i], curve->values[i]);
  return g_string_free (name, FALSE);
}

/* "global-batch": the last part of a key heads its column. */
static const char *
short_key (const char *key)
{
  const char *dot = strrchr (key, '.');

  return dot != NULL ? dot + 1 : key;
}

static TextTable *
scale_columns (const ScaleStudy *study)
{
  static const struct { const char *title; gboolean right; } columns[] = {
    { "nodes", TRUE }, { "GPUs", TRUE }, { "batch", TRUE }, { "batch/GPU", TRUE }, { "step ms", TRUE },
    { "samples/s", TRUE }, { "per GPU", TRUE }, { "efficiency", TRUE }, { "gain", TRUE }, { "fits", FALSE }, { "idle", TRUE },
    { "largest loss", FALSE }, { "5 to 95 % ms", TRUE }, { "p50, p95, p99 ms", TRUE }, { "measured ms", TRUE }, { "error", TRUE },
  };
  TextTable *table = text_table_new ("");
  const Curve *first = study->n_curves > 0 ? &study->curves[0] : NULL;

  for (guint i = 0; first != NULL && i < first->n_swept; i++)
    text_table_column (table, short_key (first->keys[i]), g_ascii_isdigit (first->values[i][0]));
  for (gsize i = 0; i < G_N_ELEMENTS (columns); i++)
    text_table_column (table, columns[i].title, columns[i].right);
  text_table_keys (table, (first != NULL ? first->n_swept : 0) + 2);   /* nodes and GPUs */
  return table;
}

static void
add_count (TextTable *table, guint64 n)
{
  text_table_take (table, g_strdup_printf ("%" G_GUINT64_FORMAT, n));
}

static char *
batch_text (const Result *point)
{
  if (point->accumulation > 1)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT, point->accumulation, point->batch_per_gpu);
  return g_strdup_printf ("%" G_GUINT64_FORMAT, point->batch_per_gpu);
}

static char *
interval_text (const Result *point)
{
  if (!isfinite (point->step_lo) || !isfinite (point->step_hi))
    return g_strdup ("");
  g_autofree char *lo = text_ms (point->step_lo, point->step_time);
  g_autofree char *hi = text_ms (point->step_hi, point->step_time);
  return g_strdup_printf ("%s - %s", lo, hi);
}

/* Of single steps, where [noise] makes them differ. */
static char *
spread_text (const Result *point)
{
  if (!isfinite (point->spread_p50))
    return g_strdup ("");
  g_autofree char *p50 = text_ms (point->spread_p50, point->step_time);
  g_autofree char *p95 = text_ms (point->spread_p95, point->step_time);
  g_autofree char *p99 = text_ms (point->spread_p99, point->step_time);
  return g_strdup_printf ("%s, %s, %s", p50, p95, p99);
}

static void
add_point (TextTable *table, const ScaleStudy *study, const Curve *curve, guint i)
{
  const Result *point = curve->points[i];
  const double before = i > 0 ? curve->points[i - 1]->throughput : NAN;
  const double measured = study->n_curves == 1 ? measured_step_time (study, point) : NAN;

  for (guint k = 0; k < curve->n_swept; k++)
    text_table_add (table, curve->values[k]);
  add_count (table, point->nodes);
  add_count (table, point->gpus);
  add_count (table, point->global_batch);
  text_table_take (table, batch_text (point));
  text_table_take (table, text_ms (point->step_time, point->step_time));
  text_table_take (table, text_number (point->throughput));
  text_table_take (table, text_number (point->throughput_per_gpu));
  text_table_take (table, curve->n_points > 1 ? text_percent (point->scaling_efficiency, 1) : g_strdup (""));
  text_table_take (table, text_change (point->throughput / before - 1));
  text_table_add (table, point->memory.fits ? "" : "NO");
  text_table_take (table, text_percent (point->gpu_idle_share, 1));
  text_table_take (table, words_loss (point));
  text_table_take (table, interval_text (point));
  text_table_take (table, spread_text (point));
  text_table_take (table, text_ms (measured, point->step_time));
  text_table_take (table, text_change (point->step_time / measured - 1));
}

static void
append_line (GString *out, char *line, const Look *look)
{
  report_text (out, line, 2, look);
  g_free (line);
}

static void
append_head (GString *out, const Scenario *scenario, const ScaleStudy *study, const Result *point, const Look *look)
{
  const char *batch = study->strong ? "strong scaling (fixed global batch)" : "weak scaling (fixed batch per GPU)";
  const char *title = scenario != NULL && scenario->title != NULL ? scenario->title : point->scenario;
  g_autofree char *line = g_strdup_printf ("%s, %s, %s on %s; %s", point->workload, point->precision, point->strategy,
                                           point->machine, batch);

  report_heading (out, title, look);
  report_text (out, line, 2, look);
  g_string_append_c (out, '\n');
}

/* Which baselines the efficiency has. */
static void
append_baselines (GString *out, const ScaleStudy *study, const Result *first, const Look *look)
{
  GString *line = g_string_new (NULL);

  if (study->curves[0].n_points < 2)   /* nothing is compared */
    {
      g_string_free (line, TRUE);
      return;
    }
  g_string_append_printf (line, "Efficiency: samples/s per GPU against %s",
                          first->efficiency_baseline != NULL ? first->efficiency_baseline
                          : study->baseline != NULL ? study->baseline : "the first point");
  if (!first->memory.fits)
    g_string_append (line, ", which does not fit into its memory and is compared as if it had more");
  if (study->n_curves == 1 && isfinite (first->one_gpu_throughput) && first->gpus > 1)
    {
      const double share = first->throughput_per_gpu / first->one_gpu_throughput;
      g_autofree char *one = text_number (first->one_gpu_throughput);
      g_autofree char *percent = text_percent (share, 1);
      g_string_append_printf (line, "; one GPU alone %s %s samples/s, so the first point has %s of that per GPU",
                              first->one_gpu_small ? "would make, had it the memory," : "makes", one, percent);
      if (share > 1.0005)
        g_string_append (line, " (above 100 %: what is split over the GPUs takes each of them less time)");
    }
  g_string_append (line, ".  Gain: throughput against the row above.");
  append_line (out, g_string_free (line, FALSE), look);
}

static void
append_knee (GString *out, const Curve *curve, const char *prefix, const Look *look)
{
  const guint n = curve->n_points;

  /* of many short curves the table says it better */
  if (n < 2 || (n == 2 && prefix[0] != '\0'))
    return;
  if (curve->knee + 1 >= n)
    {
      append_line (out, g_strdup_printf ("%severy size up to %" G_GUINT64_FORMAT " GPUs gains more than half of what "
                                         "linear scaling would.", prefix, curve->points[n - 1]->gpus), look);
      return;
    }

  const Result *knee = curve->points[curve->knee], *next = curve->points[curve->knee + 1];
  g_autofree char *gain = text_change (next->throughput / knee->throughput - 1);
  g_autofree char *linear = text_change ((double) next->gpus / (double) knee->gpus - 1);
  g_autofree char *nodes = words_count (knee->nodes, "node", "nodes");
  g_autofree char *gpus = words_count (knee->gpus, "GPU", "GPUs");
  append_line (out, g_strdup_printf ("%sthe knee is at %s (%s): going on to %" G_GUINT64_FORMAT
                                     " GPUs changes the throughput by %s, linear scaling would by %s.", prefix, nodes, gpus, next->gpus,
                                     gain, linear), look);
}

/* The loss whose share of the step grows most from the first point to the last. */
static void
append_growth (GString *out, const Curve *curve, const char *prefix, const Look *look)
{
  const Result *first = curve->points[0], *last = curve->points[curve->n_points - 1];
  Cause most = N_CAUSES;
  double growth = 0.005;

  for (Cause cause = 0; cause < N_CAUSES; cause++)
    {
      const double grown = last->ledger[cause] / last->step_time - first->ledger[cause] / first->step_time;
      if (cause_is_loss (cause) && grown > growth)
        {
          most = cause;
          growth = grown;
        }
    }
  if (most == N_CAUSES || curve->n_points < 2)
    return;

  g_autofree char *from = text_percent (first->ledger[most] / first->step_time, 1);
  g_autofree char *to = text_percent (last->ledger[most] / last->step_time, 1);
  const NamedTime *link = most == CAUSE_EXPOSED_COMM ? words_worst_link (last) : NULL;
  g_autofree char *where = link != NULL ? words_link (link->name) : NULL;
  append_line (out, g_strdup_printf ("%s%s grows most: from %s of the step at %" G_GUINT64_FORMAT " %s to %s at %"
                                     G_GUINT64_FORMAT "%s%s.", prefix, words_loss_noun (most), from, first->gpus,
                                     first->gpus == 1 ? "GPU" : "GPUs", to, last->gpus, where != NULL ? ", mostly on " : "",
                                     where != NULL ? where : ""), look);
}

static void
append_measured (GString *out, const ScaleStudy *study, const Look *look)
{
  if (study->n_measured == 0)
    return;
  if (study->n_curves > 1)
    {
      append_line (out, g_strdup ("The measured points are not shown: they belong to one curve, here are several."), look);
      return;
    }
  for (guint i = 0; i < study->n_measured; i++)
    {
      const MeasuredPoint *measured = &study->measured[i];
      gboolean found = FALSE;

      for (guint k = 0; k < study->curves[0].n_points; k++)
        found |= study->curves[0].points[k]->nodes == measured->nodes
                 && study->curves[0].points[k]->gpus_per_node == measured->gpus_per_node;
      if (!found)
        append_line (out, g_strdup_printf ("Measured at %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT
                                           " GPUs, which is no point of this table.", measured->nodes, measured->gpus_per_node), look);
    }
}

/* The same sentence heads a line of its own, or follows the name of its curve. */
static char *
capital (const char *text)
{
  char *copy = g_strdup (text);

  copy[0] = g_ascii_toupper (copy[0]);
  return copy;
}

static void
append_sentences (GString *out, const ScaleStudy *study, const Look *look)
{
  for (guint i = 0; i < study->n_curves && i < MAX_CURVES; i++)
    {
      g_autoptr (GString) part = g_string_new (NULL);
      const Curve *curve = &study->curves[i];
      g_autofree char *name = curve_name (curve);
      g_autofree char *prefix = study->n_curves > 1 ? g_strconcat (name, ": ", NULL) : g_strdup ("");

      if (curve->n_points == 0)
        continue;
      append_knee (part, curve, prefix, look);
      append_growth (part, curve, prefix, look);
      if (study->n_curves > 1)
        {
          g_string_append (out, part->str);
          continue;
        }
      g_auto (GStrv) lines = g_strsplit (part->str, "\n", -1);
      for (gsize k = 0; lines[k] != NULL && lines[k][0] != '\0'; k++)
        {
          g_autofree char *line = capital (lines[k]);
          g_string_append_printf (out, "%s\n", line);
        }
    }
  if (study->n_curves > MAX_CURVES)
    append_line (out, g_strdup_printf ("(%u more curves.)", study->n_curves - MAX_CURVES), look);
}

/* Why `run` may print other ends. */
static void
append_range_note (GString *out, const Result *first, const Look *look)
{
  if (isfinite (first->step_lo))
    append_line (out, g_strdup ("5 to 95 %: nine of ten such steps lie there, to first order; 'lockstep run' draws samples and may say a few "
                                "per cent more or less."), look);
}

/* Its words alone: the same warning of two points differs in its numbers. */
static char *
without_numbers (const char *text)
{
  GString *words = g_string_new (NULL);

  for (; *text != '\0'; text++)
    if (!g_ascii_isdigit (*text) && *text != '.')
      g_string_append_c (words, *text);
  return g_string_free (words, FALSE);
}

/* Each once, of the first point that has it. */
static void
append_warnings (GString *out, const ScaleStudy *study, const Look *look)
{
  g_autoptr (GHashTable) times = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) first = g_ptr_array_new ();   /* char *, borrowed */

  for (guint i = 0; i < study->n_curves; i++)
    {
      for (guint k = 0; k < study->curves[i].n_points; k++)
        {
          char **warnings = study->curves[i].points[k]->warnings;

          for (gsize w = 0; warnings != NULL && warnings[w] != NULL; w++)
            {
              char *words = without_numbers (warnings[w]);
              const guint seen = GPOINTER_TO_UINT (g_hash_table_lookup (times, words));

              if (seen == 0)
                g_ptr_array_add (first, warnings[w]);
              g_hash_table_insert (times, words, GUINT_TO_POINTER (seen + 1));
            }
        }
    }
  for (guint i = 0; i < first->len; i++)
    {
      g_autofree char *words = without_numbers (first->pdata[i]);
      const guint others = GPOINTER_TO_UINT (g_hash_table_lookup (times, words)) - 1;
      g_autofree char *more = others > 0 ? g_strdup_printf (" (and likewise at %u more point%s)", others, others == 1 ? "" : "s") : g_strdup ("");

      append_line (out, g_strconcat ("Warning: ", first->pdata[i], more, NULL), look);
    }
}

void
scale_table (GString *out, const Scenario *scenario, const ScaleStudy *study, const Look *look)
{
  g_autoptr (TextTable) table = scale_columns (study);

  if (study->n_curves == 0 || study->curves[0].n_points == 0)
    return;
  append_head (out, scenario, study, study->curves[0].points[0], look);
  for (guint i = 0; i < study->n_curves; i++)
    {
      for (guint k = 0; k < study->curves[i].n_points; k++)
        add_point (table, study, &study->curves[i], k);
    }
  text_table_append (table, TABLE_MARKDOWN, 0, look->width, out);
  g_string_append_c (out, '\n');
  append_baselines (out, study, study->curves[0].points[0], look);
  append_range_note (out, study->curves[0].points[0], look);
  if (study->crossing_text != NULL)
    append_line (out, g_strdup_printf ("Crossing: %s.", study->crossing_text), look);
  append_sentences (out, study, look);
  append_measured (out, study, look);
  append_warnings (out, study, look);
}
