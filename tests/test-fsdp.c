/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sharded-fixture.h"

/* FSDP against hand arithmetic: bytes, and order on the queues. */

/* 3(f-1)/f of the parameter bytes, but that the root is gathered once; 4(f-1)/f
 * with gradients in fp32; two thirds where weights stay between the passes. */
static void
test_fsdp_bytes (void)
{
  const double f = 15.0 / 16;
  g_auto (Built) full = build (""), fp32 = build ("strategy.reduce-dtype=fp32"), grad = build ("strategy.sharding=grad-op");
  g_auto (Built) two = build ("strategy.version=2"), stays = build ("strategy.version=2 strategy.reshard-after-forward=false");
  g_auto (Built) no = build ("strategy.sharding=no");

  near (sent (full.graph, ALL_OPS), f * 2 * (3 * mpt - mpt_root));
  near (sent (fp32.graph, ALL_OPS), f * 2 * (4 * mpt - mpt_root));
  near (sent (grad.graph, ALL_OPS), f * 2 * 2 * mpt);
  near (sent (two.graph, ALL_OPS), f * 2 * (3 * mpt - mpt_root));
  near (sent (stays.graph, ALL_OPS), f * 2 * 2 * mpt);
  near (sent (no.graph, OP_ALL_REDUCE), 2 * f * 2 * mpt);
  near (sent (no.graph, OP_ALL_GATHER | OP_REDUCE_SCATTER), 0);
}

/* Two micro-steps: no no_sync, so twice the bytes.  With it two rounds of gathers and
 * one of reductions, for whole two-byte gradients in memory. */
static void
test_fsdp_accumulation (void)
{
  g_auto (Built) one = build (""), two = build ("training.accumulation=2");
  g_auto (Built) last = build ("training.accumulation=2 strategy.gradient-sync=last");
  g_autoptr (Scenario) s = scenario ("training.accumulation=2 strategy.gradient-sync=last"), plain = scenario ("training.accumulation=2");
  g_autoptr (Result) whole = run_scenario (s, &(RunOptions) { 0 }, NULL), parts = run_scenario (plain, &(RunOptions) { 0 }, NULL);

  near (sent (two.graph, ALL_OPS), 2 * sent (one.graph, ALL_OPS));
  near (sent (last.graph, OP_ALL_GATHER), 2 * sent (one.graph, OP_ALL_GATHER));
  near (sent (last.graph, OP_REDUCE_SCATTER), sent (one.graph, OP_REDUCE_SCATTER));
  g_assert_cmpfloat_with_epsilon (whole->memory.total - parts->memory.total, 2 * (mpt - mpt_root - (mpt - mpt_root) / 32), 1e3);
  g_assert_cmpfloat (whole->step_time, <, parts->step_time);
}

/* Inside the node as FULL over 8; between the 2 nodes an all-reduce of an eighth of
 * the gradients by each of 8 rings that share the NICs. */
static void
test_hybrid (void)
{
  g_auto (Built) b = build ("strategy.sharding=hybrid");
  guint n = 0;

  near (sent (b.graph, OP_ALL_GATHER | OP_REDUCE_SCATTER), 7.0 / 8 * 2 * (3 * mpt - mpt_root));
  near (sent (b.graph, OP_ALL_REDUCE), 2 * (1.0 / 2) * 2 * mpt / 8);
  for (guint i = 0; i < b.graph->calls->len; i++)
    {
      const GraphCall *call = graph_get_call (b.graph, i);

      if (call->call.op != OP_ALL_REDUCE)
        {
          g_assert_cmpuint (call->group.n_ranks, ==, 8);
          g_assert_cmpuint (call->group.n_nodes, ==, 1);
          continue;
        }
      n++;
      g_assert_cmpuint (call->group.n_ranks, ==, 2);
      g_assert_cmpuint (call->group.n_nodes, ==, 2);
      g_assert_cmpuint (call->group.per_node, ==, 1);
      g_assert_cmpuint (call->group.twins_per_node, ==, 8);
    }
  g_assert_cmpuint (n, ==, 33);
}

/* Four of eight: two shard groups a node, replicas on GPUs 0 and 4 of both nodes. */
static void
test_hybrid_part_of_node (void)
{
  g_auto (Built) b = build ("strategy.sharding=hybrid strategy.shard-size=4");

  near (sent (b.graph, OP_ALL_REDUCE), 2 * (3.0 / 4) * 2 * mpt / 4);
  for (guint i = 0; i < b.graph->calls->len; i++)
    {
      const RankGroup *group = &graph_get_call (b.graph, i)->group;

      if (graph_get_call (b.graph, i)->call.op != OP_ALL_REDUCE)
        continue;
      g_assert_cmpuint (group->n_ranks, ==, 4);
      g_assert_cmpuint (group->per_node, ==, 2);
      g_assert_cmpuint (group->stride, ==, 4);
      g_assert_cmpuint (group->twins_per_node, ==, 4);
    }
}

