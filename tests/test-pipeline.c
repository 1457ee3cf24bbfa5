/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/ledger.h"
#include "run/steady.h"
#include "strategy/pipeline.h"
#include <math.h>

/* Schedules as graphs: stages of given seconds, messages that take no time unless
 * said otherwise, all stages at a barrier at the end of a step. */
typedef struct
{
  double step;                       /* s */
  double cause[N_CAUSES];            /* mean s of a rank */
  double path[N_CAUSES];
} Played;

typedef struct
{
  PipelineSchedule schedule;
  guint    stages, chunks, micro_batches;
  double   forward, backward;        /* s of a virtual stage */
  double   message;                  /* s */
  gboolean blocking, unfold;
  guint64  ranks;
  double   slow_last;                /* factor on the last stage; 0: 1 */
} Case;

static Played
play (const Case *c)
{
  const guint n = c->stages * c->chunks;
  g_autofree PipelineWork *forward = g_new0 (PipelineWork, n), *backward = g_new0 (PipelineWork, n);
  g_autofree GraphCall *message = g_new0 (GraphCall, n);
  const GraphCall barrier = { .flow.cap = INFINITY, .slowdown = 1, .label = "barrier" };
  const Pipeline pipeline = {
    .schedule = c->schedule, .stages = c->stages, .chunks = c->chunks, .micro_batches = c->micro_batches, .group = c->stages,
    .ranks = MAX (c->ranks, 1), .unfold = c->unfold, .noise = 1, .blocking = c->blocking,
    .forward = forward, .backward = backward, .ahead = message, .back = message,
  };
  g_autoptr (StepGraph) graph = graph_new ();
  g_autoptr (Network) network = network_new ();
  g_autoptr (GError) error = NULL;
  PipelineRows rows;
  Window window;
  Played out = { 0 };

  for (guint i = 0; i < n; i++)
    {
      const double factor = i % c->stages == c->stages - 1 && c->slow_last > 0 ? c->slow_last : 1;

      forward[i].seconds = c->forward * factor;
      backward[i].seconds = c->backward * factor;
      message[i] = (GraphCall) { .flow = { .latency = c->message, .cap = INFINITY }, .slowdown = 1, .label = "message" };
    }
  pipeline_build (&pipeline, graph, &rows);
  pipeline_meet (graph, &rows, 0, c->stages, 1, &barrier);
  for (guint stage = 0; stage < c->stages; stage++)
    pipeline_compute (graph, &rows, stage, GRAPH_FIXED, CAUSE_OTHER, 0, "end of the step");
  pipeline_rows_clear (&rows, &pipeline);
  g_autoptr (Execution) x = execution_new (graph, network, FALSE);
  g_assert_true (steady_run (x, &window, &error));
  g_assert_no_error (error);
  g_assert_true (window.steady);
  g_autoptr (Ledger) ledger = ledger_new (x, window.from, window.to, window.steady);
  out.step = seconds_from_ticks (window.to - window.from);
  for (guint i = 0; i < N_CAUSES; i++)
    {
      out.cause[i] = (double) ledger->cause[i] / (double) ledger->world / TICKS_PER_S;
      out.path[i] = seconds_from_ticks (ledger->path[i]);
    }
  return out;
}

/* p = 4, m = 8, forward 1, backward 2: (m + p - 1) x 3 = 33, of which each stage
 * computes 8 x 3 = 24 and idles 9; the path is compute all along. */
static void
test_1f1b (void)
{
  const Played p = play (&(Case) { .schedule = SCHEDULE_1F1B, .stages = 4, .chunks = 1, .micro_batches = 8, .forward = 1, .backward = 2 });

  g_assert_cmpfloat_with_epsilon (p.step, 33, 1e-9);
  g_assert_cmpfloat_with_epsilon (p.cause[CAUSE_COMPUTE], 24, 1e-9);
  g_assert_cmpfloat_with_epsilon (p.cause[CAUSE_BUBBLE], 9, 1e-9);
  g_assert_cmpfloat_with_epsilon (p.path[CAUSE_COMPUTE], 33, 1e-9);
}

