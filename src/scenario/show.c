/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "scenario/groups.h"

/* A key that lost against its rival on the command line is not in force. */
static gboolean
beaten (const Scenario *scenario, const KeyGroup *group, const Key *key)
{
  if (group->keys != training_keys)
    return FALSE;
  return (g_str_equal (key->name, "batch-per-gpu") && scenario->training.batch_per_gpu == 0) ||
         (g_str_equal (key->name, "global-batch") && scenario->training.global_batch == 0);
}

static void
group_values (const Scenario *scenario, const KeyGroup *group, ScenarioValue value, gpointer user)
{
  for (const Key *key = group->keys; key->name != NULL; key++)
    {
      g_autofree char *where = key_file_where (scenario->file, group->name, key->name);
      const gboolean given = key_file_get (scenario->file, group->name, key->name) != NULL;
      g_autofree char *text = NULL;

      if ((given || key->default_text != NULL) && !beaten (scenario, group, key))
        text = key_format (key, group_struct ((Scenario *) scenario, group));
      value (user, group->name, key->name, text != NULL ? text : "", where);
    }
}

static void
head_values (const Scenario *scenario, ScenarioValue value, gpointer user)
{
  g_autofree char *title_where = key_file_where (scenario->file, "scenario", "title");
  g_autofree char *question_where = key_file_where (scenario->file, "scenario", "question");

  value (user, "scenario", "title", scenario->title ? scenario->title : "", title_where);
  value (user, "scenario", "question", scenario->question ? scenario->question : "",
         scenario->question && g_str_equal (question_where, "default") ? "comment" : question_where);
}

static void
list_values (const Scenario *scenario, const char *group, ScenarioValue value, gpointer user)
{
  g_auto (GStrv) keys = key_file_keys (scenario->file, group);

  for (gsize i = 0; keys != NULL && keys[i] != NULL; i++)
    {
      g_autofree char *where = key_file_where (scenario->file, group, keys[i]);

      value (user, group, keys[i], key_file_get (scenario->file, group, keys[i]), where);
    }
}

void
scenario_values (const Scenario *scenario, ScenarioValue value, gpointer user)
{
  head_values (scenario, value, user);
  for (const KeyGroup *group = scenario_groups (); group->name != NULL; group++)
    if (group_fills (group))
      group_values (scenario, group, value, user);
    else if (group->keys == NULL)
      list_values (scenario, group->name, value, user);
}

void
key_file_locate_error (const KeyFile *file, GError **error)
{
  const char *message, *key, *end;
  g_autofree char *group = NULL, *name = NULL, *where = NULL, *located = NULL;

  if (error == NULL || *error == NULL || (*error)->message[0] != '[')
    return;
  message = (*error)->message;
  key = strstr (message, "] ");
  end = key != NULL ? strstr (key, ": ") : NULL;
  if (end == NULL)
    return;
  group = g_strndup (message + 1, (gsize) (key - message - 1));
  name = g_strndup (key + 2, (gsize) (end - key - 2));
  where = key_file_where (file, group, name);
  if (g_str_equal (where, "default"))
    {
      g_free (where);
      where = g_strdup (key_file_name (file));
    }
  located = g_strconcat (where, ": ", message, NULL);
  g_free ((*error)->message);
  (*error)->message = g_steal_pointer (&located);
}

void
scenario_locate_error (const Scenario *scenario, GError **error)
{
  key_file_locate_error (scenario->file, error);
}
