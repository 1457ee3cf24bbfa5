/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/execute.h"
#include "strategy/noise.h"
#include <math.h>

/* Times of the tasks of a step, drawn as [noise] says: step by step, each a pure
 * function of (seed, step, rank or class, purpose, kernel), so that a change
 * elsewhere leaves them as they are. */
typedef struct Draws Draws;

typedef struct
{
  const NoiseSpec *spec;
  guint64          seed;
  gboolean         each;     /* every class of the graph is one rank; else classes of ranks alike, of which the slowest is drawn */
} DrawsChoice;

/* `quiet`: the same graph played without draws; of it `step` is taken. */
Draws   *draws_new  (const DrawsChoice *choice, const Execution *quiet, guint step);
void     draws_free (Draws *draws);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Draws, draws_free)
/* For execution_draw (): seconds of all tasks of a step. */
void     draws_step (gpointer draws, guint64 step, double *seconds);

/* Pauses of a rank in a step: `phase` in [0, 1), one in `every` steps.  A million in one
 * step are as absurd as more of them. */
static inline guint
draws_pauses (double phase, double every, guint64 step)
{
  const double now = floor ((double) step / every + phase), before = floor (((double) step - 1) / every + phase);

  return (guint) fmin (now - before, 1e6);
}

/* Inside: streams by what is drawn, other ones than those of uncertainty.c. */
enum { DRAWN_KERNEL = 16, DRAWN_STEP, DRAWN_PHASE, DRAWN_STRETCH, DRAWN_OTHERS, DRAWN_CONTENTS };

/* What else makes ranks differ (contents.h). */
typedef struct Contents Contents;

/* The slowest of ranks alike (slowest.c); `contents`: NULL where there are none. */
typedef struct Slowest Slowest;
Slowest *slowest_new  (const DrawsChoice *choice, const Execution *quiet, guint step, double pause_every,
                       const Contents *contents);
void     slowest_free (Slowest *slowest);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Slowest, slowest_free)
void     slowest_step (const Slowest *slowest, guint64 step, double *seconds);
