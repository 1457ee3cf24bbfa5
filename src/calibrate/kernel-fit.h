/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "calibrate/kernel-table.h"

/* Fits of the kernel forms to measured tables, and what they say of others. */

/* Every group of the tables, those of one label together; joins `parts`. */
gboolean kernel_fit_all (KernelTable *const *tables, guint n_tables, gboolean (*use) (const KernelRow *row),
                            gboolean keep_residuals, gboolean rooflines, GPtrArray *parts, GError **error);
