/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph-fixture.h"
#include "strategy/megatron-plan.h"
#include <math.h>
#include <string.h>

/* DeepSeek-V3 under megatron by hand: weights of a GPU, bytes on the wire, stages of
 * their own size, memory.  DeepSeek-AI 2024 (arXiv 2412.19437); split as in
 * Megatron-Core's multi_latent_attention.py: what squeezes is whole on each GPU. */
static const char base[] = "[cluster]\nmachine = dgx-h100\nnodes = 8\n"
                           "[workload]\narchitecture = llama\nhidden = 7168\nheads = 128\nlayers = 61\nvocabulary = 129280\nsequence = 4096\n"
                           "q-lora-rank = 1536\nkv-lora-rank = 512\nffn = 2048\nexperts = 256\ntop-k = 8\nshared-experts = 1\n"
                           "dense-layers = 3\ndense-ffn = 18432\nprecision = mixed-bf16\n"
                           "[training]\nglobal-batch = 64\n[strategy]\nkind = megatron\nstack = megatron-core-2025\n";

static const double h = 7168, table = 129280.0 * 7168, expert = 3.0 * 7168 * 2048;
static const double squeezed = 7168.0 * 1536 + 1536 + 7168 * 576 + 512;             /* and their norms */
static const double widened = 1536.0 * 128 * 192 + 512.0 * 128 * 256 + 128.0 * 128 * 7168;

/* `sets`: blank-separated "group.key=value"; a '~' stands for a blank in it. */
static Scenario *
scenario (const char *sets)
{
  g_auto (GStrv) list = g_strsplit (sets, " ", 0);
  g_autoptr (GError) error = NULL;
  Scenario *s;

  for (guint i = 0; list[i] != NULL; i++)
    g_strdelimit (list[i], "~", ' ');
  s = scenario_parse ("test.ini", base, strlen (base), sets[0] != '\0' ? (const char *const *) list : NULL, &error);
  g_assert_no_error (error);
  return s;
}

/* Of all stages. */
static void
params (const char *sets, double *dense, double *experts)
{
  g_autoptr (Scenario) s = scenario (sets);
  g_autoptr (GError) error = NULL;
  g_autoptr (Point) point = point_new (s, &error);
  g_auto (Megatron) m = { 0 };

  g_assert_no_error (error);
  g_assert_true (megatron_plan (&point->input, &m, &error));
  *dense = *experts = 0;
  for (guint stage = 0; stage < m.pp; stage++)
    {
      double one, its;

      megatron_stage_params (&m, stage, &one, &its);
      *dense += one;
      *experts += its;
    }
}

/* One GPU with all of it has the published 671,026,404,352 weights (generator's test);
 * a module for a further token its own (there too) and, on another stage than the table,
 * the table.  Two tensor-parallel GPUs each have what squeezes, routers and norms, and
 * halves of the rest, of shared experts too; 64 GPUs four whole experts of 256 each. */
static void
test_params (void)
{
  const double further = squeezed + widened + 2 * h + h * 256 + 257 * expert + 2 * h * h + 3 * h, whole = 671026404352;
  const double twice = 61 * (squeezed + 2 * h) + 58 * h * 256 + h;
  double dense, experts;

  params ("", &dense, &experts);
  g_assert_cmpfloat_with_epsilon (experts, 58 * 256 * expert, 1);
  g_assert_cmpfloat_with_epsilon (dense + experts, whole, 1);
  params ("workload.mtp-layers=1", &dense, &experts);
  g_assert_cmpfloat_with_epsilon (dense + experts, whole + further, 1);
  params ("workload.mtp-layers=1 strategy.pipeline-parallel=2 strategy.stage-layers=31,30", &dense, &experts);
  g_assert_cmpfloat_with_epsilon (dense + experts, whole + further + table, 1);
  params ("strategy.tensor-parallel=2 strategy.sequence-parallel=yes strategy.expert-parallel=64 strategy.expert-tensor-parallel=1", &dense, &experts);
  g_assert_cmpfloat_with_epsilon (experts, 58 * 4 * expert, 1);
  g_assert_cmpfloat_with_epsilon (2 * dense, whole - 58 * 256 * expert + twice, 1);
}

