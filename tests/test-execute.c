/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/ledger.h"
#include "run/steady.h"
#include <math.h>

/* Steps drawn by hand as graphs; every expected number is worked in the comment
 * above its test.  Ticks are picoseconds. */

#define MS(x) ((Tick) ((x) * 1e9))

/* A collective of a given time without bytes. */
static guint
timed_call (StepGraph *graph, double seconds, double slowdown, const char *label)
{
  const GraphCall call = { .call = { .op = OP_ALL_REDUCE }, .flow = { .latency = seconds, .cap = INFINITY },
                           .slowdown = slowdown, .label = label };

  return graph_call (graph, &call);
}

static guint
kernel (StepGraph *graph, guint class, double seconds, const char *label)
{
  return graph_kernel (graph, g_array_index (graph->classes, RankClass, class).compute, CAUSE_COMPUTE, seconds, 1, label);
}

static guint
meet (StepGraph *graph, guint class, guint call)
{
  return graph_meet (graph, g_array_index (graph->classes, RankClass, class).comm, call);
}

static void
assert_ms (RankTicks ticks, guint64 ranks, double ms)
{
  g_assert_cmpfloat_with_epsilon ((double) ticks / (double) ranks / 1e9, ms, 1e-6);
}

/* Forward 30 ms, backward of three layers of 10 ms with a bucket each, each
 * all-reduce 15 ms on one queue, optimizer 5 ms.  Gradients are ready at 40, 50,
 * 60; all-reduces 40-55, 55-70, 70-85; step 85 + 5 = 90.  Ledger: compute 60,
 * exposed 85 - 60 = 25, optimizer 5.  Ideal network: 65. */
static StepGraph *
ddp_by_hand (void)
{
  StepGraph *graph = graph_new ();
  guint members[3], done;

  graph_class (graph, 8);
  kernel (graph, 0, 30e-3, "forward");
  for (guint i = 0; i < 3; i++)
    {
      const guint backward = kernel (graph, 0, 10e-3, "backward");

      members[i] = meet (graph, 0, timed_call (graph, 15e-3, 1, "bucket"));
      graph_edge (graph, backward, members[i]);
    }
  done = graph_kernel (graph, 0, CAUSE_OPTIMIZER, 5e-3, 1, "optimizer");
  for (guint i = 0; i < 3; i++)
    graph_edge (graph, members[i], done);
  return graph;
}

static void
test_ddp (void)
{
  static const double begins[] = { 40, 55, 70 }, ends[] = { 55, 70, 85 };
  g_autoptr (StepGraph) graph = ddp_by_hand ();
  g_autoptr (Network) network = network_new ();
  g_autoptr (Execution) x = execution_new (graph, network, FALSE);
  g_autoptr (Ledger) ledger = NULL;
  g_autoptr (GError) error = NULL;
  Window window;

  g_assert_true (steady_run (x, &window, &error));
  g_assert_no_error (error);
  g_assert_true (window.steady);
  g_assert_cmpuint (window.to - window.from, ==, MS (90));
  for (guint i = 0; i < 3; i++)
    {
      const Meeting *m = engine_get_meeting (execution_engine (x), window.first * 3 + i + 1);

      g_assert_cmpuint (m->last - window.from, ==, MS (begins[i]));
      g_assert_cmpuint (m->end - window.from, ==, MS (ends[i]));
    }
  ledger = ledger_new (x, window.from, window.to, window.steady);
  assert_ms (ledger->cause[CAUSE_COMPUTE], 8, 60);
  assert_ms (ledger->cause[CAUSE_EXPOSED_COMM], 8, 25);
  assert_ms (ledger->cause[CAUSE_OPTIMIZER], 8, 5);
  assert_ms (ledger->by_call[0], 8, 0);
  /* The compute queue is idle from 60: 10 ms behind the second, 15 behind the third. */
  assert_ms (ledger->by_call[1], 8, 10);
  assert_ms (ledger->by_call[2], 8, 15);
}

