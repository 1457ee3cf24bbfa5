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

/* One for each task of the graph; caller frees. */
Stop *stops_find (const Execution *x, guint step);
/* The meeting that a task of a compute queue waits for by this edge; .ranks 0: none. */
Stop  stops_of   (const StepGraph *graph, const GraphEdge *edge);
