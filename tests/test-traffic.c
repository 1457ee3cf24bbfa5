/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/episode.h"
#include "run/run.h"
#include <math.h>
#include <string.h>

/* What others move beside the steps.  The step of these tests: a kernel of `kernel_s`,
 * then `bytes` over one link of 10 GB/s; all numbers by hand, in the comments. */

static const double line = 10e9;

typedef struct { double kernel_s, bytes, demand; } Drawing;
typedef struct { Network *network; StepGraph *graph; Traffic traffic; Played played; } Fixture;

static const Drawing usual = { 1, 30e9, 1 };

static TrafficFlow
flow (double rate, double flows)
{
  return (TrafficFlow) { .load = { { 1, 1, 1 } }, .n_loads = 1, .rate = rate, .flows = flows };
}

static void
set_up (Fixture *f, const Drawing *shape)
{
  const GraphCall call = { .call = { .op = OP_ALL_REDUCE, .size = shape->bytes / shape->demand },
                           .flow = { .cap = INFINITY, .n_loads = 1, .load = { { 1, shape->demand, 1 } } },
                           .slowdown = 1, .group = { .n_ranks = 2, .per_node = 1, .n_nodes = 2 }, .label = "all" };
  RankClass class;
  guint last;

  *f = (Fixture) { .network = network_new (), .graph = graph_new () };
  network_add (f->network, "nic-out", line, 0, 2, FALSE);
  f->traffic.job = f->traffic.input = f->traffic.checkpoint = flow (INFINITY, 1);
  f->graph->traffic = &f->traffic;
  graph_class (f->graph, 2);
  class = g_array_index (f->graph->classes, RankClass, 0);
  last = graph_kernel (f->graph, class.compute, CAUSE_COMPUTE, shape->kernel_s, 1, "kernel");
  if (shape->bytes > 0)
    {
      const guint member = graph_meet (f->graph, class.comm, graph_call (f->graph, &call));

      graph_edge (f->graph, last, member);
      graph_edge (f->graph, member, graph_fixed (f->graph, class.compute, CAUSE_OTHER, 0, "end"));
    }
  f->played.graph = f->graph;
}

static void
tear_down (Fixture *f)
{
  played_clear (&f->played);
  network_free (f->network);
}

/* s of a step beside the steady flows and the input. */
static double
steady (Fixture *f)
{
  g_autoptr (GError) error = NULL;

  f->played.x = execution_new (f->graph, f->network, FALSE);
  g_assert_true (steady_run (f->played.x, &f->played.window, &error));
  g_assert_no_error (error);
  return steady_seconds (&f->played.window);
}

static void
near (double got, double expected)
{
  g_assert_cmpfloat_with_epsilon (got, expected, 1e-6 * expected);
}

static double
beside (const Drawing *shape, double rate, double flows)
{
  Fixture f;
  double seconds;

  set_up (&f, shape);
  f.traffic.steady[f.traffic.n_steady++] = flow (rate, flows);
  seconds = steady (&f);
  tear_down (&f);
  return seconds;
}

/* 30 GB at 10 GB/s behind a second: 4 s.  Below an equal share a flow has what it asks
 * for (4: 6 are left, 5 s), above it half (6 s); three that ask for 20 in all leave a
 * quarter (12 s), five that ask for 4 in all leave 6.  A call that puts each byte of its
 * message on the wire twice shares the wire no better. */
static void
test_steady (void)
{
  const Drawing twice = { 1, 30e9, 2 };

  near (beside (&usual, 4e9, 1), 1 + 5);
  near (beside (&usual, 20e9, 1), 1 + 6);
  near (beside (&usual, 20e9, 3), 1 + 12);
  near (beside (&usual, 4e9, 5), 1 + 5);
  near (beside (&twice, 4e9, 1), 1 + 5);
  near (beside (&twice, 20e9, 1), 1 + 6);
}

/* A call with a rate of its own keeps the share that is left: 0.6 of 5 GB/s, half of it. */
static void
test_own_rate (void)
{
  const double rates[] = { 4e9, 20e9 }, expected[] = { 1 + 30 / 3.0, 1 + 30 / 2.5 };

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    {
      Fixture f;

      set_up (&f, &usual);
      graph_get_call (f.graph, 0)->flow = (CollectiveFlow) { .cap = 5e9 };
      graph_get_call (f.graph, 0)->link = 1;
      f.traffic.steady[f.traffic.n_steady++] = flow (rates[i], 1);
      near (steady (&f), expected[i]);
      tear_down (&f);
    }
}

/* Calls without a pause beside a job that computes 2 s and moves 10 GB: alone for 2 s
 * the calls move 20 GB; in the 2 s that the exchange takes at half the line, 10: one
 * call of 30 GB in 4 s, 3 s alone.  With a job that never computes: 6 s. */
