/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/names.h"
#include "scenario/groups.h"
#include "scenario/values.h"

/* Of one [measured] point; larger jobs have not been built. */
#define MAX_NODES    1000000u
#define MAX_PER_NODE 1024u

static void
lists_clear (gpointer data)
{
  Lists *lists = data;

  for (guint i = 0; i < lists->n_axes; i++)
    {
      g_free (lists->axes[i].key);
      g_strfreev (lists->axes[i].values);
    }
  g_free (lists->axes);
  g_free (lists->measured);
}

void
lists_unref (Lists *lists)
{
  g_atomic_rc_box_release_full (lists, lists_clear);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Lists, lists_unref)

/* "4x8": nodes x GPUs per node. */
static gboolean
read_shape (const char *text, MeasuredPoint *point)
{
  g_auto (GStrv) parts = g_strsplit (text, "x", 3);

  return g_strv_length (parts) == 2 &&
         g_ascii_string_to_unsigned (g_strstrip (parts[0]), 10, 1, MAX_NODES, &point->nodes, NULL) &&
         g_ascii_string_to_unsigned (g_strstrip (parts[1]), 10, 1, MAX_PER_NODE, &point->gpus_per_node, NULL);
}

/* A step, or samples/s. */
static const double least_measured = 1e-9, most_measured = 1e12;

static gboolean
read_point (const KeyFile *file, const char *key, MeasuredPoint *point, GError **error)
{
  const char *text = key_file_get (file, "measured", key);
  const gboolean rate = strchr (text, '/') != NULL;
  double *value = rate ? &point->throughput : &point->step_time;
  GError *wrong = NULL;

  point->step_time = point->throughput = NAN;
  if (!read_shape (key, point))
    key_file_error (file, "measured", key, error,
                    "not the shape of a job; write nodes x GPUs per node, as in 4x8 = 0.167 s");
  else if (!quantity_parse (text, rate ? UNIT_SAMPLE_RATE : UNIT_TIME, value, &wrong))
    {
      key_file_error (file, "measured", key, error, "%s; give the time of a step (0.167 s) or a throughput (5000 samples/s)",
                      wrong->message);
      g_error_free (wrong);
    }
  else if (!(*value > 0))
    key_file_error (file, "measured", key, error, "%s is not above 0", text);
  else if (!(*value >= least_measured && *value <= most_measured))
    key_file_error (file, "measured", key, error, "%s is nothing that can be measured; give %s", text,
                    rate ? "1e-09 to 1e+12 samples/s" : "1 ns to 1e+12 s");
  else
    return TRUE;
  return FALSE;
}

static gboolean
read_measured (const KeyFile *file, Lists *lists, GError **error)
{
  g_auto (GStrv) keys = key_file_keys (file, "measured");
  const guint n = keys != NULL ? g_strv_length (keys) : 0;

  if (n > SCENARIO_MAX_MEASURED)
    {
      key_file_error (file, "measured", keys[SCENARIO_MAX_MEASURED], error,
                      "more than %u measured points", SCENARIO_MAX_MEASURED);
      return FALSE;
    }
  lists->measured = g_new0 (MeasuredPoint, n);
  lists->n_measured = n;
  for (guint i = 0; i < n; i++)
    if (!read_point (file, keys[i], &lists->measured[i], error))
      return FALSE;
  return TRUE;
}

/* Names of all keys that can be swept, "group.key"; the strings owned. */
static char **
sweepable_names (void)
{
  GPtrArray *names = g_ptr_array_new ();

  for (const KeyGroup *group = scenario_groups (); group->name != NULL; group++)
    if (group_fills (group))
      for (const Key *key = group->keys; key->name != NULL; key++)
        g_ptr_array_add (names, g_strconcat (group->name, ".", key->name, NULL));
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (names, FALSE);
}

static gboolean
sweepable (const char *name)
{
  const char *dot = strchr (name, '.');
  g_autofree char *group_name = NULL;
  const KeyGroup *group;

  if (dot == NULL)
    return FALSE;
  group_name = g_strndup (name, (gsize) (dot - name));
  group = scenario_group (group_name);
  return group != NULL && group_fills (group) && key_find (group->keys, dot + 1) != NULL;
}

static gboolean
read_axis (const KeyFile *file, const char *key, SweepAxis *axis, GError **error)
{
  GError *wrong = NULL;

  if (!sweepable (key))
    {
      g_auto (GStrv) names = sweepable_names ();
      const char *near = names_nearest (key, (const char *const *) names);

      key_file_error (file, "sweep", key, error, "no key that can be swept; %s%s%s",
                      near ? "did you mean '" : "name it with its group, as in cluster.nodes",
                      near ? near : "", near ? "'?" : "");
      return FALSE;
    }
  axis->key = g_strdup (key);
  axis->values = values_expand (key_file_get (file, "sweep", key), SCENARIO_MAX_VALUES, &axis->n, &wrong);
  if (axis->values == NULL)
    {
      key_file_error (file, "sweep", key, error, "%s", wrong->message);
      g_error_free (wrong);
    }
  return axis->values != NULL;
}

static gboolean
read_sweep (const KeyFile *file, Lists *lists, GError **error)
{
  g_auto (GStrv) keys = key_file_keys (file, "sweep");
  const guint n = keys != NULL ? g_strv_length (keys) : 0;

  if (n > SCENARIO_MAX_AXES)
    {
      key_file_error (file, "sweep", keys[SCENARIO_MAX_AXES], error, "more than %u keys to sweep", SCENARIO_MAX_AXES);
      return FALSE;
    }
  lists->axes = g_new0 (SweepAxis, n);
  lists->n_axes = n;
  for (guint i = 0; i < n; i++)
    if (!read_axis (file, keys[i], &lists->axes[i], error))
      return FALSE;
  return TRUE;
}

Lists *
lists_read (const KeyFile *file, GError **error)
{
  g_autoptr (Lists) lists = g_atomic_rc_box_new0 (Lists);

  if (!read_measured (file, lists, error) || !read_sweep (file, lists, error))
    return NULL;
  return g_steal_pointer (&lists);
}
