/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/unused.h"
#include "run/unused-rules.h"
#include <string.h>

/* Is the word one of "a b c"? */
static gboolean
among (const char *words, const char *word)
{
  const gsize length = strlen (word);

  for (const char *at = strstr (words, word); at != NULL; at = strstr (at + 1, word))
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
      return TRUE;
  return FALSE;
}

static const char *
reason (const UnusedRule *rule, const Point *point)
{
  g_auto (GStrv) kinds = rule->kinds != NULL ? g_strsplit (rule->kinds, " ", -1) : NULL;
  g_autofree char *all = kinds != NULL ? g_strjoinv (", ", kinds) : NULL, *text = NULL;

  if (kinds == NULL)
    return rule->why;
  text = g_strdup_printf ("kind = %s reads it, %s does not", all, point->strategy->name);
  return g_intern_string (text);
}

gboolean
unused_several_gpus (const Point *point)
{
  return point_gpus (point) > 1;
}

gboolean
unused_several_nodes (const Point *point)
{
  return cluster_nodes (point->cluster) > 1;
}

gboolean
unused_not_megatron (const Point *point)
{
  return !g_str_equal (point->strategy->name, "megatron");
}

/* The first rule that the point breaks. */
static const UnusedRule *
broken_rule (const UnusedRule *rules, const Point *point, const char *group, const char *key)
{
  for (const UnusedRule *rule = rules; rule->group != NULL; rule++)
    if (g_str_equal (rule->group, group) && among (rule->keys, key)
        && ((rule->kinds != NULL && !among (rule->kinds, point->strategy->name)) || (rule->works != NULL && !rule->works (point))))
      return rule;
  return NULL;
}

/* In the scenario's own file or on the command line: what a file that it includes
 * gives is there for other scenarios too. */
static gboolean
given_here (const KeyFile *file, const char *group, const char *key)
{
  g_autofree char *where = key_file_where (file, group, key), *own = g_strconcat (key_file_name (file), ":", NULL);

  return key_file_get (file, group, key) != NULL && (g_str_has_prefix (where, own) || g_str_equal (where, "--set"));
}

GArray *
unused_keys (const Point *point)
{
  GArray *unused = g_array_new (FALSE, FALSE, sizeof (UnusedKey));
  const KeyFile *file = point->scenario->file;

  for (const KeyGroup *group = scenario_groups (); group->name != NULL; group++)
    for (const Key *key = group->keys; key != NULL && key->name != NULL; key++)
      {
        const UnusedRule *rule = NULL;
        UnusedKey found;

        if (given_here (file, group->name, key->name)
            && (rule = broken_rule (unused_of_strategy, point, group->name, key->name)) == NULL)
          rule = broken_rule (unused_of_others, point, group->name, key->name);
        if (rule == NULL)
          continue;
        found = (UnusedKey) { group->name, key->name, reason (rule, point) };
        g_array_append_val (unused, found);
      }
  return unused;
}

/* NULL: not among them. */
static const UnusedKey *
find_key (const GArray *keys, const char *group, const char *key)
{
  for (guint i = 0; i < keys->len; i++)
    {
      const UnusedKey *k = &g_array_index (keys, UnusedKey, i);

      if (g_str_equal (k->group, group) && g_str_equal (k->key, key))
        return k;
    }
  return NULL;
}

gboolean
unused_has (const GArray *keys, const char *group, const char *key)
{
  return find_key (keys, group, key) != NULL;
}

void
unused_meet (GArray *keys, const GArray *others)
{
  for (guint i = keys->len; i-- > 0;)
    {
      UnusedKey *k = &g_array_index (keys, UnusedKey, i);
      const UnusedKey *other = find_key (others, k->group, k->key);

      if (other == NULL)
        g_array_remove_index (keys, i);
      else
        *k = *other;
    }
}
