/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/picture.h"
#include "report/plot-axis.h"
#include "report/report.h"
#include "report/text.h"
#include <math.h>
#include <string.h>

/* Any two columns of a table.  Numbers, names and lines are settled here; the
 * script only draws. */

#define MAX_SERIES 16u
#define MAX_LINES  8u     /* where nobody asked for lines: what a legend with long names holds */
#define MAX_TICKS  40u    /* places that are named; more: the script's own ticks */
#define AXIS_PX    800.0  /* length of the x axis, and of one letter below it */
#define LETTER_PX  8.5

typedef struct { double x, y; guint series, row; } XyPoint;

typedef struct
{
  const CsvTable *table;
  PlotAxis        x, y;
  GPtrArray      *series;   /* names */
  guint          *of_row;
  GArray         *points;   /* XyPoint, by series and x */
  gboolean        cloud;    /* some points of a series stand at one x */
} Xy;

static void
xy_clear (Xy *xy)
{
  axis_clear (&xy->x);
  axis_clear (&xy->y);
  g_clear_pointer (&xy->series, g_ptr_array_unref);
  g_clear_pointer (&xy->points, g_array_unref);
  g_free (xy->of_row);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Xy, xy_clear)

static gboolean
varies (const CsvTable *table, guint column)
{
  for (guint row = 1; row < csv_rows (table); row++)
    if (!g_str_equal (csv_text (table, row, column), csv_text (table, 0, column)))
      return TRUE;
  return FALSE;
}

/* The values of the swept columns (those before `nodes`) beside the two axes: "batch 32, nodes 4". */
static char *
swept_values (const Xy *xy, const gboolean *swept, guint row)
{
  const int nodes = csv_column (xy->table, "nodes");
  GString *name = g_string_new (NULL);

  for (guint column = 0; nodes > 0 && column < (guint) nodes; column++)
    {
      const char *title = csv_column_name (xy->table, column);

      if (swept[column] && !g_str_equal (title, xy->x.column) && !g_str_equal (title, xy->y.column))
        g_string_append_printf (name, "%s%s %s", name->len > 0 ? ", " : "", axis_short_name (title), csv_text (xy->table, row, column));
    }
  return g_string_free (name, FALSE);
}

static void
name_series (Xy *xy, int by)
{
  g_autofree gboolean *swept = g_new (gboolean, csv_columns (xy->table));

  for (guint column = 0; column < csv_columns (xy->table); column++)
    swept[column] = varies (xy->table, column);
  for (guint row = 0; row < csv_rows (xy->table) && xy->series->len <= MAX_SERIES; row++)
    {
      g_autofree char *name = by >= 0 ? g_strdup_printf ("%s %s", axis_short_name (csv_column_name (xy->table, (guint) by)),
                                                         csv_text (xy->table, row, (guint) by))
                                      : swept_values (xy, swept, row);

      xy->of_row[row] = axis_place (xy->series, name);
    }
}

static gboolean
find_series (Xy *xy, const char *by, GError **error)
{
  guint column = 0;

  if (by != NULL && !csv_require (xy->table, by, &column, error))
    return FALSE;
  xy->series = g_ptr_array_new_with_free_func (g_free);
  xy->of_row = g_new0 (guint, csv_rows (xy->table));
  name_series (xy, by != NULL ? (int) column : -1);
  if (xy->series->len <= (by != NULL ? MAX_SERIES : MAX_LINES))
    return TRUE;
  if (by != NULL)
    {
      g_set_error (error, PLOT_ERROR, PLOT_ERROR_INPUT, "%s: column '%s' has more than %u values; give --by a column with fewer",
                   csv_name (xy->table), by, MAX_SERIES);
      return FALSE;
    }
  g_ptr_array_set_size (xy->series, 0);   /* too many to tell apart: one cloud */
  g_ptr_array_add (xy->series, g_strdup (""));
  for (guint row = 0; row < csv_rows (xy->table); row++)
    xy->of_row[row] = 1;
  return TRUE;
}

static int
compare_points (gconstpointer a, gconstpointer b)
{
  const XyPoint *p = a, *q = b;

  if (p->series != q->series)
    return p->series < q->series ? -1 : 1;
  if (p->x < q->x || p->x > q->x)
    return p->x < q->x ? -1 : 1;
  return p->row < q->row ? -1 : p->row > q->row;
}

static gboolean
collect (Xy *xy, GError **error)
{
  xy->points = g_array_new (FALSE, FALSE, sizeof (XyPoint));
  for (guint row = 0; row < csv_rows (xy->table); row++)
    {
      const XyPoint point = { xy->x.at[row], xy->y.at[row], xy->of_row[row], row };

      if (isfinite (point.x) && isfinite (point.y))
        g_array_append_val (xy->points, point);
    }
  g_array_sort (xy->points, compare_points);
  for (guint i = 1; i < xy->points->len; i++)
    {
      const XyPoint *before = &g_array_index (xy->points, XyPoint, i - 1), *at = before + 1;

      xy->cloud = xy->cloud || (before->series == at->series && !(before->x < at->x));
    }
  if (xy->points->len == 0)
    g_set_error (error, PLOT_ERROR, PLOT_ERROR_INPUT, "%s: no row has both '%s' and '%s'", csv_name (xy->table), xy->x.column, xy->y.column);
  return xy->points->len > 0;
}

static void
add_label (GString *out, const char *what, double place, const char *text)
{
  g_autofree char *clean = text_clean (text);

  g_string_append_printf (out, "%s\t", what);
  csv_append_number (out, place);
  g_string_append_printf (out, "\t%s\n", clean);
}

/* Where a value stands on the x axis, in pixels. */
static double
pixel (double x, double least, double most, gboolean log_x)
{
  const double part = log_x ? log (x / least) / log (most / least) : (x - least) / (most - least);

  return most > least ? part * AXIS_PX : 0;
}

