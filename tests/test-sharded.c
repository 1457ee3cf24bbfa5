/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/point.h"
#include "run/run.h"
#include "strategy/data-parallel.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* ZeRO and FSDP against hand arithmetic: bytes, order on the queues, memory. */

typedef struct
{
  Scenario  *scenario;
  Point     *point;
  StepGraph *graph;
} Built;

static void
built_clear (Built *b)
{
  graph_free (b->graph);
  point_free (b->point);
  scenario_free (b->scenario);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Built, built_clear)

/* MPT-7B: 6,658,859,008 parameters (published 6,658.859 M); 32 blocks and a root of
 * token and position tables and the last norm: (50,368 + 2,048 + 2) x 4,096. */
static const double mpt = 6658859008.0, mpt_root = (50368.0 + 2048 + 2) * 4096;
static const char base[] = "[cluster]\nmachine = dgx-h100\nnodes = 2\n"
                           "[workload]\nname = mpt_7b\nprecision = mixed-bf16\n[training]\nbatch-per-gpu = 3\n"
                           "[strategy]\nkind = fsdp\n";
/* Three blocks of 900, 700 and 500 parameters between tables of 300 and 40. */
static const char small[] =
  "layer,kind,params,tensors,tensor_sizes,out_elems,flops_fwd_per_sample,bytes_fwd_per_sample_fp32,m,n,k,kh,kw,stride,groups\n"
  "wte,embedding,300,1,300,64,0,512,,,,,,,\n"
  "u0.a,gemm,900,1,900,64,4e9,2048,,,,,,,\n"
  "u1.a,gemm,700,1,700,64,6e9,1024,,,,,,,\n"
  "u2.a,gemm,500,1,500,64,5e9,3072,,,,,,,\n"
  "ln,norm,40,1,40,64,512,512,,,,,,,\n";

static Scenario *
scenario (const char *sets)
{
  g_auto (GStrv) list = g_strsplit (sets, " ", 0);
  g_autoptr (GError) error = NULL;
  Scenario *s = scenario_parse ("test.ini", base, strlen (base), (const char *const *) list, &error);

  g_assert_no_error (error);
  return s;
}

static Built
build (const char *sets)
{
  g_autoptr (GError) error = NULL;
  Built b = { .scenario = scenario (sets) };

  b.point = point_new (b.scenario, &error);
  g_assert_no_error (error);
  b.graph = graph_new ();
  g_assert_true (strategy_build (b.point->strategy, &b.point->input, b.graph, &error));
  g_assert_no_error (error);
  return b;
}

static Result *
result (const char *sets, gboolean unfold)
{
  g_autoptr (Scenario) s = scenario (sets);
  g_autoptr (GError) error = NULL;
  Result *r = run_scenario (s, &(RunOptions) { .unfold = unfold }, &error);

  g_assert_no_error (error);
  return r;
}

static MemoryUse
memory (const char *sets)
{
  g_autoptr (Scenario) s = scenario (sets);
  g_autoptr (GError) error = NULL;
  g_autoptr (Point) point = point_new (s, &error);
  MemoryUse use;

  g_assert_no_error (error);
  point->strategy->memory (&point->input, &use);
  return use;
}

static void
near (double got, double want)
{
  g_assert_cmpfloat_with_epsilon (got, want, 1e-9 * fabs (want) + 1e-15);
}

/* Bytes that one GPU sends in a step: (n-1)/n of a gather or reduce-scatter, twice
 * that of an all-reduce. */
static double
sent (const StepGraph *graph, guint ops)
{
  double bytes = 0;

  for (guint i = 0; i < graph->calls->len; i++)
    {
      const GraphCall *call = graph_get_call (graph, i);

      if ((call->call.op & ops) != 0)
        bytes += call->call.size * collective_bus_factor (call->call.op, call->group.n_ranks);
    }
  return bytes;
}

#define ALL_OPS G_MAXUINT

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

/* Tables on owners.  DLRM on 16 GPUs with 100 samples each: 26 x 128 values of two
 * bytes a sample leave, 15/16 of them, forward and again backward; the dense network's
 * 2,368,897 gradients of 4 bytes are all-reduced.  A GPU holds 4 x 187,767,399 x 128 / 16
 * bytes of tables and 6 of the rest, and no table's gradient. */
