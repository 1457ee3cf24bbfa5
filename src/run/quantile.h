/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* Ascending, in place; O(n log n). */
void   quantile_sort (double *values, guint n);
/* By linear interpolation between sorted values, n from 1. */
double quantile_at   (const double *sorted, guint n, double share);
