/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/strategy.h"

/* [strategy] sparse: gradients of embedding tables as rows, and tables that are dealt
 * out to the GPUs.  Each O(layers) at most. */
#define NO_LAYER G_MAXUINT

/* all-gather: is this layer's gradient gathered row by row?  Elements that all ranks
 * gather of it. */
gboolean sparse_layer        (const StepInput *in, const Layer *layer);
double   sparse_elements     (const StepInput *in, const Layer *layer);

/* model-parallel, hybrid: is this layer's table dealt out to the GPUs?  Parameters of
 * all such; the last of them, and the layer that reads all rows (NO_LAYER: none). */
gboolean sparse_owned        (const StepInput *in, const Layer *layer);
double   sparse_owned_params (const StepInput *in);
guint    sparse_last_table   (const StepInput *in);
guint    sparse_reader       (const StepInput *in);

/* hybrid, where one GPU has the bottom network for all samples: a layer's rows on the
 * fullest GPU over those of an even share; a layer's share of the tables on a GPU, else 1. */
double   sparse_share        (const StepInput *in, guint layer);
double   sparse_tables       (const StepInput *in, guint layer);
/* Of the bottom network and the tables, on different GPUs, the quicker in `seconds` of
 * each layer becomes 0, as all wait for the slower. */
void     sparse_pace         (const StepInput *in, double *seconds);

/* The workload without the tensors of all such layers; the caller frees copy->layers. */
const Workload *sparse_rest  (const StepInput *in, Workload *copy);
/* Elements that the optimizer updates, none of tables whose `forward` time (s, of each
 * layer) is not on the GPU that sets the pace. */
double   sparse_updated      (const StepInput *in, const double *forward);
