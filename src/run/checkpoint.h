/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/played.h"

/* What one checkpoint costs the steady steps of played->x: the time that the GPUs stand
 * still, or by which one written beside the steps delays them.  Ends with those steps. */
gboolean checkpoint_watch (Played *played, const Traffic *traffic, GError **error);
/* Adds its share to the mean step; in the ledger it is CAUSE_OTHER. */
void     checkpoint_add   (Played *played, const Traffic *traffic);
