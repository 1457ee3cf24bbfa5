/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/ledger.h"
#include "run/steady.h"
#include "strategy/price.h"
#include <math.h>
#include <string.h>

/* Calls of a step message by message.  Cards of 25 GB/s, hops of 5 us (plain), ticks of
 * 1 ps; every expected number is worked in the comment above its test. */

#define MS(x) ((double) (x) * 1e9)

typedef struct { Cluster *cluster; StepGraph *graph; } Made;

static void
made_clear (Made *made)
{
  graph_free (made->graph);
  cluster_free (made->cluster);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Made, made_clear)

/* A class for every rank. */
static Made
make (guint64 nodes, guint64 gpus, guint64 nics)
{
  const ClusterSpec spec = { .machine = (char *) (gpus > 1 ? "generic-nvswitch" : "generic-1gpu"), .nodes = nodes, .gpus_per_node = gpus,
                             .nics = nics, .nic_bandwidth = 25e9, .ring_bandwidth = NAN };
  const NetworkSpec network = { .transport = (char *) "plain", .nic_bandwidth = NAN, .latency = 5e-6, .efficiency = NAN,
                                .node_bandwidth = gpus > 1 ? 25e9 : NAN, .oversubscription = 1, .nodes_per_leaf = 1, .ecmp_share = 1 };
  Made made = { .graph = graph_new () };
  GError *error = NULL;

  made.cluster = cluster_new (&spec, &network, NULL, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < nodes * gpus; i++)
    graph_class (made.graph, 1);
  return made;
}

static guint
add_call (Made *made, CollectiveOp op, const char *algorithm, double size, const RankGroup *group)
{
  GraphCall call = { .call = { .op = op, .size = size, .protocol = PROTOCOL_SIMPLE }, .slowdown = 1, .label = "call" };
  GError *error = NULL;
  gboolean on_gpu;

  call.group = group != NULL ? *group : price_all (made->cluster);
  g_assert_true (collective_find (algorithm, &call.call.algorithm, &error));
  price_group (made->cluster, &call.call, &call.group, &call.flow, &on_gpu, &error);
  g_assert_no_error (error);
  return graph_call (made->graph, &call);
}

static const RankClass *
class_at (const Made *made, guint i)
{
  return &g_array_index (made->graph->classes, RankClass, i);
}

/* `seconds` of work, then the call, then the end of the step. */
static void
rank (Made *made, guint i, double seconds, guint call)
{
  const guint before = graph_kernel (made->graph, class_at (made, i)->compute, CAUSE_COMPUTE, seconds, 1, "compute");
  const guint member = graph_meet (made->graph, class_at (made, i)->comm, call);
  const guint end = graph_fixed (made->graph, class_at (made, i)->compute, CAUSE_OTHER, 0, "end");

  graph_edge (made->graph, before, member);
  graph_edge (made->graph, member, end);
}

static const MessageCards whole = { 0, 1 };

typedef struct { Messages *messages; Execution *x; } Run;

