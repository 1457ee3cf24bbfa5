/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/key-file.h"
#include "base/file.h"
#include "base/names.h"
#include <string.h>

#define SET_SOURCE "--set"

static guint
line_of (const char *text, const char *at)
{
  guint line = 1;

  for (const char *p = text; p < at; p++)
    line += *p == '\n';
  return line;
}

static gboolean
check_text (const KeyFile *file, const char *text, gsize length, GError **error)
{
  const char *bad;

  if (length > KEYS_MAX_BYTES)
    g_set_error (error, KEYS_ERROR, KEYS_ERROR_READ, "%s: too large; at most %u KiB are read",
                 file->name, KEYS_MAX_BYTES >> 10);
  else if (memchr (text, 0, length) != NULL)
    g_set_error (error, KEYS_ERROR, KEYS_ERROR_SYNTAX, "%s:%u: zero byte; a file is plain text",
                 file->name, line_of (text, memchr (text, 0, length)));
  else if (!g_utf8_validate (text, (gssize) length, &bad))
    g_set_error (error, KEYS_ERROR, KEYS_ERROR_SYNTAX, "%s:%u: byte 0x%02x is not UTF-8; a file is plain text",
                 file->name, line_of (text, bad), (guchar) *bad);
  else
    return TRUE;
  return FALSE;
}

/* The values, by GKeyFile, raw: its escapes (\s, \n) belong to the typed getters. */
static gboolean
read_values (KeyFile *file, const char *text, GError **error)
{
  g_autoptr (GKeyFile) glib = g_key_file_new ();
  g_autoptr (GError) problem = NULL;

  if (!g_key_file_load_from_data (glib, text, strlen (text), G_KEY_FILE_NONE, &problem))
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_SYNTAX, "%s: %s", file->name, problem->message);
      return FALSE;
    }
  for (guint i = 0; i < file->entries->len; i++)
    {
      KeyEntry *entry = file->entries->pdata[i];

      if (entry->key == NULL)
        continue;
      entry->value = g_key_file_get_value (glib, entry->group, entry->key, NULL);
      if (entry->value == NULL)
        entry->value = g_strdup ("");
      g_strstrip (entry->value);
    }
  return TRUE;
}

KeyFile *
key_file_parse (const char *name, const char *text, gsize length, GError **error)
{
  g_autoptr (KeyFile) file = key_file_new (name);

  if (length >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0)   /* byte order mark */
    {
      text += 3;
      length -= 3;
    }
  if (!check_text (file, text, length, error))
    return NULL;
  g_autofree char *copy = g_strndup (text, length);
  g_autofree char *clean = key_scan (file, copy, error);
  if (clean == NULL || !read_values (file, clean, error))
    return NULL;
  if (file->entries->len == 0)
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_SYNTAX, "%s: %s; there must be a group such as '[cluster]'",
                   file->name, copy[strspn (copy, " \t\r\n")] == '\0' ? "empty" : "only comments");
      return NULL;
    }
  return g_steal_pointer (&file);
}

KeyFile *
key_file_load (const char *path, GError **error)
{
  gsize length;
  g_autofree char *text = file_read (path, KEYS_MAX_BYTES, &length, KEYS_ERROR, KEYS_ERROR_READ, error);

  return text != NULL ? key_file_parse (path, text, length, error) : NULL;
}

const char *
key_file_name (const KeyFile *file)
{
  return file->name;
}

const char *
key_file_preamble (const KeyFile *file)
{
  return file->preamble;
}

/* The head of a group, made where there is none. */
static void
ensure_group (KeyFile *file, const char *group, const char *source, guint line)
{
  if (key_entry_find (file, group, NULL) == NULL)
    key_entry_add (file, group, NULL, NULL, source, line);
}

static gboolean
bad_set (GError **error, const char *assignment, const char *what)
{
  g_autofree char *quoted = names_quote (assignment);

  g_set_error (error, KEYS_ERROR, KEYS_ERROR_SYNTAX, SET_SOURCE ": %s %s; write 'group.key=value', "
               "as in 'cluster.nodes=4'", quoted, what);
  return FALSE;
}

