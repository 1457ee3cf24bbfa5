/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/sets.h"

static const double most_points = 1e6;

static void
set_point_free (gpointer data)
{
  SetPoint *point = data;

  g_strfreev (point->keys);
  g_strfreev (point->values);
  g_strfreev (point->sets);
  g_free (point);
}

static GPtrArray *
kept_axes (const Scenario *scenario, const char *const *except)
{
  GPtrArray *axes = g_ptr_array_new ();

  for (guint i = 0; i < scenario->n_axes; i++)
    {
      if (!g_strv_contains (except, scenario->axes[i].key))
        g_ptr_array_add (axes, &scenario->axes[i]);
    }
  return axes;
}

static SetPoint *
set_point_new (const GPtrArray *axes, guint index)
{
  SetPoint *point = g_new0 (SetPoint, 1);

  point->n = axes->len;
  point->keys = g_new0 (char *, axes->len + 1);
  point->values = g_new0 (char *, axes->len + 1);
  point->sets = g_new0 (char *, axes->len + 1);
  for (guint i = axes->len; i-- > 0;)
    {
      const SweepAxis *axis = g_ptr_array_index (axes, i);

      point->keys[i] = g_strdup (axis->key);
      point->values[i] = g_strdup (axis->values[index % axis->n]);
      point->sets[i] = g_strdup_printf ("%s=%s", axis->key, point->values[i]);
      index /= axis->n;
    }
  return point;
}

GPtrArray *
sets_product (const Scenario *scenario, const char *const *except, GError **error)
{
  g_autoptr (GPtrArray) axes = kept_axes (scenario, except);
  GPtrArray *points;
  double n = 1;

  for (guint i = 0; i < axes->len; i++)
    n *= ((const SweepAxis *) g_ptr_array_index (axes, i))->n;
  if (n > most_points)
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "%s: [sweep]: %.3g points; at most %.3g are taken",
                   scenario->path, n, most_points);
      return NULL;
    }
  points = g_ptr_array_new_with_free_func (set_point_free);
  for (guint i = 0; i < (guint) n; i++)
    g_ptr_array_add (points, set_point_new (axes, i));
  return points;
}