static double
bytes_of (const char *sets, const char *label)
{
  return bytes_of_label (scenario (sets), label);
}

/* Two micro-batches of 4096 tokens, two bytes.  A layer gathers 1536 + 576 squeezed
 * columns and scatters the stream; dense and shared parts gather and scatter the stream;
 * the embedding scatters, the output layer gathers.  Half of the tokens on each of two
 * GPUs go to 8 experts and back.  Gradients of 4 bytes. */
static void
test_bytes (void)
{
  static const char sets[] = "strategy.tensor-parallel=2 strategy.sequence-parallel=yes strategy.expert-parallel=32 strategy.expert-tensor-parallel=1";
  const double token = 4096 * 2.0, stream = token * h, attention = token * (1536 + 576) + stream;

  g_assert_cmpfloat_with_epsilon (bytes_of (sets, "tensor-parallel forward"), 2 * (61 * (attention + 2 * stream) + 2 * stream), 1);
  g_assert_cmpfloat_with_epsilon (bytes_of (sets, "expert all-to-all forward"), 2 * 58 * 2 * 8 * stream / 2, 1);
  g_assert_cmpfloat_with_epsilon (bytes_of (sets, "expert all-to-all backward"), 2 * 58 * 2 * 8 * stream / 2, 1);
  g_assert_cmpfloat_with_epsilon (bytes_of (sets, "expert tensor-parallel forward"), 0, 0.5);
  /* of 64 GPUs two have the same 8 experts of each layer */
  g_assert_cmpfloat_with_epsilon (bytes_of (sets, "gradients of experts"), 58 * 8 * expert * 4, 1);
  /* the table of a further token's lookups is summed with that of the first stage */
  g_assert_cmpfloat_with_epsilon (bytes_of ("workload.mtp-layers=1 strategy.expert-parallel=32 strategy.pipeline-parallel=2 strategy.stage-layers=31,30",
                                            "tied embedding"), table * 4, 1);
}

/* Selective recomputation leaves out what it names: what widens gives 128 x (192 + 192 +
 * 128) columns, gates of 8 experts 2048 each, norms 7168 twice; and it costs time. */
static void
test_modules (void)
{
#define SHARED "strategy.expert-parallel=64 training.recompute=selective training.recompute-modules="
  static const struct { const char *sets; double columns; } cases[] = {
    { SHARED "core_attn", 0 }, { SHARED "mla_up_proj", 61 * 128 * 512.0 }, { SHARED "moe_act", 58 * 8 * 2048.0 }, { SHARED "layernorm", 61 * 2 * 7168.0 },
    { SHARED "mlp", 3 * 3 * 18432.0 }, { SHARED "shared_experts", 58 * 3 * 2048.0 }, { SHARED "moe", 58 * (7 * 7168.0 + 27 * 2048) },
    { SHARED "moe,~moe_act", 58 * (7 * 7168.0 + 27 * 2048) }, { SHARED "mla_up_proj,moe_act", 61 * 128 * 512.0 + 58 * 8 * 2048 },
  };
#undef SHARED
  g_autoptr (Scenario) none = scenario ("strategy.expert-parallel=64");
  g_autoptr (Result) kept = run_scenario (none, &(RunOptions) { 0 }, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Scenario) s = scenario (cases[i].sets);
      g_autoptr (Result) r = run_scenario (s, &(RunOptions) { 0 }, NULL);

      g_assert_cmpfloat_with_epsilon (kept->memory.activations - r->memory.activations, 4096 * 2 * cases[i].columns, 1e-9 * kept->memory.activations);
      g_assert_cmpfloat (r->step_time, >, kept->step_time);
    }
  /* moe sends its tokens once more in the backward pass */
  g_assert_cmpfloat_with_epsilon (bytes_of ("strategy.expert-parallel=64 training.recompute=selective training.recompute-modules=moe", "expert all-to-all backward"),
                                  2 * bytes_of ("strategy.expert-parallel=64", "expert all-to-all backward"), 1);
}

/* Kept of a layer and token, two bytes a value: the stream before both norms and behind,
 * queries and keys 128 x 192, values and context 128 x 128; squeezed 1536 + 512 before and
 * behind their norms, 64 of position; 18432 or 8 + 1 times 2048 columns, of the gate, what it
 * meets and their product; inputs of 8 experts for the one of a plain part. */
