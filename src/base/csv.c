/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/csv.h"
#include "base/file.h"
#include "base/names.h"
#include "base/quantity.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#undef csv_parse   /* from here on libcsv's own */
#undef csv_free
#include <csv.h>

G_DEFINE_QUARK (lockstep-csv-error-quark, csv_error)

struct CsvTable
{
  char    *name;
  GString *text;      /* every field, each with its NUL */
  GArray  *fields;    /* guint32 offsets in text, header first, row after row */
  GArray  *lines;     /* guint32, of each row behind the header */
  GPtrArray *columns; /* header names, borrowed from text once it is whole */
  guint    n_columns;
};

typedef struct
{
  CsvTable *table;
  guint     line;        /* where the row began */
  guint     n_fields;    /* of the row so far */
  gboolean  has_header;
  GError  **error;
  gboolean  failed;
} Reader;

void
csv_table_free (CsvTable *table)
{
  if (table == NULL)
    return;
  g_free (table->name);
  g_string_free (table->text, TRUE);
  g_array_free (table->fields, TRUE);
  g_array_free (table->lines, TRUE);
  g_ptr_array_free (table->columns, TRUE);
  g_free (table);
}

G_GNUC_PRINTF (3, 4) static void
fail (Reader *reader, CsvError code, const char *format, ...)
{
  va_list args;

  if (reader->failed)
    return;
  reader->failed = TRUE;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (reader->error, CSV_ERROR, code, "%s:%u: %s", reader->table->name, reader->line, message);
}

static void
on_field (void *field, size_t length, void *user)
{
  Reader *reader = user;
  CsvTable *table = reader->table;
  const guint32 offset = (guint32) table->text->len;

  if (reader->failed)
    return;
  reader->n_fields++;
  if (length > CSV_MAX_FIELD)
    fail (reader, CSV_ERROR_READ, "field %u has %zu bytes; at most %u are read", reader->n_fields, length, CSV_MAX_FIELD);
  else if (reader->n_fields > CSV_MAX_COLUMNS)
    fail (reader, CSV_ERROR_READ, "too many fields; a row has at most %u", CSV_MAX_COLUMNS);
  else
    {
      g_string_append_len (table->text, field, (gssize) length);
      g_string_append_c (table->text, '\0');
      g_array_append_val (table->fields, offset);
    }
}

static const char *
field_text (const CsvTable *table, gsize i)
{
  return table->text->str + g_array_index (table->fields, guint32, i);
}

static void
check_row (Reader *reader)
{
  CsvTable *table = reader->table;
  const char *first = field_text (table, table->fields->len - reader->n_fields);

  if (reader->n_fields != table->n_columns && *first == '#')
    fail (reader, CSV_ERROR_SYNTAX, "a comment among the rows; comments stand before the header");
  else if (reader->n_fields != table->n_columns)
    fail (reader, CSV_ERROR_SYNTAX, "%u fields, but the header has %u", reader->n_fields, table->n_columns);
  else if (table->lines->len == CSV_MAX_ROWS)
    fail (reader, CSV_ERROR_READ, "too many rows; at most %u are read", CSV_MAX_ROWS);
  else
    g_array_append_val (table->lines, reader->line);
}

static void
check_header (Reader *reader)
{
  CsvTable *table = reader->table;
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  reader->has_header = TRUE;
  table->n_columns = reader->n_fields;
  for (guint i = 0; i < table->n_columns; i++)
    {
      const char *name = field_text (table, i);
      g_autofree char *quoted = names_quote (name);

      if (*name == '\0')
        fail (reader, CSV_ERROR_SYNTAX, "column %u has no name; the first row is the header", i + 1);
      else if (!g_hash_table_add (seen, (gpointer) name))
        fail (reader, CSV_ERROR_SYNTAX, "column %s named twice; each name once", quoted);
    }
}