static char *
small_file (void)
{
  char *path = g_build_filename (g_get_tmp_dir (), "lockstep-three-units.csv", NULL);

  g_assert_true (g_file_set_contents (path, small, -1, NULL));
  return path;
}

static Built
build_small (const char *sets)
{
  g_autofree char *path = small_file ();
  g_autofree char *text = g_strdup_printf ("[cluster]\nmachine = dgx-h100\nnodes = 1\n[workload]\nfile = %s\nfamily = other\n"
                                           "[training]\nbatch-per-gpu = 8\n[strategy]\nkind = fsdp\n", path);
  g_auto (GStrv) list = g_strsplit (sets, " ", 0);
  g_autoptr (GError) error = NULL;
  Scenario *s = scenario_parse ("small.ini", text, strlen (text), (const char *const *) list, &error);
  Built b;

  g_assert_no_error (error);
  b = built_of (s);
  g_unlink (path);
  return b;
}

/* Labels of the calls on a queue, in its order. */
static char *
order (const StepGraph *graph, const char *queue)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < graph->tasks->len; i++)
    {
      const GraphTask *task = graph_task (graph, i);

      if (task->kind == GRAPH_MEET && g_str_equal (g_array_index (graph->queues, GraphQueue, task->queue).name, queue))
        g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", task->label);
    }
  return g_string_free (text, FALSE);
}

/* BACKWARD_PRE: the gather of the next unit is issued before a unit's backward pass,
 * its reduction behind it; one NCCL queue in that order.  Without prefetch each
 * gather stands behind the reduction before. */
static void
test_order (void)
{
  g_auto (Built) pre = build_small (""), none = build_small ("strategy.backward-prefetch=none");
  g_auto (Built) post = build_small ("strategy.backward-prefetch=post"), two = build_small ("strategy.version=2");
  g_autofree char *a = order (pre.graph, "communication"), *b = order (none.graph, "communication");
  g_autofree char *c = order (two.graph, "communication"), *d = order (two.graph, "reduce-scatter"), *e = order (post.graph, "communication");

  g_assert_cmpstr (a, ==, "gather root, gather u0.a, gather u1.a, gather u2.a, gather u2.a, gather u1.a, reduce u2.a, gather u0.a, "
                          "reduce u1.a, reduce u0.a, reduce root");
  g_assert_cmpstr (b, ==, "gather root, gather u0.a, gather u1.a, gather u2.a, gather u2.a, reduce u2.a, gather u1.a, reduce u1.a, "
                          "gather u0.a, reduce u0.a, reduce root");
  g_assert_cmpstr (e, ==, a);
  g_assert_cmpstr (c, ==, "gather root, gather u0.a, gather u1.a, gather u2.a, gather u2.a, gather u1.a, gather u0.a");
  g_assert_cmpstr (d, ==, "reduce u2.a, reduce u1.a, reduce u0.a, reduce root");
}

/* TRUE where the host call of the `nth` task `label` waits for a GPU task `before`. */
static gboolean
host_waits (const StepGraph *graph, const char *label, guint nth, const char *before)
{
  for (guint i = 0; i < graph->tasks->len; i++)
    {
      const GraphTask *task = graph_task (graph, i);

      if (g_array_index (graph->queues, GraphQueue, task->queue).kind != LANE_HOST || !g_str_equal (task->label, label) || nth-- > 0)
        continue;
      for (guint k = 0; k < graph->edges->len; k++)
        {
          const GraphEdge *edge = &g_array_index (graph->edges, GraphEdge, k);

          if (edge->after == i && g_str_equal (graph_task (graph, edge->before)->label, before))
            return TRUE;
        }
      return FALSE;
    }
  return FALSE;
}

/* The third gather waits until the first unit is freed, and so on; units of the
 * backward pass wait for those of the forward pass. */
static void
test_two_in_flight (void)
{
  g_auto (Built) limited = build_small (""), free = build_small ("strategy.limit-all-gathers=false");

  g_assert_false (host_waits (limited.graph, "gather u1.a", 0, "u0.a"));
  g_assert_true (host_waits (limited.graph, "gather u2.a", 0, "u0.a"));
  g_assert_true (host_waits (limited.graph, "gather u2.a", 1, "u1.a"));
  g_assert_true (host_waits (limited.graph, "gather u1.a", 1, "u2.a") || host_waits (limited.graph, "gather u0.a", 1, "u2.a"));
  g_assert_false (host_waits (free.graph, "gather u2.a", 0, "u0.a"));
}

