/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/order.h"

static char *
gain_text (const Result *r, const Result *best)
{
  g_autofree char *now = NULL, *then = NULL;

  if (!(best->step_time < r->step_time * (1 - 1e-6)))
    return g_strdup ("the step would be no shorter");
  now = quantity_format (r->step_time, UNIT_TIME);
  then = quantity_format (best->step_time, UNIT_TIME);
  return g_strdup_printf ("the step would take %s instead of %s", then, now);
}

gboolean
order_remark (Result *r, const Scenario *scenario, const Cluster *cluster, Shelf *parts, GError **error)
{
  static const char *const sets[] = { "cluster.rank-order=by-leaf", NULL };
  const RunOptions options = { .parts = parts };
  guint64 made, needed;

  if (!cluster_crossings (cluster, &made, &needed))
    return TRUE;

  g_autoptr (Scenario) ordered = scenario_with (scenario, sets, error);
  g_autoptr (Result) best = ordered != NULL ? run_scenario (ordered, &options, error) : NULL;
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autofree char *gain = best != NULL ? gain_text (r, best) : NULL;
  const char *word = cluster_leaf_word (cluster);

  if (best == NULL)
    return FALSE;
  g_autofree char *text = g_strdup_printf ("the nodes in the order of their ranks go from %s to %s %" G_GUINT64_FORMAT " times, where %" G_GUINT64_FORMAT
                                           " would do; with [cluster] rank-order = by-leaf %s", word, word, made, needed, gain);

  if (r->warnings != NULL)
    g_strv_builder_addv (builder, (const char **) r->warnings);
  g_strv_builder_add (builder, text);
  g_strfreev (r->warnings);
  r->warnings = g_strv_builder_end (builder);
  return TRUE;
}
