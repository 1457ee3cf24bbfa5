/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/rules.h"

#include <math.h>
#include <string.h>

typedef struct { char *name, *value; } Setting;
typedef struct
{
  char    **conditions;   /* NULL-terminated */
  Setting  *settings;
  guint     n_settings;
  const char *origin;
} Rule;

struct Rules
{
  CsvTable *table;
  GArray   *rules;        /* Rule */
};

const char *
csv_cell (const CsvTable *table, guint row, const char *column)
{
  const int at = csv_column (table, column);

  return at < 0 ? "" : csv_text (table, row, (guint) at);
}

gboolean
pattern_fits (const char *patterns, const char *text)
{
  g_autofree char *folded = g_ascii_strdown (text, -1), *wanted = g_ascii_strdown (patterns, -1);
  g_auto (GStrv) list = g_strsplit (wanted, "|", -1);

  for (char **p = list; *p != NULL; p++)
    {
      if (g_pattern_match_simple (g_strstrip (*p), folded))
        return TRUE;
    }
  return *patterns == '\0' && *text == '\0';
}

/* Where the operator of "column=value" stands; NULL: nowhere. */
static const char *
operator_of (const char *condition)
{
  return strpbrk (condition, "=!<>");
}

static gboolean
one_met (const char *condition, const CsvTable *table, guint row)
{
  const char *op = operator_of (condition);
  g_autofree char *column = g_strstrip (g_strndup (condition, (gsize) (op - condition)));
  const char *cell = csv_cell (table, row, column);
  const char *value = op + (op[0] == '!' ? 2 : 1);

  while (g_ascii_isspace (*value))
    value++;
  switch (*op)
    {
    case '=':
      return pattern_fits (value, cell);
    case '!':
      return !pattern_fits (value, cell);
    case '<':
      return *cell != '\0' && g_ascii_strtod (cell, NULL) < g_ascii_strtod (value, NULL);
    default:
      return *cell != '\0' && g_ascii_strtod (cell, NULL) > g_ascii_strtod (value, NULL);
    }
}

static gboolean
one_check (const char *condition, GError **error)
{
  const char *op = operator_of (condition);

  if (op != NULL && op != condition && (*op != '!' || op[1] == '='))
    return TRUE;
  g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "'%s' is no condition; give column=value", condition);
  return FALSE;
}

/* The parts of "a; b; c", trimmed, without empty ones. */
static char **
split_list (const char *text)
{
  char **parts = g_strsplit (text, ";", -1);
  guint n = 0;

  for (guint i = 0; parts[i] != NULL; i++)
    {
      if (*g_strstrip (parts[i]) != '\0')
        parts[n++] = parts[i];
      else
        g_free (parts[i]);
    }
  parts[n] = NULL;
  return parts;
}

gboolean
condition_check (const char *text, GError **error)
{
  g_auto (GStrv) list = split_list (text);

  for (char **p = list; *p != NULL; p++)
    {
      if (!one_check (*p, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
all_met (char **conditions, const CsvTable *table, guint row)
{
  for (char **p = conditions; *p != NULL; p++)
    {
      if (!one_met (*p, table, row))
        return FALSE;
    }
  return TRUE;
}

gboolean
condition_met (const char *text, const CsvTable *table, guint row)
{
  g_auto (GStrv) list = split_list (text);

  return all_met (list, table, row);
}

static void
rule_clear (gpointer data)
{
  Rule *rule = data;

  g_strfreev (rule->conditions);
  for (guint i = 0; i < rule->n_settings; i++)
    {
      g_free (rule->settings[i].name);
      g_free (rule->settings[i].value);
    }
  g_free (rule->settings);
}

static gboolean
read_settings (Rule *rule, const char *text, GError **error)
{
  g_auto (GStrv) list = split_list (text);

  rule->settings = g_new0 (Setting, g_strv_length (list));
  for (char **p = list; *p != NULL; p++)
    {
      const char *equals = strchr (*p, '=');
      Setting *setting = &rule->settings[rule->n_settings];

      if (equals == NULL || equals == *p)
        {
          g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "set: '%s' sets nothing; give name=value", *p);
          return FALSE;
        }
      setting->name = g_strstrip (g_strndup (*p, (gsize) (equals - *p)));
      setting->value = g_strstrip (g_strdup (equals + 1));
      rule->n_settings++;
    }
  return TRUE;
}

static gboolean
read_rule (Rules *rules, guint row, const guint column[3], GError **error)
{
  const char *where = csv_text (rules->table, row, column[0]);
  Rule rule = { .conditions = split_list (where), .origin = csv_text (rules->table, row, column[2]) };

  if (condition_check (where, error) && read_settings (&rule, csv_text (rules->table, row, column[1]), error))
    {
      g_array_append_val (rules->rules, rule);
      return TRUE;
    }
  g_prefix_error (error, "%s:%u: ", csv_name (rules->table), csv_line (rules->table, row));
  rule_clear (&rule);
  return FALSE;
}

Rules *
rules_load (const char *path, GError **error)
{
  static const char *const names[] = { "where", "set", "origin" };
  g_autoptr (Rules) rules = g_new0 (Rules, 1);
  guint column[3];

  rules->rules = g_array_new (FALSE, FALSE, sizeof (Rule));
  g_array_set_clear_func (rules->rules, rule_clear);
  rules->table = csv_load (path, error);
  if (rules->table == NULL)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      if (!csv_require (rules->table, names[i], &column[i], error))
        return NULL;
    }
  for (guint row = 0; row < csv_rows (rules->table); row++)
    {
      if (!read_rule (rules, row, column, error))
        return NULL;
    }
  return g_steal_pointer (&rules);
}

void
rules_free (Rules *rules)
{
  if (rules == NULL)
    return;
  g_array_unref (rules->rules);
  csv_free (rules->table);
  g_free (rules);
}

void
rules_apply (const Rules *rules, const CsvTable *table, guint row, RuleValue value, gpointer user)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < rules->rules->len; i++)
    {
      const Rule *rule = &g_array_index (rules->rules, Rule, i);

      if (!all_met (rule->conditions, table, row))
        continue;
      for (guint k = 0; k < rule->n_settings; k++)
        {
          if (g_hash_table_add (seen, rule->settings[k].name))
            value (user, rule->settings[k].name, rule->settings[k].value, rule->origin);
        }
    }
}
