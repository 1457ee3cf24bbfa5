/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "scenario/scenario.h"

/* One point of a [sweep]: what it sets. */
typedef struct
{
  guint  n;
  char **keys, **values, **sets;   /* NULL-terminated; sets[i] is "key=value" */
} SetPoint;

void       set_point_free (SetPoint *point);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SetPoint, set_point_free)

/* The product of the scenario's axes without those in `except` (NULL-terminated),
 * the last axis fastest; one empty point where none is left.  At most 1,000,000
 * points, else 0 and an error. */
guint      sets_count   (const Scenario *scenario, const char *const *except, GError **error);
/* Point `index` of it. */
SetPoint  *sets_at      (const Scenario *scenario, const char *const *except, guint index);
/* All of them: array of SetPoint; caller frees with g_ptr_array_unref. */
GPtrArray *sets_product (const Scenario *scenario, const char *const *except, GError **error);
/* An error of a point: names the point at the end, and where the key at fault is
 * swept its line of [sweep]. */
void       set_point_locate_error (const Scenario *scenario, const SetPoint *point, GError **error);
