/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/played.h"
#include "run/result.h"

/* Parts of a Result from an execution.  Each fills its own fields. */
/* Calls of one kind as one; returns the place of each of the graph's calls among them,
 * which summary_ledger () asks for. */
guint *summary_collectives (Result *r, const Execution *x, const Window *window, const Network *network);
void summary_ledger      (Result *r, const Played *played, const guint *kinds);
void summary_lanes       (Result *r, const Execution *x, const Window *window);
void summary_rates       (Result *r, const Point *point);
/* Self-checks; FALSE (RUN_ERROR_CHECK, with the numbers) if one fails. */
gboolean summary_checks  (Result *r, const Played *played, const Network *network, GError **error);
/* Appends to a list of named times; name is copied. */
void summary_add_time    (NamedTime **times, guint *n, const char *name, double seconds);
