/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "calibrate/kernel-table.h"

/* Fits of the kernel forms to measured tables, and what they say of others. */

/* One fit over the rows of all tables that belong to the group's GPU, family and
 * precision, and that `use` (NULL: all) wants.  NULL without error: fewer rows
 * than a fit is worth (counted in n_rows). */
KernelPart *kernel_fit     (KernelTable *const *tables, guint n_tables, const KernelGroup *group, const KernelForm *form,
                            gboolean (*use) (const KernelRow *row), gboolean keep_residuals, guint *n_rows, GError **error);
/* Every group of the tables, those of one label together; joins `parts`. */
gboolean    kernel_fit_all (KernelTable *const *tables, guint n_tables, gboolean (*use) (const KernelRow *row),
                            gboolean keep_residuals, gboolean rooflines, GPtrArray *parts, GError **error);
