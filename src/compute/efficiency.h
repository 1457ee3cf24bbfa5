/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/origin.h"
#include "base/precision.h"

/* What divides the roofline of a whole step, and where it may lie. */
typedef struct
{
  double value, low, high;
  const char *match;         /* how much of the key was found: "key", "generation" (the one before or after), "far" (another one),
                              * "class" (a wider one) */
  Origin origin;             /* text interned: lives as long as the program */
} Efficiency;

/* Reads models/efficiency.csv and takes the narrowest key, in the table's words, that
 * has a row; as if the rows of the source `without` were not there (NULL: all), then
 * the medians over several sources are not there either.  An unknown tuning is an
 * error that names the known ones. */
gboolean efficiency_find (const char *family, const char *tuning, const char *precision, const char *generation,
                          const char *without, Efficiency *out, GError **error);
/* The table's word for a precision: "fp32", "tf32", "amp", "fp8". */
const char *efficiency_precision (Precision precision);
