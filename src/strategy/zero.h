/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/sharded.h"

extern const Strategy strategy_zero;

/* Stage 3 (zero-three.c): the passes of one micro-step; gradients left in `open`. */
typedef struct Three Three;
Three   *three_new     (Sharded *s, GError **error);
void     three_free    (Three *three);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Three, three_free)
gboolean three_micro_step (Three *three, gboolean first, GError **error);
/* Behind the optimizer: tensors that stay whole are brought up to date. */
gboolean three_persistent (Three *three, GError **error);
/* Elements of weights of one GPU that are whole at a time, at most; of tensors that always are. */
double   three_live    (const StepInput *in);
double   three_kept    (const StepInput *in);
