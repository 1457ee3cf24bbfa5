/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/point.h"
#include "run/run.h"
#include "strategy/buckets.h"
#include "strategy/data-parallel.h"
#include "strategy/price.h"
#include <math.h>
#include <string.h>

/* Graphs of each strategy against hand arithmetic.  Sizes: VGG-16 has 138,357,544
 * parameters in 32 tensors, the largest 25,088 x 4,096; ResNet-50 25,557,032 in 161;
 * BERT-base 110,106,428 (published counts). */
static const double vgg = 138357544, resnet50 = 25557032, bert = 110106428, fc6 = 25088.0 * 4096;

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

static const char base[] = "[cluster]\nmachine = horovod-4xp100\nnodes = 4\n"
                           "[workload]\nname = vgg16\n[training]\nbatch-per-gpu = 64\noptimizer = momentum\n"
                           "[strategy]\nkind = horovod\n";

static Scenario *
scenario (const char *const *sets)
{
  g_autoptr (GError) error = NULL;
  Scenario *s = scenario_parse ("test.ini", base, strlen (base), sets, &error);

  g_assert_no_error (error);
  return s;
}

/* `sets`: blank-separated "group.key=value", a '_' in values for a blank. */
static char **
split (const char *sets)
{
  char **list = g_strsplit (sets, " ", 0);

  for (guint i = 0; list[i] != NULL; i++)
    g_strdelimit (strchr (list[i], '='), "~", ' ');
  return list;
}

static Built
build (const char *sets)
{
  g_auto (GStrv) list = split (sets);
  g_autoptr (GError) error = NULL;
  Built b = { .scenario = scenario ((const char *const *) list) };

  b.point = point_new (b.scenario, &error);
  g_assert_no_error (error);
  b.graph = graph_new ();
  g_assert_true (strategy_build (b.point->strategy, &b.point->input, b.graph, &error));
  g_assert_no_error (error);
  return b;
}

static double
step (const char *sets, gboolean unfold)
{
  g_auto (GStrv) list = split (sets);
  g_autoptr (Scenario) s = scenario ((const char *const *) list);
  g_autoptr (GError) error = NULL;
  g_autoptr (Result) r = run_scenario (s, &(RunOptions) { .unfold = unfold }, &error);

  g_assert_no_error (error);
  return r->step_time;
}

static void
near (double got, double want)
{
  g_assert_cmpfloat_with_epsilon (got, want, 1e-9 * fabs (want) + 1e-15);
}

static double
sum_of_sizes (const StepGraph *graph, const char *label)
{
  double sum = 0;

  for (guint i = 0; i < graph->calls->len; i++)
    if (g_str_has_prefix (graph_get_call (graph, i)->label, label))
      sum += graph_get_call (graph, i)->call.size;
  return sum;
}

static guint
count_of (const StepGraph *graph, const char *label)
{
  guint n = 0;

  for (guint i = 0; i < graph->calls->len; i++)
    n += g_str_has_prefix (graph_get_call (graph, i)->label, label);
  return n;
}

/* Seconds of a call on an idle network. */
static double
alone (const Built *b, guint call)
{
  const GraphCall *c = graph_get_call (b->graph, call);

  return c->launch + collective_estimate (&c->flow, cluster_network (b->point->cluster), c->call.size);
}

/* Lumpy tensors, last layer first: e 40 (ready at 2 ms), d 7000 (3.5), c 50, 250
 * (3.6), b 300 (9.2), a 100, 900 (9.9). */
static const double a[] = { 900, 100 }, b_[] = { 300 }, c_[] = { 250, 50 }, d[] = { 7000 }, e[] = { 40 };
static Layer layers[] = {
  { .name = "a", .n_tensors = 2, .tensors = a }, { .name = "b", .n_tensors = 1, .tensors = b_ },
  { .name = "c", .n_tensors = 2, .tensors = c_ }, { .name = "d", .n_tensors = 1, .tensors = d },
  { .name = "e", .n_tensors = 1, .tensors = e },
};
static const Workload lumpy = { .n_layers = 5, .layers = layers, .n_tensors = 7 };
static const double ready[] = { 9.9e-3, 9.2e-3, 3.6e-3, 3.5e-3, 2e-3 };

