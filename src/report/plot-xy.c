/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/picture.h"
#include "report/report.h"
#include "report/text.h"
#include "base/csv.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Any two columns of a table.  Numbers, names and lines are settled here; the
 * script only draws. */

#define MAX_SERIES 16u
#define MAX_LINES  8u     /* where nobody asked for lines: what a legend with long names holds */
#define MAX_NAMES  40u    /* on a text axis */
#define MAX_TICKS  40u    /* places that are named; more: the script's own ticks */
#define AXIS_PX    800.0  /* length of the x axis, and of one letter below it */
#define LETTER_PX  8.5

/* One column as places on an axis; NAN: empty. */
typedef struct
{
  const char *column;
  double     *at;
  char       *unit;       /* of the cells; NULL: none */
  gboolean    mixed;      /* each cell has its own */
  GPtrArray  *names;      /* of a text axis, place 1 first; else NULL */
} Axis;

typedef struct { double x, y; guint series, row; } XyPoint;

typedef struct
{
  const CsvTable *table;
  Axis            x, y;
  GPtrArray      *series;   /* names */
  guint          *of_row;
  GArray         *points;   /* XyPoint, by series and x */
  gboolean        cloud;    /* some points of a series stand at one x */
} Xy;

static void
axis_clear (Axis *axis)
{
  g_free (axis->at);
  g_free (axis->unit);
  g_clear_pointer (&axis->names, g_ptr_array_unref);
}

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

/* Place of a name in a list, from 1; added where it is new. */
static guint
place_of (GPtrArray *names, const char *name)
{
  guint place;

  if (g_ptr_array_find_with_equal_func (names, name, g_str_equal, &place))
    return place + 1;
  g_ptr_array_add (names, g_strdup (name));
  return names->len;
}

/* "25 Gbit/s", "7", "true" (no number); all cells of one column with one unit. */
static gboolean
read_plain (Axis *axis, const CsvTable *table, guint column)
{
  const char *unit = NULL;

  for (guint row = 0; row < csv_rows (table); row++)
    {
      const char *cell = csv_text (table, row, column);
      char *end;

      axis->at[row] = *cell != '\0' ? g_ascii_strtod (cell, &end) : NAN;
      if (*cell == '\0')
        continue;
      if (end == cell || !isfinite (axis->at[row]))
        return FALSE;
      end += strspn (end, " \t");
      if (unit != NULL && !g_str_equal (unit, end))
        return FALSE;
      unit = end;
    }
  axis->unit = unit != NULL && *unit != '\0' ? g_strdup (unit) : NULL;
  return TRUE;
}

