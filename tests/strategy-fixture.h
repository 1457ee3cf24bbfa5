/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "graph-fixture.h"
#include "strategy/buckets.h"
#include "strategy/data-parallel.h"
#include "strategy/price.h"

/* Scenarios of the data-parallel strategies: their graphs and steps.  Sizes: VGG-16 has
 * 138,357,544 parameters in 32 tensors, the largest 25,088 x 4,096; ResNet-50 25,557,032 in
 * 161; BERT-base 110,106,428 (published counts). */

/* Graphs of each strategy against hand arithmetic.  Sizes: VGG-16 has 138,357,544
 * parameters in 32 tensors, the largest 25,088 x 4,096; ResNet-50 25,557,032 in 161;
 * BERT-base 110,106,428 (published counts). */
static const double vgg = 138357544, resnet50 = 25557032, bert = 110106428, fc6 = 25088.0 * 4096;

static const char base[] = "[cluster]\nmachine = horovod-4xp100\nnodes = 4\n"
                           "[workload]\nname = vgg16\n[training]\nbatch-per-gpu = 64\noptimizer = momentum\n"
                           "[strategy]\nkind = horovod\n";

static inline Scenario *
scenario (const char *const *sets)
{
  g_autoptr (GError) error = NULL;
  Scenario *s = scenario_parse ("test.ini", base, strlen (base), sets, &error);

  g_assert_no_error (error);
  return s;
}

/* `sets`: blank-separated "group.key=value", a '_' in values for a blank. */
static inline char **
split (const char *sets)
{
  char **list = g_strsplit (sets, " ", 0);

  for (guint i = 0; list[i] != NULL; i++)
    g_strdelimit (strchr (list[i], '='), "~", ' ');
  return list;
}

static inline Built
build (const char *sets)
{
  g_auto (GStrv) list = split (sets);

  return built_of (scenario ((const char *const *) list));
}

static inline double
step (const char *sets, gboolean unfold)
{
  g_auto (GStrv) list = split (sets);
  g_autoptr (Scenario) s = scenario ((const char *const *) list);
  g_autoptr (GError) error = NULL;
  g_autoptr (Result) r = run_scenario (s, &(RunOptions) { .unfold = unfold }, &error);

  g_assert_no_error (error);
  return r->step_time;
}

static inline double
sum_of_sizes (const StepGraph *graph, const char *label)
{
  double sum = 0;

  for (guint i = 0; i < graph->calls->len; i++)
    if (g_str_has_prefix (graph_get_call (graph, i)->label, label))
      sum += graph_get_call (graph, i)->call.size;
  return sum;
}