/* Share of the whole step: (p - 1)/(v m + p - 1); Narayanan et al. 2021. */
static void
test_share (void)
{
  static const struct { PipelineSchedule schedule; guint chunks; double share; } cases[] = {
    { SCHEDULE_GPIPE, 1, 7.0 / 39 }, { SCHEDULE_1F1B, 1, 7.0 / 39 }, { SCHEDULE_INTERLEAVED, 2, 7.0 / 71 },
    { SCHEDULE_INTERLEAVED, 4, 7.0 / 135 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Played p = play (&(Case) { .schedule = cases[i].schedule, .stages = 8, .chunks = cases[i].chunks, .micro_batches = 32,
                                       .forward = 0.013, .backward = 0.029 });

      g_assert_cmpfloat_with_epsilon (p.cause[CAUSE_BUBBLE] / p.step, cases[i].share, 1e-9);
      g_assert_cmpfloat_with_epsilon (p.cause[CAUSE_COMPUTE] / p.step, 1 - cases[i].share, 1e-9);
    }
}

/* Two stages, one micro-batch, forward 3, backward 5, messages of 0.7: the chain is
 * 3 + 0.7 + 3 + 5 + 0.7 + 5, and each stage sees both messages or the other's work. */
static void
test_message (void)
{
  const Played p = play (&(Case) { .schedule = SCHEDULE_1F1B, .stages = 2, .chunks = 1, .micro_batches = 1, .forward = 3, .backward = 5,
                                   .message = 0.7, .blocking = TRUE });

  g_assert_cmpfloat_with_epsilon (p.step, 17.4, 1e-9);
  g_assert_cmpfloat_with_epsilon (p.cause[CAUSE_COMPUTE], 8, 1e-9);
  g_assert_cmpfloat_with_epsilon (p.path[CAUSE_COMPUTE], 16, 1e-9);
  g_assert_cmpfloat_with_epsilon (p.path[CAUSE_EXPOSED_COMM], 1.4, 1e-9);
}

/* A last stage that takes 1.5 times as long sets the pace: p = 2, m = 6, forward 1,
 * backward 2: one forward, six times 4.5, one backward. */
static void
test_uneven (void)
{
  const Played p = play (&(Case) { .schedule = SCHEDULE_1F1B, .stages = 2, .chunks = 1, .micro_batches = 6, .forward = 1, .backward = 2,
                                   .slow_last = 1.5 });

  g_assert_cmpfloat_with_epsilon (p.step, 1 + 6 * 4.5 + 2, 1e-9);
}

/* A blocking send also keeps its sender. */
static void
test_blocking (void)
{
  Case c = { .schedule = SCHEDULE_1F1B, .stages = 4, .chunks = 1, .micro_batches = 8, .forward = 1, .backward = 2, .message = 0.3 };
  const double apart = play (&c).step;

  c.blocking = TRUE;
  g_assert_cmpfloat (play (&c).step, >, apart);
  g_assert_cmpfloat (apart, >, 33);
}

/* A class for every rank gives the same bits. */
static void
test_unfold (void)
{
  for (PipelineSchedule s = SCHEDULE_GPIPE; s <= SCHEDULE_INTERLEAVED; s++)
    {
      Case c = { .schedule = s, .stages = 4, .chunks = s == SCHEDULE_INTERLEAVED ? 3 : 1, .micro_batches = 8, .forward = 0.0113,
                 .backward = 0.0271, .message = 0.0017, .blocking = TRUE, .ranks = 6 };
      const Played folded = play (&c);

      c.unfold = TRUE;
      const Played unfolded = play (&c);
      g_assert_true (!(folded.step < unfolded.step) && !(folded.step > unfolded.step));
      for (guint i = 0; i < N_CAUSES; i++)
        g_assert_cmpfloat_with_epsilon (folded.cause[i], unfolded.cause[i], 1e-12);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pipeline/1f1b", test_1f1b);
  g_test_add_func ("/pipeline/bubble-share", test_share);
  g_test_add_func ("/pipeline/message", test_message);
  g_test_add_func ("/pipeline/uneven", test_uneven);
  g_test_add_func ("/pipeline/blocking", test_blocking);
  g_test_add_func ("/pipeline/unfold", test_unfold);
  return g_test_run ();
}
