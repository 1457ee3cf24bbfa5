/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/key-file.h"
#include "base/names.h"
#include <string.h>

/* What GKeyFile lets pass: it merges groups and keys given twice, takes a
 * comment behind a value for a part of it, reads brackets in a key as a
 * locale, and knows no line numbers once the text is loaded. */

typedef struct
{
  KeyFile    *file;
  const char *group;      /* the one we are in; NULL: none yet */
  guint       line, n_keys;
  GString    *preamble;
  GString    *clean;      /* the lines without comments and outer blanks, for GKeyFile */
} Scan;

gboolean
key_name_valid (const char *name, gboolean is_group)
{
  if (*name == '\0' || *name == ' ')
    return FALSE;
  for (const char *p = name; *p != '\0'; p++)
    if (!g_ascii_isalnum (*p) && strchr ("._-", *p) == NULL
        && !(is_group && *p == ' ' && p[1] != '\0'))
      return FALSE;
  return TRUE;
}

G_GNUC_PRINTF (4, 5) static gboolean
fail (const Scan *scan, const char *key, GError **error, const char *format, ...)
{
  GString *where = g_string_new (NULL);
  va_list args;

  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_string_append_printf (where, "%s:%u: ", scan->file->name, scan->line);
  if (scan->group != NULL)
    g_string_append_printf (where, "[%s]%s%s: ", scan->group, key ? " " : "", key ? key : "");
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_SYNTAX, "%s%s", where->str, message);
  g_string_free (where, TRUE);
  return FALSE;
}

static void
preamble_line (Scan *scan, const char *line)
{
  const char *text = line + 1;

  if (scan->group != NULL)
    return;
  if (*text == ' ')
    text++;
  if (g_str_has_prefix (text, "SPDX-License-Identifier:"))
    return;
  g_string_append_printf (scan->preamble, "%s%s", scan->preamble->len ? "\n" : "", text);
}

static gboolean
group_line (Scan *scan, const char *line, GError **error)
{
  g_autofree char *quoted = names_quote (line);
  const char *close = strchr (line, ']');

  scan->group = NULL;
  if (close == NULL)
    return fail (scan, NULL, error, "%s lacks its ']'; a group stands as '[name]'", quoted);
  if (close[1] != '\0')
    return fail (scan, NULL, error, "%s has text behind ']'; a group stands alone on its line", quoted);
  g_autofree char *name = g_strndup (line + 1, (gsize) (close - line - 1));
  if (!key_name_valid (name, TRUE))
    return fail (scan, NULL, error, "%s is no group; its name has letters, digits, '.', '-' and '_', "
                 "as in '[cluster]'", quoted);
  const KeyEntry *first = key_entry_find (scan->file, name, NULL);
  if (first != NULL)
    return fail (scan, NULL, error, "[%s]: group given twice; the first is in line %u, put the keys there",
                 name, first->line);
  scan->group = key_entry_add (scan->file, name, NULL, NULL, scan->file->name, scan->line)->group;
  return TRUE;
}

/* The first '#' or ';' that stands where a comment would: at the start of the
 * value or behind a blank. */
static gboolean
has_comment (const char *value)
{
  for (const char *p = value; *p != '\0'; p++)
    if ((*p == '#' || *p == ';') && (p == value || p[-1] == ' ' || p[-1] == '\t'))
      return TRUE;
  return FALSE;
}

static gboolean
key_line (Scan *scan, const char *line, GError **error)
{
  const char *equals = strchr (line, '=');
  g_autofree char *quoted = names_quote (line);

  if (scan->group == NULL)
    return fail (scan, NULL, error, "%s stands before the first group; a line such as '[cluster]' "
                 "must come first", quoted);
  if (*line == ';')
    return fail (scan, NULL, error, "%s: a comment starts with '#'", quoted);
  if (equals == NULL)
    return fail (scan, NULL, error, "%s has no '='; a line is 'key = value', '[group]' or '# comment'", quoted);
  g_autofree char *key = g_strchomp (g_strndup (line, (gsize) (equals - line)));
  if (*key == '\0')
    return fail (scan, NULL, error, "%s has no key before '='; a line is 'key = value'", quoted);
  if (!key_name_valid (key, FALSE))
    {
      g_autofree char *quoted_key = names_quote (key);
      return fail (scan, NULL, error, "%s is no key; a key has letters, digits, '.', '-' and '_'", quoted_key);
    }
  const KeyEntry *first = key_entry_find (scan->file, scan->group, key);
  if (first != NULL)
    return fail (scan, key, error, "key given twice; the first is in line %u, keep one", first->line);
  if (has_comment (equals + 1 + strspn (equals + 1, " \t")))
    return fail (scan, key, error, "text behind the value; a comment must stand on its own line");
  if (++scan->n_keys > KEYS_MAX_KEYS)
    return fail (scan, key, error, "too many keys; a file has at most %u", KEYS_MAX_KEYS);
  key_entry_add (scan->file, scan->group, key, NULL, scan->file->name, scan->line);
  return TRUE;
}

static gboolean
scan_line (Scan *scan, char *line, GError **error)
{
  const gsize length = strlen (line);

  if (length > KEYS_MAX_LINE)
    return fail (scan, NULL, error, "line of %" G_GSIZE_FORMAT " bytes; at most %u are read", length, KEYS_MAX_LINE);
  g_strchomp (line);
  for (const char *p = line; *p != '\0'; p++)
    if (((guchar) *p < 0x20 && *p != '\t') || *p == 0x7f)
      return fail (scan, NULL, error, "control byte 0x%02x; a file is plain text", (guchar) *p);
  while (*line == ' ' || *line == '\t')
    line++;
  if (*line == '\0')
    return TRUE;
  if (*line == '#')
    {
      preamble_line (scan, line);
      return TRUE;
    }
  g_string_append_printf (scan->clean, "%s\n", line);
  return *line == '[' ? group_line (scan, line, error) : key_line (scan, line, error);
}

char *
key_scan (KeyFile *file, const char *text, GError **error)
{
  /* GKeyFile gives the key Encoding of the first group a meaning, so that
   * group is one that no file can name. */
  Scan scan = { .file = file, .preamble = g_string_new (NULL), .clean = g_string_new ("[:]\n") };
  gboolean ok = TRUE;

  for (const char *p = text; ok && *p != '\0';)
    {
      const gsize length = strcspn (p, "\n");
      g_autofree char *line = g_strndup (p, length);

      scan.line++;
      ok = scan_line (&scan, line, error);
      p += length + (p[length] == '\n');
    }
  file->preamble = g_string_free (scan.preamble, FALSE);
  return g_string_free (scan.clean, !ok);
}