gboolean
key_file_set (KeyFile *file, const char *assignment, GError **error)
{
  const char *equals = strchr (assignment, '=');
  const char *dot = strchr (assignment, '.');

  if (!g_utf8_validate (assignment, -1, NULL))
    return bad_set (error, assignment, "is not UTF-8");
  for (const char *p = assignment; *p != '\0'; p++)
    if (((guchar) *p < 0x20 && *p != '\t') || *p == 0x7f)
      return bad_set (error, assignment, "has a control byte");
  if (equals == NULL)
    return bad_set (error, assignment, "has no '='");
  if (dot == NULL || dot > equals)
    return bad_set (error, assignment, "names no group");
  if (strlen (assignment) > KEYS_MAX_LINE)
    return bad_set (error, assignment, "is too long");
  g_autofree char *group = g_strstrip (g_strndup (assignment, (gsize) (dot - assignment)));
  g_autofree char *key = g_strstrip (g_strndup (dot + 1, (gsize) (equals - dot - 1)));
  g_autofree char *value = g_strstrip (g_strdup (equals + 1));
  if (!key_name_valid (group, TRUE))
    return bad_set (error, assignment, "names no group");
  if (!key_name_valid (key, FALSE))
    return bad_set (error, assignment, "names no key");
  KeyEntry *entry = key_entry_find (file, group, key);
  ensure_group (file, group, SET_SOURCE, 0);
  if (entry == NULL)
    {
      key_entry_add (file, group, key, value, SET_SOURCE, 0);
      return TRUE;
    }
  g_free (entry->value);
  g_free (entry->source);
  entry->value = g_steal_pointer (&value);
  entry->source = g_strdup (SET_SOURCE);
  entry->line = 0;
  return TRUE;
}

void
key_file_merge (KeyFile *file, const KeyFile *below)
{
  for (guint i = 0; i < below->entries->len; i++)
    {
      const KeyEntry *e = below->entries->pdata[i];

      if (key_entry_find (file, e->group, e->key) == NULL)
        key_entry_add (file, e->group, e->key, e->value, e->source, e->line);
    }
}

const char *
key_file_get (const KeyFile *file, const char *group, const char *key)
{
  const KeyEntry *entry = key_entry_find (file, group, key);

  return entry == NULL ? NULL : entry->value;
}

char **
key_file_keys (const KeyFile *file, const char *group)
{
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();

  for (guint i = 0; i < file->entries->len; i++)
    {
      const KeyEntry *e = file->entries->pdata[i];

      if (e->key != NULL && g_str_equal (e->group, group))
        g_ptr_array_add (keys, g_strdup (e->key));
    }
  g_ptr_array_add (keys, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&keys), FALSE);
}

char **
key_file_groups (const KeyFile *file)
{
  g_autoptr (GPtrArray) groups = g_ptr_array_new ();

  for (guint i = 0; i < file->entries->len; i++)
    {
      const KeyEntry *e = file->entries->pdata[i];

      if (e->key == NULL)
        g_ptr_array_add (groups, g_strdup (e->group));
    }
  g_ptr_array_add (groups, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&groups), FALSE);
}

static char *
entry_where (const KeyEntry *entry)
{
  if (entry->line == 0)
    return g_strdup (entry->source);
  return g_strdup_printf ("%s:%u", entry->source, entry->line);
}

char *
key_file_where (const KeyFile *file, const char *group, const char *key)
{
  const KeyEntry *entry = key_entry_find (file, group, key);

  return entry == NULL ? g_strdup ("default") : entry_where (entry);
}

void
key_file_error (const KeyFile *file, const char *group, const char *key,
                GError **error, const char *format, ...)
{
  const KeyEntry *entry = group == NULL ? NULL : key_entry_find (file, group, key);
  va_list args;

  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  /* A key that is not there is missed at the head of its group. */
  if (entry == NULL && group != NULL)
    entry = key_entry_find (file, group, NULL);
  g_autofree char *where = entry == NULL ? g_strdup (file->name) : entry_where (entry);
  if (group == NULL)
    g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "%s: %s", where, message);
  else if (key == NULL)
    g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "%s: [%s]: %s", where, group, message);
  else
    g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "%s: [%s] %s: %s", where, group, key, message);
}
