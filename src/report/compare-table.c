/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report-parts.h"
#include "report/table.h"
#include "report/words.h"


static void
append_differences (GString *out, const Comparison *comparison, const Look *look)
{
  g_autoptr (TextTable) table = text_table_new ("<input");

  guint rows = 0;

  report_heading (out, "What differs in the input", look);
  g_string_append_c (out, '\n');
  for (guint i = 0; i < comparison->n; i++)
    text_table_column (table, comparison->results[i]->scenario, FALSE);
  text_table_keys (table, 1);
  for (guint i = 0; i < comparison->n_differences; i++)
    {
      const Difference *difference = &comparison->differences[i];

      if (g_str_has_prefix (difference->key, "sweep."))   /* no step of it is taken here */
        continue;
      rows++;
      text_table_add (table, difference->key);
      for (guint k = 0; k < comparison->n; k++)
        text_table_add (table, difference->values[k] != NULL && difference->values[k][0] != '\0' ? difference->values[k] : "-");
    }
  if (rows > 0)
    text_table_append (table, TABLE_MARKDOWN, 0, look->width, out);
  else
    g_string_append (out, "nothing\n");
}

/* Best first; ties in the order given. */
static guint *
ranked_order (const Comparison *comparison)
{
  guint *order = g_new0 (guint, comparison->n);

  for (guint i = 0; i < comparison->n; i++)
    {
      guint k = i;

      for (; k > 0 && comparison->rank[order[k - 1]] > comparison->rank[i]; k--)
        order[k] = order[k - 1];
      order[k] = i;
    }
  return order;
}

static void
add_result (TextTable *table, const Comparison *comparison, guint i, double best)
{
  const Result *result = comparison->results[i];

  text_table_take (table, g_strdup_printf ("%u", comparison->rank[i]));
  text_table_add (table, result->scenario);
  text_table_take (table, g_strdup_printf ("%" G_GUINT64_FORMAT, result->gpus));
  text_table_take (table, g_strdup_printf ("%" G_GUINT64_FORMAT, result->global_batch));
  text_table_take (table, text_ms (result->step_time, best));
  text_table_take (table, text_number (result->throughput));
  text_table_take (table, text_percent (result->throughput / comparison->results[0]->throughput, 1));
  text_table_take (table, text_percent (result->gpu_idle_share, 1));
  text_table_take (table, words_loss (result));
  text_table_take (table, text_number (result->cost_per_million_samples));
  text_table_add (table, result->memory.fits ? "" : "NO");
}

void
compare_table (GString *out, const Scenario *const *scenarios, const Comparison *comparison, const Look *look)
{
  g_autofree guint *order = ranked_order (comparison);
  g_autoptr (TextTable) table = text_table_new (">rank|<scenario|>GPUs|>batch|>step ms|>samples/s|>of the first"
                                                "|>idle|<largest loss|>USD/M samples|<fits");

  (void) scenarios;
  if (comparison->n == 0)
    return;
  text_table_keys (table, 2);   /* rank and scenario */
  append_differences (out, comparison, look);
  g_string_append_c (out, '\n');
  report_heading (out, "Result, the fastest first", look);
  g_string_append_c (out, '\n');
  for (guint i = 0; i < comparison->n; i++)
    add_result (table, comparison, order[i], comparison->results[order[0]]->step_time);
  text_table_append (table, TABLE_MARKDOWN, 0, look->width, out);
  g_string_append_c (out, '\n');
  for (guint i = 0; i < comparison->n; i++)
    {
      const char *reason = comparison->reasons[order[i]];
      g_autofree char *line = g_strdup_printf ("%u. %s: %s", comparison->rank[order[i]], comparison->results[order[i]]->scenario,
                                               reason != NULL ? reason : "");
      report_text (out, line, 3, look);
    }
  for (guint i = 0; i < comparison->n; i++)
    {
      char **warnings = comparison->results[i]->warnings;

      for (gsize k = 0; warnings != NULL && warnings[k] != NULL; k++)
        {
          g_autofree char *line = g_strdup_printf ("Warning: %s: %s", comparison->results[i]->scenario, warnings[k]);
          report_text (out, line, 2, look);
        }
    }
}
