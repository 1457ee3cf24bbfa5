/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/graph.h"

/* For each task of a graph the last one of its class's compute queue that is through
 * before it can begin, from 1; 0: none of the step.  Caller frees. */
guint *behind_find (const StepGraph *graph);
