/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/result.h"

/* Words and sentences about a Result that more than one report says. */

/* A ledger line that is time lost, not work done. */
gboolean cause_is_loss     (Cause cause);
/* The largest of them; N_CAUSES: none above half a percent of the step. */
Cause    words_largest_loss (const Result *result);
/* "exposed comm 54 %", or "none".  Caller frees. */
char    *words_loss        (const Result *result);
/* "the pipeline bubble", inside a sentence; of losses only. */
const char *words_loss_noun (Cause loss);
/* The largest loss in one sentence, with what bounds it.  Caller frees. */
char    *words_why         (const Result *result);
/* The link or other cause with most of the exposed communication; NULL: none. */
const NamedTime *words_worst_link (const Result *result);
/* "the NICs of the nodes, outward (nic-out)"; a name that is not known stays as it is.  Caller frees. */
char    *words_link        (const char *name);
/* A counterfactual with what it means. */
const char *words_what_if   (const char *name);
/* "NICs" for "nic": a resource of a sensitivity in words. */
const char *words_resource  (const char *name);
/* "1 node", "5 nodes".  Caller frees. */
char    *words_count       (guint64 n, const char *singular, const char *plural);
/* "5 x 8 GPUs", "40 GPUs".  Caller frees. */
char    *words_gpus        (const Result *result);
