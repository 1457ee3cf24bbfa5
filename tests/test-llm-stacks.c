/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/point.h"
#include "run/run.h"
#include "strategy/megatron-plan.h"
#include <math.h>
#include <string.h>

/* What stacks do otherwise than Megatron-LM and compiled PyTorch: nanotron's stages
 * and gradients, torchtitan's recompute by op, eager kernels. */
static const char base[] = "[cluster]\nmachine = dgx-h100\nnodes = 4\n"
                           "[workload]\narchitecture = llama\nhidden = 4096\nheads = 32\nlayers = 32\nffn = 14336\nvocabulary = 131072\n"
                           "sequence = 4096\nprecision = mixed-bf16\n"
                           "[training]\nglobal-batch = 64\n"
                           "[strategy]\nkind = megatron\nstack = nanotron-2024\npipeline-parallel = 2\nstages-by-cost = true\n";

static Point *
point (const char *sets, Scenario **scenario)
{
  g_auto (GStrv) list = g_strsplit (sets, " ", 0);
  g_autoptr (GError) error = NULL;
  Point *p;

  *scenario = scenario_parse ("test.ini", base, strlen (base), sets[0] != '\0' ? (const char *const *) list : NULL, &error);
  g_assert_no_error (error);
  p = point_new (*scenario, &error);
  g_assert_no_error (error);
  return p;
}

/* A block costs 4 h h + 3 h ffn, the output layer h V.  4096: 243.3 M and 536.9 M, 34.2
 * blocks in all, so shares of 17.1 or 8.55 end with block 18, or 9, 18 and 26.  2048
 * with ffn 8192: 67.1 M and 268.4 M, exactly 20 blocks.  8192, 80 layers of 28672:
 * 973.1 M and 1,073.7 M, 81.1 blocks, shares of 20.28. */
