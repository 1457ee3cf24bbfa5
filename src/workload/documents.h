/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* Texts of unequal lengths in sequences of a fixed one: how much of a sequence's
 * work is left.  All in shares of the sequence, and drawn in no way: closed forms
 * and sums. */
typedef struct
{
  double mean;    /* length over that of the sequence */
  double cv;      /* deviation over mean, lognormal; 0: all the same */
} Documents;

/* Of a quantity that differs: mean, and central moments. */
typedef struct { double mean, variance, third; } Moments;

/* Sum of squares of the pieces that lie in one sequence, over the square of it: documents
 * stand one behind another and are cut where a sequence ends.  Those of one length
 * start with a sequence: `phases` are the places, evenly spread over a document, at
 * which sequences may start. */
Moments documents_squares (const Documents *documents, guint64 phases);
/* The length to a power (1, 2) of one document a sequence, cut off at its end. */
Moments documents_power   (const Documents *documents, int power);
