/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "calibrate/validate.h"

/* Between validate.c and validate-print.c. */

typedef struct
{
  guint       source, row;                           /* row: of the source's table */
  double      measured, predicted, lo, hi, beside;   /* s; NAN: none */
  const char *skip, *parts;                          /* NULL: none; interned */
} ValidationRow;

/* One line of the output. */
typedef struct
{
  char           *name;
  const CsvTable *csv;      /* borrowed; NULL: none */
  guint           fitted;   /* rows that a fit used */
} ValidationSource;

struct Validation
{
  GArray       *rows;      /* ValidationRow */
  GArray       *sources;   /* ValidationSource */
  GStringChunk *texts;
};

static inline const ValidationRow *
validation_row_at (const Validation *validation, guint i)
{
  return &g_array_index (validation->rows, ValidationRow, i);
}

static inline const ValidationSource *
validation_source_at (const Validation *validation, guint i)
{
  return &g_array_index (validation->sources, ValidationSource, i);
}