static void
test_owners (void)
{
  static const char sets[] = "workload.name=dlrm_criteo workload.precision=mixed-fp16 strategy.kind=ddp strategy.sparse=model-parallel "
                             "training.optimizer=sgd training.batch-per-gpu=100";
  g_auto (Built) b = build (sets);
  const MemoryUse use = memory (sets);

  near (sent (b.graph, OP_ALL_TO_ALL), 2 * 15.0 / 16 * 100 * 26 * 128 * 2);
  near (sent (b.graph, OP_ALL_REDUCE), 2 * 15.0 / 16 * 2368897 * 4);
  near (sent (b.graph, OP_ALL_GATHER), 0);
  near (use.weights, 4.0 * 187767399 * 128 / 16 + 6 * 2368897.0);
  g_assert_cmpfloat (use.gradients, <=, 4 * 2368897.0);
  g_assert_true (use.fits);
}

/* Whole tables on 15 of the 16 GPUs, two at most, and the bottom network (7,168 + 131,328 +
 * 32,896 parameters) on the last, for all 1,600 samples; only the top network is reduced.
 * The bottom takes longer than two tables: all wait for it. */
static void
test_owners_whole (void)
{
  static const char sets[] = "workload.name=dlrm_criteo workload.precision=mixed-fp16 strategy.kind=ddp training.optimizer=sgd ";
  g_autofree char *whole = g_strconcat (sets, "strategy.sparse=hybrid training.batch-per-gpu=100", NULL);
  g_autofree char *all = g_strconcat (sets, "strategy.sparse=model-parallel training.batch-per-gpu=1600", NULL);
  g_auto (Built) b = build (whole), plain = build (all);
  g_autofree double *forward = data_parallel_forward (&b.point->input), *rows = data_parallel_forward (&plain.point->input);
  const guint bottom = 26, layers = 6;

  near (sent (b.graph, OP_ALL_TO_ALL), 2 * 15.0 / 16 * 1600 * 2 * 128 * 2);
  near (sent (b.graph, OP_ALL_REDUCE), 2 * 15.0 / 16 * (2368897 - 171392) * 4);
  for (guint i = 0; i < bottom; i++)
    near (forward[i], 0);
  for (guint i = bottom; i < bottom + layers; i++)
    near (forward[i], rows[i]);
  g_assert_cmpfloat (forward[bottom + layers], <, rows[bottom + layers]);
}

/* The bottom network runs beside the exchange, the interaction waits for it. */
static void
test_owners_order (void)
{
  g_autoptr (Result) free = result ("workload.name=dlrm_criteo workload.precision=fp32 strategy.kind=ddp strategy.sparse=model-parallel "
                                    "training.optimizer=sgd training.batch-per-gpu=4000 collective.algorithm=auto", FALSE);
  const CollectiveUse *forward = &free->collectives[0];

  g_assert_cmpstr (forward->label, ==, "embeddings");
  g_assert_cmpfloat (forward->exposed_s, <, forward->end - forward->start);
  g_assert_cmpfloat (forward->exposed_s, >, 0);
}

/* Clipping: an all-reduce of one number, 2 x 15/16 x 4 bytes, and 12 bytes a parameter
 * of the GPU's share, read and written at the rate of copies. */
static void
test_clipping (void)
{
  static const char *const kinds[] = { "strategy.kind=fsdp", "strategy.kind=zero strategy.stage=2", "strategy.kind=zero strategy.stage=3" };

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *sets = g_strconcat (kinds[i], " strategy.gradient-clipping=yes", NULL);
      g_auto (Built) plain = build (kinds[i]), clips = build (sets);

      near (sent (clips.graph, ALL_OPS) - sent (plain.graph, ALL_OPS), 2 * 15.0 / 16 * 4);
      g_assert_cmpuint (clips.graph->calls->len, ==, plain.graph->calls->len + 1);
    }
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

/* Stage 1 and 2: 2(N-1)/N of gradients all-reduced, (N-1)/N of weights gathered; 3:
 * weights twice, gradients once.  MPT-7B: 14 buckets of at most 5e8 elements. */
