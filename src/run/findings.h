/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/played.h"
#include "run/run.h"

/* Sentences of a result.  Takes the text. */
void     findings_add     (Result *r, char *text);
/* The slowest of many ranks was drawn in place of each. */
void     findings_slowest (Result *r);
/* "12.3 %", the share of the step that goes without something; NULL: next to nothing. */
char    *findings_cost    (double step, double without);
/* What the second job and the checkpoints of the steps played do themselves; `cards` of the job's nodes. */
void     findings_others  (Result *r, const Played *played, double cards);
/* What each kind of other traffic costs: the step without it. */
gboolean findings_traffic (Result *r, const Point *point, const RunOptions *options, GError **error);
/* What slow GPUs, degraded cards and pauses cost: the step without each, and with
 * all pauses at once; the same draws. */
gboolean findings_uneven  (Result *r, const Point *point, const RunOptions *options, Shelf *parts, GError **error);
/* The step of the scenario with one key changed: "group.key=value". */
gboolean findings_step_with (const Point *point, const RunOptions *options, Shelf *parts, const char *set, double *seconds, GError **error);
/* What sequences of unequal work cost, and what they save or waste. */
gboolean findings_packing (Result *r, const Point *point, const RunOptions *options, Shelf *parts, GError **error);