static void
test_ddp_ideal (void)
{
  g_autoptr (StepGraph) graph = ddp_by_hand ();
  g_autoptr (Network) network = network_new ();
  g_autoptr (Execution) x = execution_new (graph, network, TRUE);
  Window window;

  g_assert_true (steady_run (x, &window, NULL));
  g_assert_cmpuint (window.to - window.from, ==, MS (65));
}

/* Two ranks of 10 and 12 ms, then an all-reduce of 5 ms: step 17.  Mean ledger:
 * compute 11, wait (2 + 0)/2 = 1, exposed 5.  Critical path: compute 12, communication 5. */
static void
test_two_ranks (void)
{
  g_autoptr (StepGraph) graph = graph_new ();
  g_autoptr (Network) network = network_new ();
  g_autoptr (Execution) x = NULL;
  g_autoptr (Ledger) ledger = NULL;
  const double work[] = { 10e-3, 12e-3 };
  guint call;
  Window window;

  graph_class (graph, 1);
  graph_class (graph, 1);
  call = timed_call (graph, 5e-3, 1, "all-reduce");
  for (guint i = 0; i < 2; i++)
    {
      const guint before = kernel (graph, i, work[i], "compute"), member = meet (graph, i, call);
      const guint end = graph_fixed (graph, g_array_index (graph->classes, RankClass, i).compute, CAUSE_OTHER, 0, "end");

      graph_edge (graph, before, member);
      graph_edge (graph, member, end);
    }
  x = execution_new (graph, network, FALSE);
  g_assert_true (steady_run (x, &window, NULL));
  g_assert_cmpuint (window.to - window.from, ==, MS (17));
  ledger = ledger_new (x, window.from, window.to, window.steady);
  assert_ms (ledger->cause[CAUSE_COMPUTE], 2, 11);
  assert_ms (ledger->cause[CAUSE_WAIT], 2, 1);
  assert_ms (ledger->cause[CAUSE_EXPOSED_COMM], 2, 5);
  g_assert_cmpuint (ledger->path[CAUSE_COMPUTE], ==, MS (12));
  g_assert_cmpuint (ledger->path[CAUSE_EXPOSED_COMM], ==, MS (5));
}

/* A kernel of 10 ms, slowed 1.5 times by a collective from 2 to 6 ms: 2 done,
 * then 4/1.5 = 2.667, 5.333 left at 6: ends at 11.333 ms.  Ledger: compute 10,
 * exposed (contention) 1.333. */
static void
test_contention (void)
{
  g_autoptr (StepGraph) graph = graph_new ();
  g_autoptr (Network) network = network_new ();
  g_autoptr (Execution) x = NULL;
  g_autoptr (Ledger) ledger = NULL;
  guint delay, member;

  graph_class (graph, 1);
  delay = graph_fixed (graph, graph_queue (graph, LANE_HOST, 0, "host"), CAUSE_HOST, 2e-3, "delay");
  member = meet (graph, 0, timed_call (graph, 4e-3, 1.5, "all-reduce"));
  graph_edge (graph, delay, member);
  kernel (graph, 0, 10e-3, "kernel");
  x = execution_new (graph, network, FALSE);
  g_assert_true (execution_run (x, 1, NULL));
  /* 11.333333333333 ms rounded up to a picosecond. */
  g_assert_cmpuint (execution_end (x, 0), ==, G_GUINT64_CONSTANT (11333333334));
  ledger = ledger_new (x, 0, execution_end (x, 0), FALSE);
  assert_ms (ledger->cause[CAUSE_COMPUTE], 1, 10);
  assert_ms (ledger->contention, 1, 4 / 3.0);
}

/* While a collective only waits for another rank it spins: half the effect.
 * Kernel of 10 ms on rank 1; rank 1 reaches the call at 2 ms, rank 2 at 6 ms, the
 * call takes 1 ms at slowdown 1.5.  2 done; 4/1.25 = 3.2 by 6; 1/1.5 = 0.667 by 7;
 * 4.133 left: ends at 11.1333 ms. */
