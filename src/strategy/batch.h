/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/spec.h"

/* How the samples of one step are spread. */
typedef struct { guint64 per_gpu, accumulation, global; } Batch;   /* global = per_gpu x accumulation x GPUs */

/* For each of the GPU counts the same scenario is run at; errors (KEYS_ERROR,
 * "[training] key: ...") name the two nearest global batches that divide at
 * every count. */
gboolean batch_check   (const TrainingSpec *spec, const guint64 *gpus, guint n, GError **error);
/* The batch at one count: accumulation as given, else the smallest m that
 * divides the batch of one GPU with a quotient of at most batch-per-gpu-max. */
gboolean batch_resolve (const TrainingSpec *spec, guint64 gpus, Batch *out, GError **error);
/* Of two numbers, not both 0. */
guint64 batch_greatest_divisor (guint64 a, guint64 b);
