/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/point.h"
#include "run/run.h"
#include <math.h>
#include <string.h>

/* A scenario and the graph of its step. */
typedef struct
{
  Scenario  *scenario;
  Point     *point;
  StepGraph *graph;
} Built;

static inline void
built_clear (Built *b)
{
  graph_free (b->graph);
  point_free (b->point);
  scenario_free (b->scenario);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Built, built_clear)

/* Takes the scenario. */
static inline Built
built_of (Scenario *scenario)
{
  g_autoptr (GError) error = NULL;
  Built b = { .scenario = scenario };

  b.point = point_new (b.scenario, &error);
  g_assert_no_error (error);
  b.graph = graph_new ();
  g_assert_true (strategy_build (b.point->strategy, &b.point->input, b.graph, &error));
  g_assert_no_error (error);
  return b;
}

static inline void
near (double got, double want)
{
  g_assert_cmpfloat_with_epsilon (got, want, 1e-9 * fabs (want) + 1e-15);
}

/* Bytes of all calls of a label in the step's graph; takes the scenario. */
static inline double
bytes_of_label (Scenario *scenario, const char *label)
{
  g_auto (Built) b = built_of (scenario);
  double bytes = 0;

  for (guint i = 0; i < b.graph->calls->len; i++)
    if (g_str_equal (graph_get_call (b.graph, i)->label, label))
      bytes += graph_get_call (b.graph, i)->call.size;
  return bytes;
}
