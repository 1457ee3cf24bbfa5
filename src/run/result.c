/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/result.h"

static void
free_named (guint n, NamedTime *times)
{
  for (guint i = 0; i < n; i++)
    g_free (times[i].name);
  g_free (times);
}

static void
free_collectives (Result *r)
{
  for (guint i = 0; i < r->n_collectives; i++)
    {
      g_free (r->collectives[i].label);
      g_free (r->collectives[i].op);
      g_free (r->collectives[i].algorithm);
      g_free (r->collectives[i].protocol);
      g_free (r->collectives[i].link);
    }
  g_free (r->collectives);
}

static void
free_lanes (Result *r)
{
  for (guint i = 0; i < r->n_lanes; i++)
    {
      for (guint k = 0; k < r->lanes[i].n_spans; k++)
        g_free (r->lanes[i].spans[k].label);
      g_free (r->lanes[i].spans);
      g_free (r->lanes[i].name);
    }
  g_free (r->lanes);
}

void
result_free (Result *r)
{
  if (r == NULL)
    return;
  g_free (r->scenario);
  g_free (r->question);
  g_free (r->strategy);
  g_free (r->workload);
  g_free (r->machine);
  g_free (r->gpu);
  g_free (r->precision);
  g_free (r->efficiency_baseline);
  g_free (r->peak_name);
  free_named (r->n_exposed, r->exposed);
  free_named (r->n_path, r->path);
  free_named (r->n_what_if, r->what_if);
  free_named (r->n_sensitivity, r->sensitivity);
  g_free (r->validated);
  g_clear_pointer (&r->unused, g_array_unref);
  g_clear_pointer (&r->stages, g_array_unref);
  free_collectives (r);
  free_lanes (r);
  for (guint i = 0; i < r->n_checks; i++)
    {
      g_free (r->checks[i].name);
      g_free (r->checks[i].detail);
    }
  g_free (r->checks);
  g_strfreev (r->warnings);
  g_strfreev (r->findings);
  g_free (r->tier);
  g_free (r->tier_reason);
  g_free (r);
}
