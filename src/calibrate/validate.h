/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/csv.h"

/* Predicted against measured for whole tables: the rows, their statistics, and
 * how they are printed.  What is predicted and how is the caller's. */
typedef struct Validation Validation;

Validation *validation_new    (void);
void        validation_free   (Validation *validation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Validation, validation_free)

/* One line of the output; its number.  `csv` (NULL: none) is borrowed until the
 * validation goes: --rows repeats its columns. */
guint validation_source (Validation *validation, const char *name, const CsvTable *csv);
/* A predicted row, `row` of the source's table; all in s.  lo and hi NAN: no interval.  `parts` says what it was
 * predicted from; interned by the validation. */
void  validation_add    (Validation *validation, guint source, guint row, double measured, double predicted, double lo, double hi,
                         const char *parts);
/* What a simpler model (ideal scaling) says of the row added last. */
void  validation_beside (Validation *validation, double predicted);
/* A row that is not predicted, and why: a text of the caller's fixed list. */
void  validation_skip   (Validation *validation, guint source, guint row, const char *reason);
/* Rows that a fit used: said, never counted. */
void  validation_fitted (Validation *validation, guint source, guint rows);

/* Of the used rows; errors are |predicted/measured - 1|. */
typedef struct
{
  guint  rows, used, skipped, fitted;
  double median, mean, p90;
  double bias;        /* mean of predicted/measured - 1 */
  double coverage;    /* share of the rows inside their interval; NAN: none has one */
  double half_width;  /* median of (hi/lo)^(1/2) - 1 */
  double beside_median, beside_p90;   /* of the simpler model; NAN: none */
  double bag_median, bag_p90;   /* error of the sum of random bags of 100 rows */
} ValidationSummary;
/* source G_MAXUINT: all.  `bags`: the last two too. */
void  validation_summary (const Validation *validation, guint source, gboolean bags, ValidationSummary *out);
guint validation_n_sources (const Validation *validation);

/* One line a source, the last line for all. */
void  validation_print     (const Validation *validation, gboolean bags, GString *out);
void  validation_json      (const Validation *validation, gboolean bags, GString *out);
/* A line a source: the columns of validation_json's by_source. */
void  validation_csv       (const Validation *validation, gboolean bags, GString *out);
/* Every row: table (its file), the columns of its table, then
 * measured,predicted,lo,hi,error,skip_reason,parts. */
void  validation_rows      (const Validation *validation, GString *out);