static void
test_spinning (void)
{
  g_autoptr (StepGraph) graph = graph_new ();
  g_autoptr (Network) network = network_new ();
  g_autoptr (Execution) x = NULL;
  const double arrive[] = { 2e-3, 6e-3 };
  guint call;

  graph_class (graph, 1);
  graph_class (graph, 1);
  call = timed_call (graph, 1e-3, 1.5, "all-reduce");
  for (guint i = 0; i < 2; i++)
    {
      const guint host = graph_queue (graph, LANE_HOST, i, "host");

      graph_edge (graph, graph_fixed (graph, host, CAUSE_HOST, arrive[i], "delay"), meet (graph, i, call));
      kernel (graph, i, i == 0 ? 10e-3 : 1e-3, "kernel");
    }
  x = execution_new (graph, network, FALSE);
  g_assert_true (execution_run (x, 1, NULL));
  g_assert_cmpfloat_with_epsilon ((double) execution_end (x, 0) / 1e9, 11.13333333, 1e-7);
}

/* Noise of 1.1 on a kernel of 10 ms: 11 ms, of which 1 is wait. */
static void
test_noise (void)
{
  g_autoptr (StepGraph) graph = graph_new ();
  g_autoptr (Network) network = network_new ();
  g_autoptr (Execution) x = NULL;
  g_autoptr (Ledger) ledger = NULL;

  graph_class (graph, 4);
  graph_kernel (graph, 0, CAUSE_COMPUTE, 10e-3, 1.1, "kernel");
  x = execution_new (graph, network, FALSE);
  g_assert_true (execution_run (x, 1, NULL));
  ledger = ledger_new (x, 0, execution_end (x, 0), FALSE);
  assert_ms (ledger->cause[CAUSE_COMPUTE], 4, 10);
  assert_ms (ledger->cause[CAUSE_WAIT], 4, 1);
}

/* `per_kernel` of host time for each of 100 kernels of 2 us, `gpus` driven by one process. */
static Tick
issue (double per_kernel, double gpu_time, guint gpus)
{
  g_autoptr (StepGraph) graph = graph_new ();
  g_autoptr (Network) network = network_new ();
  g_autoptr (Execution) x = NULL;
  guint host;

  graph_class (graph, gpus);
  host = graph_queue (graph, LANE_HOST, 0, "host");
  for (guint i = 0; i < 100; i++)
    graph_edge (graph, graph_fixed (graph, host, CAUSE_HOST, per_kernel * gpus, "issue"), kernel (graph, 0, gpu_time, "kernel"));
  x = execution_new (graph, network, FALSE);
  g_assert_true (execution_run (x, 1, NULL));
  return execution_end (x, 0);
}

/* Host-bound: 100 x 5 us + the last kernel's 2 us; four GPUs in one process: 2,000 + 2;
 * a graph of 1 us a kernel: the GPU's 100 x 2 us + the first launch's 1 us. */
static void
test_host_bound (void)
{
  g_assert_cmpuint (issue (5e-6, 2e-6, 1), ==, G_GUINT64_CONSTANT (502000000));
  g_assert_cmpuint (issue (5e-6, 2e-6, 4), ==, G_GUINT64_CONSTANT (2002000000));
  g_assert_cmpuint (issue (1e-6, 2e-6, 1), ==, G_GUINT64_CONSTANT (201000000));
}

/* Two calls issued in opposite order on two ranks never end: the error names both. */
static void
test_deadlock (void)
{
  g_autoptr (StepGraph) graph = graph_new ();
  g_autoptr (Network) network = network_new ();
  g_autoptr (Execution) x = NULL;
  g_autoptr (GError) error = NULL;
  guint first, second;

  graph_class (graph, 1);
  graph_class (graph, 1);
  first = timed_call (graph, 1e-3, 1, "embedding");
  second = timed_call (graph, 1e-3, 1, "decoder");
  meet (graph, 0, first);
  meet (graph, 0, second);
  meet (graph, 1, second);
  meet (graph, 1, first);
  x = execution_new (graph, network, FALSE);
  g_assert_false (execution_run (x, 1, &error));
  g_assert_error (error, ENGINE_ERROR, ENGINE_ERROR_DEADLOCK);
  g_assert_nonnull (strstr (error->message, "embedding"));
  g_assert_nonnull (strstr (error->message, "decoder"));
}

