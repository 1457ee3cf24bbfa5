/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/played.h"

/* What others move once in many steps: a checkpoint, and the exchange of a second job
 * that computes for longer than a few of them. */

/* Is the second job's round so long that steps in a row would not show its mean? */
gboolean episode_job   (const Traffic *traffic, double step, guint runs);
/* By how much one checkpoint, one exchange of such a job, delays the steady steps of
 * played->x, and until when it lasts.  Ends with those steps. */
gboolean episode_watch (Played *played, const Traffic *traffic, GError **error);
/* Adds its share to the mean step; in the ledger it is CAUSE_OTHER. */
void     episode_add   (Played *played, const Traffic *traffic);
