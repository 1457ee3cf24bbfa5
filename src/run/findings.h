/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/point.h"
#include "run/run.h"

/* Sentences of a result.  Takes the text. */
void     findings_add     (Result *r, char *text);
/* The slowest of many ranks was drawn in place of each. */
void     findings_slowest (Result *r);
/* What slow GPUs, degraded cards and pauses cost: the step without each, and with
 * all pauses at once; the same draws. */
gboolean findings_uneven  (Result *r, const Point *point, const RunOptions *options, Shelf *parts, GError **error);
