/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/execute.h"

/* Where the ticks of a window of an execution went, all ranks summed: every
 * tick of every compute queue has one cause, so the causes add up to world x
 * (to - from) exactly. */
__extension__ typedef unsigned __int128 RankTicks;
typedef struct
{
  Tick       from, to;
  guint64    world;
  RankTicks  cause[N_CAUSES];
  RankTicks  contention;       /* of exposed communication: kernels slowed by collectives */
  RankTicks  kernels;          /* in which a kernel ran */
  RankTicks *by_call;          /* of exposed communication: idle behind each call of the graph */
  Tick       path[N_CAUSES];   /* critical path: what ran (EXPOSED_COMM: a collective); sums to to - from */
} Ledger;

/* `steady`: a window of one step, as long as the step before it.  The critical path
 * is then that of the step before, on the way back from the window's end: it has
 * left what merely ends last (the kernels of a step that a reader works ahead of)
 * for what sets the pace.  O(tasks of the window x idle spans' chains). */
Ledger *ledger_new  (const Execution *x, Tick from, Tick to, gboolean steady);
/* Puts the ticks of another window of the same graph (of so many calls) behind: `to` moves by its length. */
void    ledger_add  (Ledger *ledger, const Ledger *more, guint n_calls);
void    ledger_free (Ledger *ledger);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Ledger, ledger_free)
