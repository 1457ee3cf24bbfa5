/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* Lists of values as text: "1, 2, 4", "8..512 x2", "0..64 +8", "1..16 MiB x4". */

/* "LOW..HIGH xFACTOR" or "LOW..HIGH +STEP", taken apart; strings owned. */
typedef struct { char *low, *high, *step; gboolean multiply; } ValueRange;
void     value_range_clear (ValueRange *range);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ValueRange, value_range_clear)
/* FALSE with no error: the item is no range. */
gboolean value_range_split (const char *item, ValueRange *range, GError **error);
/* How many values it has; 0 and an error: none, or more than `max`. */
guint    value_range_count (double low, double high, double step, gboolean multiply, guint max, GError **error);
double   value_range_at    (double low, double step, gboolean multiply, guint i);

/* The items of a comma list, blanks trimmed; an empty item is an error.  g_strfreev. */
char   **values_split  (const char *text, GError **error);
/* The whole list with its ranges written out.  The unit of a range may stand at
 * both ends or at the upper one alone.  g_strfreev; `n` may be NULL. */
char   **values_expand (const char *text, guint max, guint *n, GError **error);
/* Whole numbers from a list, each in [1, largest].  Caller frees. */
guint64 *values_counts (const char *text, guint64 largest, guint max, guint *n, GError **error);
