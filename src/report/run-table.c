/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/quantity.h"
#include "report/report-parts.h"
#include "report/table.h"
#include "report/words.h"
#include <math.h>
#include <string.h>

#define BAR_WIDTH 40u
#define LABEL     "  %-16s "

/* A share that is printed as 0.0 %. */
static const double rounding = 5e-4;

/* The question alone: its lines joined, up to an empty one or the word where the expected results are. */
static char *
question_text (const char *question)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (GStrv) lines = g_strsplit (question, "\n", -1);

  for (gsize i = 0; lines[i] != NULL; i++)
    {
      const char *line = g_strstrip (lines[i]);

      if (g_str_has_prefix (line, "Expected:") || (line[0] == '\0' && text->len > 0))
        break;
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", line);
    }
  return g_strdup (text->str);
}

static void
append_headline (GString *out, const Result *result, const Look *look)
{
  g_autofree char *gpus = words_gpus (result);
  g_autofree char *line = g_strdup_printf ("%s: %s, %s, %s on %s of %s", result->scenario, result->workload,
                                           result->precision, result->strategy, gpus, result->machine);

  report_heading (out, line, look);
  g_autofree char *question = question_text (result->question != NULL ? result->question : "");
  if (question[0] != '\0')
    {
      g_string_append (out, "  ");
      report_text (out, question, 2, look);
    }
  g_string_append_c (out, '\n');
}

static void
append_step_time (GString *out, const Result *result)
{
  g_autofree char *step = text_time (result->step_time);

  g_string_append_printf (out, LABEL "%s", "step time", step);
  if (isfinite (result->step_lo) && isfinite (result->step_hi))
    {
      g_autofree char *lo = text_time_as (result->step_lo, result->step_time);
      g_autofree char *hi = text_time_as (result->step_hi, result->step_time);
      g_string_append_printf (out, "  (%s to %s, 5 to 95 %%)", lo, hi);
    }
  if (result->runs > 0)
    g_string_append_printf (out, "  (mean of %u steps)\n", result->runs);
  else
    g_string_append (out, result->steady ? "\n" : "  (a mean: no two steps were equal)\n");
  if (isfinite (result->spread_p50))
    {
      g_autofree char *p50 = text_time_as (result->spread_p50, result->step_time);
      g_autofree char *p95 = text_time_as (result->spread_p95, result->step_time);
      g_autofree char *p99 = text_time_as (result->spread_p99, result->step_time);
      g_string_append_printf (out, LABEL "p50 %s, p95 %s, p99 %s: so many per cent are shorter\n", "single steps", p50, p95, p99);
    }
}

/* Why the comparison with one GPU is not what it seems. */
static void
append_efficiency_note (GString *out, const Result *result)
{
  if (result->one_gpu_small)
    g_string_append_printf (out, LABEL "one GPU has too little memory for it: compared as if it had enough\n", "");
  if (result->scaling_efficiency > 1 + rounding)
    g_string_append_printf (out, LABEL "above 100 %%: what is split over the GPUs takes each of them less time\n", "");
}

static void
append_tokens (GString *out, const Result *result)
{
  g_autofree char *all = text_number (result->throughput * result->tokens_per_sample);
  g_autofree char *each = text_number (result->throughput_per_gpu * result->tokens_per_sample);

  if (!(result->tokens_per_sample > 0))
    return;
  g_string_append_printf (out, LABEL "%s tokens/s", "", all);
  if (result->gpus > 1)
    g_string_append_printf (out, ", %s per GPU", each);
  g_string_append_c (out, '\n');
}

static void
append_throughput (GString *out, const Result *result)
{
  g_autofree char *all = text_number (result->throughput);
  g_autofree char *each = text_number (result->throughput_per_gpu);

  g_string_append_printf (out, LABEL "%s samples/s", "throughput", all);
  if (result->gpus > 1)
    g_string_append_printf (out, ", %s per GPU", each);
  g_string_append_c (out, '\n');
  append_tokens (out, result);
  if (isfinite (result->scaling_efficiency) && result->gpus > 1)
    {
      g_autofree char *share = text_percent (result->scaling_efficiency, 1);
      g_string_append_printf (out, LABEL "%s", "efficiency", share);
      if (result->efficiency_baseline != NULL)
        g_string_append_printf (out, " per GPU against %s", result->efficiency_baseline);
      if (isfinite (result->one_gpu_throughput))
        {
          g_autofree char *one = text_number (result->one_gpu_throughput);
          g_string_append_printf (out, " (one GPU alone: %s samples/s)", one);
        }
      g_string_append_c (out, '\n');
      append_efficiency_note (out, result);
    }
}

