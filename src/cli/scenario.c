/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cli.h"
#include "compute/sources.h"
#include "run/unused.h"

static gboolean
check_source (const Scenario *scenario, const char *group, const char *key, const char *source, GError **error)
{
  g_autoptr (GError) wrong = NULL;

  if (source == NULL || *source == '\0' || source_check (source, &wrong))
    return TRUE;
  key_file_error (scenario->file, group, key, error, "%s", wrong->message);
  return FALSE;
}

/* `validate` leaves out sources that the tables need not have; a person means one that they have. */
static gboolean
check_sources (const Scenario *scenario, GError **error)
{
  if (!check_source (scenario, "compute", "without-source", scenario->compute.without, error))
    return FALSE;
  for (guint i = 0; i < scenario->n_axes; i++)
    {
      const SweepAxis *axis = &scenario->axes[i];

      for (guint k = 0; g_str_equal (axis->key, "compute.without-source") && k < axis->n; k++)
        if (!check_source (scenario, "sweep", axis->key, axis->values[k], error))
          return FALSE;
    }
  return TRUE;
}

Scenario *
call_scenario (const Call *call, const char *path, GError **error)
{
  g_autoptr (Scenario) scenario = scenario_load (path, (const char *const *) call->options.sets, error);

  return scenario != NULL && check_sources (scenario, error) ? g_steal_pointer (&scenario) : NULL;
}

void
call_unused (const Call *call, const Scenario *scenario, const GArray *unused)
{
  for (guint i = 0; unused != NULL && i < unused->len; i++)
    {
      const UnusedKey *key = &g_array_index (unused, UnusedKey, i);
      g_autofree char *swept = g_strconcat (key->group, ".", key->key, NULL);
      const gboolean given = key_file_get (scenario->file, key->group, key->key) != NULL;
      g_autofree char *where = given ? key_file_where (scenario->file, key->group, key->key) : key_file_where (scenario->file, "sweep", swept);

      call_remark (call, "%s: [%s] %s changes nothing here: %s", where, key->group, key->key, key->why);
    }
}
