/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/execute.h"

/* The window of an execution that stands for one step. */
typedef struct
{
  Tick     from, to;
  guint    first, n;     /* steps (from 0) in the window */
  gboolean steady;       /* one step, equal to the one before it */
} Window;

/* Plays steps until two behind each other take equally long (the first k >= 3
 * with d(k) = d(k - 1)); else, within 12, the last eight.  Of what others move,
 * steady flows and the reading of input are beside them. */
gboolean steady_run (Execution *x, Window *out, GError **error);
double   steady_seconds (const Window *window);   /* of a step */
