/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/draws.h"
#include "run/played.h"
#include "run/quantile.h"
#include "strategy/noise.h"
#include <math.h>

/* Steps of round numbers whose ranks spread. */

/* A step of `kernels` kernels of one second in all, cut into `buckets` parts of
 * which each ends with a call of `call_s`, all of which the step waits for.
 * `each`: a class a rank. */
typedef struct { guint64 ranks; gboolean each; guint kernels, buckets; double call_s; gboolean pauses; } Drawing;

static inline StepGraph *
draw_graph (const Drawing *shape)
{
  StepGraph *graph = graph_new ();
  const guint classes = shape->each ? (guint) shape->ranks : 1;
  const GraphCall call = { .call = { .op = OP_ALL_REDUCE }, .flow = { .latency = shape->call_s, .cap = INFINITY }, .slowdown = 1,
                           .group = { .n_ranks = shape->ranks, .per_node = shape->ranks }, .label = "bucket" };
  guint *calls = g_new (guint, shape->buckets);

  for (guint i = 0; i < classes; i++)
    graph_class (graph, shape->ranks / classes);
  if (shape->pauses)
    graph_pauses (graph, CAUSE_HOST);
  for (guint i = 0; i < shape->buckets; i++)
    calls[i] = graph_call (graph, &call);
  for (guint i = 0; i < classes; i++)
    {
      const RankClass class = g_array_index (graph->classes, RankClass, i);
      guint *members = g_new (guint, shape->buckets), end;

      for (guint k = 0; k < shape->kernels; k++)
        {
          const guint kernel = graph_kernel (graph, class.compute, CAUSE_COMPUTE, 1.0 / shape->kernels, 1, "kernel");
          const guint bucket = k * shape->buckets / shape->kernels;

          if ((k + 1) * shape->buckets / shape->kernels == bucket)
            continue;
          members[bucket] = graph_meet (graph, class.comm, calls[bucket]);
          graph_edge (graph, kernel, members[bucket]);
        }
      end = graph_fixed (graph, class.compute, CAUSE_OTHER, 0, "end");
      for (guint k = 0; k < shape->buckets; k++)
        graph_edge (graph, members[k], end);
      g_free (members);
    }
  g_free (calls);
  return graph;
}

typedef struct { double mean, p95, wait, busy; } Drawn;   /* s; the last two of a rank in the mean */

static inline Drawn
draw (const Drawing *shape, const NoiseSpec *spec, guint runs)
{
  const PlayedOptions options = { .runs = runs };
  g_autoptr (Network) network = network_new ();
  g_auto (Played) played = { .graph = draw_graph (shape), .each = shape->each };
  g_autoptr (GError) error = NULL;

  played.x = execution_new (played.graph, network, FALSE);
  g_assert_true (steady_run (played.x, &played.window, &error));
  g_assert_true (played_draw (&played, spec, &options, &error));
  g_assert_no_error (error);
  RankTicks all = 0;
  for (guint i = 0; i < N_CAUSES; i++)
    all += played.ledger->cause[i];
  /* every tick of every rank has one cause */
  g_assert_true (all == (RankTicks) (played.ledger->to - played.ledger->from) * played.ledger->world);
  return (Drawn) { played.seconds, quantile_at (played.lengths, runs, 0.95),
                   (double) played.ledger->cause[CAUSE_WAIT] / (double) played.ledger->world / runs / TICKS_PER_S,
                   (double) played.ledger->kernels / (double) played.ledger->world / runs / TICKS_PER_S };
}

static inline NoiseSpec
spec_of (double kernel_cv, double step_cv, int distribution)
{
  return (NoiseSpec) { .kernel_cv = kernel_cv, .step_cv = step_cv, .distribution = distribution, .slow_factor = 1, .slow_nic = 1,
                       .pause_interval = NAN };
}
