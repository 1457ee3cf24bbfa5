/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "scenario/scenario.h"

/* One point of a [sweep]: what it sets. */
typedef struct
{
  guint  n;
  char **keys, **values, **sets;   /* NULL-terminated; sets[i] is "key=value" */
} SetPoint;

/* The product of the scenario's axes without those in `except`, the last axis
 * fastest; one empty point where none is left.  At most 1,000,000 points.
 * Array of SetPoint; caller frees with g_ptr_array_unref. */
GPtrArray *sets_product (const Scenario *scenario, const char *const *except, GError **error);