static void
test_zero_bytes (void)
{
  const double f = 15.0 / 16;
  g_auto (Built) one = build ("strategy.kind=zero strategy.stage=1"), two = build ("strategy.kind=zero");
  g_auto (Built) scatter = build ("strategy.kind=zero strategy.multi-rank-allreduce=false");
  g_auto (Built) three = build ("strategy.kind=zero strategy.stage=3 strategy.persistence-threshold=0 strategy.max-reuse-distance=0");
  g_auto (Built) keeps = build ("strategy.kind=zero strategy.stage=3");
  g_auto (Built) none = build ("strategy.kind=zero strategy.stage=0");

  near (sent (none.graph, ALL_OPS), f * 2 * 2 * mpt);
  near (sent (one.graph, ALL_OPS), f * 3 * 2 * mpt);
  near (sent (two.graph, ALL_OPS), f * 3 * 2 * mpt);
  near (sent (scatter.graph, ALL_OPS), f * 2 * 2 * mpt);
  near (sent (three.graph, ALL_OPS), f * 3 * 2 * mpt);
  g_assert_cmpfloat (sent (keeps.graph, ALL_OPS), <, f * 2 * (3 * mpt - 3e8));
}

/* hpZ gathers inside a node in the backward pass; MiCS keeps a copy in each node. */
static void
test_zero_groups (void)
{
  g_auto (Built) hpz = build ("strategy.kind=zero strategy.stage=3 strategy.hpz-partition-size=8 strategy.max-reuse-distance=0");
  g_auto (Built) mics = build ("strategy.kind=zero strategy.stage=3 strategy.mics-shard-size=8 strategy.max-reuse-distance=0");
  double inside = 0, over = 0;

  for (guint i = 0; i < hpz.graph->calls->len; i++)
    {
      const GraphCall *call = graph_get_call (hpz.graph, i);

      if (g_str_has_prefix (call->label, "gather"))
        *(call->group.n_nodes == 1 ? &inside : &over) += call->call.size;
    }
  near (inside, over);
  near (sent (mics.graph, OP_ALL_REDUCE), 2 * (1.0 / 2) * 2 * mpt / 8);
  for (guint i = 0; i < mics.graph->calls->len; i++)
    g_assert_cmpuint (graph_get_call (mics.graph, i)->group.n_ranks, ==, graph_get_call (mics.graph, i)->call.op == OP_ALL_REDUCE ? 2 : 8);
}

/* ZeRO-2 without overlap: the compute queue stands while a bucket is reduced; with
 * it the last bucket and the weights (a third of the bytes), and kernels beside it
 * take half as long again. */
