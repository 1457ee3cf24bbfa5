/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/interval.h"

#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/origin.h"

/* First what a line holds for (empty: anything, "a|b": either), then its numbers.
 * The first line that holds counts. */
enum { ANCHOR, NODES, SOFTWARE, PRECISION, LINK, INPUT, BELOW, LO, HI, WAIT, OTHER, SLOW, FAST, ORIGIN, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = {
  "anchor", "nodes", "software", "precision", "link", "input", "below_s", "lo", "hi", "wait", "other", "slow", "fast", "origin",
};

typedef struct { const char *text[N_COLUMNS]; double number[N_COLUMNS]; } Line;

struct IntervalTable
{
  CsvTable *table;
  GArray   *lines;   /* Line */
};

/* Of logarithms, shares, factors and seconds. */
static const double largest = 1e6;

static gboolean
read_line (IntervalTable *intervals, guint row, const guint column[N_COLUMNS], GError **error)
{
  const CsvTable *table = intervals->table;
  Line line;

  for (guint i = 0; i < N_COLUMNS; i++)
    {
      line.text[i] = csv_text (table, row, column[i]);
      if (i >= BELOW && i < ORIGIN && !csv_number_in (table, row, column[i], 0, largest, &line.number[i], error))
        return FALSE;
    }
  for (guint i = LO; i <= OTHER; i++)
    {
      if (line.number[i] >= 0)
        continue;
      g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "%s:%u: column '%s': is empty; give a number of 0 or more", csv_name (table),
                   csv_line (table, row), column_names[i]);
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

static double
share (const double *ledger, double seconds, gboolean wait)
{
  const double all = wait ? ledger[CAUSE_WAIT] : ledger[CAUSE_HOST] + ledger[CAUSE_EXPOSED_COMM] + ledger[CAUSE_BUBBLE]
                                                   + ledger[CAUSE_INPUT] + ledger[CAUSE_OTHER];

  return all / seconds;
}

void
interval_shares (IntervalSituation *s, const double ledger[N_CAUSES], double seconds, const double *anchor, double anchor_seconds)
{
  s->seconds = seconds;
  s->wait = fmax (0, share (ledger, seconds, TRUE) - (anchor != NULL ? share (anchor, anchor_seconds, TRUE) : 0));
  s->other = fmax (0, share (ledger, seconds, FALSE) - (anchor != NULL ? share (anchor, anchor_seconds, FALSE) : 0));
}

static gboolean
says (const Line *line, guint column, const char *what)
{
  g_auto (GStrv) list = NULL;

  if (*line->text[column] == '\0')
    return TRUE;
  list = g_strsplit (line->text[column], "|", -1);
  return g_strv_contains ((const char *const *) list, what);
}

static gboolean
holds (const Line *line, const IntervalSituation *s)
{
  return says (line, ANCHOR, s->anchor) && says (line, NODES, s->gpus < 2 ? "none" : s->nodes > 1 ? "several" : "one")
         && says (line, SOFTWARE, s->software) && says (line, PRECISION, s->tensor ? "tensor" : "full")
         && says (line, LINK, s->link_assumed ? "assumed" : "known") && says (line, INPUT, s->input_unknown ? "unknown" : "known")
         && (isnan (line->number[BELOW]) || s->seconds < line->number[BELOW]);
}

static double
or_one (double value)
{
  return isnan (value) ? 1 : value;
}

gboolean
interval_find (const IntervalTable *intervals, const IntervalSituation *s, Interval *out)
{
  *out = (Interval) { .lo = NAN, .hi = NAN, .slow = NAN, .fast = NAN };
  for (guint i = 0; i < intervals->lines->len; i++)
    {
      const Line *line = &g_array_index (intervals->lines, Line, i);

      if (!holds (line, s))
        continue;
      const double rest = hypot (line->number[WAIT] * s->wait, line->number[OTHER] * s->other);
      *out = (Interval) {
        .lo = exp (-hypot (line->number[LO], rest)), .hi = exp (hypot (line->number[HI], rest)),
        .all_lo = line->number[LO], .all_hi = line->number[HI], .wait = line->number[WAIT], .other = line->number[OTHER],
        .slow = or_one (line->number[SLOW]), .fast = or_one (line->number[FAST]), .origin = line->text[ORIGIN],
      };
      return TRUE;
    }
  return FALSE;
}

void
interval_widen (Interval *interval, double seconds, double slow_seconds, double fast_seconds)
{
  interval->hi = exp (hypot (log (interval->hi), log (fmax (slow_seconds / seconds, 1))));
  interval->lo = exp (-hypot (log (interval->lo), log (fmin (fast_seconds / seconds, 1))));
}