static void
append_use (GString *out, const Result *result)
{
  g_autofree char *idle = text_percent (result->gpu_idle_share, 1);
  g_autofree char *mfu = text_percent (result->mfu, 1);
  g_autofree char *hfu = text_percent (result->hfu, 1);

  if (idle[0] != '\0')
    g_string_append_printf (out, LABEL "%s of the step (no kernel runs)\n", "GPU idle", idle);
  if (mfu[0] != '\0')
    {
      g_string_append_printf (out, LABEL "%s", "MFU", mfu);
      if (result->peak_name != NULL)
        g_string_append_printf (out, " of %s", result->peak_name);
      /* equal without recomputation */
      if (isfinite (result->hfu) && g_strcmp0 (mfu, hfu) != 0)
        g_string_append_printf (out, ", HFU %s", hfu);
      g_string_append_c (out, '\n');
    }
}

static void
append_batch (GString *out, const Result *result)
{
  g_string_append_printf (out, LABEL "%" G_GUINT64_FORMAT " global, %" G_GUINT64_FORMAT " per GPU", "batch",
                          result->global_batch, result->batch_per_gpu);
  if (result->accumulation > 1)
    g_string_append_printf (out, " at a time, %" G_GUINT64_FORMAT " times a step", result->accumulation);
  g_string_append_c (out, '\n');
  if (isfinite (result->epoch_time))
    {
      g_autofree char *epoch = text_time (result->epoch_time);
      g_string_append_printf (out, LABEL "%s\n", "epoch", epoch);
    }
}

static void
append_extra (GString *out, const Result *result)
{
  if (result->reducers > 0)
    g_string_append_printf (out, LABEL "%" G_GUINT64_FORMAT " for the reduction\n", "servers", result->reducers);
  if (result->servers > 0)
    g_string_append_printf (out, LABEL "%" G_GUINT64_FORMAT " for the parameters\n", "servers", result->servers);
  if (isfinite (result->cost_per_hour))
    {
      g_autofree char *hour = text_number (result->cost_per_hour);
      g_autofree char *million = text_number (result->cost_per_million_samples);
      g_string_append_printf (out, LABEL "%s USD/h", "price", hour);
      if (million[0] != '\0')
        g_string_append_printf (out, ", %s USD per million samples", million);
      g_string_append_c (out, '\n');
    }
  else if (!g_str_equal (result->machine, "custom"))
    g_string_append_printf (out, LABEL "not known for %s%s\n", "price", result->machine,
                            result->reducers + result->servers > 0 ? " or its servers" : "");
}

static void
append_ledger (GString *out, const Result *result, const Look *look)
{
  g_autoptr (TextTable) table = text_table_new ("<cause|>ms|>share|<");
  const Cause loss = words_largest_loss (result);
  double sum = 0;

  report_heading (out, "Where the step goes", look);
  for (Cause cause = 0; cause < N_CAUSES; cause++)
    {
      const double seconds = result->ledger[cause];

      sum += seconds;
      if (!(seconds > 0))
        continue;
      g_autofree char *ms = text_ms (seconds, result->step_time);
      if (strspn (ms, "0.") == strlen (ms))
        continue;
      g_autofree char *bar = text_bar (seconds / result->step_time, BAR_WIDTH);
      text_table_add (table, cause_titles[cause]);
      text_table_add (table, ms);
      text_table_take (table, text_percent (seconds / result->step_time, 1));
      text_table_take (table, cause == loss ? g_strconcat (bar, " <- largest loss", NULL) : g_strdup (bar));
    }
  text_table_add (table, "step");
  text_table_take (table, text_ms (sum, result->step_time));
  text_table_take (table, text_percent (sum / result->step_time, 1));
  text_table_add (table, "");
  text_table_append (table, TABLE_PLAIN, 2, look->width, out);

  g_autofree char *why = words_why (result);
  g_string_append (out, look->colour ? "  \033[33m" : "  ");
  report_text (out, why, 2, look);
  if (look->colour)
    g_string_insert (out, (gssize) out->len - 1, "\033[0m");
}

static void
append_findings (GString *out, const Result *result, const Look *look)
{
  for (gsize i = 0; result->findings != NULL && result->findings[i] != NULL; i++)
    {
      g_autofree char *line = g_strconcat ("Finding: ", result->findings[i], ".", NULL);

      g_string_append (out, "  ");
      report_text (out, line, 2, look);
    }
}

