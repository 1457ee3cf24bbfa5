/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/draws.h"
#include "run/ledger.h"
#include "run/point.h"
#include "run/steady.h"

/* The step of a point, played: the one it settles in, or, where [noise] has
 * something to draw, as many as asked for. */
typedef struct
{
  gboolean ideal_network;
  gboolean no_ledger;     /* the time alone is wanted */
  guint    runs;          /* drawn steps; 0: the usual number */
  guint64  seed;
} PlayedOptions;

/* s by which it delays steady steps in all, and until it is over; 0: none. */
typedef struct { double delay, seconds; } Episode;

typedef struct
{
  StepGraph *graph;
  Messages  *messages;    /* where they are played one by one; else NULL */
  Execution *x;           /* of the last steps played */
  Window     window;      /* there, what is shown of it */
  Ledger    *ledger;      /* over all steps that count */
  guint      steps;       /* so many */
  double     seconds;     /* mean of them */
  Tick       ticks;       /* of all of them */
  Draws     *draws;       /* NULL: nothing was drawn */
  const NoiseSpec *spec;  /* as drawn; NULL: nothing is, the steps differ by the second job alone */
  gboolean   each;        /* for each rank */
  gboolean   job;         /* a second job moves beside the steps */
  double     read;        /* bytes/s of input over each card, meanwhile */
  gboolean   rare_job;    /* that moves once in many steps: not beside the drawn ones */
  Episode    written, exchange;   /* one checkpoint; one exchange of a rare job */
  guint      tasks;       /* of a step with ranks alike folded */
  double    *lengths;     /* s of each drawn step, sorted; NULL: nothing was drawn */
} Played;

/* `input`: the point's, or one changed.  Drawn rank by rank the graph is unfolded. */
gboolean played_step  (const Point *point, const StepInput *input, const PlayedOptions *options, Played *out, GError **error);
/* The drawn steps of a graph whose quiet steps x and window show.  `spec` NULL: they differ by
 * a second job alone. */
gboolean played_draw  (Played *played, const NoiseSpec *spec, const PlayedOptions *options, GError **error);
void     played_clear (Played *played);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Played, played_clear)
