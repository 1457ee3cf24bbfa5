/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph-fixture.h"
#include "base/csv.h"
#include "strategy/megatron-plan.h"
#include <math.h>
#include <string.h>

/* The megatron strategy against published runs, hand arithmetic and bad input. */
static const char base[] = "[cluster]\nmachine = dgx-a100\nnodes = 8\n"
                           "[workload]\nname = megatron_175b\nprecision = mixed-fp16\n"
                           "[training]\nglobal-batch = 64\nrecompute = full\n"
                           "[strategy]\nkind = megatron\nstack = megatron-2022\ntensor-parallel = 8\npipeline-parallel = 8\n"
                           "virtual-stages = 3\nmicro-batch = 1\n";

/* `sets`: blank-separated "group.key=value". */
static Scenario *
scenario (const char *sets)
{
  g_auto (GStrv) list = g_strsplit (sets, " ", 0);
  g_autoptr (GError) error = NULL;
  Scenario *s = scenario_parse ("test.ini", base, strlen (base), sets[0] != '\0' ? (const char *const *) list : NULL, &error);

  g_assert_no_error (error);
  return s;
}

static Result *
run (const char *sets, gboolean unfold)
{
  g_autoptr (Scenario) s = scenario (sets);
  g_autoptr (GError) error = NULL;
  Result *r = run_scenario (s, &(RunOptions) { .unfold = unfold }, &error);

  g_assert_no_error (error);
  return r;
}

static double
step (const char *sets)
{
  g_autoptr (Result) r = run (sets, FALSE);

  return r->step_time;
}

/* What a layer of the 22B model takes, without optimizer: the difference of 48 and 24. */
static double
layer (const char *sets)
{
  g_autofree char *many = g_strconcat (sets, " workload.layers=48", NULL), *few = g_strconcat (sets, " workload.layers=24", NULL);
  g_autoptr (Result) a = run (many, FALSE);
  g_autoptr (Result) b = run (few, FALSE);

  return (a->step_time - a->ledger[CAUSE_OPTIMIZER] - b->step_time + b->ledger[CAUSE_OPTIMIZER]) / 24;
}

static char *
sets_of_row (const CsvTable *table, guint row)
{
  const char *strategy = csv_text (table, row, (guint) csv_column (table, "strategy"));
  const char *recompute = csv_text (table, row, (guint) csv_column (table, "recompute"));
  const gboolean small = g_str_has_prefix (csv_text (table, row, (guint) csv_column (table, "model")), "gpt_22b");
  const gboolean split = strstr (strategy, "SP") == strategy + 3 || strstr (strategy, "sequence parallel") != NULL;

  return g_strdup_printf ("training.recompute=%s strategy.sequence-parallel=%s%s", recompute,
                          (split && strstr (strategy, "no SP") == NULL && strstr (strategy, "no recompute") == NULL) ? "yes" : "no",
                          small ? " workload.name=megatron_22b cluster.nodes=1 training.global-batch=4 strategy.micro-batch=4"
                                  " strategy.pipeline-parallel=1 strategy.virtual-stages=1" : "");
}

/* Korthikanti et al. 2022: steps of tables 3 and 5, one layer of table 4.  Nothing
 * is fitted to these rows. */