/* Longer than 2^63 ps, 106 days, even far beyond what a tick can hold: an error, never a short step. */
static void
too_long (double input, double latency)
{
  g_autoptr (StepGraph) graph = graph_new ();
  g_autoptr (Network) network = network_new ();
  g_autoptr (Execution) x = NULL;
  g_autoptr (GError) error = NULL;
  Window window;
  guint member;

  graph_class (graph, 1);
  member = meet (graph, 0, timed_call (graph, latency, 1, "all-reduce"));
  graph_edge (graph, graph_fixed (graph, graph_queue (graph, LANE_INPUT, 0, "input"), CAUSE_INPUT, input, "batch"), member);
  graph_edge (graph, member, kernel (graph, 0, 12e-3, "kernel"));
  x = execution_new (graph, network, FALSE);
  g_assert_false (steady_run (x, &window, &error));
  g_assert_error (error, ENGINE_ERROR, ENGINE_ERROR_TIME);
  g_assert_nonnull (strstr (error->message, " 106 days"));
}

static void
test_too_long (void)
{
  too_long (1e9, 1e-3);
  too_long (20e-3, 2e8);
  too_long (9e6, 1e6);
}

/* The flow of bytes: two equal all-reduces on queues of their own over one NIC,
 * 23.85 MB at 5 GB/s: T = 4.77 ms; the second starts at T/2.  Shared: 1.5 T, 2 T.
 * On disjoint rails: T, 1.5 T. */
static void
two_calls (gboolean rails, Tick ends[2])
{
  g_autoptr (StepGraph) graph = graph_new ();
  g_autoptr (Network) network = network_new ();
  g_autoptr (Execution) x = NULL;
  const Id nic = network_add (network, "nic-0", 5e9, 0, 2, FALSE), other = network_add (network, "nic-1", 5e9, 0, 2, FALSE);

  graph_class (graph, 2);
  for (guint i = 0; i < 2; i++)
    {
      GraphCall call = { .call = { .op = OP_ALL_REDUCE, .size = 23.85e6 }, .slowdown = 1, .label = "all-reduce",
                         .flow = { .cap = INFINITY, .n_loads = 1, .load = { { rails && i == 1 ? other : nic, 1, 1 } } } };
      const guint queue = graph_queue (graph, LANE_COMM, 0, "communicator");
      const guint delay = graph_fixed (graph, graph_queue (graph, LANE_HOST, 0, "host"), CAUSE_HOST, i * 2.385e-3, "delay");
      const guint member = graph_meet (graph, queue, graph_call (graph, &call));
      const guint end = graph_fixed (graph, 0, CAUSE_OTHER, 0, "end");

      graph_edge (graph, delay, member);
      graph_edge (graph, member, end);
    }
  x = execution_new (graph, network, FALSE);
  g_assert_true (execution_run (x, 1, NULL));
  for (guint i = 0; i < 2; i++)
    ends[i] = engine_get_meeting (execution_engine (x), i + 1)->end;
}

static void
test_shared_nic (void)
{
  Tick ends[2];

  two_calls (FALSE, ends);
  g_assert_cmpfloat_with_epsilon ((double) ends[0] / 1e9, 1.5 * 4.77, 1e-8);
  g_assert_cmpfloat_with_epsilon ((double) ends[1] / 1e9, 2 * 4.77, 1e-8);
  two_calls (TRUE, ends);
  g_assert_cmpfloat_with_epsilon ((double) ends[0] / 1e9, 4.77, 1e-8);
  g_assert_cmpfloat_with_epsilon ((double) ends[1] / 1e9, 1.5 * 4.77, 1e-8);
}

