/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/strategy.h"

/* What [workload] packing makes of the kernels of a micro-batch. */

/* Attention kernels that know where documents end (cu_seqlens of flash attention,
 * Dao 2022; block masks of FlexAttention, 2024) come with such packing unless the
 * scenario says unfused: those compute all scores and mask them. */
gboolean packed_fused     (const StepInput *in);
/* Tokens over those of full sequences. */
double   packed_tokens    (const StepInput *in);
/* Rows of the workload whose work goes with the tokens: not with sequences, nor with scores in memory. */
gboolean packed_row       (const StepInput *in, const Layer *layer);
/* FLOP of a row over those of full sequences. */
double   packed_work      (const StepInput *in, const Layer *layer);
/* Sequences of one length with as many tokens and pairs of tokens as the packed
 * ones; *batch: so many of them in the place of so many of `sequence` tokens. */
double   packed_length    (const StepInput *in, double sequence, double *batch);
/* Does work differ between sequences? */
gboolean packed_uneven    (const StepInput *in);
/* How kernels of which attention is a share differ between micro-batches of so many
 * sequences, if attention over whole ones takes `longer` times as long: for
 * graph_vary (); 0: they do not. */
guint    packed_spread    (const StepInput *in, StepGraph *graph, double attention, double longer, double sequences);