static void
assert_bucket (const GArray *buckets, guint i, double elements, guint tensors, guint last, double delay)
{
  const Bucket *bucket = &g_array_index (buckets, Bucket, i);

  near (bucket->elements, elements);
  g_assert_cmpuint (bucket->n_tensors, ==, tensors);
  g_assert_cmpuint (bucket->last, ==, last);
  g_assert_cmpfloat_with_epsilon (bucket->delay, delay, 1e-12);
}

/* Cycle of 4 ms: at 4 ms e, d and c are there; room for 7,100 fp32 gradients: e and d
 * (7,040), which wait 0.5 ms; c's 50 fit no more, so c behind them; at 12 ms the rest. */
static void
test_cycles (void)
{
  g_autoptr (GArray) buckets = buckets_by_cycle (&lumpy, 4, 4 * 7080.0, 4e-3, ready, NULL, NULL);

  g_assert_cmpuint (buckets->len, ==, 3);
  assert_bucket (buckets, 0, 7040, 2, 3, 0.5e-3);
  assert_bucket (buckets, 1, 300, 2, 2, 0);
  assert_bucket (buckets, 2, 1300, 3, 0, 2.1e-3);
}

/* No fusion: each tensor leaves as it comes. */
static void
test_no_fusion (void)
{
  g_autoptr (GArray) buckets = buckets_by_cycle (&lumpy, 4, 0, 0, ready, NULL, NULL);

  g_assert_cmpuint (buckets->len, ==, 7);
  for (guint i = 0; i < 7; i++)
    g_assert_cmpuint (g_array_index (buckets, Bucket, i).n_tensors, ==, 1);
}

static double
one_us_an_element (gpointer user, double bytes)
{
  (void) user;
  return bytes / 4 * 1e-6;
}

/* The loop reduces itself, 1 us an element: e at 2 ms until 2.04; d at 3.5 until
 * 10.5; by then all others are there and go together, without a wait of the loop. */
static void
test_blocking (void)
{
  g_autoptr (GArray) buckets = buckets_by_cycle (&lumpy, 4, 1e9, 0, ready, one_us_an_element, NULL);

  g_assert_cmpuint (buckets->len, ==, 3);
  assert_bucket (buckets, 0, 40, 1, 4, 0);
  assert_bucket (buckets, 1, 7000, 1, 3, 0);
  assert_bucket (buckets, 2, 1600, 5, 0, 0);
}

/* Everything fused: 1.4 ms and 2 S over 0.4 of 732 GB/s before the all-reduce. */
static void
test_horovod_fused (void)
{
  g_auto (Built) b = build ("strategy.fusion-size=1~GB strategy.cycle-time=10~s");
  const GraphCall *call = graph_get_call (b.graph, 0);

  g_assert_cmpuint (b.graph->calls->len, ==, 1);
  near (call->call.size, 4 * vgg);
  near (call->launch, 1.4e-3 + 2 * 4 * vgg / (0.4 * 732e9));
  near (call->slowdown, 1.2);
}

/* fp32 tensors alone are not copied; without the cache rank 0 hears 16 requests of 1 us. */
static void
test_horovod_alone (void)
{
  g_auto (Built) b = build ("strategy.fusion-size=0~B strategy.response-cache=false");

  g_assert_cmpuint (b.graph->calls->len, ==, 32);
  near (sum_of_sizes (b.graph, "gradients"), 4 * vgg);
  for (guint i = 0; i < 32; i++)
    near (graph_get_call (b.graph, i)->launch, 1.4e-3 + 16e-6);
}