static void
on_row (int end G_GNUC_UNUSED, void *user)
{
  Reader *reader = user;

  if (reader->failed || reader->n_fields == 0)
    return;
  if (reader->has_header)
    check_row (reader);
  else
    check_header (reader);
  reader->n_fields = 0;
}

/* Length of the line with its end: LF, CR LF or CR. */
static gsize
line_length (const char *text, gsize left)
{
  gsize n = 0;

  while (n < left && text[n] != '\n' && text[n] != '\r')
    n++;
  if (n < left && text[n] == '\r' && n + 1 < left && text[n + 1] == '\n')
    n++;
  return n < left ? n + 1 : n;
}

/* In pieces: libcsv does not stop in the middle of one when a field is refused. */
static void
feed (Reader *reader, struct csv_parser *parser, const char *text, gsize length)
{
  for (gsize at = 0; at < length && !reader->failed; at += CSV_MAX_FIELD)
    {
      const gsize n = MIN (length - at, CSV_MAX_FIELD);

      if (csv_parse (parser, text + at, n, on_field, on_row, reader) != n)
        fail (reader, CSV_ERROR_SYNTAX, "bad quotes; a field with '\"' or ',' stands in double quotes, "
              "and \"\" is one quote in it");
    }
}

/* Line by line into libcsv, so that a row has its line number. */
static void
read_rows (Reader *reader, struct csv_parser *parser, const char *text, gsize length)
{
  guint line = 0;
  gboolean inside = FALSE;    /* a quoted field goes on over the end of the line */

  for (gsize at = 0; at < length && !reader->failed;)
    {
      const gsize n = line_length (text + at, length - at);
      gsize blanks = 0;

      while (blanks < n && (text[at + blanks] == ' ' || text[at + blanks] == '\t'))
        blanks++;
      line++;
      if (!inside)
        reader->line = line;
      if (reader->has_header || inside || blanks >= n || text[at + blanks] != '#')
        feed (reader, parser, text + at, n);
      inside = parser->quoted != 0 && parser->pstate != 0;
      at += n;
    }
  if (!reader->failed && csv_fini (parser, on_field, on_row, reader) != 0)
    fail (reader, CSV_ERROR_SYNTAX, "a quoted field that begins in this row has no end; close it with '\"'");
}

static gboolean
check_bytes (Reader *reader, const char *text, gsize length)
{
  const char *bad = memchr (text, 0, length);

  if (length > CSV_MAX_BYTES)
    {
      g_set_error (reader->error, CSV_ERROR, CSV_ERROR_READ, "%s: too large; at most %u KiB are read",
                   reader->table->name, CSV_MAX_BYTES >> 10);
      reader->failed = TRUE;
    }
  else if (bad != NULL || !g_utf8_validate (text, (gssize) length, &bad))
    {
      reader->line = 1;
      for (const char *p = text; p < bad; p++)
        reader->line += *p == '\n';
      fail (reader, CSV_ERROR_SYNTAX, "byte 0x%02x is not text; a table is UTF-8", (guchar) *bad);
    }
  return !reader->failed;
}

static void
finish (Reader *reader)
{
  CsvTable *table = reader->table;

  if (reader->failed)
    return;
  if (!reader->has_header)
    {
      reader->failed = TRUE;
      g_set_error (reader->error, CSV_ERROR, CSV_ERROR_SYNTAX, "%s: empty; the first row must name the columns", table->name);
      return;
    }
  for (guint i = 0; i < table->n_columns; i++)
    g_ptr_array_add (table->columns, (gpointer) field_text (table, i));
  g_ptr_array_add (table->columns, NULL);
}

