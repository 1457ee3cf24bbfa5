/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/csv.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct { const char *name, *text, *message; } Bad;

static const Bad bad[] = {
  { "empty", "", "a.csv: empty; the first row must name the columns" },
  { "only-comments", "# x\n\n#y", "a.csv: empty; the first row must name the columns" },
  { "short-row", "a,b\n1,2\n\n3\n", "a.csv:4: 1 fields, but the header has 2" },
  { "long-row", "# c\na,b\n1,2,3\n", "a.csv:3: 3 fields, but the header has 2" },
  { "late-comment", "a,b\n1,2\n# c\n", "a.csv:3: a comment among the rows; comments stand before the header" },
  { "twice", "a,b,a\n", "a.csv:1: column 'a' named twice; each name once" },
  { "no-name", "a,,c\n", "a.csv:1: column 2 has no name; the first row is the header" },
  { "quote", "a,b\n1,x\"y\"\n", "a.csv:2: bad quotes; a field with '\"' or ',' stands in double quotes, and \"\" is one quote in it" },
  { "open-quote", "a,b\n1,\"x\n2,y\n", "a.csv:2: a quoted field that begins in this row has no end; close it with '\"'" },
  { "not-utf8", "a,b\n1,\xfe\n", "a.csv:2: byte 0xfe is not text; a table is UTF-8" },
};

static CsvTable *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  CsvTable *table = csv_parse ("a.csv", text, strlen (text), &error);

  g_assert_no_error (error);
  return table;
}

static void
test_bad (gconstpointer data)
{
  const Bad *row = data;
  g_autoptr (GError) error = NULL;

  g_assert_null (csv_parse ("a.csv", row->text, strlen (row->text), &error));
  g_assert_cmpuint (error->domain, ==, CSV_ERROR);
  g_assert_cmpstr (error->message, ==, row->message);
  g_assert_null (csv_parse ("a.csv", row->text, strlen (row->text), NULL));
}

/* Comments, CR LF, blanks around fields, quotes with a line end inside, blank
 * rows, no last line end. */
static void
test_read (void)
{
  g_autoptr (CsvTable) table = parse ("\xef\xbb\xbf# made by hand\r\n#,x\r\nname, size_bytes ,time_s\r\n"
                                      "\"ring, \"\"flat\"\"\",8,1.5e-05\r\n\r\n\"two\nlines\",,0x10\r\n#tag,3,-7.25");
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) missing = NULL;
  double value;
  guint column;

  g_assert_cmpuint (csv_rows (table), ==, 3);
  g_assert_cmpuint (csv_columns (table), ==, 3);
  g_assert_cmpstr (csv_column_name (table, 1), ==, "size_bytes");
  g_assert_cmpint (csv_column (table, "time_s"), ==, 2);
  g_assert_cmpint (csv_column (table, "none"), ==, -1);
  g_assert_cmpstr (csv_text (table, 0, 0), ==, "ring, \"flat\"");
  g_assert_cmpstr (csv_text (table, 1, 0), ==, "two\nlines");
  g_assert_cmpstr (csv_text (table, 2, 0), ==, "#tag");
  g_assert_cmpuint (csv_line (table, 0), ==, 4);
  g_assert_cmpuint (csv_line (table, 1), ==, 6);
  g_assert_cmpuint (csv_line (table, 2), ==, 8);
  g_assert_true (csv_number (table, 0, 2, &value, NULL));
  g_assert_cmpfloat_with_epsilon (value, 1.5e-5, 1e-18);
  g_assert_true (csv_number (table, 1, 1, &value, NULL));
  g_assert_true (isnan (value));
  g_assert_true (csv_number (table, 2, 2, &value, NULL));
  g_assert_cmpfloat_with_epsilon (value, -7.25, 1e-12);
  g_assert_false (csv_number (table, 1, 2, &value, &error));
  g_assert_cmpstr (error->message, ==, "a.csv:6: column 'time_s': '0x10' is not a number; "
                   "write a decimal number, or nothing where it is not known");
  g_assert_true (csv_require (table, "name", &column, NULL));
  g_assert_cmpuint (column, ==, 0);
  g_assert_false (csv_require (table, "size_byte", &column, &missing));
  g_assert_cmpstr (missing->message, ==, "a.csv: column 'size_byte' is missing; 'size_bytes' is there, is it meant?");
}

static void
test_header_only (void)
{
  g_autoptr (CsvTable) table = parse ("a,b");
  g_autoptr (GError) error = NULL;
  guint column;

  g_assert_cmpuint (csv_rows (table), ==, 0);
  g_assert_cmpuint (csv_columns (table), ==, 2);
  g_assert_false (csv_require (table, "momentum", &column, &error));
  g_assert_cmpstr (error->message, ==, "a.csv: column 'momentum' is missing; there are: a, b");
}

