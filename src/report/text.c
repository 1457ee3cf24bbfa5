/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/text.h"
#include <math.h>
#include <string.h>

char *
text_clean (const char *text)
{
  GString *clean = g_string_new (NULL);
  g_autofree char *valid = g_utf8_make_valid (text != NULL ? text : "", -1);

  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    g_string_append_unichar (clean, g_unichar_iscntrl (g_utf8_get_char (p)) ? '?' : g_utf8_get_char (p));
  return g_string_free (clean, FALSE);
}

char *
text_fixed (double value, int decimals)
{
  char format[16], number[64];

  if (!isfinite (value))
    return g_strdup ("");
  g_snprintf (format, sizeof format, "%%.%df", fabs (value) < 1e15 ? decimals : 0);
  if (fabs (value) >= 1e15)
    g_strlcpy (format, "%.4g", sizeof format);
  g_ascii_formatd (number, sizeof number, format, value);
  return g_strdup (number[0] == '-' && strspn (number + 1, "0.") == strlen (number + 1) ? number + 1 : number);   /* no "-0.0" */
}

/* After the point, for 4 figures.  9.9996 has as many as 10.00: round before counting. */
static int
decimals_for (double size)
{
  if (!(size > 0))
    return 0;
  return CLAMP (3 - (int) floor (log10 (size * (1 + 5e-5))), 0, 7);
}

char *
text_number (double value)
{
  const double size = fabs (value);

  if (!isfinite (value))
    return g_strdup ("");
  if (!(size > 0))
    return g_strdup ("0");
  if (size >= 1e9 || size < 1e-4)
    {
      char number[64];
      return g_strdup (g_ascii_formatd (number, sizeof number, "%.4g", value));
    }
  return text_fixed (value, decimals_for (size));
}

char *
text_percent (double share, int decimals)
{
  g_autofree char *number = text_fixed (100 * share, decimals);

  return number[0] != '\0' ? g_strconcat (number, " %", NULL) : g_steal_pointer (&number);
}

char *
text_change (double share)
{
  g_autofree char *number = text_percent (share, 1);

  return number[0] != '\0' && number[0] != '-' ? g_strconcat ("+", number, NULL) : g_steal_pointer (&number);
}

char *
text_ms (double seconds, double largest)
{
  return text_fixed (1e3 * seconds, decimals_for (1e3 * fabs (largest)));
}

char *
text_three (double value)
{
  return text_fixed (value, fabs (value) < 9.995 ? 2 : fabs (value) < 99.95 ? 1 : 0);
}

char *
text_time_as (double seconds, double like)
{
  static const char *const units[] = { "ns", "us", "ms", "s", "min", "h", "d" };
  static const double sizes[] = { 1e-9, 1e-6, 1e-3, 1, 120, 7200, 172800 };
  static const double divisors[] = { 1e-9, 1e-6, 1e-3, 1, 60, 3600, 86400 };
  guint i = 0;

  if (!isfinite (seconds))
    return g_strdup ("");
  while (i + 1 < G_N_ELEMENTS (sizes) && fabs (like) >= sizes[i + 1])
    i++;
  g_autofree char *number = text_number (seconds / divisors[i]);
  return g_strconcat (number, " ", units[i], NULL);
}

char *
text_time (double seconds)
{
  return text_time_as (seconds, seconds);
}

char *
text_bytes (double bytes)
{
  static const char *const units[] = { "kB", "MB", "GB", "TB", "PB" };
  double size = bytes / 1e3;
  guint i = 0;

  if (!isfinite (bytes))
    return g_strdup ("");
  if (fabs (bytes) < 999.5)
    {
      g_autofree char *whole = text_fixed (bytes, 0);
      return g_strconcat (whole, " B", NULL);
    }
  for (; i + 1 < G_N_ELEMENTS (units) && fabs (size) >= 999.5; i++)
    size /= 1e3;
  g_autofree char *number = text_three (size);
  return g_strconcat (number, " ", units[i], NULL);
}

