/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/keys.h"

/* Is it a source of measured steps that models/efficiency.csv or models/llm.csv
 * name?  Else an error with all that there are.  Reads both tables. */
gboolean source_check (const char *name, GError **error);
