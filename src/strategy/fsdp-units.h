/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/strategy.h"

/* What is wrapped: of ShardUnit, forward order.  *unit_of: unit of each layer, NO_UNIT
 * what the root keeps; *root: parameters of that.  Caller frees both. */
GArray *fsdp_units (const StepInput *in, guint **unit_of, double *root);
