/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/key-file.h"
#include "base/names.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define QUANTITY_MAX 1e18   /* where a table gives no range */
#define COUNT_MAX    1e9

#define FIELD(out, key, type) ((type *) (void *) ((char *) (out) + (key)->offset))
#define CONST_FIELD(from, key, type) ((const type *) (const void *) ((const char *) (from) + (key)->offset))

const Key *
key_find (const Key *keys, const char *name)
{
  for (const Key *k = keys; k != NULL && k->name != NULL; k++)
    if (g_str_equal (k->name, name))
      return k;
  return NULL;
}

static const KeyGroup *
group_find (const KeyGroup *groups, const char *name)
{
  for (const KeyGroup *g = groups; g->name != NULL; g++)
    if (g_str_equal (g->name, name))
      return g;
  return NULL;
}

static char *
unknown_group (const KeyGroup *groups, const char *name)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (const KeyGroup *g = groups; g->name != NULL; g++)
    g_ptr_array_add (names, (gpointer) g->name);
  g_ptr_array_add (names, NULL);
  const char *near = names_nearest (name, (const char *const *) names->pdata);
  g_autofree char *list = names_join ((const char *const *) names->pdata);
  if (near != NULL)
    return g_strdup_printf ("unknown group; did you mean '%s'?", near);
  return g_strdup_printf ("unknown group; there are: %s", list);
}

static char *
unknown_key (const KeyGroup *groups, const KeyGroup *group, const char *name)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (const KeyGroup *g = groups; g->name != NULL; g++)
    if (g != group && key_find (g->keys, name) != NULL)
      return g_strdup_printf ("unknown key; '%s' belongs in [%s]", name, g->name);
  for (const Key *k = group->keys; k->name != NULL; k++)
    g_ptr_array_add (names, (gpointer) k->name);
  g_ptr_array_add (names, NULL);
  const char *near = names_nearest (name, (const char *const *) names->pdata);
  g_autofree char *list = names_join ((const char *const *) names->pdata);
  if (near != NULL)
    return g_strdup_printf ("unknown key; did you mean '%s'?", near);
  return g_strdup_printf ("unknown key; there are: %s", list);
}

gboolean
key_file_check (const KeyFile *file, const KeyGroup *groups, GError **error)
{
  for (guint i = 0; i < file->entries->len; i++)
    {
      const KeyEntry *e = file->entries->pdata[i];
      const KeyGroup *group = group_find (groups, e->group);
      g_autofree char *problem = NULL;

      if (group == NULL)
        problem = unknown_group (groups, e->group);
      else if (e->key != NULL && group->keys != NULL && key_find (group->keys, e->key) == NULL)
        problem = unknown_key (groups, group, e->key);
      if (problem == NULL)
        continue;
      key_file_error (file, e->group, group == NULL ? NULL : e->key, error, "%s", problem);
      if (error != NULL)
        (*error)->code = KEYS_ERROR_UNKNOWN;
      return FALSE;
    }
  return TRUE;
}

static gboolean
fail (char **problem, char *message)
{
  *problem = message;
  return FALSE;
}

static char *
show (const Key *key, double value)
{
  if (key->type == KEY_QUANTITY)
    return quantity_format_exact (value, key->unit);
  return quantity_format_exact (value, UNIT_NONE);
}

static gboolean
in_range (const Key *key, const char *text, double value, char **problem)
{
  const gboolean given = key->min < 0 || key->min > 0 || key->max < 0 || key->max > 0;
  const double most = given ? key->max : key->type == KEY_COUNT ? COUNT_MAX : QUANTITY_MAX;
  const double least = given ? key->min : key->type == KEY_COUNT ? 1.0 : 0.0;
  const gboolean open = !given && key->type != KEY_COUNT;

  if ((open ? value > least : value >= least) && value <= most)
    return TRUE;
  g_autofree char *quoted = names_quote (text);
  g_autofree char *low = show (key, least);
  g_autofree char *high = show (key, most);
  if (open && value <= least)
    return fail (problem, g_strdup_printf ("%s is out of range; it must be more than 0", quoted));
  if (isinf (most) || isinf (least))
    return fail (problem, g_strdup_printf ("%s is out of range; it must be at %s %s", quoted,
                                           isinf (most) ? "least" : "most", isinf (most) ? low : high));
  if (open)
    return fail (problem, g_strdup_printf ("%s is out of range; it must be at most %s", quoted, high));
  return fail (problem, g_strdup_printf ("%s is out of range; it must be from %s to %s", quoted, low, high));
}

static gboolean
read_choice (const Key *key, const char *text, int *out, char **problem)
{
  for (int i = 0; key->choices[i] != NULL; i++)
    if (g_str_equal (key->choices[i], text))
      {
        *out = i;
        return TRUE;
      }
  const char *near = names_nearest (text, key->choices);
  g_autofree char *quoted = names_quote (text);
  g_autofree char *list = names_join (key->choices);
  if (near != NULL)
    return fail (problem, g_strdup_printf ("%s is no choice; did you mean '%s'? There are: %s", quoted, near, list));
  return fail (problem, g_strdup_printf ("%s is no choice; there are: %s", quoted, list));
}

