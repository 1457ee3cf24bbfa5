/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/execute.h"

/* Where the ranks of a class stop for others: tasks of its compute queue that
 * waited, in a step already played, for a meeting that ended no earlier than the
 * queue's own work.  A meeting that is over by then stops nobody. */
typedef struct
{
  guint64  ranks;    /* of the class that meet there; 0: nobody */
  guint64  span;     /* from the first to the last of them, in GPUs, at least: tells groups inside others from those across */
  gboolean across;   /* its members sit in as many nodes */
} Stop;

/* One for each task of the graph; caller frees.  `all`: with meetings that were over
 * by then: nobody would have got past them far ahead of the others. */
Stop *stops_find (const Execution *x, guint step, gboolean all);
