/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/table.h"
#include <string.h>

struct TextTable
{
  GPtrArray *titles, *cells;    /* char * */
  GArray    *right;             /* gboolean a column */
};

void
text_table_column (TextTable *table, const char *title, gboolean right)
{
  g_assert (table->cells->len == 0);
  g_ptr_array_add (table->titles, text_clean (title));
  g_array_append_val (table->right, right);
}

TextTable *
text_table_new (const char *columns)
{
  TextTable *table = g_new0 (TextTable, 1);
  g_auto (GStrv) parts = g_strsplit (columns, "|", -1);

  table->titles = g_ptr_array_new_with_free_func (g_free);
  table->cells = g_ptr_array_new_with_free_func (g_free);
  table->right = g_array_new (FALSE, FALSE, sizeof (gboolean));
  for (gsize i = 0; parts[i] != NULL; i++)
    {
      if (parts[i][0] != '\0')
        text_table_column (table, parts[i] + 1, parts[i][0] == '>');
    }
  return table;
}

void
text_table_free (TextTable *table)
{
  if (table == NULL)
    return;
  g_ptr_array_unref (table->titles);
  g_ptr_array_unref (table->cells);
  g_array_unref (table->right);
  g_free (table);
}

void
text_table_add (TextTable *table, const char *text)
{
  g_ptr_array_add (table->cells, text_clean (text));
}

void
text_table_take (TextTable *table, char *text)
{
  text_table_add (table, text);
  g_free (text);
}

/* A '|' inside a cell would end it. */
static char *
cell_text (const TextTable *table, guint row, guint column, TableStyle style)
{
  const guint n = table->titles->len;
  const char *text = row == 0 ? g_ptr_array_index (table->titles, column)
                              : g_ptr_array_index (table->cells, (row - 1) * n + column);

  if (style == TABLE_PLAIN || strchr (text, '|') == NULL)
    return g_strdup (text);

  g_auto (GStrv) parts = g_strsplit (text, "|", -1);
  return g_strjoinv ("\\|", parts);
}

/* 0: every cell is empty. */
static guint
column_width (const TextTable *table, guint column, TableStyle style)
{
  const guint rows = table->cells->len / table->titles->len;
  glong width = 0;

  for (guint row = 1; row <= rows; row++)
    {
      g_autofree char *text = cell_text (table, row, column, style);
      width = MAX (width, g_utf8_strlen (text, -1));
    }
  if (width == 0)
    return 0;

  g_autofree char *title = cell_text (table, 0, column, style);
  return (guint) MAX (MAX (width, g_utf8_strlen (title, -1)), style == TABLE_MARKDOWN ? 3 : 1);
}

static void
append_blanks (GString *out, guint n)
{
  for (guint i = 0; i < n; i++)
    g_string_append_c (out, ' ');
}

static void
append_row (const TextTable *table, guint row, const guint *widths, TableStyle style, GString *out)
{
  gboolean first = TRUE;

  if (style == TABLE_MARKDOWN)
    g_string_append (out, "|");
  for (guint i = 0; i < table->titles->len; i++)
    {
      if (widths[i] == 0)
        continue;

      g_autofree char *text = cell_text (table, row, i, style);
      const guint pad = widths[i] - (guint) g_utf8_strlen (text, -1);
      const gboolean right = g_array_index (table->right, gboolean, i);

      g_string_append (out, style == TABLE_MARKDOWN ? " " : first ? "" : "  ");
      append_blanks (out, right ? pad : 0);
      g_string_append (out, text);
      append_blanks (out, right ? 0 : pad);
      if (style == TABLE_MARKDOWN)
        g_string_append (out, " |");
      first = FALSE;
    }
  while (out->len > 0 && out->str[out->len - 1] == ' ')
    g_string_truncate (out, out->len - 1);
  g_string_append_c (out, '\n');
}

static void
append_rule (const TextTable *table, const guint *widths, GString *out)
{
  g_string_append_c (out, '|');
  for (guint i = 0; i < table->titles->len; i++)
    {
      const gboolean right = g_array_index (table->right, gboolean, i);

      if (widths[i] == 0)
        continue;
      g_string_append (out, right ? "-" : ":");
      for (guint j = 0; j < widths[i]; j++)
        g_string_append_c (out, '-');
      g_string_append (out, right ? ":|" : "-|");
    }
  g_string_append_c (out, '\n');
}

void
text_table_append (const TextTable *table, TableStyle style, guint indent, GString *out)
{
  const guint n = table->titles->len;
  g_autofree guint *widths = g_new0 (guint, n);

  g_assert (table->cells->len % n == 0);
  for (guint i = 0; i < n; i++)
    widths[i] = column_width (table, i, style);
  for (guint row = 0; row <= table->cells->len / n; row++)
    {
      append_blanks (out, indent);
      append_row (table, row, widths, style, out);
      if (row == 0 && style == TABLE_MARKDOWN)
        {
          append_blanks (out, indent);
          append_rule (table, widths, out);
        }
    }
}
