/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/shelf.h"
#include "scenario/scenario.h"
#include "strategy/strategy.h"

/* How collectives are played: see run/tier.h. */
typedef enum { TIER_STEP_AUTO, TIER_STEP_FLOW, TIER_STEP_MESSAGE } StepTier;

/* A scenario with its parts loaded: what a strategy builds from. */
typedef struct
{
  const Scenario *scenario;
  Shelf          *own_parts; /* NULL: the caller's */
  Cluster        *cluster;
  const Workload *workload;
  ComputeModel    compute;
  const Strategy *strategy;
  InputSpec       reading;   /* input at no more than the storage gives */
  Traffic         traffic;
  StepInput       input;     /* borrows from the above */
  StepTier        tier;      /* flow, but where tier_choose () says otherwise */
  const char     *obstacle;  /* why auto does not play the messages of unequal ranks; NULL: nothing */
} Point;

/* Errors start with "[group] key: "; see scenario_locate_error (). */
Point *point_new  (const Scenario *scenario, GError **error);
/* The same with the parts of a shelf, which must outlive the point: what other
 * points have read is not read again. */
Point *point_new_from (Shelf *parts, const Scenario *scenario, GError **error);
void   point_free (Point *point);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Point, point_free)
guint64 point_gpus (const Point *point);