/* Slow wire (0.1 s a unit and more), no compute to speak of: every byte shows, in
 * turn.  gathers 3 of 4 B x 2 + root, reductions 3 + root: 3 x 2,100 + 2 x 340. */
static void
test_wire_bound (void)
{
  g_autofree char *path = small_file ();
  g_autofree char *text = g_strdup_printf ("[cluster]\nmachine = dgx-h100\nnodes = 2\ngpus-per-node = 1\n[network]\ntransport = plain\n"
                                           "nic-bandwidth = 0.001 MB/s\nefficiency = 1\nlatency = 1 us\n[workload]\nfile = %s\nfamily = other\n"
                                           "[training]\nbatch-per-gpu = 1\n[strategy]\nkind = fsdp\nbox-noise = false\n[collective]\nalgorithm = ring\n", path);
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) s = scenario_parse ("small.ini", text, strlen (text), NULL, &error);
  g_autoptr (Result) r = NULL;

  g_assert_no_error (error);
  r = run_scenario (s, &(RunOptions) { 0 }, &error);
  g_assert_no_error (error);
  /* half of each vector leaves each of two ranks; 1,000 B/s */
  g_assert_cmpfloat_with_epsilon (r->step_time, (3 * 2100 + 2 * 340) * 4 / 2.0 / 1000, 0.01 * r->step_time);
  g_unlink (path);
}

/* Two queues, by hand: the gather of u2 waits until u0 is freed, that of the backward
 * pass until u1 is, the one of u0 stands behind the reduction of u2.  Wire: half of
 * 4 B a parameter at 1,000 B/s; kernels of 0.5 s and more; nothing slows another. */
static void
test_two_queues (void)
{
  g_autofree char *path = small_file ();
  g_autofree char *text = g_strdup_printf ("[cluster]\nmachine = dgx-h100\nnodes = 2\ngpus-per-node = 1\n[network]\ntransport = plain\n"
                                           "nic-bandwidth = 0.001 MB/s\nefficiency = 1\nlatency = 1 us\n[workload]\nfile = %s\nfamily = other\n"
                                           "[training]\nbatch-per-gpu = 8\n[strategy]\nkind = fsdp\nbox-noise = false\nslowdown = 1\nhost = cuda-graph\n"
                                           "[collective]\nalgorithm = ring\n[compute]\nefficiency = 0.001\n", path);
  g_autoptr (GError) error = NULL;
  Scenario *s = scenario_parse ("small.ini", text, strlen (text), NULL, &error);
  g_auto (Built) b = { 0 };
  g_autoptr (Result) r = NULL;
  double f[3], w[3] = { 1.8, 1.4, 1.0 }, ends[3], comm = 0.68, gpu = 0.68, reduced, first, second;

  g_assert_no_error (error);
  b = built_of (s);
  r = run_scenario (b.scenario, &(RunOptions) { 0 }, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *label = g_strdup_printf ("u%u.a", i);

      f[i] = kernel (b.graph, label, 0);
      near (kernel (b.graph, label, 1), 2 * f[i]);
      g_assert_cmpfloat (f[i], >, 0.4);
      comm = fmax (comm, i == 2 ? ends[0] : 0) + w[i];
      gpu = fmax (gpu, comm) + f[i];
      ends[i] = gpu;
    }
  first = comm = fmax (comm, ends[1]) + w[2];      /* u2 again */
  second = comm += w[1];                           /* u1, ahead */
  gpu = fmax (gpu, first) + 2 * f[2];
  comm = fmax (comm, gpu) + w[2];                  /* reduce u2 */
  comm += w[0];                                    /* u0, ahead */
  first = comm;
  gpu = fmax (gpu, second) + 2 * f[1];
  comm = fmax (comm, gpu) + w[1];
  gpu = fmax (gpu, first) + 2 * f[0];
  reduced = fmax (comm, gpu) + w[0] + 0.68;
  g_assert_cmpfloat_with_epsilon (r->step_time, reduced, 0.01 * reduced);
  g_unlink (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sharded/fsdp/bytes", test_fsdp_bytes);
  g_test_add_func ("/sharded/fsdp/accumulation", test_fsdp_accumulation);
  g_test_add_func ("/sharded/fsdp/hybrid", test_hybrid);
  g_test_add_func ("/sharded/fsdp/hybrid-part-of-node", test_hybrid_part_of_node);
  g_test_add_func ("/sharded/fsdp/order", test_order);
  g_test_add_func ("/sharded/fsdp/two-in-flight", test_two_in_flight);
  g_test_add_func ("/sharded/fsdp/wire-bound", test_wire_bound);
  g_test_add_func ("/sharded/fsdp/two-queues", test_two_queues);
  return g_test_run ();
}
