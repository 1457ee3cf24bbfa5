/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/graph.h"

/* What the calls of a graph follow each other on, by call, numbered from 0: two of one
 * line are never at a rank at once.  Caller frees. */
guint *lines_of (const StepGraph *graph);
