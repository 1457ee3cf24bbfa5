/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/step-calibrate.h"

#include <math.h>
#include <string.h>

#include "base/origin.h"
#include "calibrate/fit.h"
#include "calibrate/training-validate.h"

/* Past this the host, the input or the network of a row takes all of its time:
 * it says nothing of the GPU. */
static const double most_efficiency = 10;

enum { FAMILY, TUNING, PRECISION, GENERATION, SOURCE, N_KEYS };
static const char header[] = "family,tuning,precision,generation,source,efficiency,low,high,groups,sources,origin\n";

/* Efficiencies of one line of the table. */
typedef struct
{
  char   *key[N_KEYS];
  GArray *values;       /* double */
  GPtrArray *files;     /* borrowed names */
} Line;

static void
line_free (gpointer data)
{
  Line *line = data;

  for (guint i = 0; i < N_KEYS; i++)
    g_free (line->key[i]);
  g_array_unref (line->values);
  g_ptr_array_unref (line->files);
  g_free (line);
}

static Line *
find_line (GPtrArray *lines, const char *const key[N_KEYS])
{
  Line *line;

  for (guint i = 0; i < lines->len; i++)
    {
      gboolean same = TRUE;

      line = lines->pdata[i];
      for (guint k = 0; k < N_KEYS && same; k++)
        same = g_str_equal (line->key[k], key[k]);
      if (same)
        return line;
    }
  line = g_new0 (Line, 1);
  for (guint k = 0; k < N_KEYS; k++)
    line->key[k] = g_strdup (key[k]);
  line->values = g_array_new (FALSE, FALSE, sizeof (double));
  line->files = g_ptr_array_new ();
  g_ptr_array_add (lines, line);
  return line;
}

static void
add_value (GPtrArray *lines, Shelf *parts, const TrainingItem *item, const CsvTable *table, GString *points, GPtrArray *remarks)
{
  const TrainingRow *row = item->read;
  g_auto (TrainingKey) key = { 0 };
  g_autoptr (GError) error = NULL;
  double e = NAN, fitted;
  Line *line;

  if (training_key (parts, row, &key, &error))
    e = training_solve (parts, row, row->measured, 0.8 / row->share, &error);
  if (error != NULL || !(e * row->share < most_efficiency))
    {
      g_ptr_array_add (remarks, g_strdup_printf ("%s:%u: left out: %s", csv_name (table), csv_line (table, item->row),
                                                 error != NULL ? error->message : "takes as long without any GPU work"));
      return;
    }
  line = find_line (lines, (const char *const[N_KEYS]) { key.family, row->tuned != NULL ? row->tuned : key.tuning, key.precision, key.generation, row->label });
  fitted = e * row->share;
  g_array_append_val (line->values, fitted);
  if (!g_ptr_array_find (line->files, csv_name (table), NULL))
    g_ptr_array_add (line->files, (gpointer) csv_name (table));
  g_string_append_printf (points, "%u,", line->values->len);
  csv_append_number (points, fitted);
  g_string_append_c (points, '\n');
}

static int
compare_lines (gconstpointer a, gconstpointer b)
{
  const Line *x = *(const Line *const *) a, *y = *(const Line *const *) b;

  for (guint k = 0; k < N_KEYS; k++)
    {
      const int order = strcmp (x->key[k], y->key[k]);

      if (order != 0)
        return order;
    }
  return 0;
}

static void
append_line (GString *part, const Line *line)
{
  double *values = (double *) (gpointer) line->values->data;
  const guint n = line->values->len;
  const double numbers[] = { fit_quantile (values, n, 0.5), fit_quantile (values, n, 0), fit_quantile (values, n, 1) };
  g_autoptr (GString) files = g_string_new (NULL);

  for (guint k = 0; k < N_KEYS; k++)
    {
      csv_append_text (part, line->key[k]);
      g_string_append_c (part, ',');
    }
  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      char text[G_ASCII_DTOSTR_BUF_SIZE];

      g_string_append_printf (part, "%s,", n < 2 && i > 0 ? "" : g_ascii_formatd (text, sizeof text, "%.3g", numbers[i]));
    }
  for (guint i = 0; i < line->files->len; i++)
    {
      g_autofree char *name = g_path_get_basename (line->files->pdata[i]);

      g_string_append_printf (files, "%s%s", i > 0 ? " " : "", name);
    }
  g_string_append_printf (part, "%u,1,", n);
  csv_append_text (part, files->str);
  g_string_append_c (part, '\n');
}

