/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* How far measured steps lie from predicted ones, by situation:
 * models/interval.csv, 5 to 95 % of measured over predicted among rows that no
 * constant was fitted to. */
typedef struct IntervalTable IntervalTable;

typedef struct
{
  const char *anchor;        /* "measured": efficiency from a smaller run of the same job; "full-node"; "catalogue" */
  guint64     nodes, gpus;
  gboolean    link_assumed;  /* known by the product's name only */
  gboolean    input_unknown; /* real data, rate of the input path not known */
  double      seconds;       /* predicted step */
} IntervalSituation;

IntervalTable *interval_table_load (GError **error);
void           interval_table_free (IntervalTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (IntervalTable, interval_table_free)
/* Factors on the predicted step; the line that gave them, or NULL: none fits, then
 * both are NAN. */
const char    *interval_find (const IntervalTable *table, const IntervalSituation *situation, double *lo, double *hi);
