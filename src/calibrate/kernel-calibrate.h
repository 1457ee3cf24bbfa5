/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* `lockstep calibrate compute`: tables of one GPU to the text of a part.
 * `report`: a line a fit; `points`: CSV with measured and fitted times;
 * `remarks` (char *, freed by the array): what was trimmed, and why. */
gboolean kernel_calibrate (const char *const *paths, GString *part, GString *report, GString *points, GPtrArray *remarks,
                           GError **error);
