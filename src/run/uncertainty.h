/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/shelf.h"
#include "run/point.h"
#include "run/result.h"

/* step_lo and step_hi of a Result: 5 and 95 % of the prediction, from the spreads
 * of models/interval.csv: of the step as a whole, of waits, of communication,
 * host and input, of links known by name only.  To first order from the ledger,
 * or (`monte_carlo`) by playing the step with durations drawn from the spreads:
 * a Latin hypercube of common random numbers, so that two scenarios share them.
 * Left at NAN where nothing is known. */
gboolean uncertainty_fill (Result *r, const Point *point, Shelf *parts, gboolean monte_carlo, guint64 seed, GError **error);
