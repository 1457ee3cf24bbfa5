/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/training-reading.h"
#include "calibrate/rules.h"

const char *const skip_no_time = "no throughput or time";
const char *const skip_no_shape = "unknown model shape";
const char *const skip_inconsistent = "inconsistent with itself";
const char *const skip_slip = "listed as a source slip";
const char *const skip_few_sizes = "too few sizes";

const char *
reading_cell (const Reading *r, const char *column)
{
  return csv_cell (r->table, r->row, column);
}

double
reading_number (const Reading *r, const char *column)
{
  return g_ascii_strtod (reading_cell (r, column), NULL);
}

void
reading_put (Reading *r, const char *key, const char *value)
{
  if (!g_hash_table_contains (r->keys, key))
    g_hash_table_insert (r->keys, g_strdup (key), g_strdup (value));
}

void
reading_put_count (Reading *r, const char *key, guint64 value)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, value);

  reading_put (r, key, text);
}

const char *
reading_word (const Reading *r, const char *name)
{
  return g_hash_table_lookup (r->words, name);
}

double
reading_word_number (const Reading *r, const char *name, double otherwise)
{
  const char *text = reading_word (r, name);

  return text != NULL ? g_ascii_strtod (text, NULL) : otherwise;
}

const char *
reading_translate (const ReadingWords *words, const char *text)
{
  for (; words->patterns != NULL; words++)
    {
      if (pattern_fits (words->patterns, text))
        return words->value;
    }
  return NULL;
}

void
reading_refuse (Reading *r, const char *reason, const char *format, ...)
{
  va_list arguments;

  if (r->out->skip != NULL)
    return;
  r->out->skip = reason;
  va_start (arguments, format);
  r->out->why = g_strdup_vprintf (format, arguments);
  va_end (arguments);
}
