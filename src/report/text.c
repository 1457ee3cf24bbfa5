/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/text.h"
#include <math.h>
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
  return g_strdup (number);
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

/* `value` in the last unit that leaves it at 1 or more. */
static char *
scaled (double value, const char *const *units, const double *sizes, guint n)
{
  guint i = 0;

  if (!isfinite (value))
    return g_strdup ("");
  while (i + 1 < n && fabs (value) >= sizes[i + 1])
    i++;
  g_autofree char *number = text_number (value / sizes[i]);
  return g_strconcat (number, " ", units[i], NULL);
}

char *
text_time (double seconds)
{
  static const char *const units[] = { "ns", "us", "ms", "s", "min", "h", "d" };
  static const double sizes[] = { 1e-9, 1e-6, 1e-3, 1, 120, 7200, 172800 };
  static const double divisors[] = { 1e-9, 1e-6, 1e-3, 1, 60, 3600, 86400 };
  guint i = 0;

  if (!isfinite (seconds))
    return g_strdup ("");
  while (i + 1 < G_N_ELEMENTS (sizes) && fabs (seconds) >= sizes[i + 1])
    i++;
  g_autofree char *number = text_number (seconds / divisors[i]);
  return g_strconcat (number, " ", units[i], NULL);
}

char *
text_bytes (double bytes)
{
  static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
  static const double sizes[] = { 1, 1e3, 1e6, 1e9, 1e12, 1e15 };

  return scaled (bytes, units, sizes, G_N_ELEMENTS (units));
}

char *
text_memory (double bytes)
{
  g_autofree char *number = text_fixed (bytes / (1u << 30), 2);

  return number[0] != '\0' ? g_strconcat (number, " GiB", NULL) : g_steal_pointer (&number);
}

char *
text_bar (double share, guint width)
{
  const double marks = isfinite (share) ? CLAMP (share, 0, 1) * width : 0;
  /* what is there is seen */
  const guint n = marks > 0.02 ? MAX (1u, (guint) lround (marks)) : 0;

  return g_strnfill (n, '#');
}

void
text_wrap (GString *out, const char *text, guint indent, guint width)
{
  g_autofree char *clean = text_clean (text);
  g_auto (GStrv) words = g_strsplit (clean, " ", -1);
  guint column = 0;

  for (gsize i = 0; words[i] != NULL; i++)
    {
      const guint length = (guint) g_utf8_strlen (words[i], -1);

      if (length == 0)
        continue;
      if (column > 0 && column + 1 + length > width)
        {
          g_string_append_printf (out, "\n%*s", (int) indent, "");
          column = indent;
        }
      else if (column > 0)
        {
          g_string_append_c (out, ' ');
          column++;
        }
      g_string_append (out, words[i]);
      column += length;
    }
  g_string_append_c (out, '\n');
}
