/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/strategy.h"

/* Repeated parts of a network, told by their rows' names: "h12.fc_in" lies in
 * block "h12". */

#define NO_BLOCK G_MAXUINT

/* The first layer of the block that each layer lies in, NO_BLOCK outside of
 * blocks; caller frees. */
guint   *blocks_find     (const Workload *workload);
/* TRUE where attention rows have a shape: transformers. */
gboolean blocks_transformer (const Workload *workload);
/* Attention scores never leave the chip in this training. */
gboolean blocks_flash    (const StepInput *in);
/* The forward pass of layer `i` runs again before its backward pass. */
gboolean blocks_recomputed (const StepInput *in, const guint *blocks, guint i);