static void
assert_refused (const char *path, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GTimer) timer = g_timer_new ();

  g_assert_null (csv_load (path, &error));
  g_assert_nonnull (strstr (error->message, message));
  g_assert_cmpfloat (g_timer_elapsed (timer, NULL), <, 1.0);
}

static void
test_limits (void)
{
  g_autofree char *folder = g_dir_make_tmp ("lockstep-csv-XXXXXX", NULL);
  g_autofree char *huge = g_build_filename (folder, "huge.csv", NULL);
  g_autofree char *commas = g_strnfill (300, ',');
  g_autofree char *field = g_strnfill (CSV_MAX_FIELD + 1, 'x');
  g_autofree char *row = g_strdup_printf ("a\n%s\n", field);
  g_autoptr (GError) column_error = NULL;
  g_autoptr (GError) field_error = NULL;
  g_autoptr (GError) zero_error = NULL;

  g_assert_true (g_file_set_contents (huge, "a,b\n", -1, NULL));
  g_assert_cmpint (truncate (huge, 1000000000), ==, 0);
  assert_refused (huge, "huge.csv: too large; at most 65536 KiB are read");
  assert_refused (folder, "is a directory; a file is needed");
  assert_refused ("/dev/zero", "is a pipe or device");
  g_assert_null (csv_parse ("a.csv", commas, 300, &column_error));
  g_assert_cmpstr (column_error->message, ==, "a.csv:1: too many fields; a row has at most 256");
  g_assert_null (csv_parse ("a.csv", row, strlen (row), &field_error));
  g_assert_cmpstr (field_error->message, ==, "a.csv:2: field 1 has 65537 bytes; at most 65536 are read");
  g_assert_null (csv_parse ("a.csv", "a\n\0\n", 4, &zero_error));
  g_assert_cmpstr (zero_error->message, ==, "a.csv:2: byte 0x00 is not text; a table is UTF-8");
  g_remove (huge);
  g_rmdir (folder);
}

/* What csv_append_text writes reads back as it was. */
static void
test_round_trip (void)
{
  static const char *const fields[] = { "plain", "a,b", "say \"hi\"", "two\nlines", " blanks ", "#hash", "", "\xc3\xa9" };
  g_autoptr (GString) text = g_string_new ("x,y\n");

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      csv_append_text (text, fields[i]);
      g_string_append_c (text, ',');
      csv_append_number (text, i == 3 ? NAN : 1.0 / (3.0 + i));
      g_string_append_c (text, '\n');
    }
  g_autoptr (CsvTable) table = parse (text->str);
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    g_assert_cmpstr (csv_text (table, i, 0), ==, fields[i]);
  g_assert_cmpstr (csv_text (table, 0, 1), ==, "0.333333333");
  g_assert_cmpstr (csv_text (table, 3, 1), ==, "");
}

static void
test_replace (void)
{
  g_autofree char *folder = g_dir_make_tmp ("lockstep-csv-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (folder, "out.csv", NULL);
  g_autofree char *link = g_build_filename (folder, "link.csv", NULL);
  g_autofree char *lost = g_build_filename (folder, "no", "such.csv", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  struct stat st;

  g_assert_true (file_replace (file, "one\n", 4, NULL));
  g_assert_cmpint (symlink ("out.csv", link), ==, 0);
  g_assert_true (file_replace (link, "second\n", 7, NULL));
  g_assert_true (g_file_get_contents (file, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "second\n");
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  g_assert_false (file_replace (folder, "x", 1, &error));
  g_assert_nonnull (strstr (error->message, "is a directory; name a file"));
  g_assert_false (file_replace (lost, "x", 1, NULL));
  /* A device is written to, not replaced by a file. */
  g_assert_true (file_replace ("/dev/null", "x", 1, NULL));
  g_assert_true (stat ("/dev/null", &st) == 0 && S_ISCHR (st.st_mode));
  g_remove (link);
  g_remove (file);
  g_assert_cmpint (g_rmdir (folder), ==, 0);   /* no temporary file left */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *path = g_strdup_printf ("/csv/refuse/%s", bad[i].name);
      g_test_add_data_func (path, &bad[i], test_bad);
    }
  g_test_add_func ("/csv/read", test_read);
  g_test_add_func ("/csv/header-only", test_header_only);
  g_test_add_func ("/csv/limits", test_limits);
  g_test_add_func ("/csv/round-trip", test_round_trip);
  g_test_add_func ("/csv/replace", test_replace);
  return g_test_run ();
}