/* Bytes a parameter: MXNet two under AMP, TensorFlow four, Compression.fp16 two. */
static void
test_gradient_bytes (void)
{
  static const struct { const char *sets; double bytes; } cases[] = {
    { "workload.name=bert-base workload.precision=mixed-fp16", 4 },
    { "workload.name=bert-base workload.precision=mixed-fp16 strategy.framework=mxnet", 2 },
    { "workload.name=bert-base strategy.framework=mxnet", 4 },
    { "workload.name=bert-base strategy.compression=fp16", 2 },
    { "workload.name=bert-base workload.precision=mixed-fp16 strategy.kind=flat", 2 },
    { "workload.name=bert-base strategy.kind=flat", 4 },
    { "workload.name=bert-base workload.precision=mixed-fp16 strategy.kind=flat strategy.gradients=fp32", 4 },
    { "workload.name=bert-base workload.precision=mixed-fp16 strategy.kind=ddp", 4 },
    { "workload.name=bert-base workload.precision=mixed-fp16 strategy.kind=ddp strategy.gradients=half", 2 },
    { "workload.name=bert-base workload.precision=mixed-fp16 strategy.kind=multi-worker-mirrored", 4 },
    { "workload.name=bert-base workload.precision=mixed-fp16 strategy.kind=replicated cluster.nodes=1", 4 },
    { "workload.name=bert-base workload.precision=mixed-fp16 strategy.kind=parameter-server", 4 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *sets = g_strconcat (cases[i].sets, " cluster.gpu=V100-PCIe-16GB", NULL);
      g_auto (Built) b = build (sets);

      near (sum_of_sizes (b.graph, "gradients"), cases[i].bytes * bert);
    }
}

static void
test_horovod_algorithms (void)
{
  g_auto (Built) mpi = build ("strategy.operations=mpi");
  g_auto (Built) gloo = build ("strategy.operations=gloo");
  g_auto (Built) hierarchical = build ("strategy.hierarchical-allreduce=true");

  g_assert_cmpstr (graph_get_call (mpi.graph, 0)->flow.algorithm->name, ==, "host-mpi");
  near (graph_get_call (mpi.graph, 0)->slowdown, 1);   /* no kernels on the GPUs */
  g_assert_cmpstr (graph_get_call (gloo.graph, 0)->flow.algorithm->name, ==, "gloo");
  g_assert_cmpstr (graph_get_call (hierarchical.graph, 0)->flow.algorithm->name, ==, "hierarchical");
}

/* A cycle of 0.9 s is waited for, past what the launch of 1.4 ms covers. */
static void
test_cycle_is_felt (void)
{
  const double fast = step ("strategy.cycle-time=1~ms", FALSE), slow = step ("strategy.cycle-time=900~ms", FALSE);

  g_assert_cmpfloat (slow - fast, >, 0.3);
  g_assert_cmpfloat (slow - fast, <, 0.9);
}

static void
test_replicated (void)
{
  g_auto (Built) b = build ("strategy.kind=replicated cluster.nodes=1 workload.name=resnet50");

  g_assert_cmpuint (b.graph->calls->len, ==, 161);
  near (sum_of_sizes (b.graph, "gradients"), 4 * resnet50);
  near (graph_get_call (b.graph, 0)->call.size, 4 * 1000);   /* the bias of the last layer first */
  near (graph_get_call (b.graph, 0)->launch, 60e-6);
}

static void
test_flat (void)
{
  g_auto (Built) b = build ("strategy.kind=flat workload.name=resnet50");
  gboolean fixed = FALSE;

  g_assert_cmpuint (b.graph->calls->len, ==, 1);
  near (graph_get_call (b.graph, 0)->launch, 0.2e-3);
  for (guint i = 0; i < b.graph->tasks->len; i++)
    if (g_str_equal (graph_task (b.graph, i)->label, "framework"))
      {
        near (graph_task (b.graph, i)->seconds, 3e-3);
        fixed = TRUE;
      }
  g_assert_true (fixed);
}

/* One process: 3 x 64 images of 224 x 224 x 3 to the others, all weights and the
 * batch norms' 53,120 + 53 numbers to them, their outputs of 1,000 back, and all
 * gradients; the optimizer on the first GPU alone. */
static void
test_one_process (void)
{
  g_auto (Built) b = build ("strategy.kind=data-parallel cluster.nodes=1 workload.name=resnet50");
  guint optimizers = 0;

  g_assert_cmpuint (b.graph->classes->len, ==, 2);
  g_assert_cmpuint (g_array_index (b.graph->classes, RankClass, 0).multiplicity, ==, 1);
  g_assert_cmpuint (g_array_index (b.graph->classes, RankClass, 1).multiplicity, ==, 3);
  near (sum_of_sizes (b.graph, "scatter"), 3 * 64 * 224 * 224 * 3 * 4.0);
  near (sum_of_sizes (b.graph, "weights"), 4 * (resnet50 + 53120 + 53));
  near (sum_of_sizes (b.graph, "outputs"), 3 * 64 * 1000 * 4.0);
  near (sum_of_sizes (b.graph, "gradients"), 4 * resnet50);
  /* Coalesced by 10 MiB: 9.75 of them at least. */
  g_assert_cmpuint (count_of (b.graph, "weights"), <=, 10);
  for (guint i = 0; i < b.graph->tasks->len; i++)
    optimizers += graph_task (b.graph, i)->cause == CAUSE_OPTIMIZER;
  g_assert_cmpuint (optimizers, ==, 1);
  /* It pays twice for the bytes, nothing hides them: slower than DDP on the same box. */
  g_assert_cmpfloat (step ("strategy.kind=data-parallel cluster.nodes=1", FALSE), >, step ("strategy.kind=ddp cluster.nodes=1", FALSE));
}

/* Four nodes of four: fc6 is asked by 12 GPUs of other nodes, twice, at 0.75 GB/s; 4 S
 * over 30 GB/s of copies; two RPCs of 0.25 ms. */
static void
test_servers_hot (void)
{
  g_auto (Built) b = build ("strategy.kind=parameter-server");
  const double hot = 2 * 4 * fc6 * 12 / 0.75e9, copies = 4 * 4 * vgg / 30e9;

  g_assert_cmpuint (b.graph->calls->len, ==, 1);
  near (alone (&b, 0), hot + copies + 0.5e-3);
}

/* Copies in each node spare the wire, not the busiest server; with the gradients
 * added up in the node three ask in place of twelve. */
static void
test_servers_copies (void)
{
  g_auto (Built) copies = build ("strategy.kind=parameter-server strategy.replicated-variables=true");
  g_auto (Built) local = build ("strategy.kind=parameter-server parameter-server.count=4 parameter-server.colocated=true "
                                "parameter-server.local-reduction=true parameter-server.latency=0~s");
  const double staged = 4 * 4 * vgg / 30e9 + 0.5e-3;

  near (alone (&copies, 0), 2 * 4 * fc6 * 12 / 0.75e9 + staged);
  near (graph_get_call (copies.graph, 0)->flow.nic_bytes, 2 * 0.75);
  near (alone (&local, 0), 2 * 4 * fc6 * 3 / 0.75e9 + staged);
}

/* ResNet-101: 44,549,160 parameters, no large one: 3/4 of 4 S over 0.32 of 25 Gbit/s. */
static void
test_servers_wire (void)
{
  g_auto (Built) b = build ("strategy.kind=parameter-server workload.name=resnet101");
  const double bytes = 4 * 44549160.0;

  near (alone (&b, 0), 0.75 * 4 * bytes / (0.32 * 3.125e9) + 4 * bytes / 30e9 + 0.5e-3);
  near (graph_get_call (b.graph, 0)->flow.nic_bytes, 2 * 0.75 * 4);
}

/* Eight servers of 32 Gbit/s in place of the workers: 4 S a node over 0.32 of its
 * line; 16 S/8 a server is less; the server's call takes 0.5 ms more. */
static void
test_servers_apart (void)
{
  g_auto (Built) b = build ("strategy.kind=parameter-server workload.name=resnet101 parameter-server.count=8 parameter-server.sum-rate=900~GB/s");
  const double bytes = 4 * 44549160.0;

  near (alone (&b, 0), 4 * bytes / (0.32 * 3.125e9) + 4 * bytes / 30e9 + 1e-3);
}

/* One box: S (1/10 GB/s + 4/30 GB/s), a variable at a time. */
static void
test_servers_box (void)
{
  g_auto (Built) b = build ("strategy.kind=parameter-server cluster.nodes=1");
  double seconds = 0;

  g_assert_cmpuint (b.graph->calls->len, ==, 32);
  for (guint i = 0; i < 32; i++)
    seconds += alone (&b, i);
  near (seconds, 4 * vgg * (1 / 10e9 + 4 / 30e9));
}

/* n workers and k servers, all cards B: 2n(n - 1)/(n^2 + k n - 2k) M/B (BytePS, OSDI'20,
 * theorem 1; byteps/common/global.cc, Hash_Mixed_Mode), and M/B from k = n on; two
 * messages of 7 us. */
static void
test_byteps (void)
{
  static const struct { guint64 n, k; double times; } cases[] = {
    { 2, 1, 4. / 4 }, { 5, 3, 40. / 34 }, { 8, 5, 112. / 94 }, { 16, 1, 480. / 270 }, { 8, 8, 1 }, { 4, 9, 1 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *sets = g_strdup_printf ("cluster.machine=generic-1gpu cluster.nodes=%" G_GUINT64_FORMAT " network.transport=plain "
                                               "network.latency=7~us network.nic-bandwidth=4~GB/s strategy.kind=ddp parameter-server.colocated=both "
                                               "parameter-server.local-reduction=true parameter-server.sum-rate=900~GB/s parameter-server.count=%"
                                               G_GUINT64_FORMAT, cases[i].n, cases[i].k);
      g_auto (GStrv) list = split (sets);
      g_autoptr (Scenario) s = scenario ((const char *const *) list);
      g_autoptr (Point) point = point_new (s, NULL);
      CollectiveCall call = { .op = OP_ALL_REDUCE, .size = 2.385e7, .protocol = PROTOCOL_AUTO };
      CollectiveFlow flow;
      RankGroup group;
      gboolean on_gpu;

      g_assert_true (collective_find ("parameter-server", &call.algorithm, NULL));
      g_assert_true (price_call (point->cluster, &call, &group, &flow, &on_gpu, NULL));
      near (collective_estimate (&flow, cluster_network (point->cluster), call.size), cases[i].times * call.size / 4e9 + 14e-6);
    }
}

/* Push and pull begin when a tenth of the compute is left. */
static void
test_servers_overlap (void)
{
  const double late = step ("strategy.kind=parameter-server strategy.rpc-overlap=0", FALSE);
  const double shipped = step ("strategy.kind=parameter-server", FALSE);
  const double compute = step ("strategy.kind=single cluster.nodes=1 cluster.gpus-per-node=1", FALSE);

  g_assert_cmpfloat (late - shipped, >, 0.05 * compute);
  g_assert_cmpfloat (late - shipped, <, 0.12 * compute);
}

/* On ideal GPUs the input is the step: 256 images of a node at 1,000/s and 13 ms of
 * serial host time; in the step it comes on top of everything else. */
static void
test_input (void)
{
  static const char common[] = "strategy.kind=ddp cluster.nodes=1 workload.name=resnet50 input.rate=1000~samples/s input.serial-time=13~ms ";
  g_autofree char *ahead = g_strconcat (common, "compute.model=ideal", NULL);
  g_autofree char *inside = g_strconcat (common, "input.in-step=true", NULL);
  g_autofree char *accumulated = g_strconcat (ahead, " training.accumulation=2", NULL);
  const double without = step ("strategy.kind=ddp cluster.nodes=1 workload.name=resnet50", FALSE);

  near (step (ahead, FALSE), 0.256 + 0.013);
  /* Micro-steps are fed one by one, the serial part once. */
  g_assert_cmpfloat_with_epsilon (step (accumulated, FALSE), 2 * 0.256 + 0.013, 1e-6);
  g_assert_cmpfloat_with_epsilon (step (inside, FALSE), without + 0.269, 0.01);
}

static void
test_unfolded (void)
{
  static const char *const cases[] = {
    "strategy.kind=horovod cluster.nodes=2", "strategy.kind=horovod strategy.operations=mpi cluster.nodes=2",
    "strategy.kind=horovod strategy.cycle-time=200~ms cluster.nodes=2",
    "strategy.kind=replicated cluster.nodes=1", "strategy.kind=data-parallel cluster.nodes=1", "strategy.kind=flat cluster.nodes=2",
    "strategy.kind=parameter-server cluster.nodes=2", "strategy.kind=parameter-server cluster.nodes=1",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpfloat_with_epsilon (step (cases[i], TRUE), step (cases[i], FALSE), 1e-15);
}

/* One GPU has nobody to send to. */
static void
test_single (void)
{
  static const char *const kinds[] = { "horovod", "replicated", "data-parallel", "parameter-server", "flat" };

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *sets = g_strdup_printf ("strategy.kind=%s cluster.nodes=1 cluster.gpus-per-node=1", kinds[i]);
      g_auto (Built) b = build (sets);

      g_assert_cmpuint (b.graph->calls->len, ==, 0);
    }
}

/* Measured, Horovod's 2017 table: 13.7, 1.66, 0.78 and 0.57 s. */
static void
test_order (void)
{
  const double servers = step ("strategy.kind=parameter-server", FALSE), mpi = step ("strategy.operations=mpi", FALSE);
  const double tcp = step ("network.transport=tcp", FALSE), rdma = step ("network.transport=roce", FALSE);

  g_assert_cmpfloat (servers, >, 5 * mpi);
  g_assert_cmpfloat (mpi, >, 1.5 * tcp);
  g_assert_cmpfloat (tcp, >, 1.05 * rdma);
  g_assert_cmpfloat_with_epsilon (servers, 13.71, 0.25 * 13.71);
  g_assert_cmpfloat_with_epsilon (mpi, 1.66, 0.25 * 1.66);
  g_assert_cmpfloat_with_epsilon (tcp, 0.7825, 0.25 * 0.7825);
  g_assert_cmpfloat_with_epsilon (rdma, 0.573, 0.25 * 0.573);
}

/* The other networks of the same table, s a step of 1,024 images ("variables on
 * CPU": copies).  Their one-GPU steps are predicted within 15 %. */
static void
test_measured (void)
{
  static const struct { const char *sets; double measured; } cases[] = {
    { "strategy.kind=parameter-server workload.name=inception_v3", 0.7609 },
    { "strategy.kind=parameter-server workload.name=resnet101_v1", 1.0671 },
    { "strategy.kind=parameter-server strategy.replicated-variables=true workload.name=inception_v3", 0.6496 },
    { "strategy.kind=parameter-server strategy.replicated-variables=true workload.name=resnet101_v1", 0.8761 },
    { "strategy.kind=parameter-server strategy.replicated-variables=true", 12.8805 },
    { "strategy.operations=mpi workload.name=inception_v3", 0.4939 },
    { "strategy.operations=mpi workload.name=resnet101_v1", 0.7651 },
    { "workload.name=inception_v3", 0.5144 },
    { "workload.name=resnet101_v1", 0.6077 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const double predicted = step (cases[i].sets, FALSE);

      if (fabs (predicted / cases[i].measured - 1) > 0.2)
        g_error ("%s: %.4f s, measured %.4f s", cases[i].sets, predicted, cases[i].measured);
    }
}

/* Weights, gradients and the optimizer's state: where there are none of it. */
static void
test_memory (void)
{
  g_auto (Built) servers = build ("strategy.kind=parameter-server");
  g_auto (Built) horovod = build ("strategy.kind=horovod");
  MemoryUse with, without;

  horovod.point->strategy->memory (&horovod.point->input, &with);
  servers.point->strategy->memory (&servers.point->input, &without);
  near (with.optimizer, 4 * vgg);
  near (without.optimizer, 0);
  /* The fusion buffer of 128 MiB. */
  near (with.buffers - without.buffers, 128 * 1024 * 1024.0);
  near (with.total - without.total, 4 * vgg + 128 * 1024 * 1024.0);
}

static void
test_refused (void)
{
  static const struct { const char *sets, *message; } cases[] = {
    { "strategy.kind=replicated", "*replicated runs on 1 node, not on 4; 'horovod' runs on several" },
    { "strategy.kind=data-parallel", "*data-parallel runs on 1 node, not on 4; 'ddp' runs on several" },
    { "strategy.kind=ddp parameter-server.count=2 parameter-server.colocated=both", "*[parameter-server] colocated: both goes with local-reduction*" },
    { "strategy.kind=single", "*single runs on 1 GPU, not on 16; 'ddp' runs on several" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (GStrv) list = split (cases[i].sets);
      g_autoptr (Scenario) s = scenario ((const char *const *) list);
      g_autoptr (GError) error = NULL;
      g_autoptr (Result) r = run_scenario (s, &(RunOptions) { 0 }, &error);

      g_assert_null (r);
      if (!g_pattern_match_simple (cases[i].message, error->message))
        g_assert_cmpstr (error->message, ==, cases[i].message);
    }
}

/* GNMT's enc1, forward, 100 pairs: 32 steps of 100 x 4,096 x 3,072, 2.51658 GFLOP of 0.75 x 9.3 TFLOP/s, each
 * reading its 4 x 1,024 x 1,024 recurrent weights (16.777 MB) and a 32nd of 340.787 MB of values and 33.587 MB
 * of other weights, of 0.80 x 732 GB/s, and 3 us; norm of 1.5. */
static void
test_recurrent (void)
{
  g_auto (Built) b = build ("workload.name=gnmt_v2 workload.precision=fp32 training.batch-per-gpu=100 compute.efficiency=1");
  g_autofree double *forward = data_parallel_forward (&b.point->input);

  g_assert_cmpstr (b.point->workload->layers[3].name, ==, "enc1");
  near (forward[3], 12.019385412779e-3);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/strategies/horovod/cycles", test_cycles);
  g_test_add_func ("/strategies/horovod/no-fusion", test_no_fusion);
  g_test_add_func ("/strategies/horovod/blocking", test_blocking);
  g_test_add_func ("/strategies/horovod/fused", test_horovod_fused);
  g_test_add_func ("/strategies/horovod/alone", test_horovod_alone);
  g_test_add_func ("/strategies/horovod/algorithms", test_horovod_algorithms);
  g_test_add_func ("/strategies/horovod/cycle-is-felt", test_cycle_is_felt);
  g_test_add_func ("/strategies/gradient-bytes", test_gradient_bytes);
  g_test_add_func ("/strategies/replicated", test_replicated);
  g_test_add_func ("/strategies/flat", test_flat);
  g_test_add_func ("/strategies/data-parallel", test_one_process);
  g_test_add_func ("/strategies/parameter-server/hot-variable", test_servers_hot);
  g_test_add_func ("/strategies/parameter-server/copies", test_servers_copies);
  g_test_add_func ("/strategies/parameter-server/wire", test_servers_wire);
  g_test_add_func ("/strategies/parameter-server/servers-apart", test_servers_apart);
  g_test_add_func ("/strategies/parameter-server/one-box", test_servers_box);
  g_test_add_func ("/strategies/parameter-server/overlap", test_servers_overlap);
  g_test_add_func ("/strategies/parameter-server/byteps", test_byteps);
  g_test_add_func ("/strategies/input", test_input);
  g_test_add_func ("/strategies/unfolded", test_unfolded);
  g_test_add_func ("/strategies/single", test_single);
  g_test_add_func ("/strategies/vgg16-16xpascal/order", test_order);
  g_test_add_func ("/strategies/vgg16-16xpascal/measured", test_measured);
  g_test_add_func ("/strategies/recurrent", test_recurrent);
  g_test_add_func ("/strategies/memory", test_memory);
  g_test_add_func ("/strategies/refused", test_refused);
  return g_test_run ();
}