/* Cells as ticks, each that does not run into the one before it. */
static void
add_ticks (GString *out, const Xy *xy, gboolean log_x)
{
  g_autoptr (GArray) sorted = g_array_new (FALSE, FALSE, sizeof (XyPoint));
  const guint column = (guint) csv_column (xy->table, xy->x.column);
  double last = -INFINITY, least, most;

  for (guint i = 0; i < xy->points->len; i++)
    {
      XyPoint point = g_array_index (xy->points, XyPoint, i);

      point.series = 0;
      g_array_append_val (sorted, point);
    }
  g_array_sort (sorted, compare_points);
  least = g_array_index (sorted, XyPoint, 0).x;
  most = g_array_index (sorted, XyPoint, sorted->len - 1).x;
  for (guint i = 0, n = 0; i < sorted->len; i++)   /* more places than ticks: none */
    if ((i == 0 || g_array_index (sorted, XyPoint, i - 1).x < g_array_index (sorted, XyPoint, i).x) && ++n > MAX_TICKS)
      return;
  for (guint i = 0; i < sorted->len; i++)
    {
      const XyPoint *point = &g_array_index (sorted, XyPoint, i);
      const char *cell = csv_text (xy->table, point->row, column);
      g_autofree char *text = xy->x.scaled ? text_number (point->x) : g_strndup (cell, xy->x.mixed ? strlen (cell) : strcspn (cell, " \t"));
      const double at = pixel (point->x, least, most, log_x), half = LETTER_PX * (double) strlen (text) / 2;

      if (at - half < last + LETTER_PX)
        continue;
      add_label (out, "tick", point->x, text);
      last = at + half;
    }
}

static char *
labels_text (const Xy *xy, const char *x_label, const char *y_label, const PlotColumns *columns)
{
  GString *out = g_string_new ("what\tplace\ttext\n");

  add_label (out, "x", 0, x_label);
  add_label (out, "y", 0, y_label);
  add_label (out, "log", 0, columns->log_x ? columns->log_y ? "xy" : "x" : columns->log_y ? "y" : "no");
  add_label (out, "cloud", 0, xy->cloud ? "yes" : "no");
  for (guint i = 0; i < xy->series->len; i++)
    add_label (out, "series", i + 1, xy->series->pdata[i]);
  for (guint i = 0; xy->x.names != NULL && i < xy->x.names->len; i++)
    add_label (out, "name", i + 1, xy->x.names->pdata[i]);
  if (xy->x.names == NULL)
    add_ticks (out, xy, columns->log_x);
  return g_string_free (out, FALSE);
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* The median of the points of one series at one x, from point `first` on; moves it behind them. */
static double
median_at (const Xy *xy, guint *first)
{
  const XyPoint *at = &g_array_index (xy->points, XyPoint, *first);
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (double));

  for (; *first < xy->points->len; (*first)++)
    {
      const XyPoint *point = &g_array_index (xy->points, XyPoint, *first);

      if (point->series != at->series || point->x > at->x)
        break;
      g_array_append_val (values, point->y);
    }
  g_array_sort (values, compare_doubles);
  return 0.5 * (g_array_index (values, double, (values->len - 1) / 2) + g_array_index (values, double, values->len / 2));
}

static void
add_row (GString *out, double x, double y, guint series, const char *kind)
{
  csv_append_number (out, x);
  g_string_append_c (out, ',');
  csv_append_number (out, y);
  g_string_append_printf (out, ",%u,%s\n", series, kind);
}

static char *
points_csv (const Xy *xy)
{
  GString *out = g_string_new ("x,y,series,kind\n");

  for (guint i = 0; i < xy->points->len; i++)
    {
      const XyPoint *point = &g_array_index (xy->points, XyPoint, i);

      add_row (out, point->x, point->y, point->series, "point");
    }
  for (guint i = 0; i < xy->points->len;)
    {
      const XyPoint *point = &g_array_index (xy->points, XyPoint, i);

      add_row (out, point->x, median_at (xy, &i), point->series, "median");
    }
  return g_string_free (out, FALSE);
}

static gboolean
draw_xy (Xy *xy, const char *name, const PlotColumns *columns, const char *path, GError **error)
{
  g_autofree char *x_label = axis_label (&xy->x, csv_rows (xy->table)), *y_label = axis_label (&xy->y, csv_rows (xy->table));
  g_autofree char *points = NULL, *labels = NULL, *title = NULL;

  if (!collect (xy, error))
    return FALSE;
  title = g_strdup_printf ("%s: %.*s over %.*s", name, (int) strcspn (y_label, ","), y_label, (int) strcspn (x_label, ","), x_label);
  points = points_csv (xy);
  labels = labels_text (xy, x_label, y_label, columns);
  const Picture picture = { "xy.gp", points, NULL, title, labels };
  return picture_draw (&picture, path, error);
}

gboolean
plot_columns (const char *csv_path, const PlotColumns *columns, const char *path, GError **error)
{
  g_autoptr (CsvTable) table = csv_load (csv_path, error);
  g_autofree char *name = g_path_get_basename (csv_path);
  g_auto (Xy) xy = { .table = table };

  if (table == NULL)
    return FALSE;
  if (g_str_has_suffix (name, ".csv"))
    name[strlen (name) - strlen (".csv")] = '\0';
  return axis_read (&xy.x, table, columns->x, TRUE, error) && axis_read (&xy.y, table, columns->y, FALSE, error)
         && axis_check_log (&xy.x, table, columns->log_x, error) && axis_check_log (&xy.y, table, columns->log_y, error)
         && find_series (&xy, columns->by, error) && draw_xy (&xy, name, columns, path, error);
}