static void
test_measured (void)
{
  const char *folder = g_getenv ("LOCKSTEP_MEASURED");
  g_autofree char *path = g_build_filename (folder != NULL ? folder : "", "training", "megatron_sp_2022.csv", NULL);
  g_autoptr (CsvTable) table = NULL;
  g_autoptr (GError) error = NULL;
  double sum[2] = { 0, 0 }, most[2] = { 0, 0 };
  guint n[2] = { 0, 0 };

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("no training/megatron_sp_2022.csv: set LOCKSTEP_MEASURED");
      return;
    }
  table = csv_load (path, &error);
  g_assert_no_error (error);
  for (guint row = 0; row < csv_rows (table); row++)
    {
      const gboolean one = strstr (csv_text (table, row, (guint) csv_column (table, "model")), "layer") != NULL;
      g_autofree char *sets = sets_of_row (table, row);
      double measured, off, predicted;

      g_assert_true (csv_number (table, row, (guint) csv_column (table, "step_time_s"), &measured, &error));
      predicted = one ? layer (sets) : step (sets);
      off = fabs (predicted / measured - 1);
      g_test_message ("%s: %.4g s, measured %.4g s, off %.1f %%", sets, predicted, measured, 100 * (predicted / measured - 1));
      sum[one] += off;
      most[one] = MAX (most[one], off);
      n[one]++;
    }
  g_assert_cmpuint (n[0], ==, 4);
  g_assert_cmpuint (n[1], ==, 5);
  g_assert_cmpfloat (sum[0] / n[0], <, 0.025);
  g_assert_cmpfloat (most[0], <, 0.06);
  g_assert_cmpfloat (sum[1] / n[1], <, 0.03);
}

/* Narayanan et al. 2021, table 1: s from 96 B s l h^2 (1 + s/6h + V/16lh) at the
 * printed TFLOP/s; mean 2 %, none off by more than 5 %. */
static void
test_sc21 (void)
{
  static const struct { guint nodes, hidden, heads, layers, batch, tp, pp, micro; double seconds; } rows[] = {
    { 4, 2304, 24, 24, 512, 1, 1, 16, 3.53 },    { 16, 4096, 32, 36, 512, 4, 1, 16, 3.70 }, { 64, 8192, 64, 48, 1536, 8, 2, 4, 14.45 },
    { 192, 12288, 96, 80, 2304, 8, 8, 2, 24.82 },
  };
  double sum = 0;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *sets = g_strdup_printf ("strategy.stack=megatron-2021 cluster.nodes=%u workload.hidden=%u workload.ffn=%u workload.heads=%u "
                                               "workload.head-dim=%u workload.kv-heads=%u workload.layers=%u training.global-batch=%u "
                                               "strategy.tensor-parallel=%u strategy.pipeline-parallel=%u strategy.virtual-stages=1 "
                                               "strategy.micro-batch=%u", rows[i].nodes, rows[i].hidden, 4 * rows[i].hidden, rows[i].heads,
                                               rows[i].hidden / rows[i].heads, rows[i].heads, rows[i].layers, rows[i].batch, rows[i].tp,
                                               rows[i].pp, rows[i].micro);
      const double off = fabs (step (sets) / rows[i].seconds - 1);

      g_assert_cmpfloat (off, <, 0.05);
      sum += off;
    }
  g_assert_cmpfloat (sum / G_N_ELEMENTS (rows), <, 0.02);
}

/* BigScience, V100-32GB, TP 4, four micro-batches: 18B on PP 4, 30B on PP 8, 65B on PP
 * 16 ran at 26.7, 19 and 12.2 TFLOP/s a GPU (8 FLOP a parameter and token).  The
 * bubble alone: 1, 0.636, 0.368.  Shapes 6144 x 40, 6144 x 64, 8192 x 80 have those
 * sizes. */
static void
test_depth (void)
{
  static const struct { guint stages, hidden, layers; double rate; } rows[] = { { 4, 6144, 40, 26.7 }, { 8, 6144, 64, 19.0 }, { 16, 8192, 80, 12.2 } };
  double rate[3];

  for (guint i = 0; i < 3; i++)
    {
      const double h = rows[i].hidden, params = 12 * rows[i].layers * h * h + 50304 * h;
      g_autofree char *sets = g_strdup_printf ("cluster.machine=v100-4x-opa strategy.stack=megatron-2021 cluster.nodes=%u workload.hidden=%u "
                                               "workload.ffn=%u workload.heads=%u workload.head-dim=128 workload.kv-heads=%u workload.layers=%u "
                                               "workload.sequence=1024 training.global-batch=4 strategy.tensor-parallel=4 "
                                               "strategy.pipeline-parallel=%u strategy.virtual-stages=1", rows[i].stages, rows[i].hidden,
                                               4 * rows[i].hidden, rows[i].hidden / 128, rows[i].hidden / 128, rows[i].layers, rows[i].stages);

      rate[i] = 8 * params * 4096 / step (sets) / (4 * rows[i].stages);
      g_assert_cmpfloat_with_epsilon (rate[i] / rate[0], rows[i].rate / rows[0].rate, 0.25 * rows[i].rate / rows[0].rate);
    }
  g_assert_cmpfloat (rate[1], <, rate[0]);
  g_assert_cmpfloat (rate[2], <, rate[1]);
}