static void
test_stages (void)
{
  static const struct { const char *sets; guint stages; guint64 layers[4]; } cases[] = {
    { "", 2, { 18, 14 } },
    { "strategy.pipeline-parallel=4", 4, { 9, 9, 8, 6 } },
    { "workload.hidden=2048 workload.layers=16 workload.ffn=8192", 2, { 10, 6 } },
    { "workload.hidden=8192 workload.heads=64 workload.layers=80 workload.ffn=28672 strategy.pipeline-parallel=4", 4, { 21, 20, 20, 19 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Scenario) s = NULL;
      g_autoptr (Point) p = point (cases[i].sets, &s);
      g_autoptr (GError) error = NULL;
      g_auto (Megatron) m = { 0 };

      g_assert_true (megatron_plan (&p->input, &m, &error));
      for (guint stage = 0; stage < cases[i].stages; stage++)
        g_assert_cmpuint (m.layers[stage], ==, cases[i].layers[stage]);
    }
}

typedef struct { double bytes; guint calls; CollectiveOp op; } Gradients;

static Gradients
gradients (const char *sets)
{
  g_autoptr (Scenario) s = NULL;
  g_autoptr (Point) p = point (sets, &s);
  g_autoptr (StepGraph) graph = graph_new ();
  g_autoptr (GError) error = NULL;
  Gradients g = { 0 };

  g_assert_true (strategy_build (p->strategy, &p->input, graph, &error));
  for (guint i = 0; i < graph->calls->len; i++)
    if (g_str_equal (graph_get_call (graph, i)->label, "gradients"))
      {
        g.bytes += graph_get_call (graph, i)->call.size;
        g.op = graph_get_call (graph, i)->call.op;
        g.calls++;
      }
  return g;
}

/* Four bytes a parameter, all-reduced whole even where ZeRO-1 splits the optimizer:
 * one call a stage; without ZeRO-1 in buckets of 25 MiB of two-byte gradients.
 * Parameters: 32 blocks of 4 h h + 3 h ffn + 2 h, two tables, a norm: 8,859,426,816. */
static void
test_gradients (void)
{
  const Gradients zero = gradients ("strategy.distributed-optimizer=yes"), ddp = gradients ("strategy.overlap-grad-reduce=yes");
  const Gradients core = gradients ("strategy.distributed-optimizer=yes strategy.stack=megatron-core-2023");
  const double params = 32 * (4 * 4096.0 * 4096 + 3 * 4096.0 * 14336 + 2 * 4096.0) + 2 * 131072.0 * 4096 + 4096;

  g_assert_cmpint (zero.op, ==, OP_ALL_REDUCE);
  g_assert_cmpint (core.op, ==, OP_REDUCE_SCATTER);
  g_assert_cmpuint (zero.calls, ==, 2);
  g_assert_cmpfloat_with_epsilon (zero.bytes, 4 * params, 1);
  g_assert_cmpint (ddp.op, ==, OP_ALL_REDUCE);
  g_assert_cmpfloat_with_epsilon (ddp.bytes, 4 * params, 1e3);
  g_assert_cmpuint (ddp.calls, >=, (guint) ceil (params / 13.1e6));
  g_assert_cmpuint (ddp.calls, <=, (guint) ceil (params / 13.1e6) + 1);
}

/* The last stage's layers are asked for twice. */
static void
test_bad_input (void)
{
  g_autoptr (GError) error = NULL;
  const char *const sets[] = { "strategy.last-stage-layers=12", NULL };
  g_autoptr (Scenario) s = scenario_parse ("test.ini", base, strlen (base), sets, &error);
  g_autoptr (Result) r = s != NULL ? run_scenario (s, &(RunOptions) { 0 }, &error) : NULL;

  g_assert_null (r);
  g_assert_nonnull (strstr (error->message, "stages-by-cost: needs 1 virtual stage and no last-stage-layers"));
}

static double
compute_time (const char *text, const char *set)
{
  const char *const sets[] = { set, NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) s = scenario_parse ("test.ini", text, strlen (text), sets, &error);
  g_autoptr (Result) r = s != NULL ? run_scenario (s, &(RunOptions) { 0 }, &error) : NULL;

  g_assert_no_error (error);
  return r->ledger[CAUSE_COMPUTE];
}

/* RMSNorm, rotary positions and SwiGLU of Llama-3 8B by single operators, bytes as
 * PyTorch's own kernels move them: 65 norms of 8192 x 4096 elements take 36 + 84 for
 * 4 + 10 bytes, 32 rotations of 8192 x 5120 20 + 20 for 4 + 8, 32 gates of 8192 x
 * 14336 10 + 18 for 6 + 12; at 0.87 (norms in one kernel 0.60, gates 0.70) of 3.35
 * TB/s, and 0.8 of that in this stack. */
static void
test_eager (void)
{
  static const char text[] = "[cluster]\nmachine = dgx-h100\nnodes = 1\ngpus-per-node = 1\n"
                             "[workload]\nname = llama3_8b\nsequence = 8192\nprecision = mixed-bf16\n[training]\nbatch-per-gpu = 1\n"
                             "[strategy]\nkind = fsdp\nversion = 2\n";
  const double norm = 65 * 8192.0 * 4096 * (120 / 0.87 - 14 / 0.60), rotary = 32 * 8192.0 * 5120 * (40 - 12) / 0.87;
  const double gate = 32 * 8192.0 * 14336 * (28 - 18) / 0.70;
  const double more = compute_time (text, "strategy.stack=torchtitan-2024-eager") - compute_time (text, "strategy.stack=torchtitan-2024");

  g_assert_cmpfloat_with_epsilon (more, (norm + rotary + gate) / 3.35e12 / 0.8, 0.01 * more);
}

/* By op attention, queries, values, one half of the gate and the product behind it
 * are kept; keys, the projection and the gate's other half run again: 2 h h + h f of 4
 * h h + 3 h f.  A short sequence leaves attention out; element-wise kernels, a tenth
 * of the forward pass at most, run again in both. */
static void
test_per_op (void)
{
  static const char text[] = "[cluster]\nmachine = dgx-h100\nnodes = 1\ngpus-per-node = 1\n"
                             "[workload]\narchitecture = llama\nhidden = 8192\nheads = 64\nlayers = 4\nffn = 28672\nvocabulary = 32000\n"
                             "sequence = 512\nprecision = mixed-bf16\n[training]\nglobal-batch = 16\n"
                             "[strategy]\nkind = megatron\nstack = torchtitan-2024\nmicro-batch = 16\n";
  const double none = compute_time (text, "training.recompute=none"), all = compute_time (text, "training.recompute=full");
  const double by_op = compute_time (text, "training.recompute=per-op"), h = 8192, f = 28672;
  const double again = (2 * h * h + h * f) / (4 * h * h + 3 * h * f);   /* of products */

  g_assert_cmpfloat ((by_op - none) / (all - none), >, again);
  g_assert_cmpfloat ((by_op - none) / (all - none), <, again + 0.12);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nanotron/stages", test_stages);
  g_test_add_func ("/nanotron/gradients", test_gradients);
  g_test_add_func ("/nanotron/bad-input", test_bad_input);
  g_test_add_func ("/torchtitan/eager", test_eager);
  g_test_add_func ("/torchtitan/per-op", test_per_op);
  return g_test_run ();
}