static gboolean
replaced (const GPtrArray *lines, const CsvTable *table, guint row)
{
  const char *source = csv_cell (table, row, "source");

  for (guint i = 0; i < lines->len; i++)
    {
      if (g_str_equal (((const Line *) lines->pdata[i])->key[SOURCE], source))
        return TRUE;
    }
  return FALSE;
}

/* Comments and lines of the present table: of other sources, and of none. */
static gboolean
keep_table (const GPtrArray *lines, GString *head, GString *others, GError **error)
{
  g_autofree char *path = g_build_filename (part_folder (), "efficiency.csv", NULL), *text = NULL;
  g_autoptr (CsvTable) table = csv_load (path, error);

  if (table == NULL || !g_file_get_contents (path, &text, NULL, error))
    return FALSE;
  for (const char *at = text; *at == '#';)
    {
      const char *end = strchr (at, '\n');

      g_string_append_len (head, at, end != NULL ? end - at + 1 : (gssize) strlen (at));
      at = end != NULL ? end + 1 : at + strlen (at);
    }
  for (guint row = 0; row < csv_rows (table); row++)
    {
      if (replaced (lines, table, row))
        continue;
      for (guint c = 0; c < csv_columns (table); c++)
        {
          if (c > 0)
            g_string_append_c (others, ',');
          csv_append_text (others, csv_text (table, row, c));
        }
      g_string_append_c (others, '\n');
    }
  return TRUE;
}

static gboolean
load_tables (const char *const *paths, GPtrArray *tables, GError **error)
{
  for (gsize i = 0; paths[i] != NULL; i++)
    {
      CsvTable *table = training_table (paths[i], error);

      if (table == NULL)
        return FALSE;
      g_ptr_array_add (tables, table);
    }
  return TRUE;
}

gboolean
step_calibrate (const char *const *paths, GString *part, GString *report, GString *points, GPtrArray *remarks, GError **error)
{
  g_autoptr (TrainingReader) reader = training_reader_new (error);
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func ((GDestroyNotify) csv_free);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (line_free);
  g_autoptr (Shelf) parts = shelf_new ();
  g_autoptr (GString) others = g_string_new (NULL);
  g_autoptr (GArray) items = NULL;

  if (reader == NULL || !load_tables (paths, tables, error) || (items = training_items (reader, tables, NULL, error)) == NULL)
    return FALSE;
  training_anchors (items, ANCHOR_SMALLEST);
  g_string_append (points, "row,efficiency\n");
  for (guint i = 0; i < items->len; i++)
    {
      const TrainingItem *item = &g_array_index (items, TrainingItem, i);

      if (item->read->skip == NULL && (item->serves || item->anchor == G_MAXUINT) && item->read->nodes == 1)
        add_value (lines, parts, item, tables->pdata[item->table], points, remarks);
    }
  if (lines->len == 0)
    {
      g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "%s: no row of one node that gives an efficiency; see `lockstep validate training` for why rows are skipped", paths[0]);
      return FALSE;
    }
  if (!keep_table (lines, part, others, error))
    return FALSE;
  g_ptr_array_sort (lines, compare_lines);
  g_string_append (part, header);
  for (guint i = 0; i < lines->len; i++)
    append_line (part, lines->pdata[i]);
  g_string_append_len (part, others->str, (gssize) others->len);
  g_string_append_printf (report, "%u efficiencies by family, tuning, precision, GPU generation and source\n", lines->len);
  return TRUE;
}