static void
test_job (void)
{
  const Drawing calls = { 0, 30e9, 1 };
  const double compute[] = { 2, 0 }, expected[] = { 4, 6 };
  const PlayedOptions options = { .runs = 50 };

  for (guint i = 0; i < G_N_ELEMENTS (compute); i++)
    {
      g_autoptr (GError) error = NULL;
      RankTicks all = 0;
      Fixture f;

      set_up (&f, &calls);
      f.traffic.job_size = 10e9;
      f.traffic.job_compute = compute[i];
      f.traffic.job_seconds = 1;
      near (steady (&f), 3);
      f.played.job = TRUE;
      g_assert_true (played_draw (&f.played, NULL, &options, &error));
      near (f.played.seconds, expected[i]);
      near (execution_exchange_seconds (f.played.x), 2);
      for (guint cause = 0; cause < N_CAUSES; cause++)
        all += f.played.ledger->cause[cause];
      g_assert_true (all == (RankTicks) (f.played.ledger->to - f.played.ledger->from) * f.played.ledger->world);
      tear_down (&f);
    }
}

/* 10 GB of input a step of T s leave 10 - 10/T GB/s: T = 1 + 30/(10 - 10/T), so
 * T^2 - 5 T + 1 = 0, T = (5 + sqrt 21)/2. */
static void
test_input (void)
{
  Fixture f;

  set_up (&f, &usual);
  f.traffic.input_size = 10e9;
  g_assert_cmpfloat_with_epsilon (steady (&f), (5 + sqrt (21)) / 2, 1e-5);
  tear_down (&f);
}

/* A job that computes 1,000 s between exchanges of 10 GB, beside steps of 4 s: one that
 * starts with the kernel is over with it; 1, 2 and 3 s later it takes 2 s at half the
 * line and the call one more.  On average 0.75 s late, 1.75 s long: 1,001.75 s hold
 * 1,001/4 steps. */
static void
test_rare_job (void)
{
  g_autoptr (GError) error = NULL;
  Fixture f;

  set_up (&f, &usual);
  f.traffic.job_size = 10e9;
  f.traffic.job_compute = 1000;
  f.traffic.job_seconds = 1;
  near (steady (&f), 4);
  g_assert_true (episode_job (&f.traffic, 4, 200));
  g_assert_false (episode_job (&f.traffic, 400, 200));
  f.played.rare_job = TRUE;
  g_assert_true (episode_watch (&f.played, &f.traffic, &error));
  near (f.played.exchange.delay, 0.75);
  near (f.played.exchange.seconds, 1.75);
  f.played.steps = f.played.window.n;
  f.played.ticks = f.played.window.to - f.played.window.from;
  f.played.seconds = 4;
  episode_add (&f.played, &f.traffic);
  near (f.played.seconds, 4 * 1001.75 / 1001);
  tear_down (&f);
}

typedef struct { double size, seconds; guint64 steps; gboolean blocking; double mean, written; } Written;

/* Steps of 4 s.  50 GB for which the GPUs wait 5 s, every 100 steps: 0.05 s each.
 * 100 GB beside the steps: in each 10 GB beside the kernel, then half the line: two
 * steps of 7 s (80 GB), then 10 beside a kernel, 10 at half the line while the call
 * moves 10, whose other 20 take 2 s: 5 s.  19 s for three steps of 12: 7 s late,
 * written at 14 + 1 + 2.  Every 2 steps (8 s) the next one waits for it: 17/2. */
static void
test_checkpoints (void)
{
  static const Written rows[] = {
    { 50e9, 5, 100, TRUE, 4.05, 5 },
    { 100e9, 10, 100, FALSE, 4.07, 17 },
    { 100e9, 10, 2, FALSE, 8.5, 17 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const Written *row = &rows[i];
      g_autoptr (GError) error = NULL;
      Fixture f;

      set_up (&f, &usual);
      f.traffic.checkpoint_size = row->size;
      f.traffic.checkpoint_seconds = row->seconds;
      f.traffic.checkpoint_steps = row->steps;
      f.traffic.checkpoint_blocking = row->blocking;
      near (steady (&f), 4);
      g_assert_true (episode_watch (&f.played, &f.traffic, &error));
      near (steady_seconds (&f.played.window), 4);
      f.played.steps = f.played.window.n;
      f.played.ticks = f.played.window.to - f.played.window.from;
      f.played.seconds = 4;
      episode_add (&f.played, &f.traffic);
      near (f.played.seconds, row->mean);
      near (f.played.written.seconds, row->written);
      tear_down (&f);
    }
}

/* A checkpoint longer than the steps that are watched goes on as those did: 10,000 GB,
 * 40 a step of 7 s: 250 steps, 750 s late in all. */
static void
test_long_checkpoint (void)
{
  g_autoptr (GError) error = NULL;
  Fixture f;

  set_up (&f, &usual);
  f.traffic.checkpoint_size = 10000e9;
  f.traffic.checkpoint_seconds = 1000;
  f.traffic.checkpoint_steps = 1000;
  steady (&f);
  g_assert_true (episode_watch (&f.played, &f.traffic, &error));
  near (f.played.written.delay, 750);
  near (f.played.written.seconds, 1750);
  tear_down (&f);
}

static Result *
run (const char *text, const char *extra, GError **error)
{
  g_autofree char *whole = g_strconcat (text, extra, NULL);
  g_autoptr (Scenario) scenario = scenario_parse ("test.ini", whole, strlen (whole), NULL, error);
  const RunOptions options = { .what_if = TRUE };

  return scenario != NULL ? run_scenario (scenario, &options, error) : NULL;
}

static const char eight_nodes[] = "[cluster]\nmachine = dgx-a100\nnodes = 8\n[network]\ntransport = plain\nnic-bandwidth = 1 GB/s\n"
                                "[workload]\nname = vgg16\nprecision = mixed-fp16\n[training]\nbatch-per-gpu = 32\n"
                                "[strategy]\nkind = ddp\n";

static double
step_of (const char *extra)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Result) r = run (eight_nodes, extra, &error);

  g_assert_no_error (error);
  return r->step_time;
}