/* GPT-3 175B, FP8, MLPerf training 3.1 on 512 to 10,752 H100, no anchor: each within 6 %. */
static void
test_mlperf (void)
{
  static const char sets[] = "cluster.machine=dgx-h100 workload.precision=fp8 training.recompute=none strategy.stack=megatron-core-2023 "
                             "strategy.tensor-parallel=4 strategy.virtual-stages=6 strategy.sequence-parallel=yes "
                             "strategy.distributed-optimizer=yes strategy.overlap-grad-reduce=yes strategy.overlap-param-gather=yes "
                             "strategy.tp-comm-overlap=yes strategy.host=cuda-graph strategy.grad-reduce-in-fp32=no";
  static const struct { guint nodes, batch; double seconds; } rows[] = {
    { 64, 2048, 11.045 }, { 96, 3072, 11.072 }, { 512, 2048, 1.6084 }, { 1344, 2688, 0.937 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *all = g_strdup_printf ("%s cluster.nodes=%u training.global-batch=%u", sets, rows[i].nodes, rows[i].batch);

      g_assert_cmpfloat_with_epsilon (step (all), rows[i].seconds, 0.06 * rows[i].seconds);
    }
}

/* A class for every rank: the same bits, with every kind of group. */
static void
test_unfold (void)
{
  static const char *const cases[] = {
    "cluster.nodes=2 strategy.tensor-parallel=2 strategy.pipeline-parallel=4 strategy.virtual-stages=1 training.global-batch=8",
    "cluster.nodes=2 strategy.tensor-parallel=2 strategy.pipeline-parallel=2 strategy.virtual-stages=2 training.global-batch=16 "
    "strategy.distributed-optimizer=yes strategy.overlap-grad-reduce=yes strategy.overlap-param-gather=yes strategy.sequence-parallel=yes",
    "cluster.nodes=2 strategy.tensor-parallel=2 strategy.pipeline-parallel=2 strategy.virtual-stages=1 training.global-batch=8 "
    "strategy.context-parallel=2 workload.experts=4 workload.ffn=4096 strategy.expert-parallel=2 strategy.distributed-optimizer=yes",
    "cluster.nodes=4 strategy.tensor-parallel=4 strategy.pipeline-parallel=2 strategy.virtual-stages=1 training.global-batch=8 "
    "strategy.sequence-parallel=yes workload.experts=4 workload.ffn=4096 strategy.expert-parallel=4 strategy.expert-tensor-parallel=2",
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Result) folded = run (cases[i], FALSE);
      g_autoptr (Result) apart = run (cases[i], TRUE);

      g_assert_true (!(folded->step_time < apart->step_time) && !(folded->step_time > apart->step_time));
      for (guint k = 0; k < N_CAUSES; k++)
        g_assert_cmpfloat_with_epsilon (folded->ledger[k], apart->ledger[k], 1e-9);
    }
}

/* Parameters of all stages and tensor-parallel ranks: the workload's, and seven
 * times what each rank has a copy of: positions, norms (4 h a layer), biases behind
 * sums (2 h), the final norm.  51200 rows need no padding at TP 8; the last stage has
 * the tied table a second time. */
