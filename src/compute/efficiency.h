/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/origin.h"
#include "base/precision.h"

/* What divides the roofline of a whole step, and where it may lie. */
typedef struct
{
  double value, low, high;
  Origin origin;             /* text interned: lives as long as the program */
} Efficiency;

/* Reads models/efficiency.csv and takes the narrowest key that has a row.
 * An unknown tuning is an error that names the known ones. */
gboolean efficiency_find (const char *family, const char *tuning, Precision precision,
                          const char *generation, Efficiency *out, GError **error);
