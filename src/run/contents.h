/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/draws.h"

/* What micro-batches hold, drawn: one number for each and each replica, which all
 * kernels that spread (GraphSpread) and all ranks that share it follow.
 * Where replicas are drawn as one class, the slowest of them: micro-batches without
 * a meeting of replicas inside add up before the slowest is told (their normal
 * numbers are moved together so that the sum lies where the largest of n sums
 * does); those with one have their own slowest. */

/* NULL: nothing spreads. */
Contents *contents_new   (const DrawsChoice *choice, const StepGraph *graph);
void      contents_free  (Contents *contents);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Contents, contents_free)
/* The share that is theirs of the variance of a class's kernels in a step, beside [noise]'s; NULL: none. */
double    contents_share (const Contents *contents, guint rank_class);
/* Seconds of all tasks, times what was drawn. */
void      contents_step  (Contents *contents, guint64 step, double *seconds);

/* A number of mean 1 from a normal one: lognormal, moved so that it has the
 * spread's third moment, and no larger than the spread's most. */
typedef struct { gboolean normal; double shift, scale, sigma, factor, most; } ContentsShape;
ContentsShape contents_shape (const GraphSpread *spread);
double        contents_value (const ContentsShape *shape, double z);