CsvTable *
csv_table_parse (const char *name, const char *text, gsize length, GError **error)
{
  g_autoptr (CsvTable) table = g_new0 (CsvTable, 1);
  Reader reader = { .table = table, .error = error };
  struct csv_parser parser;

  table->name = file_display_name (name);
  table->text = g_string_new (NULL);
  table->fields = g_array_new (FALSE, FALSE, sizeof (guint32));
  table->lines = g_array_new (FALSE, FALSE, sizeof (guint32));
  table->columns = g_ptr_array_new ();
  if (length >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0)   /* byte order mark */
    {
      text += 3;
      length -= 3;
    }
  if (!check_bytes (&reader, text, length))
    return NULL;
  if (csv_init (&parser, CSV_STRICT | CSV_STRICT_FINI) != 0)
    g_error ("libcsv cannot start");
  csv_set_blk_size (&parser, CSV_MAX_FIELD);
  read_rows (&reader, &parser, text, length);
  csv_free (&parser);
  finish (&reader);
  return reader.failed ? NULL : g_steal_pointer (&table);
}

CsvTable *
csv_load (const char *path, GError **error)
{
  gsize length;
  g_autofree char *text = file_read (path, CSV_MAX_BYTES, &length, CSV_ERROR, CSV_ERROR_READ, error);

  return text != NULL ? csv_table_parse (path, text, length, error) : NULL;
}

guint
csv_rows (const CsvTable *table)
{
  return table->lines->len;
}

guint
csv_columns (const CsvTable *table)
{
  return table->n_columns;
}

const char *
csv_column_name (const CsvTable *table, guint column)
{
  return table->columns->pdata[column];
}

const char *
csv_name (const CsvTable *table)
{
  return table->name;
}

int
csv_column (const CsvTable *table, const char *name)
{
  for (guint i = 0; i < table->n_columns; i++)
    if (g_str_equal (csv_column_name (table, i), name))
      return (int) i;
  return -1;
}

gboolean
csv_require (const CsvTable *table, const char *name, guint *column, GError **error)
{
  const char *const *names = (const char *const *) table->columns->pdata;
  const int found = csv_column (table, name);

  if (found >= 0)
    {
      *column = (guint) found;
      return TRUE;
    }
  const char *near = names_nearest (name, names);
  g_autofree char *list = names_join (names);
  g_autofree char *near_text = near ? g_strdup_printf ("'%s' is there, is it meant?", near)
                                    : g_strdup_printf ("there are: %s", list);
  g_set_error (error, CSV_ERROR, CSV_ERROR_COLUMN, "%s: column '%s' is missing; %s", table->name, name, near_text);
  return FALSE;
}

const char *
csv_text (const CsvTable *table, guint row, guint column)
{
  g_return_val_if_fail (row < table->lines->len && column < table->n_columns, "");
  return field_text (table, ((gsize) row + 1) * table->n_columns + column);
}

guint
csv_line (const CsvTable *table, guint row)
{
  return g_array_index (table->lines, guint32, row);
}

gboolean
csv_number (const CsvTable *table, guint row, guint column, double *value, GError **error)
{
  const char *text = csv_text (table, row, column);

  *value = NAN;
  if (*text == '\0' || quantity_parse (text, UNIT_NONE, value, NULL))
    return TRUE;
  g_autofree char *quoted = names_quote (text);
  g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "%s:%u: column '%s': %s is not a number; "
               "write a decimal number, or nothing where it is not known", table->name,
               csv_line (table, row), csv_column_name (table, column), quoted);
  return FALSE;
}

gboolean
csv_number_in (const CsvTable *table, guint row, guint column, double min, double max, double *value, GError **error)
{
  char least[G_ASCII_DTOSTR_BUF_SIZE], most[G_ASCII_DTOSTR_BUF_SIZE];

  if (!csv_number (table, row, column, value, error))
    return FALSE;
  if (isnan (*value) || (*value >= min && *value <= max))
    return TRUE;
  g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "%s:%u: column '%s': %s is out of range; give %s to %s", table->name,
               csv_line (table, row), csv_column_name (table, column), csv_text (table, row, column),
               g_ascii_formatd (least, sizeof least, "%g", min), g_ascii_formatd (most, sizeof most, "%g", max));
  return FALSE;
}
