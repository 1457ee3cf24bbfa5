/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/point.h"
#include "run/result.h"

/* d ln (step) / d ln (duration) of each resource: central difference of 1 %,
 * algorithms and groups of gradients frozen.  Resources that change nothing are
 * left out.  Two executions a resource. */
gboolean sensitivity_list (const Point *point, NamedTime **out, guint *n, GError **error);
/* The step if every duration were `factor` times as long: exactly that many
 * times the step (a test). */
gboolean sensitivity_all  (const Point *point, double factor, double *seconds, GError **error);