static void
test_memory (void)
{
  const double attention = 4 * h + 128 * (192 + 192 + 128 + 128) + 2 * (1536 + 512) + 64;
  const double dense = attention + 3 * 18432, experts = attention + 3 * 9 * 2048 + 7 * h;
  g_autoptr (Scenario) s = scenario ("strategy.expert-parallel=64");
  g_autoptr (GError) error = NULL;
  g_autoptr (Result) r = run_scenario (s, &(RunOptions) { 0 }, &error);

  g_assert_no_error (error);
  /* final norm and its output, logits in 4 bytes */
  g_assert_cmpfloat_with_epsilon (r->memory.activations, 4096 * (2 * (3 * dense + 58 * experts) + 2 * 2 * h + 4 * 129280), 1e-9 * r->memory.activations);
  g_assert_cmpfloat_with_epsilon (r->memory.weights, 2 * (671026404352 - 58 * 252 * expert), 16);
}

static void
test_unfold (void)
{
  g_autoptr (Scenario) s = scenario ("cluster.nodes=2 workload.hidden=512 workload.heads=8 workload.layers=7 workload.ffn=256 workload.experts=16 "
                                     "workload.dense-layers=1 workload.dense-ffn=1024 workload.mtp-layers=1 strategy.tensor-parallel=2 "
                                     "strategy.sequence-parallel=yes strategy.pipeline-parallel=2 strategy.virtual-stages=2 strategy.stage-layers=2*3,1 "
                                     "strategy.expert-parallel=8 strategy.expert-tensor-parallel=1 strategy.distributed-optimizer=yes");
  g_autoptr (Result) folded = run_scenario (s, &(RunOptions) { 0 }, NULL);
  g_autoptr (Result) apart = run_scenario (s, &(RunOptions) { .unfold = TRUE }, NULL);

  g_assert_true (!(folded->step_time < apart->step_time) && !(folded->step_time > apart->step_time));
}

static void
test_bad_input (void)
{
  static const struct { const char *sets, *says; } cases[] = {
    { "strategy.pipeline-parallel=4", "61 layers do not divide into 4 stages" },
    { "strategy.pipeline-parallel=2 strategy.stage-layers=61", "stage-layers: has 1 stages; 2 are right" },
    { "strategy.pipeline-parallel=2 strategy.stage-layers=2*30,1*2", "stage-layers: has 32 stages; 2 are right" },
    { "strategy.pipeline-parallel=2 strategy.stage-layers=30,30", "stage-layers: has 60 layers; the workload has 61" },
    { "strategy.pipeline-parallel=2 strategy.stage-layers=31,x", "stage-layers: 'x' is no count of layers" },
    { "strategy.pipeline-parallel=2 strategy.stage-layers=31*,30", "stage-layers: '31*' is no count of layers" },
    { "strategy.pipeline-parallel=4 strategy.stage-layers=31,0,30,0", "0 layers go with the first and the last stage alone" },
    { "strategy.pipeline-parallel=2 strategy.stage-layers=31,30 strategy.account-for-loss=true", "says it all" },
    { "strategy.pipeline-parallel=2 strategy.stage-layers=2*99999999999999999999", "is no count of layers" },
    { "strategy.tensor-parallel=2 workload.dense-ffn=1001", "2 does not divide the 1001 columns of dense-ffn; with all else as it is 1 would" },
    { "training.recompute-modules=moe", "goes with recompute = selective" },
    { "training.recompute=selective training.recompute-modules=attn", "'attn' is none of core_attn" },
    { "strategy.expert-parallel=48 cluster.nodes=6 training.global-batch=48", "48 does not divide the 256 experts; with all else as it is 16 would" },
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
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/latent/parameters", test_params);
  g_test_add_func ("/latent/bytes", test_bytes);
  g_test_add_func ("/latent/memory", test_memory);
  g_test_add_func ("/latent/recompute-modules", test_modules);
  g_test_add_func ("/latent/unfold", test_unfold);
  g_test_add_func ("/latent/bad-input", test_bad_input);
  return g_test_run ();
}