static void
test_params (void)
{
  g_autoptr (Scenario) s = scenario ("");
  g_autoptr (GError) error = NULL;
  g_autoptr (Point) point = point_new (s, &error);
  g_auto (Megatron) m = { 0 };
  double all = 0;

  g_assert_no_error (error);
  g_assert_true (megatron_plan (&point->input, &m, &error));
  for (guint stage = 0; stage < 8; stage++)
    {
      double dense, experts;

      megatron_stage_params (&m, stage, &dense, &experts);
      g_assert_cmpfloat (experts, <=, 0);
      all += 8 * dense;
    }
  g_assert_cmpfloat_with_epsilon (all - 51200.0 * 12288, point->workload->params + 7 * 12288.0 * (2048 + 96 * 6 + 2), 1);
}

/* Korthikanti et al. 2022, table 2 and section 5: a layer of the 175B model keeps
 * s b h (34 + 5 a s/h) bytes over 8 ranks with sequence parallelism, and the first of 8
 * stages with 3 chunks each L (1 + 7/24) of them. */
static void
test_memory (void)
{
  g_autoptr (Result) none = run ("training.recompute=none strategy.sequence-parallel=yes", FALSE);
  g_autoptr (Result) selective = run ("training.recompute=selective strategy.sequence-parallel=yes", FALSE);
  g_autoptr (Result) gpipe = run ("training.recompute=selective strategy.sequence-parallel=yes strategy.schedule=gpipe strategy.virtual-stages=1", FALSE);
  g_autoptr (Result) plain = run ("training.recompute=selective strategy.sequence-parallel=yes strategy.virtual-stages=1", FALSE);
  const double sbh = 2048.0 * 12288, scores = 5.0 * 96 * 2048 / 12288;

  g_assert_cmpfloat_with_epsilon (none->memory.activations, sbh / 8 * (34 + scores) * 96.0 / 8 * (31.0 / 24) * 8, 0.04 * none->memory.activations);
  g_assert_cmpfloat_with_epsilon (selective->memory.activations, sbh / 8 * 34 * 96.0 / 8 * (31.0 / 24) * 8, 0.04 * selective->memory.activations);
  g_assert_cmpfloat_with_epsilon (plain->memory.activations, sbh / 8 * 34 * 12 * 8, 1e-6 * plain->memory.activations);
  g_assert_cmpfloat_with_epsilon (gpipe->memory.activations / plain->memory.activations, 64 / 8.0, 1e-6);
  /* fp16: 2 weights, 2 gradients, 4 + 8 state; the first stage has the table and positions */
  g_assert_cmpfloat_with_epsilon (plain->memory.optimizer / plain->memory.weights, 6, 1e-9);
  g_assert_true (selective->memory.fits);
  g_assert_false (gpipe->memory.fits);
}

/* More micro-batches, less bubble: its share falls towards what the last stage's
 * head makes the others wait, 3 % of their work.  Overlap never makes it slower. */
static void
test_properties (void)
{
  g_autoptr (Result) few = run ("strategy.virtual-stages=1", FALSE);
  g_autoptr (Result) many = run ("strategy.virtual-stages=1 training.global-batch=128", FALSE);

  g_assert_cmpfloat (many->ledger[CAUSE_BUBBLE] / many->step_time, <, 0.8 * few->ledger[CAUSE_BUBBLE] / few->step_time);
  g_assert_cmpfloat (step ("cluster.nodes=16 training.global-batch=128 strategy.distributed-optimizer=yes strategy.overlap-grad-reduce=yes"), <,
                     step ("cluster.nodes=16 training.global-batch=128 strategy.distributed-optimizer=yes"));
  g_assert_cmpfloat (step ("cluster.nodes=16 training.global-batch=128 strategy.tp-comm-overlap=yes"), <, step ("cluster.nodes=16 training.global-batch=128"));
}

static double
bytes_of (const char *sets, const char *label)
{
  return bytes_of_label (scenario (sets), label);
}

