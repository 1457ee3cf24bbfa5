/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy-fixture.h"

/* Graphs of the other data-parallel strategies against hand arithmetic. */

static guint
count_of (const StepGraph *graph, const char *label)
{
  guint n = 0;

  for (guint i = 0; i < graph->calls->len; i++)
    n += g_str_has_prefix (graph_get_call (graph, i)->label, label);
  return n;
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
  g_test_add_func ("/strategies/gradient-bytes", test_gradient_bytes);
  g_test_add_func ("/strategies/replicated", test_replicated);
  g_test_add_func ("/strategies/flat", test_flat);
  g_test_add_func ("/strategies/data-parallel", test_one_process);
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