static void
test_zero_overlap (void)
{
  g_autoptr (Result) without = result ("strategy.kind=zero", FALSE), with = result ("strategy.kind=zero strategy.overlap-comm=yes", FALSE);
  double wire = 0;

  for (guint i = 0; i < without->n_collectives; i++)
    wire += without->collectives[i].wire_s;
  g_assert_cmpfloat (without->ledger[CAUSE_EXPOSED_COMM], >=, 0.999 * wire);
  g_assert_cmpfloat (with->ledger[CAUSE_EXPOSED_COMM], <, 0.7 * wire);
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
  Built b = { .scenario = scenario_parse ("small.ini", text, strlen (text), (const char *const *) list, &error) };

  g_assert_no_error (error);
  b.point = point_new (b.scenario, &error);
  g_assert_no_error (error);
  b.graph = graph_new ();
  g_assert_true (strategy_build (b.point->strategy, &b.point->input, b.graph, &error));
  g_assert_no_error (error);
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

/* Seconds of the kernels of a layer. */
static double
kernel (const StepGraph *graph, const char *label, guint nth)
{
  for (guint i = 0; i < graph->tasks->len; i++)
    {
      const GraphTask *task = graph_task (graph, i);

      if (task->kind == GRAPH_KERNEL && g_str_equal (task->label, label) && nth-- == 0)
        return task->seconds;
    }
  g_assert_not_reached ();
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
  g_auto (Built) b = { .scenario = scenario_parse ("small.ini", text, strlen (text), NULL, &error) };
  g_autoptr (Result) r = NULL;
  double f[3], w[3] = { 1.8, 1.4, 1.0 }, ends[3], comm = 0.68, gpu = 0.68, reduced, first, second;

  g_assert_no_error (error);
  b.point = point_new (b.scenario, &error);
  b.graph = graph_new ();
  g_assert_true (strategy_build (b.point->strategy, &b.point->input, b.graph, &error));
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

/* Bytes a parameter of mixed-precision Adam at N = 16: Rajbhandari and others 2020. */
static void
test_memory_stages (void)
{
  static const struct { const char *sets; double per_parameter; } rows[] = {
    { "strategy.kind=zero strategy.stage=0", 16 },
    { "strategy.kind=zero strategy.stage=1", 4 + 12.0 / 16 },
    { "strategy.kind=zero strategy.stage=2", 2 + 14.0 / 16 },
    { "strategy.kind=zero strategy.stage=3", 16.0 / 16 },
    { "strategy.kind=fsdp", 16.0 / 16 },
    { "strategy.kind=fsdp strategy.sharding=hybrid", 16.0 / 8 },
    { "strategy.kind=zero strategy.stage=2 strategy.offload-optimizer=true", 2 + 2.0 / 16 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const MemoryUse use = memory (rows[i].sets);

      near ((use.weights + use.gradients + use.optimizer) / mpt, rows[i].per_parameter);
      near (use.margin, use.capacity - use.total);
    }
}

/* One layer more of GPT: s b h (34 + 5 a s/h) bytes, Korthikanti and others 2022,
 * equation 2; 34 with selective recomputation or flash attention, 2 with full. */
static void
test_activations (void)
{
  const double s = 2048, b = 3, h = 6144, a = 64;
  static const struct { const char *sets; double scores, factor; } rows[] = {
    { "training.attention=unfused", 5, 34 },
    { "training.attention=unfused training.recompute=selective", 0, 34 },
    { "training.attention=flash", 0, 34 },
    { "training.attention=unfused training.recompute=full", 0, 2 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *few = g_strdup_printf ("workload.name=megatron_22b workload.layers=2 %s", rows[i].sets);
      g_autofree char *more = g_strdup_printf ("workload.name=megatron_22b workload.layers=3 %s", rows[i].sets);

      near (memory (more).activations - memory (few).activations, s * b * h * (rows[i].factor + rows[i].scores * a * s / h));
    }
}

/* Forward FLOP once more with full recomputation: 4/3 of the work, less what
 * early stopping leaves out. */
static void
test_recompute_time (void)
{
  g_auto (Built) none = build ("strategy.kind=zero"), full = build ("strategy.kind=zero training.recompute=full");
  double seconds[2] = { 0 };
  const StepGraph *const graphs[] = { none.graph, full.graph };

  for (guint g = 0; g < 2; g++)
    for (guint i = 0; i < graphs[g]->tasks->len; i++)
      seconds[g] += graph_task (graphs[g], i)->cause == CAUSE_COMPUTE ? graph_task (graphs[g], i)->seconds : 0;
  g_assert_cmpfloat (seconds[1] / seconds[0], >, 1.25);
  g_assert_cmpfloat (seconds[1] / seconds[0], <, 1.36);
}

/* What ran (mosaicml/llm-foundry benchmarking tables; torchtitan) fits; what cannot, not. */
static void
test_verdicts (void)
{
  static const struct { const char *sets; gboolean fits; } rows[] = {
    { "cluster.nodes=1 training.batch-per-gpu=6", TRUE },
    { "cluster.nodes=2 workload.name=mpt_1b training.batch-per-gpu=20", TRUE },
    { "cluster.nodes=1 workload.name=mpt_30b training.batch-per-gpu=3 training.recompute=full", TRUE },
    { "cluster.nodes=1 workload.name=mpt_1b workload.sequence=32768 training.batch-per-gpu=1", TRUE },
    { "cluster.nodes=8 cluster.machine=hgx-a100-40gb-roce workload.name=mpt_1b training.batch-per-gpu=10 workload.precision=bf16", TRUE },
    { "cluster.nodes=1 workload.name=llama3_8b training.batch-per-gpu=2 training.recompute=per-op", TRUE },
    { "cluster.nodes=1 cluster.gpus-per-node=1 workload.name=llama2_70b training.batch-per-gpu=1 training.recompute=full", FALSE },
    { "cluster.nodes=1 cluster.machine=hgx-a100-40gb-roce strategy.kind=ddp training.batch-per-gpu=1", FALSE },
    { "cluster.nodes=1 cluster.machine=hgx-a100-40gb-roce strategy.kind=zero strategy.stage=0 training.batch-per-gpu=1 training.recompute=full", FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const MemoryUse use = memory (rows[i].sets);

      if (use.fits != rows[i].fits)
        g_error ("%s: %.1f of %.1f GB", rows[i].sets, use.total / 1e9, use.capacity / 1e9);
    }
}

/* A class for every rank: the same bits. */
static void
test_unfold (void)
{
  static const char *const rows[] = {
    "strategy.kind=fsdp", "strategy.kind=fsdp strategy.version=2", "strategy.kind=fsdp strategy.sharding=hybrid",
    "strategy.kind=zero strategy.stage=1", "strategy.kind=zero strategy.stage=2 strategy.overlap-comm=yes",
    "strategy.kind=zero strategy.stage=3", "strategy.kind=zero strategy.stage=3 strategy.mics-shard-size=2",
    "strategy.kind=ddp strategy.sparse=all-gather workload.tied=no",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *sets = g_strdup_printf ("cluster.gpus-per-node=2 workload.name=gpt2_small training.accumulation=2 %s", rows[i]);
      g_autoptr (Result) folded = result (sets, FALSE), apart = result (sets, TRUE);

      g_assert_true (memcmp (&folded->step_time, &apart->step_time, sizeof (double)) == 0);
    }
}

static guint
last_call (const StepGraph *graph)
{
  guint last = 0;

  for (guint i = 0; i < graph->calls->len; i++)
    last = i;
  return last;
}

/* GPT-2: the table of tokens is the head's too, so its gradient is there when
 * everything is; no kernel of the backward pass is left to hide it. */
static void
test_tied (void)
{
  g_auto (Built) fsdp = build ("workload.name=gpt2_small"), ddp = build ("workload.name=gpt2_small strategy.kind=ddp");
  const double tables = (50257.0 + 1024 + 2) * 768;
  const StepGraph *const graphs[] = { fsdp.graph, ddp.graph };
  g_autoptr (Result) r = result ("workload.name=gpt2_small strategy.kind=ddp", FALSE);

  g_assert_cmpstr (graph_get_call (fsdp.graph, last_call (fsdp.graph))->label, ==, "reduce root");
  near (graph_get_call (fsdp.graph, last_call (fsdp.graph))->call.size, 2 * tables);
  g_assert_cmpfloat (graph_get_call (ddp.graph, last_call (ddp.graph))->call.size, >=, 4 * 50257.0 * 768);
  for (guint g = 0; g < 2; g++)
    {
      guint kernel = 0, meet = 0;

      for (guint i = 0; i < graphs[g]->tasks->len; i++)
        {
          if (graph_task (graphs[g], i)->cause == CAUSE_COMPUTE)
            kernel = i;
          if (graph_task (graphs[g], i)->kind == GRAPH_MEET)
            meet = i;
        }
      g_assert_cmpuint (meet, >, g == 0 ? kernel : 0);
    }
  g_assert_cmpfloat (r->collectives[r->n_collectives - 1].exposed_s, >, 0.9 * r->collectives[r->n_collectives - 1].wire_s);
}

/* NCF's rows: (64 + 64 + 128 + 128) values a lookup and sample, from every rank. */
static void
test_sparse (void)
{
  g_auto (Built) few = build ("workload.name=ncf workload.precision=fp32 strategy.kind=ddp strategy.sparse=all-gather training.batch-per-gpu=100 cluster.nodes=1");
  g_auto (Built) more = build ("workload.name=ncf workload.precision=fp32 strategy.kind=ddp strategy.sparse=all-gather training.batch-per-gpu=100 cluster.nodes=4");
  g_auto (Built) dense = build ("workload.name=ncf workload.precision=fp32 strategy.kind=ddp training.batch-per-gpu=100");

  near (sent (few.graph, OP_ALL_GATHER), 7 * 100 * 384 * 4.0);
  near (sent (more.graph, OP_ALL_GATHER), 31 * 100 * 384 * 4.0);
  near (sent (few.graph, OP_ALL_REDUCE), 7.0 / 4 * (65792 + 32896 + 8256 + 129) * 4);
  near (sent (dense.graph, OP_ALL_GATHER), 0);
}

static void
test_bad_input (void)
{
  static const struct { const char *sets, *words; } rows[] = {
    { "strategy.sharding=hybrid strategy.shard-size=3", "[strategy] shard-size: 3 does not divide 16 GPUs in nodes of 8 evenly; 2 and 4 do" },
    { "strategy.sharding=hybrid strategy.shard-size=64", "16 does" },
    { "strategy.version=2 strategy.reshard-after-forward=maybe", "'maybe' is none of true, false" },
    { "strategy.version=2 strategy.reshard-after-forward=5", "4 and 8 do" },
    { "strategy.kind=zero strategy.stage=3 strategy.mics-shard-size=6", "[strategy] mics-shard-size: 6" },
    { "strategy.kind=zero strategy.stage=3 strategy.hpz-partition-size=7", "[strategy] hpz-partition-size: 7" },
    { "strategy.kind=zero strategy.reduce-bucket-size=10", "[strategy] reduce-bucket-size: 10 elements make more than 100000 buckets" },
    { "training.accumulation=100000", "[training] accumulation: 100000 micro-steps" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (Scenario) s = scenario (rows[i].sets);
      g_autoptr (GError) error = NULL;
      g_autoptr (Result) r = run_scenario (s, &(RunOptions) { 0 }, &error);

      g_assert_null (r);
      g_assert_nonnull (error);
      if (strstr (error->message, rows[i].words) == NULL)
        g_error ("'%s' does not say '%s'", error->message, rows[i].words);
    }
}

/* More bandwidth is never slower, and one GPU alone needs no wire. */
static void
test_properties (void)
{
  g_autoptr (Result) slow = result ("network.nic-bandwidth=10Gbit/s", FALSE);
  g_autoptr (Result) alone = result ("cluster.nodes=1 cluster.gpus-per-node=1 workload.name=gpt2_small strategy.sharding=hybrid", FALSE);
  g_autoptr (Result) fast = result ("", FALSE);

  g_assert_cmpfloat (fast->step_time, <, slow->step_time);
  g_assert_cmpuint (alone->n_collectives, ==, 0);
}

/* 16 of 32 blocks offloaded, one of them at work: 15 x 6 samples x 2,048 tokens x 4,096
 * x 32 B go out and come back at 63 GB/s each way.  A GPU that computes in no time waits
 * for that all the same. */
static void
test_offload_ideal (void)
{
  static const char text[] = "[cluster]\nmachine = dgx-h100\nnodes = 1\n[workload]\nname = mpt_7b\nprecision = mixed-bf16\n"
                             "[training]\nbatch-per-gpu = 6\noptimizer = adam\noffload-activations = 16\noffload-rate = 63 GB/s\n"
                             "[strategy]\nkind = fsdp\nstack = llm-foundry-2023\n";
  const double copies = 15 * 6 * 2048.0 * 4096 * 32 / 63e9;
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) s = scenario_parse ("test.ini", text, strlen (text), NULL, &error);
  g_autoptr (Result) r = s != NULL ? run_scenario (s, &(RunOptions) { .what_if = TRUE }, &error) : NULL;
  guint ideal = 0;

  g_assert_no_error (error);
  for (guint i = 0; i < r->n_what_if; i++)
    if (g_str_equal (r->what_if[i].name, "ideal GPU"))
      {
        ideal++;
        g_assert_cmpfloat (r->what_if[i].seconds, >=, 2 * copies);
        g_assert_cmpfloat (r->what_if[i].seconds, <=, r->step_time);
      }
  g_assert_cmpuint (ideal, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sharded/clipping", test_clipping);
  g_test_add_func ("/sharded/owners", test_owners);
  g_test_add_func ("/sharded/owners-whole", test_owners_whole);
  g_test_add_func ("/sharded/owners-order", test_owners_order);
  g_test_add_func ("/sharded/fsdp/bytes", test_fsdp_bytes);
  g_test_add_func ("/sharded/fsdp/accumulation", test_fsdp_accumulation);
  g_test_add_func ("/sharded/fsdp/hybrid", test_hybrid);
  g_test_add_func ("/sharded/fsdp/hybrid-part-of-node", test_hybrid_part_of_node);
  g_test_add_func ("/sharded/fsdp/order", test_order);
  g_test_add_func ("/sharded/fsdp/two-in-flight", test_two_in_flight);
  g_test_add_func ("/sharded/fsdp/wire-bound", test_wire_bound);
  g_test_add_func ("/sharded/fsdp/two-queues", test_two_queues);
  g_test_add_func ("/sharded/zero/bytes", test_zero_bytes);
  g_test_add_func ("/sharded/zero/groups", test_zero_groups);
  g_test_add_func ("/sharded/zero/overlap", test_zero_overlap);
  g_test_add_func ("/sharded/memory/stages", test_memory_stages);
  g_test_add_func ("/sharded/memory/activations", test_activations);
  g_test_add_func ("/sharded/memory/verdicts", test_verdicts);
  g_test_add_func ("/sharded/recompute", test_recompute_time);
  g_test_add_func ("/sharded/unfold", test_unfold);
  g_test_add_func ("/sharded/offload-ideal", test_offload_ideal);
  g_test_add_func ("/sharded/tied", test_tied);
  g_test_add_func ("/sharded/sparse", test_sparse);
  g_test_add_func ("/sharded/bad-input", test_bad_input);
  g_test_add_func ("/sharded/properties", test_properties);
  return g_test_run ();
}