/* Hidden 12288, 96 layers, sequence 2048, two bytes: an activation of one sample is
 * 2048 x 12288 x 2 bytes.  Narayanan et al. 2021, section 3; MCORE's dispatcher. */
static void
test_bytes (void)
{
  static const char plain[] = "training.recompute=none strategy.stack=megatron-2021 strategy.virtual-stages=1 cluster.nodes=16 training.global-batch=128";
  static const char moe[] = "training.recompute=none strategy.virtual-stages=1 cluster.nodes=16 training.global-batch=128 workload.experts=8 "
                            "workload.top-k=2 workload.ffn=4096 strategy.expert-parallel=2 strategy.imbalance=1.25";
  const double activation = 2048.0 * 12288 * 2;

  /* 64 micro-batches; two all-reduces a layer each way and the embedding's forward, the
   * head's back: nothing of 2021 is hidden */
  g_assert_cmpfloat_with_epsilon (bytes_of (plain, "tensor-parallel forward"), 64 * (96 * 2 + 1) * activation, 1e6);
  g_assert_cmpfloat_with_epsilon (bytes_of (plain, "tensor-parallel backward"), 64 * (96 * 2 + 1) * activation, 1e6);
  /* seven boundaries, slices of an eighth */
  g_assert_cmpfloat_with_epsilon (bytes_of (plain, "activations to the next stage"), 64 * 7 * activation / 8, 1e3);
  g_assert_cmpfloat_with_epsilon (bytes_of (plain, "gradients to the stage before"), 64 * 7 * activation / 8, 1e3);
  /* the table on two ranks, two bytes a gradient in fp16 */
  g_assert_cmpfloat_with_epsilon (bytes_of (plain, "tied embedding"), 51200.0 * 12288 / 8 * 2, 1);
  /* four all-to-alls a layer and micro-batch, of two visits a token and a quarter more on the busiest */
  g_assert_cmpfloat_with_epsilon (bytes_of (moe, "expert all-to-all forward"), 64 * 96 * 2 * 2 * 1.25 * activation, 1e6);
  g_assert_cmpfloat_with_epsilon (bytes_of (moe, "expert all-to-all backward"), 64 * 96 * 2 * 2 * 1.25 * activation, 1e6);
  /* two replicas share the experts: nobody else has a copy of them */
  g_assert_cmpfloat_with_epsilon (bytes_of (moe, "gradients of experts"), 0, 0.5);
}

/* Experts are not split as the layers around them are: whole ones on 8 GPUs of a
 * stage's 16, two GPUs an expert (parallel_state.py of Megatron-Core; gradients of two
 * bytes).  A GPU of 8 has an eighth of the tokens outside tensor-parallel parts. */
