/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/point.h"
#include "run/result.h"

/* d ln (step) / d ln (duration) of each resource, 1 % longer, algorithms and groups of
 * gradients frozen: of several that are equally narrow each has its whole effect, where
 * a central difference would have half of it.  Resources that change nothing are left
 * out.  One execution a resource. */
gboolean sensitivity_list (const Point *point, NamedTime **out, guint *n, GError **error);
/* The step if every duration were `factor` times as long: exactly that many
 * times the step (a test). */
gboolean sensitivity_all  (const Point *point, double factor, double *seconds, GError **error);
