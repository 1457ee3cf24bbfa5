/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/csv.h"

/* The script in plots/ for a table that lockstep wrote; NULL: none fits, or too many rows for any. */
const char *plot_pick (const CsvTable *table);
/* The numbers that a picture cannot do without: there, and above zero. */
gboolean    plot_check (const CsvTable *table, GError **error);