static void
test_expert_tensor (void)
{
#define EXPERTS "training.recompute=none strategy.virtual-stages=1 cluster.nodes=16 training.global-batch=128 workload.experts=8 workload.top-k=2 " \
                "workload.ffn=4096 strategy.imbalance=1.25 strategy.sequence-parallel=yes strategy.expert-parallel=8 strategy.expert-tensor-parallel="
  static const char whole[] = EXPERTS "1", halves[] = EXPERTS "2";
  const double h = 12288, sent = 2048 * h * 2 / 8 * 2 * 1.25;           /* two visits a token, a quarter more on the busiest */
  const double expert = 2 * h * 4096 + 4096 + h;                        /* two matrices and their biases */
  const double block = h * 4608 + 1536 * h + 8 * h + 4 * h + 4608 + h;  /* an eighth of attention; router, norms, biases */
  const double edges = 2 * 51200 * h / 8 + 2048 * h + 2 * h;            /* table twice, positions, final norm */

  g_assert_cmpfloat_with_epsilon (bytes_of (whole, "expert all-to-all forward"), 64 * 96 * 2 * sent, 1e6);
  g_assert_cmpfloat_with_epsilon (bytes_of (whole, "expert all-to-all backward"), 64 * 96 * 2 * sent, 1e6);
  g_assert_cmpfloat_with_epsilon (bytes_of (whole, "expert tensor-parallel forward"), 0, 0.5);
  /* gather and scatter around attention alone, and the scatter behind the embedding, the gather before the head */
  g_assert_cmpfloat_with_epsilon (bytes_of (whole, "tensor-parallel forward"), 64 * (96 * 2 + 2) * 2048 * h * 2, 1e6);
  /* over 2 GPUs each: those with the same experts, and the replicas */
  g_assert_cmpfloat_with_epsilon (bytes_of (whole, "gradients of experts"), 96 * expert * 2, 1);
  g_assert_cmpfloat_with_epsilon (bytes_of (whole, "gradients"), (96 * block + edges) * 2, 1);
  /* two GPUs gather what was sent to either and scatter it again, forward and of gradients; nobody has the same half */
  g_assert_cmpfloat_with_epsilon (bytes_of (halves, "expert all-to-all forward"), 64 * 96 * 2 * sent, 1e6);
  g_assert_cmpfloat_with_epsilon (bytes_of (halves, "expert tensor-parallel forward"), 64 * 96 * 2 * 2 * sent, 1e6);
  g_assert_cmpfloat_with_epsilon (bytes_of (halves, "expert tensor-parallel backward"), 64 * 96 * 2 * 2 * sent, 1e6);
  g_assert_cmpfloat_with_epsilon (bytes_of (halves, "gradients of experts"), 0, 0.5);

  g_autoptr (Result) r = run (whole, FALSE);
  g_autoptr (Result) half = run (halves, FALSE);
  /* most memory: the first stage, 12 layers, one expert a GPU of each */
  g_assert_cmpfloat_with_epsilon (r->memory.weights, (12 * (block + expert) + 51200 * h / 8 + 2048 * h) * 2, 1);
  g_assert_cmpfloat_with_epsilon (r->memory.weights - half->memory.weights, 12 * (2 * h * 4096 + 4096) / 2 * 2, 1);
#undef EXPERTS
}

