/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>
#include "strategy/cause.h"

/* How far measured steps lie from predicted ones, by situation: a line of
 * models/interval.csv says how far what was anchored may be off, and how well the
 * rest of the step (waits, communication, host, input) is known; both in ln, as
 * 5 and 95 % of measured over predicted, added as independent errors. */
typedef struct IntervalTable IntervalTable;

typedef struct
{
  const char *anchor;        /* "measured": efficiency from a smaller run of the same job; "full-node";
                              * "key", "generation", "class": models/efficiency.csv, by how much of the key was found */
  const char *software;      /* the strategy's name, or "mlperf", "experts" (a mixture of them), or a stack of models/llm.csv */
  guint64     nodes, gpus;
  gboolean    tensor;        /* TF32, mixed or fp8: tensor cores set the pace */
  gboolean    link_assumed;  /* known by the product's name only */
  gboolean    input_unknown; /* real data, rate of the input path not known */
  double      seconds;       /* predicted step */
  double      wait, other;   /* shares of the step beyond those of the anchor: waits for slower ranks;
                              * communication, host, input */
} IntervalSituation;

/* Reads models/interval.csv; errors name line and column.  Caller frees. */
IntervalTable *interval_table_load (GError **error);
void           interval_table_free (IntervalTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (IntervalTable, interval_table_free)
/* The shares from ledgers (seconds by Cause); `anchor` NULL: of one GPU, which has none. */
void           interval_shares (IntervalSituation *situation, const double ledger[N_CAUSES], double seconds,
                                const double *anchor, double anchor_seconds);
typedef struct
{
  double lo, hi;             /* factors on the predicted step */
  double all_lo, all_hi;     /* of which, in ln, for the step as a whole */
  double wait, other;        /* relative errors of the waits, and of communication, host, input */
  double slow, fast;         /* factors on the time of its links that are not in them yet; 1: none */
  const char *origin;        /* of the line, borrowed */
} Interval;
/* FALSE: no line fits, and all is NAN. */
gboolean       interval_find (const IntervalTable *table, const IntervalSituation *situation, Interval *out);
/* Puts a step of `slow` and one of `fast` links beside the predicted one into the interval. */
void           interval_widen (Interval *interval, double seconds, double slow_seconds, double fast_seconds);
