/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/plot-axis.h"
#include "report/report.h"
#include <math.h>
#include <string.h>

#define MAX_NAMES  40u    /* on a text axis */

void
axis_clear (PlotAxis *axis)
{
  g_free (axis->at);
  g_free (axis->unit);
  g_clear_pointer (&axis->names, g_ptr_array_unref);
}

guint
axis_place (GPtrArray *names, const char *name)
{
  guint place;

  if (g_ptr_array_find_with_equal_func (names, name, g_str_equal, &place))
    return place + 1;
  g_ptr_array_add (names, g_strdup (name));
  return names->len;
}

/* "25 Gbit/s", "7", "true" (no number); all cells of one column with one unit. */
static gboolean
read_plain (PlotAxis *axis, const CsvTable *table, guint column)
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
read_quantities (PlotAxis *axis, const CsvTable *table, guint column)
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
read_names (PlotAxis *axis, const CsvTable *table, guint column)
{
  axis->names = g_ptr_array_new_with_free_func (g_free);
  for (guint row = 0; row < csv_rows (table); row++)
    {
      const char *cell = csv_text (table, row, column);

      axis->at[row] = *cell != '\0' ? (double) axis_place (axis->names, cell) : NAN;
    }
  return axis->names->len <= MAX_NAMES;
}

gboolean
axis_read (PlotAxis *axis, const CsvTable *table, const char *name, gboolean may_be_text, GError **error)
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

gboolean
axis_check_log (const PlotAxis *axis, const CsvTable *table, gboolean log, GError **error)
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

const char *
axis_short_name (const char *column)
{
  const char *dot = strrchr (column, '.');

  return dot != NULL ? dot + 1 : column;
}

/* "step_time_s" says its unit at the end; small or large values take a better one. */
static const struct { const char *suffix; double above, factor; const char *unit; } scales[] = {
  { "_samples_per_s", 0, 1, "samples/s" }, { "_s", 1, 1, "s" }, { "_s", 1e-3, 1e3, "ms" }, { "_s", 0, 1e6, "us" },
  { "_Bps", 1e9, 1e-9, "GB/s" }, { "_Bps", 0, 1e-6, "MB/s" },
  { "_bytes", 1u << 30, 1.0 / (1u << 30), "GiB" }, { "_bytes", 1u << 20, 1.0 / (1u << 20), "MiB" }, { "_bytes", 0, 1, "bytes" },
  { "_usd", 0, 1, "USD" },
};

/* "memory_per_gpu" as words; takes and returns `name`. */
static char *
spelled (char *name)
{
  static const char *const capitals[] = { "gpu", "gpus", "mfu", NULL };
  g_auto (GStrv) words = g_strsplit (name, "_", -1);

  for (gsize i = 0; words[i] != NULL; i++)
    if (g_strv_contains (capitals, words[i]))
      for (char *c = words[i]; *c != '\0' && *c != 's'; c++)
        *c = g_ascii_toupper (*c);
  g_free (name);
  return g_strjoinv (" ", words);
}

char *
axis_label (PlotAxis *axis, guint n)
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
      axis->scaled = !(scales[i].factor >= 1 && scales[i].factor <= 1);
      words = spelled (g_strndup (axis->column, strlen (axis->column) - strlen (scales[i].suffix)));
      return g_strdup_printf ("%s, %s", words, scales[i].unit);
    }
  words = spelled (g_strdup (axis_short_name (axis->column)));
  return axis->unit != NULL && !axis->mixed ? g_strdup_printf ("%s, %s", words, axis->unit) : g_steal_pointer (&words);
}