static void
append_exposed (GString *out, const Result *result, const Look *look)
{
  g_autoptr (TextTable) table = text_table_new ("<where|>ms|>share");

  if (result->n_exposed == 0 || !(result->ledger[CAUSE_EXPOSED_COMM] > 0))
    return;
  g_string_append_c (out, '\n');
  report_heading (out, "Exposed communication", look);
  for (guint i = 0; i < result->n_exposed; i++)
    {
      const NamedTime *exposed = &result->exposed[i];

      if (!(exposed->seconds / result->step_time >= rounding))
        continue;
      text_table_take (table, words_link (exposed->name));
      text_table_take (table, text_ms (exposed->seconds, result->step_time));
      text_table_take (table, text_percent (exposed->seconds / result->step_time, 1));
    }
  text_table_append (table, TABLE_PLAIN, 2, look->width, out);
}

static void
append_what_if (GString *out, const Result *result, const Look *look)
{
  g_autoptr (TextTable) table = text_table_new ("<what if|>step ms|>saves|>faster");

  if (result->n_what_if == 0)
    return;
  g_string_append_c (out, '\n');
  report_heading (out, "What would change it", look);
  for (guint i = 0; i < result->n_what_if; i++)
    {
      const double seconds = result->what_if[i].seconds;

      /* of one GPU neither network nor other ranks are a question */
      if (result->gpus == 1 && fabs (1 - seconds / result->step_time) < rounding)
        continue;
      g_autofree char *factor = text_fixed (result->step_time / seconds, 2);

      text_table_add (table, words_what_if (result->what_if[i].name));
      text_table_take (table, text_ms (seconds, result->step_time));
      text_table_take (table, text_percent (1 - seconds / result->step_time, 1));
      text_table_take (table, factor[0] != '\0' ? g_strconcat (factor, " x", NULL) : g_strdup (""));
    }
  text_table_append (table, TABLE_PLAIN, 2, look->width, out);
}

/* One per cent on each resource's duration, the largest effect first. */
static void
append_sensitivity (GString *out, const Result *result, const Look *look)
{
  GString *line = g_string_new ("Sensitivity (how much longer the step is when one of these is 1 % slower): ");
  gboolean any = FALSE;

  for (guint i = 0; i < result->n_sensitivity; i++)
    {
      g_autofree char *effect = text_fixed (result->sensitivity[i].seconds, 2);

      if (g_str_equal (effect, "0.00"))
        continue;
      g_string_append_printf (line, "%s%s %s %%", any ? ", " : "", words_resource (result->sensitivity[i].name), effect);
      any = TRUE;
    }
  if (any)
    {
      g_string_append_c (out, '\n');
      report_text (out, line->str, 2, look);
    }
  g_string_free (line, TRUE);
}

static void
append_path (GString *out, const Result *result, const Look *look)
{
  GString *line = g_string_new ("Critical path (what to shorten first): ");

  for (guint i = 0; i < result->n_path; i++)
    {
      g_autofree char *time = text_time (result->path[i].seconds);
      if (result->path[i].seconds > 0)
        g_string_append_printf (line, "%s%s %s", line->str[line->len - 2] == ':' ? "" : ", ", result->path[i].name, time);
    }
  if (result->n_path > 0)
    {
      g_string_append_c (out, '\n');
      report_text (out, line->str, 2, look);
    }
  g_string_free (line, TRUE);
}

/* Of a deep pipeline the first, the fullest and the last; JSON has all. */
static const guint most_stages = 8;

static void
append_stages (GString *out, const GArray *stages, const Look *look)
{
  g_autoptr (TextTable) table = text_table_new ("<stage|>needs|<");
  guint fullest = 0;

  for (guint i = 0; i < stages->len; i++)
    {
      if (g_array_index (stages, MemoryStage, i).use.total > g_array_index (stages, MemoryStage, fullest).use.total)
        fullest = i;
    }
  for (guint i = 0; i < stages->len; i++)
    {
      const MemoryStage *stage = &g_array_index (stages, MemoryStage, i);
      g_autofree char *margin = memory_format (fabs (stage->use.margin));

      if (stages->len > most_stages && i != 0 && i != fullest && i + 1 != stages->len)
        continue;
      text_table_take (table, g_strdup_printf ("%u of %u", stage->stage, stages->len));
      text_table_take (table, memory_format (stage->use.total));
      text_table_take (table, g_strdup_printf ("%s %s", margin, stage->use.fits ? "to spare" : "missing"));
    }
  text_table_append (table, TABLE_PLAIN, 2, look->width, out);
}

