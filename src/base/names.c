/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/names.h"
#include <string.h>

#define LIST_MAX  20    /* names shown before "and N more" */
#define QUOTE_MAX 60    /* characters of the user's text in a message */
#define NEAR_MAX  64    /* longer than any name of ours */

static char
fold (char c)
{
  return c == '_' ? '-' : g_ascii_tolower (c);
}

/* Optimal string alignment: insert, delete, replace, swap of neighbours.
 * Boytsov 2011, "Indexing methods for approximate dictionary searching". */
static guint
distance (const char *a, gsize n_a, const char *b, gsize n_b)
{
  guint rows[3][NEAR_MAX + 1];
  guint *before = rows[0], *last = rows[1], *row = rows[2];

  for (gsize j = 0; j <= n_b; j++)
    last[j] = (guint) j;
  for (gsize i = 1; i <= n_a; i++)
    {
      row[0] = (guint) i;
      for (gsize j = 1; j <= n_b; j++)
        {
          const guint differs = fold (a[i - 1]) != fold (b[j - 1]);

          row[j] = MIN (MIN (last[j], row[j - 1]) + 1, last[j - 1] + differs);
          if (i > 1 && j > 1 && fold (a[i - 1]) == fold (b[j - 2])
              && fold (a[i - 2]) == fold (b[j - 1]))
            row[j] = MIN (row[j], before[j - 2] + 1);
        }
      guint *free_row = before;
      before = last;
      last = row;
      row = free_row;
    }
  return last[n_b];
}

const char *
names_nearest (const char *typed, const char *const *names)
{
  const gsize n_typed = strlen (typed);
  const char *nearest = NULL;
  guint best = G_MAXUINT;

  if (n_typed == 0 || n_typed > NEAR_MAX || names == NULL)
    return NULL;
  for (gsize i = 0; names[i] != NULL; i++)
    {
      const gsize n_name = strlen (names[i]);
      const gsize most = MAX (n_typed, n_name) / 3;

      if (n_name > NEAR_MAX || MAX (n_typed, n_name) - MIN (n_typed, n_name) > most)
        continue;
      const guint d = distance (typed, n_typed, names[i], n_name);
      if (d <= most && d < best)
        {
          best = d;
          nearest = names[i];
        }
    }
  return nearest;
}

char *
names_join (const char *const *names)
{
  GString *list = g_string_new (NULL);
  gsize n = 0;

  for (; names != NULL && names[n] != NULL; n++)
    if (n < LIST_MAX)
      g_string_append_printf (list, "%s%s", n ? ", " : "", names[n]);
  if (n > LIST_MAX)
    g_string_append_printf (list, " and %" G_GSIZE_FORMAT " more", n - LIST_MAX);
  return g_string_free (list, FALSE);
}

char *
names_quote (const char *text)
{
  GString *quoted = g_string_new ("'");
  guint n = 0;

  for (const char *p = text; *p != '\0'; n++)
    {
      const gunichar c = g_utf8_get_char_validated (p, -1);

      if (n == QUOTE_MAX)
        {
          g_string_append (quoted, "...");
          break;
        }
      if (c == (gunichar) -1 || c == (gunichar) -2 || c < 0x20 || c == 0x7f)
        {
          g_string_append_printf (quoted, "\\x%02x", (guchar) *p);
          p++;
          continue;
        }
      const char *next = g_utf8_next_char (p);
      if (g_unichar_isprint (c))
        g_string_append_len (quoted, p, next - p);
      else
        g_string_append_printf (quoted, "\\u%04x", c);
      p = next;
    }
  g_string_append_c (quoted, '\'');
  return g_string_free (quoted, FALSE);
}

char *
names_unknown (const char *kind, const char *typed, const char *const *names)
{
  const char *near = names_nearest (typed, names);
  g_autofree char *quoted = names_quote (typed);

  if (near != NULL)
    return g_strdup_printf ("unknown %s %s; did you mean '%s'?", kind, quoted, near);
  if (names == NULL || names[0] == NULL)
    return g_strdup_printf ("unknown %s %s; there is none", kind, quoted);
  g_autofree char *list = names_join (names);
  return g_strdup_printf ("unknown %s %s; there are: %s", kind, quoted, list);
}

int
names_compare (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}