char *
text_bar (double share, guint width)
{
  const double marks = isfinite (share) ? CLAMP (share, 0, 1) * width : 0;
  /* what is there is seen */
  const guint n = marks > 0.02 ? MAX (1u, (guint) lround (marks)) : 0;

  return g_strnfill (n, '#');
}

/* A number stands with what it counts: "12.3 ms", "5 x 8 GPUs". */
static gboolean
holds_next (const char *word)
{
  const char *first = word + strspn (word, "(+-'");

  return g_str_equal (word, "x") || (g_ascii_isdigit (first[0]) && g_ascii_isdigit (first[strlen (first) - 1]));
}

/* A piece that is never broken. */
typedef struct { char *text; gboolean blank; } Piece;   /* blank: before it */

static void
piece_clear (gpointer piece)
{
  g_free (((Piece *) piece)->text);
}

/* Choices, "a|b|c", may be broken behind each bar. */
static void
add_pieces (GArray *pieces, const char *text, gboolean blank)
{
  for (const char *bar; (bar = strchr (text, '|')) != NULL && bar[1] != '\0'; text = bar + 1, blank = FALSE)
    {
      const Piece piece = { g_strndup (text, (gsize) (bar + 1 - text)), blank };
      g_array_append_val (pieces, piece);
    }

  const Piece last = { g_strdup (text), blank };
  g_array_append_val (pieces, last);
}

static GArray *
cut_text (const char *text)
{
  GArray *pieces = g_array_new (FALSE, FALSE, sizeof (Piece));
  g_autofree char *clean = text_clean (text);
  g_auto (GStrv) words = g_strsplit (clean, " ", -1);
  g_autoptr (GString) held = g_string_new (NULL);

  g_array_set_clear_func (pieces, piece_clear);
  for (gsize i = 0; words[i] != NULL; i++)
    {
      if (words[i][0] == '\0')
        continue;
      g_string_append_printf (held, "%s%s", held->len > 0 ? " " : "", words[i]);
      if (holds_next (words[i]) && words[i + 1] != NULL)
        continue;
      add_pieces (pieces, held->str, pieces->len > 0);
      g_string_truncate (held, 0);
    }
  if (held->len > 0)
    add_pieces (pieces, held->str, pieces->len > 0);
  return pieces;
}

GPtrArray *
text_lines (const char *text, guint first, guint width)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) pieces = cut_text (text);
  GString *line = g_string_new (NULL);
  guint column = 0;

  for (guint i = 0; i < pieces->len; i++)
    {
      const Piece *piece = &g_array_index (pieces, Piece, i);
      const guint length = (guint) g_utf8_strlen (piece->text, -1), blank = piece->blank && column > 0;

      if (column > 0 && column + blank + length > (lines->len == 0 ? first : width))
        {
          g_ptr_array_add (lines, g_string_free (line, FALSE));
          line = g_string_new (piece->text);
          column = length;
          continue;
        }
      g_string_append_printf (line, "%s%s", blank ? " " : "", piece->text);
      column += blank + length;
    }
  g_ptr_array_add (lines, g_string_free (line, FALSE));
  return lines;
}

/* Columns of the line that `out` ends in, without colour. */
static guint
open_columns (const GString *out)
{
  const char *newline = strrchr (out->str, '\n'), *line = newline != NULL ? newline + 1 : out->str;
  guint columns = 0;

  for (const char *p = line; *p != '\0'; p = g_utf8_next_char (p))
    {
      if (*p == '\033')
        p = strchr (p, 'm') != NULL ? strchr (p, 'm') : p;
      else
        columns++;
    }
  return columns;
}

void
text_wrap (GString *out, const char *text, guint indent, guint width)
{
  const guint used = open_columns (out);
  g_autoptr (GPtrArray) lines = text_lines (text, width > used ? width - used : 1, width > indent ? width - indent : 1);

  for (guint i = 0; i < lines->len; i++)
    g_string_append_printf (out, "%s%*s%s", i > 0 ? "\n" : "", i > 0 ? (int) indent : 0, "", (const char *) lines->pdata[i]);
  g_string_append_c (out, '\n');
}
