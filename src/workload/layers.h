/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/csv.h"
#include "workload/workload.h"

/* Fills the layers and all that follows from them (not name, family, sample,
 * samples_per_epoch).  Copies what it needs: the table may go. */
gboolean layers_read (Workload *workload, const CsvTable *table, GError **error);
void     layers_clear (Workload *workload);
