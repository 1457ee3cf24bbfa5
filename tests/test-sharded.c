/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sharded-fixture.h"

/* What ZeRO and FSDP share, against hand arithmetic: memory, recomputation, tied and
 * sparse tables, bad input. */

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

static const GraphCall *
last_call (const StepGraph *graph)
{
  return graph_get_call (graph, graph->calls->len - 1);
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

  g_assert_cmpstr (last_call (fsdp.graph)->label, ==, "reduce root");
  near (last_call (fsdp.graph)->call.size, 2 * tables);
  g_assert_cmpfloat (last_call (ddp.graph)->call.size, >=, 4 * 50257.0 * 768);
  for (guint g = 0; g < 2; g++)
    {
      guint kernel = 0, meet = 0;

      for (guint i = 0; i < graphs[g]->tasks->len; i++)
        {
          const GraphTask *task = graph_task (graphs[g], i);

          if (task->cause == CAUSE_COMPUTE && !g_str_has_prefix (task->label, "copy"))
            kernel = i;
          if (task->kind == GRAPH_MEET)
            meet = i;
        }
      g_assert_cmpuint (meet, >, kernel);
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
