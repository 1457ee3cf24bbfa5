/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/csv.h"

/* One column of a table as places on an axis; NAN: empty. */
typedef struct
{
  const char *column;
  double     *at;
  char       *unit;       /* of the cells; NULL: none */
  gboolean    mixed;      /* each cell has its own */
  gboolean    scaled;     /* places are not the cells' numbers, but those in a better unit */
  GPtrArray  *names;      /* of a text axis, place 1 first; else NULL */
} PlotAxis;

/* `name` borrowed.  may_be_text: names take the places 1, 2, ... ; errors of PLOT_ERROR
 * and of the table. */
gboolean    axis_read       (PlotAxis *axis, const CsvTable *table, const char *name, gboolean may_be_text, GError **error);
void        axis_clear      (PlotAxis *axis);
/* A logarithm needs numbers above 0. */
gboolean    axis_check_log  (const PlotAxis *axis, const CsvTable *table, gboolean log, GError **error);
/* With its unit; scales the `n` values to it.  Caller frees. */
char       *axis_label      (PlotAxis *axis, guint n);
/* "strategy.bucket-size" as it stands beside a line: "bucket-size".  Borrowed. */
const char *axis_short_name (const char *column);
/* Place of a name in a list of copies, from 1; added where it is new. */
guint       axis_place      (GPtrArray *names, const char *name);