static gboolean
read_boolean (const char *text, gboolean *out, char **problem)
{
  *out = g_str_equal (text, "true") || g_str_equal (text, "yes");
  if (*out || g_str_equal (text, "false") || g_str_equal (text, "no"))
    return TRUE;
  g_autofree char *quoted = names_quote (text);
  return fail (problem, g_strdup_printf ("%s is neither 'true' nor 'false'", quoted));
}

static gboolean
read_count (const Key *key, const char *text, guint64 *out, char **problem)
{
  g_autofree char *quoted = names_quote (text);
  const char *p = text + (*text == '-' || *text == '+');

  if (*p == '\0' || p[strspn (p, "0123456789")] != '\0')
    return fail (problem, g_strdup_printf ("%s is not a whole number; write digits only, as in '4'", quoted));
  if (!in_range (key, text, g_ascii_strtod (text, NULL), problem))
    return FALSE;
  *out = g_ascii_strtoull (p, NULL, 10);
  return TRUE;
}

static gboolean
read_number (const Key *key, const char *text, double *out, char **problem)
{
  g_autoptr (GError) error = NULL;

  if (!quantity_parse (text, key->type == KEY_QUANTITY ? key->unit : UNIT_NONE, out, &error))
    return fail (problem, g_strdup (error->message));
  return in_range (key, text, *out, problem);
}

static gboolean
read_value (const Key *key, const char *text, gpointer out, char **problem)
{
  if (*text == '\0')
    return fail (problem, g_strdup ("no value; give one, or leave the key out"));
  switch (key->type)
    {
    case KEY_STRING:
      *FIELD (out, key, char *) = g_strdup (text);
      return TRUE;
    case KEY_CHOICE:
      return read_choice (key, text, FIELD (out, key, int), problem);
    case KEY_BOOLEAN:
      return read_boolean (text, FIELD (out, key, gboolean), problem);
    case KEY_COUNT:
      return read_count (key, text, FIELD (out, key, guint64), problem);
    case KEY_NUMBER:
    case KEY_QUANTITY:
      return read_number (key, text, FIELD (out, key, double), problem);
    default:
      g_assert_not_reached ();
    }
}

gboolean
key_file_read (const KeyFile *file, const KeyGroup *group, gpointer out, GError **error)
{
  for (const Key *k = group->keys; k != NULL && k->name != NULL; k++)
    {
      const char *text = key_file_get (file, group->name, k->name);
      g_autofree char *problem = NULL;
      int code = KEYS_ERROR_VALUE;

      if (k->type == KEY_NUMBER || k->type == KEY_QUANTITY)
        *FIELD (out, k, double) = NAN;
      if (text == NULL)
        text = k->default_text;
      if (text == NULL && k->required)
        {
          problem = g_strdup_printf ("missing; add '%s = ...' to [%s]: %s", k->name, group->name, k->help);
          code = KEYS_ERROR_MISSING;
        }
      if (problem == NULL && (text == NULL || read_value (k, text, out, &problem)))
        continue;
      key_file_error (file, group->name, k->name, error, "%s", problem);
      if (error != NULL)
        (*error)->code = code;
      keys_clear (group->keys, out);
      return FALSE;
    }
  return TRUE;
}

void
keys_clear (const Key *keys, gpointer out)
{
  for (const Key *k = keys; k != NULL && k->name != NULL; k++)
    if (k->type == KEY_STRING)
      g_clear_pointer (FIELD (out, k, char *), g_free);
}

char *
key_format (const Key *key, gconstpointer from)
{
  switch (key->type)
    {
    case KEY_STRING:
      return g_strdup (*CONST_FIELD (from, key, char *) == NULL ? "" : *CONST_FIELD (from, key, char *));
    case KEY_CHOICE:
      return g_strdup (key->choices[*CONST_FIELD (from, key, int)]);
    case KEY_BOOLEAN:
      return g_strdup (*CONST_FIELD (from, key, gboolean) ? "true" : "false");
    case KEY_COUNT:
      return g_strdup_printf ("%" G_GUINT64_FORMAT, *CONST_FIELD (from, key, guint64));
    case KEY_NUMBER:
      return isnan (*CONST_FIELD (from, key, double)) ? g_strdup ("") : show (key, *CONST_FIELD (from, key, double));
    case KEY_QUANTITY:
      return isnan (*CONST_FIELD (from, key, double)) ? g_strdup ("") : show (key, *CONST_FIELD (from, key, double));
    default:
      g_assert_not_reached ();
    }
}

char *
keys_fingerprint (const Key *keys, gconstpointer from)
{
  GString *out = g_string_new (NULL);

  for (const Key *k = keys; k != NULL && k->name != NULL; k++)
    {
      const char *text = k->type == KEY_STRING ? *CONST_FIELD (from, k, char *) : NULL;
      guint64 bits = 0;

      if (k->type == KEY_STRING)
        bits = text == NULL ? G_MAXUINT64 : strlen (text);   /* the length first: no text can look like two */
      else if (k->type == KEY_CHOICE || k->type == KEY_BOOLEAN)
        bits = (guint64) *CONST_FIELD (from, k, int);
      else
        memcpy (&bits, CONST_FIELD (from, k, guint64), sizeof bits);   /* a count or a double */
      g_string_append_printf (out, "%" G_GINT64_MODIFIER "x ", bits);
      g_string_append (out, text != NULL ? text : "");
    }
  return g_string_free (out, FALSE);
}