/* Half of each card's line and a card of half the rate are the same to a step whose
 * calls are alone on it; what the storage gives bounds the samples: 256 GPUs x 32 of
 * 1 MB at 1 GB/s.  An ideal network knows no others. */
static void
test_scenario (void)
{
  static const char slow[] = "[traffic]\nnic-rate = 1 GB/s\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (Result) quiet = run (eight_nodes, "", &error), loaded = run (eight_nodes, slow, &error);
  g_autoptr (GString) text = g_string_new (eight_nodes);
  g_autoptr (Result) half = NULL;

  g_assert_cmpuint (g_string_replace (text, "= 1 GB/s", "= 500 MB/s", 0), ==, 1);
  half = run (text->str, "", &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (loaded->step_time, >, 1.5 * quiet->step_time);
  g_assert_cmpfloat_with_epsilon (loaded->step_time, half->step_time, 1e-3 * half->step_time);
  near (loaded->what_if[0].seconds, quiet->what_if[0].seconds);
  g_assert_nonnull (loaded->findings);
  g_assert_nonnull (strstr (loaded->findings[0], "other flows"));
  near (step_of ("[traffic]\ninput-size = 10 MB\nstorage-rate = 100 MB/s\n"), 64 * 32 * 10e6 / 100e6);
}

/* The uplinks of leaves are the narrow place; flows that ask for all of them leave half. */
static void
test_uplinks (void)
{
  static const char tree[] = "[cluster]\nmachine = dgx-a100\nnodes = 8\n[network]\ntransport = plain\nnic-bandwidth = 1 GB/s\n"
                             "topology = fat-tree\nnodes-per-leaf = 4\noversubscription = 32\n"
                             "[workload]\nname = vgg16\nprecision = mixed-fp16\n[training]\nbatch-per-gpu = 32\n[strategy]\nkind = ddp\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (Result) quiet = run (tree, "", &error), loaded = run (tree, "[traffic]\nuplink-rate = 1 TB/s\n", &error);

  g_assert_no_error (error);
  g_assert_cmpfloat (loaded->step_time, >, 1.5 * quiet->step_time);
}

static void
test_errors (void)
{
  static const struct { const char *extra, *says; } wrong[] = {
    { "[traffic]\njob-size = 1 kB\n", "test.ini:15: [traffic] job-size: a round" },
    { "[traffic]\nnic-rate = -1 GB/s\n", "test.ini:15: [traffic] nic-rate: " },
    { "[traffic]\nflows = 0\nnic-rate = 1 GB/s\n", "test.ini:15: [traffic] flows: " },
    { "[traffic]\nnic-share = 0.5\n", "test.ini:15: [traffic] nic-share: " },
    { "[traffic]\ncheckpoint-steps = 1.5\n", "test.ini:15: [traffic] checkpoint-steps: " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (run (eight_nodes, wrong[i].extra, &error));
      g_assert_nonnull (error);
      if (!g_str_has_prefix (error->message, wrong[i].says))
        g_error ("'%s' does not start with '%s'", error->message, wrong[i].says);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traffic/steady", test_steady);
  g_test_add_func ("/traffic/own-rate", test_own_rate);
  g_test_add_func ("/traffic/job", test_job);
  g_test_add_func ("/traffic/rare-job", test_rare_job);
  g_test_add_func ("/traffic/input", test_input);
  g_test_add_func ("/traffic/checkpoints", test_checkpoints);
  g_test_add_func ("/traffic/long-checkpoint", test_long_checkpoint);
  g_test_add_func ("/traffic/scenario", test_scenario);
  g_test_add_func ("/traffic/uplinks", test_uplinks);
  g_test_add_func ("/traffic/errors", test_errors);
  return g_test_run ();
}