static void
append_memory (GString *out, const Result *result, const Look *look)
{
  const MemoryUse *memory = &result->memory;
  const struct { const char *kind; double bytes; } kinds[] = {
    { "weights", memory->weights }, { "gradients", memory->gradients }, { "optimizer", memory->optimizer },
    { "activations", memory->activations }, { "buffers", memory->buffers },
  };
  g_autoptr (TextTable) table = text_table_new ("<kind|>size|<");
  g_autofree char *total = memory_format (memory->total);
  g_autofree char *capacity = memory_format (memory->capacity);
  g_autofree char *margin = memory_format (fabs (memory->margin)), *line = NULL;

  if (!(memory->total > 0))
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      text_table_add (table, kinds[i].kind);
      text_table_take (table, memory_format (kinds[i].bytes));
      text_table_take (table, text_bar (kinds[i].bytes / MAX (memory->capacity, memory->total), BAR_WIDTH));
    }
  g_string_append_c (out, '\n');
  report_heading (out, "Memory of one GPU at the fullest moment", look);
  text_table_append (table, TABLE_PLAIN, 2, look->width, out);
  line = g_strdup_printf ("%s of %s: %s, %s (%.0f %%) %s%s", total, capacity, memory->fits ? "fits" : "DOES NOT FIT", margin,
                          100 * fabs (memory->margin) / memory->capacity, memory->fits ? "to spare" : "missing",
                          memory->fits ? "" : "; the times hold for a GPU with more memory");
  g_string_append (out, "  ");
  report_text (out, line, 2, look);
  if (memory->note != NULL)
    {
      g_string_append (out, "  ");
      report_text (out, memory->note, 2, look);
    }
  if (result->stages != NULL)
    append_stages (out, result->stages, look);
}

static void
append_checks (GString *out, const Result *result, gboolean verbose, const Look *look)
{
  for (guint i = 0; i < result->n_checks; i++)
    {
      const Check *check = &result->checks[i];

      if (check->ok && !verbose)
        continue;
      const gboolean said = i > 0 && g_strcmp0 (check->detail, result->checks[i - 1].detail) == 0;
      const char *detail = check->detail == NULL || (said && check->ok) ? "" : check->detail;
      g_autofree char *line = g_strdup_printf ("%s %s%s%s", check->ok ? "check passed:" : "CHECK FAILED:", check->name,
                                               detail[0] != '\0' ? ": " : "", detail);
      report_text (out, line, 2, look);
    }
}

static void
append_engine (GString *out, const Result *result, const Look *look)
{
  g_autofree char *why = g_strdup_printf ("%s tier, %s.", result->tier, result->tier_reason);

  report_text (out, why, 2, look);
  g_string_append_printf (out, "%" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT " tasks, %" G_GUINT64_FORMAT
                          " meetings, %" G_GUINT64_FORMAT " messages, %" G_GUINT64_FORMAT " solves, %u steps\n", result->events,
                          result->tasks, result->meetings, result->messages * result->steps, result->solves, result->steps);
}

static void
append_remarks (GString *out, const Result *result, gboolean verbose, const Look *look)
{
  const gsize before = out->len;

  for (gsize i = 0; result->warnings != NULL && result->warnings[i] != NULL; i++)
    {
      g_autofree char *line = g_strconcat ("Warning: ", result->warnings[i], NULL);
      report_text (out, line, 2, look);
    }
  append_checks (out, result, verbose, look);
  if (verbose)
    append_engine (out, result, look);
  if (out->len > before)
    g_string_insert_c (out, (gssize) before, '\n');
}

void
run_table (GString *out, const Result *result, gboolean verbose, const Look *look)
{
  append_headline (out, result, look);
  append_step_time (out, result);
  append_throughput (out, result);
  append_use (out, result);
  append_batch (out, result);
  append_extra (out, result);
  g_string_append_c (out, '\n');
  append_ledger (out, result, look);
  append_findings (out, result, look);
  append_exposed (out, result, look);
  append_what_if (out, result, look);
  append_sensitivity (out, result, look);
  append_path (out, result, look);
  if (result->n_collectives > 0)
    {
      g_string_append_c (out, '\n');
      report_heading (out, "Collectives of one step", look);
      collectives_table (out, result, look);
    }
  append_memory (out, result, look);
  append_remarks (out, result, verbose, look);
  if (result->validated != NULL)
    {
      g_autofree char *line = g_strconcat ("How far off, by the nearest table of measured steps: ", result->validated, ".", NULL);

      g_string_append_c (out, '\n');
      report_text (out, line, 2, look);
    }
}