/* "512 KiB" beside "1 MiB": in SI. */
static gboolean
read_quantities (Axis *axis, const CsvTable *table, guint column)
{
  static const struct { Unit unit; const char *name; } units[] = {
    { UNIT_TIME, "s" }, { UNIT_BYTES, "bytes" }, { UNIT_RATE, "bytes/s" }, { UNIT_SHARE, NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (units); i++)
    {
      gboolean ok = TRUE;

      for (guint row = 0; ok && row < csv_rows (table); row++)
        {
          const char *cell = csv_text (table, row, column);

          axis->at[row] = NAN;
          ok = *cell == '\0' || quantity_parse (cell, units[i].unit, &axis->at[row], NULL);
        }
      if (ok)
        {
          axis->unit = g_strdup (units[i].name);
          axis->mixed = TRUE;
          return TRUE;
        }
    }
  return FALSE;
}

static gboolean
read_names (Axis *axis, const CsvTable *table, guint column)
{
  axis->names = g_ptr_array_new_with_free_func (g_free);
  for (guint row = 0; row < csv_rows (table); row++)
    {
      const char *cell = csv_text (table, row, column);

      axis->at[row] = *cell != '\0' ? (double) place_of (axis->names, cell) : NAN;
    }
  return axis->names->len <= MAX_NAMES;
}

static gboolean
read_axis (Axis *axis, const CsvTable *table, const char *name, gboolean may_be_text, GError **error)
{
  guint column, row = 0;
  char *end;

  if (!csv_require (table, name, &column, error))
    return FALSE;
  axis->column = name;
  axis->at = g_new0 (double, csv_rows (table));
  if (read_plain (axis, table, column) || read_quantities (axis, table, column) || (may_be_text && read_names (axis, table, column)))
    return TRUE;
  while (row + 1 < csv_rows (table) && (g_ascii_strtod (csv_text (table, row, column), &end), end != csv_text (table, row, column)))
    row++;
  if (may_be_text)
    g_set_error (error, PLOT_ERROR, PLOT_ERROR_INPUT, "%s: column '%s' is text with more than %u values; a picture needs numbers or fewer",
                 csv_name (table), name, MAX_NAMES);
  else
    g_set_error (error, PLOT_ERROR, PLOT_ERROR_INPUT, "%s:%u: column '%s' has '%s'; the y axis needs numbers of one kind",
                 csv_name (table), csv_line (table, row), name, csv_text (table, row, column));
  return FALSE;
}

/* A logarithm needs numbers above 0. */
static gboolean
check_log (const Axis *axis, const CsvTable *table, gboolean log, GError **error)
{
  for (guint row = 0; log && row < csv_rows (table); row++)
    {
      if (axis->names == NULL && !(axis->at[row] <= 0))
        continue;
      g_set_error (error, PLOT_ERROR, PLOT_ERROR_INPUT, "%s:%u: column '%s' has '%s', which no logarithmic axis can show; leave out --log",
                   csv_name (table), csv_line (table, row), axis->column,
                   csv_text (table, row, (guint) csv_column (table, axis->column)));
      return FALSE;
    }
  return TRUE;
}

/* "strategy.bucket-size" as it stands beside a line. */
static const char *
short_name (const char *column)
{
  const char *dot = strrchr (column, '.');

  return dot != NULL ? dot + 1 : column;
}

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
        g_string_append_printf (name, "%s%s %s", name->len > 0 ? ", " : "", short_name (title), csv_text (xy->table, row, column));
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
      g_autofree char *name = by >= 0 ? g_strdup_printf ("%s %s", short_name (csv_column_name (xy->table, (guint) by)),
                                                         csv_text (xy->table, row, (guint) by))
                                      : swept_values (xy, swept, row);

      xy->of_row[row] = place_of (xy->series, name);
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

/* "step_time_s" says its unit at the end; small or large values take a better one. */
static const struct { const char *suffix; double above, factor; const char *unit; } scales[] = {
  { "_samples_per_s", 0, 1, "samples/s" }, { "_s", 1, 1, "s" }, { "_s", 1e-3, 1e3, "ms" }, { "_s", 0, 1e6, "us" },
  { "_Bps", 1e9, 1e-9, "GB/s" }, { "_Bps", 0, 1e-6, "MB/s" },
  { "_bytes", 1u << 30, 1.0 / (1u << 30), "GiB" }, { "_bytes", 1u << 20, 1.0 / (1u << 20), "MiB" }, { "_bytes", 0, 1, "bytes" },
  { "_usd", 0, 1, "USD" },
};

/* The label of an axis; scales its values. */
static char *
label_axis (Axis *axis, guint n)
{
  g_autofree char *words = NULL;
  double most = 0;

  for (guint i = 0; i < n; i++)
    most = fmax (most, fabs (axis->at[i]));   /* fmax leaves NAN out */
  for (gsize i = 0; axis->names == NULL && axis->unit == NULL && i < G_N_ELEMENTS (scales); i++)
    {
      if (!g_str_has_suffix (axis->column, scales[i].suffix) || most < scales[i].above)
        continue;
      for (guint k = 0; k < n; k++)
        axis->at[k] *= scales[i].factor;
      words = g_strndup (axis->column, strlen (axis->column) - strlen (scales[i].suffix));
      return g_strdup_printf ("%s, %s", g_strdelimit (words, "_", ' '), scales[i].unit);
    }
  words = g_strdelimit (g_strdup (short_name (axis->column)), "_", ' ');
  return axis->unit != NULL && !axis->mixed ? g_strdup_printf ("%s, %s", words, axis->unit) : g_steal_pointer (&words);
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
      const gsize length = xy->x.mixed ? strlen (cell) : strcspn (cell, " \t");
      const double at = pixel (point->x, least, most, log_x), half = LETTER_PX * (double) length / 2;
      g_autofree char *text = g_strndup (cell, length);

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
  g_autofree char *x_label = label_axis (&xy->x, csv_rows (xy->table)), *y_label = label_axis (&xy->y, csv_rows (xy->table));
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
  return read_axis (&xy.x, table, columns->x, TRUE, error) && read_axis (&xy.y, table, columns->y, FALSE, error)
         && check_log (&xy.x, table, columns->log_x, error) && check_log (&xy.y, table, columns->log_y, error)
         && find_series (&xy, columns->by, error) && draw_xy (&xy, name, columns, path, error);
}
