/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/interval.h"

#include <math.h>

#include "base/csv.h"
#include "base/origin.h"

/* Cells that say when a line holds; empty: always.  The first line that holds counts. */
enum { ANCHOR, NODES, LINK, INPUT, BELOW, LO, HI, ORIGIN, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = { "anchor", "nodes", "link", "input", "below_s", "lo", "hi", "origin" };

typedef struct { const char *text[N_COLUMNS]; double below, lo, hi; } Line;

struct IntervalTable
{
  CsvTable *table;
  GArray   *lines;   /* Line */
};

static gboolean
read_line (IntervalTable *intervals, guint row, const guint column[N_COLUMNS], GError **error)
{
  const CsvTable *table = intervals->table;
  Line line = { .below = NAN };

  for (guint i = 0; i < N_COLUMNS; i++)
    line.text[i] = csv_text (table, row, column[i]);
  if (!csv_number (table, row, column[BELOW], &line.below, error) || !csv_number (table, row, column[LO], &line.lo, error)
      || !csv_number (table, row, column[HI], &line.hi, error))
    return FALSE;
  if (!(line.lo > 0 && line.lo <= line.hi))
    {
      g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "%s:%u: lo: must be above 0 and at most hi", csv_name (table), csv_line (table, row));
      return FALSE;
    }
  g_array_append_val (intervals->lines, line);
  return TRUE;
}

IntervalTable *
interval_table_load (GError **error)
{
  g_autofree char *path = g_build_filename (part_folder (), "interval.csv", NULL);
  g_autoptr (IntervalTable) intervals = g_new0 (IntervalTable, 1);
  guint column[N_COLUMNS];

  intervals->lines = g_array_new (FALSE, FALSE, sizeof (Line));
  intervals->table = csv_load (path, error);
  if (intervals->table == NULL)
    return NULL;
  for (guint i = 0; i < N_COLUMNS; i++)
    {
      if (!csv_require (intervals->table, column_names[i], &column[i], error))
        return NULL;
    }
  for (guint row = 0; row < csv_rows (intervals->table); row++)
    {
      if (!read_line (intervals, row, column, error))
        return NULL;
    }
  return g_steal_pointer (&intervals);
}

void
interval_table_free (IntervalTable *intervals)
{
  if (intervals == NULL)
    return;
  g_array_unref (intervals->lines);
  csv_free (intervals->table);
  g_free (intervals);
}

static gboolean
says (const Line *line, guint column, const char *what)
{
  return *line->text[column] == '\0' || g_str_equal (line->text[column], what);
}

const char *
interval_find (const IntervalTable *intervals, const IntervalSituation *s, double *lo, double *hi)
{
  *lo = *hi = NAN;
  for (guint i = 0; i < intervals->lines->len; i++)
    {
      const Line *line = &g_array_index (intervals->lines, Line, i);

      if (says (line, ANCHOR, s->anchor) && says (line, NODES, s->gpus < 2 ? "none" : s->nodes > 1 ? "several" : "one")
          && says (line, LINK, s->link_assumed ? "assumed" : "known") && says (line, INPUT, s->input_unknown ? "unknown" : "known")
          && (isnan (line->below) || s->seconds < line->below))
        {
          *lo = line->lo;
          *hi = line->hi;
          return line->text[ORIGIN];
        }
    }
  return NULL;
}
