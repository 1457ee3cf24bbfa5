/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/rows.h"

#include <json-glib/json-glib.h>

#include "base/csv.h"
#include "report/table.h"

struct Rows
{
  const char *const *titles;
  guint              n_columns;
  GPtrArray         *cells;
  guint              hidden;    /* bits of columns */
  gboolean           grouped;
};

Rows *
rows_new (const char *const *titles)
{
  Rows *rows = g_new0 (Rows, 1);

  rows->titles = titles;
  rows->n_columns = g_strv_length ((char **) titles);
  rows->cells = g_ptr_array_new_with_free_func (g_free);
  return rows;
}

void
rows_free (Rows *rows)
{
  g_ptr_array_unref (rows->cells);
  g_free (rows);
}

void
rows_take (Rows *rows, char *text)
{
  g_ptr_array_add (rows->cells, text != NULL ? text : g_strdup (""));
}

void
rows_add (Rows *rows, const char *text)
{
  rows_take (rows, g_strdup (text));
}

void
rows_hide (Rows *rows, const char *title)
{
  for (guint i = 0; i < rows->n_columns; i++)
    if (g_str_equal (rows->titles[i], title))
      rows->hidden |= 1u << i;
}

void
rows_group (Rows *rows)
{
  rows->grouped = TRUE;
}

static const char *
cell (const Rows *rows, guint row, guint column)
{
  return rows->cells->pdata[row * rows->n_columns + column];
}

/* Numbers stand right. */
static gboolean
is_number_column (const Rows *rows, guint column)
{
  for (guint row = 0; row < rows->cells->len / rows->n_columns; row++)
    {
      const char *text = cell (rows, row, column);
      char *end;

      g_ascii_strtod (text, &end);
      if (*end != '\0' || end == text)
        return FALSE;
    }
  return TRUE;
}

/* A long remark that the row above has already need not be read again. */
static const glong long_remark = 24;

static gboolean
is_repeated (const Rows *rows, guint row, guint column)
{
  return rows->grouped && row > 0 && column == rows->n_columns - 1 && g_utf8_strlen (cell (rows, row, column), -1) > long_remark
         && g_str_equal (cell (rows, row, column), cell (rows, row - 1, column));
}

static void
print_table (const Rows *rows, const Look *look, GString *out)
{
  g_autoptr (TextTable) table = text_table_new ("");
  const guint first = rows->grouped ? 1 : 0;

  for (guint i = first; i < rows->n_columns; i++)
    if (!(rows->hidden & 1u << i))
      text_table_column (table, rows->titles[i], is_number_column (rows, i));
  for (guint row = 0; row < rows->cells->len / rows->n_columns; row++)
    {
      if (rows->grouped && (row == 0 || !g_str_equal (cell (rows, row, 0), cell (rows, row - 1, 0))))
        {
          g_autofree char *heading = g_strconcat ("[", cell (rows, row, 0), "]", NULL);
          text_table_section (table, heading);
        }
      for (guint i = first; i < rows->n_columns; i++)
        if (!(rows->hidden & 1u << i))
          text_table_add (table, is_repeated (rows, row, i) ? "as above" : cell (rows, row, i));
    }
  text_table_append (table, TABLE_PLAIN, 0, look->width, out);
}

static void
print_csv (const Rows *rows, GString *out)
{
  for (guint i = 0; i < rows->n_columns + rows->cells->len; i++)
    {
      g_string_append (out, i == 0 ? "" : i % rows->n_columns == 0 ? "\n" : ",");
      csv_append_text (out, i < rows->n_columns ? rows->titles[i] : rows->cells->pdata[i - rows->n_columns]);
    }
  g_string_append_c (out, '\n');
}

static void
build_json (const Rows *rows, const char *name, const char *command, JsonBuilder *builder)
{
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "schema");
  json_builder_add_int_value (builder, 1);
  json_builder_set_member_name (builder, "program");
  json_builder_add_string_value (builder, "lockstep");
  json_builder_set_member_name (builder, "version");
  json_builder_add_string_value (builder, LOCKSTEP_VERSION);
  json_builder_set_member_name (builder, "command");
  json_builder_add_string_value (builder, command);
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (guint i = 0; i < rows->cells->len; i++)
    {
      if (i % rows->n_columns == 0)
        json_builder_begin_object (builder);
      json_builder_set_member_name (builder, rows->titles[i % rows->n_columns]);
      json_builder_add_string_value (builder, rows->cells->pdata[i]);
      if (i % rows->n_columns == rows->n_columns - 1)
        json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

static void
print_json (const Rows *rows, const char *name, const char *command, GString *out)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autofree char *text = NULL;

  build_json (rows, name, command, builder);
  root = json_builder_get_root (builder);
  text = json_to_string (root, TRUE);
  g_string_append_printf (out, "%s\n", text);
}

void
rows_print (const Rows *rows, const char *name, const Call *call)
{
  const Look look = call_look (call);

  switch ((Format) call->options.format)
    {
    case FORMAT_CSV:
      print_csv (rows, call->out);
      break;
    case FORMAT_JSON:
      print_json (rows, name, call->command->name, call->out);
      break;
    default:
      print_table (rows, &look, call->out);
    }
}
