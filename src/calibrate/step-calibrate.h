/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* `lockstep calibrate step`: tables of measured training steps to the text of
 * models/efficiency.csv: one efficiency a (family, tuning, precision, GPU
 * generation) and source, the median over the smallest-scale rows of its groups.
 * Lines of the present table that no row of these sources replaces are kept.
 * Arguments as of kernel_calibrate (). */
gboolean step_calibrate (const char *const *paths, GString *part, GString *report, GString *points, GPtrArray *remarks,
                         GError **error);
