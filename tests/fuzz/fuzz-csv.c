/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/csv.h"
#include "fuzz.h"
#include <string.h>

const char *const fuzz_seeds[] = {
  "# by hand\nname,size_bytes,time_s\nring,8,1.5e-05\n\"tree, \"\"double\"\"\",16,\n",
  "a\n1\n\n2\n", "a,b\r\n\"two\nlines\",2\r\n", "a,b\r1,2\r", ",\n", "\"", "a,a\n", "\xef\xbb\xbf" "a,b\n1,2", NULL
};

/* The table that was read, written again, reads as the same table. */
static void
check_round_trip (const CsvTable *table)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint c = 0; c < csv_columns (table); c++)
    {
      g_string_append (text, c ? "," : "");
      csv_append_text (text, csv_column_name (table, c));
    }
  for (guint r = 0; r < csv_rows (table); r++)
    for (guint c = 0; c < csv_columns (table); c++)
      {
        g_string_append (text, c ? "," : "\n");
        if (csv_columns (table) == 1 && *csv_text (table, r, c) == '\0')
          g_string_append (text, "\"\"");   /* else a blank row, which is skipped */
        csv_append_text (text, csv_text (table, r, c));
      }
  g_autoptr (GError) error = NULL;
  g_autoptr (CsvTable) again = csv_parse ("again.csv", text->str, text->len, &error);
  if (again == NULL)
    g_error ("%s\n%s", error->message, text->str);
  g_assert_cmpuint (csv_rows (again), ==, csv_rows (table));
  for (guint r = 0; r < csv_rows (table); r++)
    for (guint c = 0; c < csv_columns (table); c++)
      g_assert_cmpstr (csv_text (again, r, c), ==, csv_text (table, r, c));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CsvTable) table = csv_parse ("fuzz.csv", (const char *) data, size, &error);
  guint column;
  double value;

  if (table == NULL)
    {
      g_assert_true (error != NULL && g_utf8_validate (error->message, -1, NULL));
      if (strpbrk (error->message, "\n\r\x1b") != NULL)
        g_error ("not one clean line: %s", error->message);
      return 0;
    }
  g_assert_no_error (error);
  csv_require (table, "time_s", &column, NULL);
  for (guint r = 0; r < csv_rows (table); r++)
    for (guint c = 0; c < csv_columns (table); c++)
      csv_number (table, r, c, &value, NULL);
  check_round_trip (table);
  return 0;
}
