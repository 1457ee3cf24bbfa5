/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/messages.h"
#include "run/point.h"

/* How collectives of a step are played: each as one flow, or message by message. */
extern const char *const step_tier_names[];   /* "auto", "flow", "message", NULL */
gboolean step_tier_find (const char *name, StepTier *out, GError **error);

/* Settles point->tier.  Auto is the flow, but where ranks come unequally, the wires are
 * the textbook's, and both tiers give the same time for ranks that come together. */
void     tier_choose (Point *point, StepTier asked);
/* The graph of a step by the point's tier, and its messages (NULL: flows): folded where
 * one rank may stand for all, else a class for every rank. */
gboolean tier_build  (const Point *point, const StepInput *input, StepGraph **graph, Messages **messages, GError **error);
/* Why it is this one, for people.  Caller frees. */
char    *tier_reason (const Point *point, StepTier asked, const StepGraph *graph, const Messages *messages);
