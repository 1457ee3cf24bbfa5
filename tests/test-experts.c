/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/point.h"
#include "run/run.h"
#include "strategy/megatron-plan.h"
#include <string.h>

/* Layers of experts under megatron by hand: where tokens go, what crosses a wire, how
 * many operators the host dispatches. */
static const char base[] = "[cluster]\nmachine = dgx-h100\nnodes = 1\n"
                           "[workload]\narchitecture = llama\nhidden = 512\nheads = 8\nlayers = 10\nffn = 256\nexperts = 128\ntop-k = 8\n"
                           "vocabulary = 1024\nsequence = 128\nprecision = fp8\n"
                           "[training]\nglobal-batch = 8\n[strategy]\nkind = megatron\nstack = megatron-core-2025\nexpert-parallel = 8\n";

typedef struct
{
  Scenario  *scenario;
  Point     *point;
  StepGraph *graph;
  Megatron   plan;
} Case;

static void
clear (Case *c)
{
  megatron_clear (&c->plan);
  g_clear_pointer (&c->graph, graph_free);
  g_clear_pointer (&c->point, point_free);
  g_clear_pointer (&c->scenario, scenario_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Case, clear)

/* `sets`: blank-separated "group.key=value". */
static Case
of (const char *sets)
{
  g_auto (GStrv) list = g_strsplit (sets, " ", 0);
  g_autoptr (GError) error = NULL;
  Case c = { .graph = graph_new () };

  c.scenario = scenario_parse ("test.ini", base, strlen (base), sets[0] != '\0' ? (const char *const *) list : NULL, &error);
  g_assert_no_error (error);
  c.point = point_new (c.scenario, &error);
  g_assert_no_error (error);
  g_assert_true (megatron_plan (&c.point->input, &c.plan, &error));
  g_assert_true (strategy_build (c.point->strategy, &c.point->input, c.graph, &error));
  g_assert_no_error (error);
  return c;
}

/* Of k experts drawn from E without putting back, on p places of E/p each:
 * p (1 - C(E - E/p, k) / C(E, k)). */
static void
test_visited (void)
{
  g_auto (Case) few = of ("workload.experts=8 workload.top-k=2 strategy.expert-parallel=2");
  g_auto (Case) all = of ("workload.experts=8 workload.top-k=2");

  g_assert_cmpfloat_with_epsilon (megatron_visited (&few.plan, 2), 2 * (1 - 6 / 28.0), 1e-12);     /* C(4, 2), C(8, 2) */
  g_assert_cmpfloat_with_epsilon (megatron_visited (&few.plan, 4), 4 * (1 - 15 / 28.0), 1e-12);    /* C(6, 2) */
  g_assert_cmpfloat_with_epsilon (megatron_visited (&all.plan, 8), 2, 1e-12);                      /* an expert a GPU */
  g_assert_cmpfloat_with_epsilon (megatron_visited (&all.plan, 1), 1, 1e-12);
}

static double
exchanged (const Case *c, guint64 *ranks)
{
  double bytes = 0;

  for (guint i = 0; i < c->graph->calls->len; i++)
    {
      const GraphCall *call = graph_get_call (c->graph, i);

      if (!g_str_equal (call->label, "expert all-to-all forward"))
        continue;
      bytes += call->call.size;
      *ranks = call->group.n_ranks;
    }
  return bytes;
}

/* 10 layers, there and back, 128 tokens of 512 numbers of two bytes.  To each of the
 * experts; once to each of 8 GPUs in a node; once to each of 4 nodes, where the cards
 * (50 GB/s a GPU) are slower than NVLink inside; once to each of 16 GPUs that one
 * rack's NVLink joins, whatever its trays. */
static void
test_exchange (void)
{
  static const double token = 10 * 2 * 128 * 512 * 2;
  static const struct { const char *sets; double copies; guint64 ranks; } cases[] = {
    { "", 8, 8 },
    { "strategy.token-dispatcher=flex", 8 * (1 - 0.332580388), 8 },     /* C(112, 8) / C(128, 8) */
    { "strategy.token-dispatcher=alltoall strategy.stack=megatron-core-2026", 8, 8 },
    { "cluster.nodes=4 training.global-batch=32 strategy.expert-parallel=32 strategy.token-dispatcher=flex", 4 * (1 - 0.092747269), 32 },   /* C(96, 8) */
    { "cluster.machine=gb300-nvl72 cluster.nodes=4 training.global-batch=16 strategy.expert-parallel=16 strategy.token-dispatcher=flex",
      16 * (1 - 0.587717949), 16 },                                     /* C(120, 8) */
    { "cluster.machine=dgx-b200 strategy.stack=megatron-core-2026", 8 * (1 - 0.332580388), 8 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (Case) c = of (cases[i].sets);
      guint64 ranks = 0;
      const double bytes = exchanged (&c, &ranks);

      g_assert_cmpfloat_with_epsilon (bytes / token, cases[i].copies, 1e-5 * cases[i].copies);
      g_assert_cmpuint (ranks, ==, cases[i].ranks);
    }
}

/* Of a layer: the difference between 20 and 10. */
static double
seconds (const char *sets)
{
  static const char *const layers[] = { "workload.layers=10", "workload.layers=20" };
  double step[2];

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *both = g_strconcat (layers[i], " ", sets, NULL);
      g_auto (GStrv) list = g_strsplit (g_strstrip (both), " ", 0);
      g_autoptr (GError) error = NULL;
      g_autoptr (Scenario) s = scenario_parse ("test.ini", base, strlen (base), (const char *const *) list, &error);

      g_assert_no_error (error);
      g_autoptr (Result) r = run_scenario (s, &(RunOptions) { 0 }, &error);
      g_assert_no_error (error);
      step[i] = r->step_time - r->ledger[CAUSE_OPTIMIZER];
    }
  return (step[1] - step[0]) / 10;
}

/* A step so small that the host sets its pace.  A layer and both passes: 75 + 90
 * operators of a dense block and 60 + 40 of router and dispatcher; for each of 16
 * experts 2 + 4, in FP8 2 x 10 besides; 10 us each. */
static void
test_host (void)
{
  g_assert_cmpfloat_with_epsilon (seconds (""), (165 + 100 + 16 * 26) * 10e-6, 0.03 * 6.81e-3);
  g_assert_cmpfloat_with_epsilon (seconds ("workload.precision=mixed-bf16"), (165 + 100 + 16 * 6) * 10e-6, 0.04 * 3.61e-3);
  g_assert_cmpfloat_with_epsilon (seconds ("cluster.machine=dgx-b200 strategy.stack=megatron-core-2026"), (165 + 100) * 10e-6, 0.04 * 2.65e-3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/experts/visited", test_visited);
  g_test_add_func ("/experts/exchange", test_exchange);
  g_test_add_func ("/experts/host", test_host);
  return g_test_run ();
}
