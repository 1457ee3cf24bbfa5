/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/table.h"
#include <string.h>

struct TextTable
{
  GPtrArray *titles, *cells;    /* char * */
  GArray    *right;             /* gboolean a column */
  GPtrArray *sections;          /* char *, before the row of the same place in... */
  GArray    *section_rows;      /* ...this */
  guint      keys;
};

/* How the columns of one table lie. */
typedef struct
{
  guint   *widths;              /* 0: not there */
  gboolean below;               /* the last text stands under its row */
  guint    indent, limit;
} Layout;

/* A last column narrower than this had better go under its row, indented by that. */
static const guint narrow = 36, under = 4;
/* Texts before the last column are broken at this width first. */
static const guint wide_text = 24;

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
  table->sections = g_ptr_array_new_with_free_func (g_free);
  table->section_rows = g_array_new (FALSE, FALSE, sizeof (guint));
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
  g_ptr_array_unref (table->sections);
  g_array_unref (table->section_rows);
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

void
text_table_section (TextTable *table, const char *heading)
{
  const guint row = 1 + table->cells->len / table->titles->len;   /* 0: the titles */

  g_ptr_array_add (table->sections, text_clean (heading));
  g_array_append_val (table->section_rows, row);
}

void
text_table_keys (TextTable *table, guint n)
{
  table->keys = n;
}

/* A '|' inside a Markdown cell would end it. */
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

static gboolean
is_right (const TextTable *table, guint column)
{
  return g_array_index (table->right, gboolean, column);
}

/* The longest word of a column, which cannot be broken; numbers stay whole. */
static guint
least_width (const TextTable *table, guint column)
{
  const guint rows = table->cells->len / table->titles->len;
  guint least = 1;

  for (guint row = 0; row <= rows; row++)
    {
      g_autofree char *text = cell_text (table, row, column, TABLE_PLAIN);
      g_autoptr (GPtrArray) words = text_lines (text, 1, 1);

      if (row > 0 && is_right (table, column))
        least = MAX (least, (guint) g_utf8_strlen (text, -1));
      for (guint i = 0; i < words->len; i++)
        least = MAX (least, (guint) g_utf8_strlen (words->pdata[i], -1));
    }
  return least;
}

static guint
total_width (const Layout *layout, guint n)
{
  guint total = layout->indent;

  for (guint i = 0; i < n; i++)
    total += layout->widths[i] > 0 ? layout->widths[i] + 2 : 0;
  return total >= 2 ? total - 2 : 0;
}

/* The widest text gives way, down to its longest word. */
static void
narrow_texts (const TextTable *table, Layout *layout, const guint *least)
{
  const guint n = table->titles->len;

  while (total_width (layout, n) > layout->limit)
    {
      guint widest = n;

      for (guint i = 0; i < n; i++)
        if (!is_right (table, i) && layout->widths[i] > least[i] && (widest == n || layout->widths[i] > layout->widths[widest]))
          widest = i;
      if (widest == n)
        return;
      layout->widths[widest]--;
    }
}

/* Titles first, then long texts, then the last one, which may go under its row. */
static void
fit_plain (const TextTable *table, Layout *layout)
{
  const guint n = table->titles->len;
  g_autofree guint *least = g_new0 (guint, n), *whole = g_new0 (guint, n);
  guint last = n;

  if (total_width (layout, n) <= layout->limit)
    return;
  for (guint i = 0; i < n; i++)
    {
      if (layout->widths[i] == 0)
        continue;
      least[i] = least_width (table, i);
      if (is_right (table, i))
        layout->widths[i] = least[i];
      whole[i] = layout->widths[i];
      last = i;
    }
  if (last < n && !is_right (table, last) && last > 0)
    {
      guint others;

      for (guint i = 0; i < last; i++)
        if (!is_right (table, i) && layout->widths[i] > 0)
          layout->widths[i] = MIN (layout->widths[i], MAX (least[i], wide_text));
      others = total_width (layout, n) - layout->widths[last];
      if (others + narrow <= layout->limit)
        {
          layout->widths[last] = MIN (layout->widths[last], MAX (least[last], layout->limit - others));
          return;
        }
      layout->below = TRUE;
      memcpy (layout->widths, whole, last * sizeof *whole);
      layout->widths[last] = 0;
    }
  narrow_texts (table, layout, least);
}

static void
append_line (const TextTable *table, const Layout *layout, GPtrArray *const *lines, guint line, guint height, gboolean titles, GString *out)
{
  const gsize start = out->len;

  append_blanks (out, layout->indent);
  for (guint i = 0; i < table->titles->len; i++)
    {
      if (layout->widths[i] == 0)
        continue;

      /* titles stand on their columns */
      const guint skip = titles ? height - lines[i]->len : 0;
      const char *text = line >= skip && line - skip < lines[i]->len ? lines[i]->pdata[line - skip] : "";
      const guint length = (guint) g_utf8_strlen (text, -1), pad = layout->widths[i] > length ? layout->widths[i] - length : 0;

      append_blanks (out, is_right (table, i) ? pad : 0);
      g_string_append (out, text);
      append_blanks (out, (is_right (table, i) ? 0 : pad) + 2);
    }
  while (out->len > start && out->str[out->len - 1] == ' ')
    g_string_truncate (out, out->len - 1);
  g_string_append_c (out, '\n');
}