/* What is wrong, the nearest values that are right, and one of them, which is taken. */
static void
test_bad_input (void)
{
  static const struct { const char *sets, *says, *instead; } cases[] = {
    { "strategy.pipeline-parallel=7", "56 does not divide the 64 GPUs; pipeline-parallel 4 and 8 would", "strategy.pipeline-parallel=4" },
    { "strategy.tensor-parallel=64", "512 does not divide the 64 GPUs; tensor-parallel 8 would", "strategy.tensor-parallel=8" },
    { "strategy.interleave-group=3", "3 is below the 8 stages; 8 is the least", "strategy.interleave-group=8" },
    { "workload.sequence=100 strategy.sequence-parallel=yes",
      "8 does not divide the 100 tokens of a GPU (sequence-parallel); with all else as it is 4 would", "strategy.tensor-parallel=4" },
    { "cluster.nodes=64 training.global-batch=64 workload.experts=12 strategy.expert-parallel=8",
      "8 does not divide the 12 experts; with all else as it is 4 would", "strategy.expert-parallel=4" },
    { "strategy.virtual-stages=1 workload.layers=100", "with all else as it is pipeline-parallel 4 would, or 96 or 104 layers", "strategy.pipeline-parallel=4" },
    { "strategy.virtual-stages=1 workload.layers=97", "with all else as it is pipeline-parallel 1 would, or 96 or 104 layers", "workload.layers=104" },
    { "strategy.tensor-parallel=3 strategy.pipeline-parallel=1 strategy.virtual-stages=1", "does not divide the 64 GPUs; tensor-parallel 2 and 4 would" },
    { "strategy.context-parallel=3 cluster.nodes=16", "192 does not divide the 128 GPUs; context-parallel 2 would" },
    { "strategy.tensor-parallel=24 strategy.pipeline-parallel=5", "120 does not divide the 64 GPUs; 120 GPUs are the least that do" },
    { "strategy.virtual-stages=5", "virtual-stages 4 and 6 would, or 80 or 120 layers", "workload.layers=120" },
    { "strategy.virtual-stages=1 workload.layers=90", "with all else as it is pipeline-parallel 2 would, or 88 or 96 layers" },
    { "training.global-batch=60", "interleaved groups of 8 micro-batches of 1; 56 and 64 would" },
    { "strategy.micro-batch=3", "interleaved groups of 8 micro-batches of 3; 48 and 72 would", "training.global-batch=72" },
    { "strategy.tensor-parallel=64 strategy.pipeline-parallel=1 strategy.virtual-stages=1", "64 does not divide the 96 attention heads; with all else as it is 32 would", "strategy.tensor-parallel=32" },
    { "cluster.nodes=128 training.global-batch=128 workload.experts=8 strategy.expert-parallel=16", "16 does not divide the 8 experts; 8 would" },
    { "strategy.expert-parallel=2", "2 does not divide the 1 data- and context-parallel GPUs; 1 would" },
    { "cluster.nodes=16 training.global-batch=128 workload.experts=8 strategy.sequence-parallel=yes strategy.expert-parallel=4",
      "4 does not divide the 2 data- and context-parallel GPUs; 2 would, or expert-tensor-parallel = 1" },
    { "cluster.nodes=16 training.global-batch=128 workload.experts=32 strategy.sequence-parallel=yes strategy.expert-parallel=32 strategy.expert-tensor-parallel=2",
      "32 does not divide the 8 groups of expert-tensor-parallel 2 in a stage; 8 would" },
    { "workload.experts=8 strategy.sequence-parallel=yes strategy.expert-tensor-parallel=3", "3 does not divide the 8 GPUs of a stage; 2 and 4 would" },
    { "workload.experts=8 strategy.expert-tensor-parallel=1", "1 beside tensor-parallel 8 needs sequence-parallel = yes" },
    { "strategy.expert-tensor-parallel=1", "1 GPUs share each expert, but the workload has none" },
    { "workload.experts=8 workload.ffn=4094 strategy.sequence-parallel=yes strategy.expert-tensor-parallel=4", "4 does not divide the 4094 columns" },
    { "strategy.schedule=1f1b", "3 chunks a stage go with schedule interleaved; 1 with gpipe and 1f1b" },
    { "strategy.interleave-group=12", "interleaved groups of 12 micro-batches of 1; 60 and 72 would" },
    { "workload.name=resnet50", "no decoder of a known shape" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Scenario) s = scenario (cases[i].sets);
      g_autoptr (GError) error = NULL;
      g_autoptr (Result) r = run_scenario (s, &(RunOptions) { 0 }, &error);

      g_assert_null (r);
      g_assert_nonnull (error);
      if (strstr (error->message, cases[i].says) == NULL)
        g_error ("%s: says '%s', not '%s'", cases[i].sets, error->message, cases[i].says);
      if (cases[i].instead != NULL)
        {
          g_autofree char *sets = g_strconcat (cases[i].sets, " ", cases[i].instead, NULL);

          g_assert_cmpfloat (step (sets), >, 0);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/megatron/sequence-parallel-paper", test_measured);
  g_test_add_func ("/megatron/sc21", test_sc21);
  g_test_add_func ("/megatron/depth", test_depth);
  g_test_add_func ("/megatron/mlperf", test_mlperf);
  g_test_add_func ("/megatron/unfold", test_unfold);
  g_test_add_func ("/megatron/parameters", test_params);
  g_test_add_func ("/megatron/memory", test_memory);
  g_test_add_func ("/megatron/properties", test_properties);
  g_test_add_func ("/megatron/bytes", test_bytes);
  g_test_add_func ("/megatron/expert-tensor", test_expert_tensor);
  g_test_add_func ("/megatron/bad-input", test_bad_input);
  return g_test_run ();
}