static void
run_clear (Run *run)
{
  execution_free (run->x);
  messages_free (run->messages);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

static Run
run_steps (const Made *made, gboolean by_messages, guint steps)
{
  Run run = { 0 };
  GError *error = NULL;

  run.x = execution_new (made->graph, cluster_network (made->cluster), FALSE);
  if (by_messages)
    {
      run.messages = messages_new (made->graph, made->cluster, &whole, 0, &error);
      g_assert_no_error (error);
      execution_messages (run.x, run.messages);
    }
  execution_run (run.x, steps, &error);
  g_assert_no_error (error);
  return run;
}

/* When a rank's member of the first step's call ends. */
static double
member_end (const Made *made, const Run *run, guint rank_class)
{
  for (guint i = 0; i < made->graph->tasks->len; i++)
    if (graph_task (made->graph, i)->kind == GRAPH_MEET && graph_task (made->graph, i)->queue == class_at (made, rank_class)->comm)
      return (double) engine_get_task (execution_engine (run->x), execution_task_id (run->x, 0, i))->end;
  g_assert_not_reached ();
}

/* A ring of 4 on idle links, all at 10 ms: 6 (5 us + 100 MB/4/25 GB/s) = 6.03 ms; so by
 * its flow, in each step. */
static void
test_idle (void)
{
  g_auto (Made) made = make (4, 1, 1);
  const guint call = add_call (&made, OP_ALL_REDUCE, "ring", 1e8, NULL);

  for (guint i = 0; i < 4; i++)
    rank (&made, i, 10e-3, call);

  g_auto (Run) flow = run_steps (&made, FALSE, 3), messages = run_steps (&made, TRUE, 3);

  for (guint step = 0; step < 3; step++)
    {
      g_assert_cmpfloat_with_epsilon ((double) execution_end (messages.x, step), (step + 1) * MS (16.03), MS (16.03e-6));
      g_assert_cmpfloat_with_epsilon ((double) execution_end (messages.x, step), (double) execution_end (flow.x, step), MS (16.03e-6));
    }
  g_assert_cmpuint (play_messages (execution_play (messages.x)), ==, 3 * 4 * 6);
  g_assert_cmpuint (play_shared (execution_play (messages.x)), ==, 0);
}

/* A broadcast of 100 MB from a rank at 10 ms to one at 12: the bytes go at 10 and are
 * there, in the buffer, at 10 + 0.005 + 4 = 14.005, when both are done; the flow would
 * start at 12: 16.005.  (25 chunks follow each other without a gap.) */
static void
test_early_root (void)
{
  g_auto (Made) made = make (2, 1, 1);
  const guint call = add_call (&made, OP_BROADCAST, "ring", 1e8, NULL);

  rank (&made, 0, 10e-3, call);
  rank (&made, 1, 12e-3, call);

  g_auto (Run) flow = run_steps (&made, FALSE, 1), messages = run_steps (&made, TRUE, 1);

  g_assert_cmpfloat_with_epsilon (member_end (&made, &messages, 0), MS (14.005), MS (1e-6));
  g_assert_cmpfloat_with_epsilon (member_end (&made, &messages, 1), MS (14.005), MS (1e-6));
  g_assert_cmpfloat ((double) execution_end (messages.x, 0), <, (double) execution_end (flow.x, 0));
}

/* The same the other way: the root at 12; its leaf waits, and both end at 16.005. */
static void
test_late_root (void)
{
  g_auto (Made) made = make (2, 1, 1);
  const guint call = add_call (&made, OP_BROADCAST, "ring", 1e8, NULL);

  rank (&made, 0, 12e-3, call);
  rank (&made, 1, 10e-3, call);

  g_auto (Run) messages = run_steps (&made, TRUE, 1);
  g_autoptr (Ledger) ledger = ledger_new (messages.x, 0, execution_end (messages.x, 0), FALSE);

  g_assert_cmpfloat_with_epsilon (member_end (&made, &messages, 0), MS (16.005), MS (1e-6));
  /* of the leaf 2 ms are waiting, the rest of both exposed: 4.005 each */
  g_assert_cmpfloat_with_epsilon ((double) ledger->cause[CAUSE_WAIT], MS (2), MS (1e-6));
  g_assert_cmpfloat_with_epsilon ((double) ledger->cause[CAUSE_EXPOSED_COMM], MS (2 * 4.005), MS (1e-5));
}

/* A ring's all-reduce of two, one at 10, one at 12 ms: what the early one sends ahead (at
 * the other by 12.005) spares nothing, since the late one's half has to go there and back:
 * 12 + 2 (0.005 + 2) = 16.01.  The late one's own second half, known at 12.005, follows its
 * first without a gap: 16.005; but it waits for the other's: 16.01. */
static void
test_late_ring (void)
{
  g_auto (Made) made = make (2, 1, 1);
  const guint call = add_call (&made, OP_ALL_REDUCE, "ring", 1e8, NULL);

  rank (&made, 0, 10e-3, call);
  rank (&made, 1, 12e-3, call);

  g_auto (Run) messages = run_steps (&made, TRUE, 1);

  g_assert_cmpfloat_with_epsilon (member_end (&made, &messages, 0), MS (16.01), MS (1e-6));
  g_assert_cmpfloat_with_epsilon (member_end (&made, &messages, 1), MS (16.01), MS (1e-6));
}

/* Two nodes of two GPUs, an all-reduce between the first ones and one between the
 * second ones at the same time, 100 MB each.  A card each (of the machine's eight): 2 (0.005 + 2) = 4.01 ms, with
 * or without the other.  One card for both: the bytes take twice as long, 8.01 ms. */
static double
rails (guint64 nics, gboolean both)
{
  g_auto (Made) made = make (2, 2, nics);
  const RankGroup pair = { .n_ranks = 2, .n_nodes = 2, .per_node = 1, .twins_per_node = 1, .spacing = 1 };

  for (guint local = 0; local < 2; local++)
    {
      const guint call = local == 0 || both ? add_call (&made, OP_ALL_REDUCE, "ring", 1e8, &pair) : 0;

      for (guint node = 0; node < 2; node++)
        if (local == 0 || both)
          rank (&made, 2 * node + local, 10e-3, call);
    }

  g_auto (Run) messages = run_steps (&made, TRUE, 1);

  if (both)
    g_assert_cmpfloat_with_epsilon (member_end (&made, &messages, 0), member_end (&made, &messages, 3), 0.5);
  return member_end (&made, &messages, 0) - MS (10);
}

static void
test_rails (void)
{
  g_assert_cmpfloat_with_epsilon (rails (8, FALSE), MS (4.01), MS (1e-6));
  g_assert_cmpfloat_with_epsilon (rails (8, TRUE), MS (4.01), MS (1e-6));
  g_assert_cmpfloat_with_epsilon (rails (1, FALSE), MS (4.01), MS (1e-6));
  g_assert_cmpfloat_with_epsilon (rails (1, TRUE), MS (8.01), MS (1e-6));
}

/* Twins: one call of two groups, ranks 0, 2 and 1, 3, over the same card: 8.01 ms. */
static void
test_twins (void)
{
  g_auto (Made) made = make (2, 2, 1);
  const RankGroup pair = { .n_ranks = 2, .n_nodes = 2, .per_node = 1, .twins_per_node = 2, .spacing = 2 };
  const guint call = add_call (&made, OP_ALL_REDUCE, "ring", 1e8, &pair);

  for (guint i = 0; i < 4; i++)
    rank (&made, i, i == 3 ? 20e-3 : 10e-3, call);

  g_auto (Run) messages = run_steps (&made, TRUE, 1);

  /* 1 and 3 meet at 20; what 1 sent before slowed the others: 0 to 2 and 1 to 3 share until
   * 1's first 50 MB are over, 4 ms; all else of 0 and 2 is alone: 10 + 2 x 0.005 + 4 + 2 */
  g_assert_cmpfloat_with_epsilon (member_end (&made, &messages, 0), MS (16.01), MS (1e-6));
  g_assert_cmpfloat_with_epsilon (member_end (&made, &messages, 3), MS (24.01), MS (1e-6));
}

/* One card of four has half of its line left, and a chain of one chunk goes over all from 0
 * on: 3 hops of 5 us + S/B each, the first of them, from the bad card, 5 us + 2 S/B.  (The flow
 * lets every card be as slow.) */
static void
test_one_bad_card (void)
{
  g_auto (Made) made = make (4, 1, 1);
  const double bytes = 4096 * 1024 / 8;   /* one slice of NCCL's Simple */
  const MessageCards cards = { 1, 0.5 };
  Run run = { 0 };
  guint call;

  cluster_degrade_nics (made.cluster, 0.5);
  call = add_call (&made, OP_BROADCAST, "ring", bytes, NULL);
  for (guint i = 0; i < 4; i++)
    rank (&made, i, 10e-3, call);
  run.messages = messages_new (made.graph, made.cluster, &cards, 0, NULL);
  g_assert_nonnull (run.messages);
  run.x = execution_new (made.graph, cluster_network (made.cluster), FALSE);
  execution_messages (run.x, run.messages);
  g_assert_true (execution_run (run.x, 1, NULL));
  g_assert_cmpfloat_with_epsilon (member_end (&made, &run, 3), MS (10 + 3 * 0.005 + 4 * bytes / 25e6), MS (1e-6));
  run_clear (&run);
}

/* A kernel of 10 ms beside an all-reduce that slows it 1.5 times from 2 to 6 ms ends at
 * 11.333 ms, as with the flow. */
static void
test_beside (void)
{
  g_auto (Made) made = make (2, 1, 1);
  const double bytes = 1.995e-3 * 25e9 * 2;   /* 2 x (5 us + half of it) = 4 ms */
  const guint call = add_call (&made, OP_ALL_REDUCE, "ring", bytes, NULL);
  guint task = 0;

  graph_get_call (made.graph, call)->slowdown = 1.5;
  for (guint i = 0; i < 2; i++)
    {
      const guint host = graph_queue (made.graph, LANE_HOST, i, "host");
      const guint issue = graph_fixed (made.graph, host, CAUSE_HOST, 2e-3, "issue");

      task = graph_kernel (made.graph, class_at (&made, i)->compute, CAUSE_COMPUTE, 10e-3, 1, "kernel");
      graph_edge (made.graph, issue, graph_meet (made.graph, class_at (&made, i)->comm, call));
    }

  g_auto (Run) messages = run_steps (&made, TRUE, 1);

  g_assert_cmpfloat_with_epsilon ((double) engine_get_task (execution_engine (messages.x), execution_task_id (messages.x, 0, task))->end,
                                  MS (10 + 4 / 3.), MS (1e-6));
}

/* Whatever the flows say, messages do not ask them. */
static void
test_blind (void)
{
  g_auto (Made) made = make (3, 2, 1);
  const guint call = add_call (&made, OP_ALL_REDUCE, "tree", 1e8, NULL);
  CollectiveFlow *flow = &graph_get_call (made.graph, call)->flow;
  Tick end;

  for (guint i = 0; i < 6; i++)
    rank (&made, i, (10 + i) * 1e-3, call);
  {
    g_auto (Run) messages = run_steps (&made, TRUE, 2);

    end = execution_end (messages.x, 1);
  }
  *flow = (CollectiveFlow) { .latency = 7, .cap = 1, .algorithm = flow->algorithm, .protocol = flow->protocol };
  {
    g_auto (Run) messages = run_steps (&made, TRUE, 2);

    g_assert_cmpuint (execution_end (messages.x, 1), ==, end);
  }
}

/* All durations twice as long: twice the step, within the roundings of its messages. */
static void
test_scaled (void)
{
  g_auto (Made) made = make (3, 2, 1);
  const guint call = add_call (&made, OP_ALL_REDUCE, "ring", 1e8, NULL);
  const DurationScale twice = { .host = 2, .framework = 2, .input = 2, .kernel = 2, .optimizer = 2, .latency = 2, .link = 2, .wait = 1 };
  Tick end;

  for (guint i = 0; i < 6; i++)
    rank (&made, i, (10 + i) * 1e-3, call);

  g_auto (Run) messages = run_steps (&made, TRUE, 2);

  end = execution_end (messages.x, 1);
  execution_scale (messages.x, &twice);
  g_assert_true (execution_run (messages.x, 2, NULL));
  g_assert_cmpfloat_with_epsilon ((double) execution_end (messages.x, 1), 2 * (double) end, 100);
  execution_scale (messages.x, &duration_as_is);
  g_assert_true (execution_run (messages.x, 2, NULL));
  g_assert_cmpuint (execution_end (messages.x, 1), ==, end);
}

/* A member that never comes is a deadlock that names who waits. */
static void
test_missing (void)
{
  g_auto (Made) made = make (2, 1, 1);
  const guint call = add_call (&made, OP_ALL_REDUCE, "ring", 1e8, NULL);
  g_autoptr (Execution) x = NULL;
  g_autoptr (Messages) messages = NULL;
  g_autoptr (GError) error = NULL;
  guint never;

  rank (&made, 0, 10e-3, call);
  rank (&made, 1, 10e-3, call);
  never = graph_fixed (made.graph, class_at (&made, 1)->comm, CAUSE_OTHER, 0, "never");
  graph_edge (made.graph, never, 3);   /* the task of rank 1 before its member on the same queue */
  messages = messages_new (made.graph, made.cluster, &whole, 0, NULL);
  x = execution_new (made.graph, cluster_network (made.cluster), FALSE);
  execution_messages (x, messages);
  g_assert_false (execution_run (x, 1, &error));
  g_assert_error (error, ENGINE_ERROR, ENGINE_ERROR_DEADLOCK);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/step-messages/idle", test_idle);
  g_test_add_func ("/step-messages/early-root", test_early_root);
  g_test_add_func ("/step-messages/late-root", test_late_root);
  g_test_add_func ("/step-messages/late-ring", test_late_ring);
  g_test_add_func ("/step-messages/rails", test_rails);
  g_test_add_func ("/step-messages/twins", test_twins);
  g_test_add_func ("/step-messages/one-bad-card", test_one_bad_card);
  g_test_add_func ("/step-messages/beside", test_beside);
  g_test_add_func ("/step-messages/blind", test_blind);
  g_test_add_func ("/step-messages/scaled", test_scaled);
  g_test_add_func ("/step-messages/missing", test_missing);
  return g_test_run ();
}