static void
append_plain_row (const TextTable *table, const Layout *layout, guint row, GString *out)
{
  const guint n = table->titles->len;
  g_autofree GPtrArray **lines = g_new0 (GPtrArray *, n);
  guint height = 1;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = cell_text (table, row, i, TABLE_PLAIN);
      const guint width = layout->widths[i];

      if (g_utf8_strlen (text, -1) > (glong) width)
        lines[i] = text_lines (text, MAX (1u, width), MAX (1u, width));
      else
        {
          lines[i] = g_ptr_array_new_with_free_func (g_free);
          g_ptr_array_add (lines[i], g_steal_pointer (&text));
        }
      if (width > 0)
        height = MAX (height, lines[i]->len);
    }
  for (guint line = 0; line < height; line++)
    append_line (table, layout, lines, line, height, row == 0, out);
  for (guint i = 0; i < n; i++)
    g_ptr_array_unref (lines[i]);
  if (layout->below)
    {
      g_autofree char *text = cell_text (table, row, n - 1, TABLE_PLAIN);

      append_blanks (out, text[0] != '\0' ? layout->indent + under : 0);
      if (text[0] != '\0')
        text_wrap (out, text, layout->indent + under, layout->limit);
    }
}

static void
append_plain (const TextTable *table, Layout *layout, GString *out)
{
  guint next = 0;

  fit_plain (table, layout);
  for (guint row = 0; row <= table->cells->len / table->titles->len; row++)
    {
      for (; next < table->sections->len && g_array_index (table->section_rows, guint, next) == row; next++)
        g_string_append_printf (out, "\n%*s%s\n", (int) layout->indent, "", (const char *) table->sections->pdata[next]);
      append_plain_row (table, layout, row, out);
    }
}

static void
append_rule (const TextTable *table, const guint *widths, GString *out)
{
  g_string_append_c (out, '|');
  for (guint i = 0; i < table->titles->len; i++)
    {
      if (widths[i] == 0)
        continue;
      g_string_append (out, is_right (table, i) ? "-" : ":");
      for (guint j = 0; j < widths[i]; j++)
        g_string_append_c (out, '-');
      g_string_append (out, is_right (table, i) ? ":|" : "-|");
    }
  g_string_append_c (out, '\n');
}

static void
append_markdown_row (const TextTable *table, guint row, const guint *widths, GString *out)
{
  g_string_append (out, "|");
  for (guint i = 0; i < table->titles->len; i++)
    {
      if (widths[i] == 0)
        continue;

      g_autofree char *text = cell_text (table, row, i, TABLE_MARKDOWN);
      const guint pad = widths[i] - (guint) g_utf8_strlen (text, -1);

      g_string_append_c (out, ' ');
      append_blanks (out, is_right (table, i) ? pad : 0);
      g_string_append (out, text);
      append_blanks (out, is_right (table, i) ? 0 : pad);
      g_string_append (out, " |");
    }
  g_string_append_c (out, '\n');
}

static guint
markdown_cost (guint width)
{
  return width > 0 ? width + 3 : 0;
}

/* As many columns as go beside each other, then the others, with the key columns again. */
static void
append_markdown (const TextTable *table, const Layout *layout, GString *out)
{
  const guint n = table->titles->len;
  g_autofree guint *shown = g_new0 (guint, n);
  guint next = table->keys;

  for (gboolean first = TRUE; next < n; first = FALSE)
    {
      const guint begin = next;
      guint total = layout->indent + 1;

      memset (shown, 0, n * sizeof *shown);
      memcpy (shown, layout->widths, table->keys * sizeof *shown);
      for (guint i = 0; i < table->keys; i++)
        total += markdown_cost (shown[i]);
      for (; next < n && (next == begin || total + markdown_cost (layout->widths[next]) <= layout->limit); next++)
        {
          shown[next] = layout->widths[next];
          total += markdown_cost (shown[next]);
        }
      g_string_append (out, first ? "" : "\n");
      for (guint row = 0; row <= table->cells->len / n; row++)
        {
          append_blanks (out, layout->indent);
          append_markdown_row (table, row, shown, out);
          append_blanks (out, row == 0 ? layout->indent : 0);
          if (row == 0)
            append_rule (table, shown, out);
        }
    }
}

void
text_table_append (const TextTable *table, TableStyle style, guint indent, guint limit, GString *out)
{
  const guint n = table->titles->len;
  g_autofree guint *widths = g_new0 (guint, n);
  Layout layout = { widths, FALSE, indent, limit };

  g_assert (table->cells->len % n == 0);
  for (guint i = 0; i < n; i++)
    widths[i] = column_width (table, i, style);
  if (style == TABLE_PLAIN)
    append_plain (table, &layout, out);
  else
    append_markdown (table, &layout, out);
}
