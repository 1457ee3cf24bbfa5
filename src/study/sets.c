/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/sets.h"
#include <string.h>

static const double most_points = 1e6;

void
set_point_free (SetPoint *point)
{
  if (point == NULL)
    return;
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

guint
sets_count (const Scenario *scenario, const char *const *except, GError **error)
{
  double n = 1;

  for (guint i = 0; i < scenario->n_axes; i++)
    if (!g_strv_contains (except, scenario->axes[i].key))
      n *= scenario->axes[i].n;
  if (n <= most_points)
    return (guint) n;
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "%s: [sweep]: %.3g points; at most %.3g are taken",
               scenario->path, n, most_points);
  return 0;
}

SetPoint *
sets_at (const Scenario *scenario, const char *const *except, guint index)
{
  g_autoptr (GPtrArray) axes = kept_axes (scenario, except);

  return set_point_new (axes, index);
}

GPtrArray *
sets_product (const Scenario *scenario, const char *const *except, GError **error)
{
  g_autoptr (GPtrArray) axes = kept_axes (scenario, except);
  const guint n = sets_count (scenario, except, error);
  GPtrArray *points;

  if (n == 0)
    return NULL;
  points = g_ptr_array_new_with_free_func ((GDestroyNotify) set_point_free);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (points, set_point_new (axes, i));
  return points;
}

/* "--set: [group] key: ..." of a swept key: the line of [sweep] that gave the value;
 * NULL: no such key. */
static char *
relocate (const Scenario *scenario, const SetPoint *point, const char *message)
{
  static const char set[] = "--set: [";

  for (guint i = 0; g_str_has_prefix (message, set) && i < point->n; i++)
    {
      const char *key = point->keys[i], *dot = strchr (key, '.');
      g_autofree char *group = g_strndup (key, (gsize) (dot - key));
      g_autofree char *start = g_strdup_printf ("%s%s] %s: ", set, group, dot + 1);
      g_autofree char *where = NULL;

      if (!g_str_has_prefix (message, start))
        continue;
      where = key_file_where (scenario->file, "sweep", key);
      return g_strconcat (where, message + strlen ("--set"), NULL);
    }
  return NULL;
}

void
set_point_locate_error (const Scenario *scenario, const SetPoint *point, GError **error)
{
  g_autofree char *at = g_strjoinv (", ", point->sets), *located = NULL;
  char *message;

  if (error == NULL || *error == NULL || point->n == 0)
    return;
  located = relocate (scenario, point, (*error)->message);
  message = g_strdup_printf ("%s (at %s)", located != NULL ? located : (*error)->message, at);
  g_free ((*error)->message);
  (*error)->message = message;
}