/* A transfer alone on idle links ends, to the tick, after its latency and its
 * bytes at the idle rate: what collective_estimate () says.  12.3456789 MB, loads
 * on two links with efficiencies and a cap above them: the slower link is the
 * second, 7e9 x 0.56/1.95 bytes/s. */
static void
test_estimate (void)
{
  g_autoptr (StepGraph) graph = graph_new ();
  g_autoptr (Network) network = network_new ();
  g_autoptr (Execution) x = NULL;
  const Id fast = network_add (network, "nvlink", 150e9, 0, 16, FALSE), slow = network_add (network, "nic", 7e9, 0, 2, FALSE);
  const GraphCall call = { .call = { .op = OP_ALL_REDUCE, .size = 12.3456789e6 }, .slowdown = 1, .label = "all-reduce",
                           .flow = { .latency = 123.4567e-6, .cap = 3e9, .n_loads = 2, .load = { { fast, 1.95, 0.83 }, { slow, 1.95, 0.56 } } } };
  const double by_hand = 123.4567e-6 + 12.3456789e6 / (7e9 * 0.56 / 1.95);
  const Meeting *meeting;

  graph_class (graph, 16);
  graph_edge (graph, meet (graph, 0, graph_call (graph, &call)), kernel (graph, 0, 1e-3, "kernel"));
  x = execution_new (graph, network, FALSE);
  g_assert_true (execution_run (x, 1, NULL));
  meeting = engine_get_meeting (execution_engine (x), 1);
  g_assert_cmpfloat_with_epsilon (seconds_from_ticks (meeting->end), by_hand, 2e-12);
  g_assert_cmpuint (meeting->end, ==, ticks_from_seconds (call.flow.latency)
                    + engine_ticks (call.call.size, network_idle_rate (network, call.flow.load, 2, call.flow.cap) / TICKS_PER_S));
  g_assert_cmpfloat_with_epsilon (collective_estimate (&call.flow, network, call.call.size), by_hand, 1e-15);
}

/* Input: a batch every 20 ms, kernels of 12: idle 8 ms a step for input.  Batches are
 * read one behind the other, ahead of the kernels, so that faster kernels would change
 * nothing: the critical path is reading alone. */
static void
test_input (void)
{
  g_autoptr (StepGraph) graph = graph_new ();
  g_autoptr (Network) network = network_new ();
  g_autoptr (Execution) x = NULL;
  g_autoptr (Ledger) ledger = NULL;
  Window window;

  graph_class (graph, 1);
  graph_edge (graph, graph_fixed (graph, graph_queue (graph, LANE_INPUT, 0, "input"), CAUSE_INPUT, 20e-3, "batch"),
              kernel (graph, 0, 12e-3, "kernel"));
  x = execution_new (graph, network, FALSE);
  g_assert_true (steady_run (x, &window, NULL));
  g_assert_cmpuint (window.to - window.from, ==, MS (20));
  ledger = ledger_new (x, window.from, window.to, window.steady);
  assert_ms (ledger->cause[CAUSE_INPUT], 1, 8);
  assert_ms (ledger->cause[CAUSE_COMPUTE], 1, 12);
  g_assert_cmpuint (ledger->path[CAUSE_INPUT], ==, MS (20));
  g_assert_cmpuint (ledger->path[CAUSE_COMPUTE], ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/execute/ddp-by-hand", test_ddp);
  g_test_add_func ("/execute/ddp-ideal-network", test_ddp_ideal);
  g_test_add_func ("/execute/two-ranks", test_two_ranks);
  g_test_add_func ("/execute/contention", test_contention);
  g_test_add_func ("/execute/spinning", test_spinning);
  g_test_add_func ("/execute/noise-is-wait", test_noise);
  g_test_add_func ("/execute/host-bound", test_host_bound);
  g_test_add_func ("/execute/deadlock", test_deadlock);
  g_test_add_func ("/execute/too-long", test_too_long);
  g_test_add_func ("/execute/shared-nic", test_shared_nic);
  g_test_add_func ("/execute/estimate", test_estimate);
  g_test_add_func ("/execute/input", test_input);
  return g_test_run ();
}
