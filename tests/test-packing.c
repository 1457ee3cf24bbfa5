/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/contents.h"
#include "run/played.h"
#include "run/run.h"
#include <math.h>
#include <string.h>

/* Packed sequences in whole steps.  Expected values: steps of which every kernel must
 * be the same, and the largest of many drawn here. */

static const char llama[] = "[cluster]\nmachine = dgx-h100\nnodes = 2\n[workload]\nname = llama2_7b\nprecision = mixed-bf16\n"
                            "[training]\noptimizer = adam\n[strategy]\n";
static const char bert[] = "[cluster]\nmachine = dgx-a100\nnodes = 2\n[workload]\nname = bert_large_seq512\nprecision = mixed-fp16\n"
                           "[training]\n[strategy]\nkind = ddp\n";

static Result *
run_sets (const char *text, const char *const *sets, const RunOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) s = scenario_parse ("test.ini", text, strlen (text), sets, &error);
  Result *r;

  g_assert_no_error (error);
  r = run_scenario (s, options, &error);
  g_assert_no_error (error);
  return r;
}

/* Sets in one string, parted by blanks. */
static Result *
run_with (const char *text, const char *set, const char *more, const RunOptions *options)
{
  g_autofree char *all = g_strdup_printf ("%s;%s", set, more);
  g_auto (GStrv) sets = g_strsplit (all, ";", 0);

  return run_sets (text, (const char *const *) sets, options);
}

/* Documents of a quarter of the sequence each, which start with it: the same kernels
 * as four sequences of that length; Llama has no table of positions. */
static const char *const strategies[] = {
  "strategy.kind=ddp;training.attention=flash;training.optimizer=sgd", "strategy.kind=ddp;training.attention=flash;training.recompute=full",
  "strategy.kind=fsdp", "strategy.kind=fsdp;training.recompute=selective", "strategy.kind=zero;strategy.stage=3", "strategy.kind=zero;strategy.stage=2",
  "strategy.kind=horovod;training.attention=flash", "strategy.kind=flat;training.attention=flash",
};

static void
test_quarters (gconstpointer set)
{
  g_autoptr (Result) packed
    = run_with (llama, set, "workload.sequence=8192;workload.packing=document-mask;workload.document-length=2048;workload.document-length-cv=0;"
                            "training.batch-per-gpu=1", &(RunOptions) { 0 });
  g_autoptr (Result) four = run_with (llama, set, "workload.sequence=2048;training.batch-per-gpu=4", &(RunOptions) { 0 });
  g_autoptr (Result) whole = run_with (llama, set, "workload.sequence=8192;training.batch-per-gpu=1", &(RunOptions) { 0 });

  g_assert_cmpfloat_with_epsilon (packed->step_time / four->step_time, 1, 1e-9);
  g_assert_cmpfloat (packed->step_time, <, 0.99 * whole->step_time);
  g_assert_cmpuint (packed->runs, ==, 0);   /* nothing differs */
}

static void
test_quarters_megatron (gconstpointer set)
{
  static const char kind[] = "strategy.kind=megatron;strategy.micro-batch=%u;training.global-batch=%u;%s";

  for (guint pipeline = 1; pipeline <= 2; pipeline++)
    {
      g_autofree char *one = g_strdup_printf (kind, 1, 16, (const char *) set), *four = g_strdup_printf (kind, 4, 64, (const char *) set);
      const char *stages = pipeline == 1 ? "strategy.pipeline-parallel=1" : "strategy.pipeline-parallel=2";
      g_autofree char *long_set = g_strdup_printf ("workload.sequence=8192;workload.packing=document-mask;workload.document-length=2048;"
                                                   "workload.document-length-cv=0;%s", stages);
      g_autofree char *short_set = g_strdup_printf ("workload.sequence=2048;%s", stages);
      g_autoptr (Result) packed = run_with (llama, one, long_set, &(RunOptions) { 0 });
      g_autoptr (Result) same = run_with (llama, four, short_set, &(RunOptions) { 0 });

      g_assert_cmpfloat_with_epsilon (packed->step_time / same->step_time, 1, 1e-9);
    }
}

/* Half of each sequence is padding: computed with it, and not without it. */
static void
test_padding (void)
{
  const char *half = "workload.document-length=256;workload.document-length-cv=0";
  g_autoptr (Result) full = run_with (bert, "training.attention=flash", "training.batch-per-gpu=8", &(RunOptions) { 0 });
  g_autoptr (Result) shorter = run_with (bert, "training.attention=flash;workload.sequence=256", "training.batch-per-gpu=8", &(RunOptions) { 0 });
  g_autoptr (Result) padded = run_with (bert, "training.attention=flash;workload.packing=padded;training.batch-per-gpu=8", half,
                                        &(RunOptions) { .what_if = TRUE });
  g_autoptr (Result) unpadded = run_with (bert, "workload.packing=unpadded;training.batch-per-gpu=8", half, &(RunOptions) { 0 });

  g_assert_cmpfloat_with_epsilon (padded->step_time, full->step_time, 1e-12);
  g_assert_cmpfloat_with_epsilon (unpadded->step_time / shorter->step_time, 1, 1e-9);
  g_assert_true (g_str_has_prefix (padded->findings[0], "padding is 50.0 % of the tokens; without it (packing = unpadded) the step would take "));
}

/* Without a mask, or where kernels compute what is masked, all is as without documents. */
static void
test_nothing_saved (void)
{
  const char *fsdp = "strategy.kind=fsdp;training.batch-per-gpu=1";
  g_autoptr (Result) plain = run_with (llama, fsdp, "training.attention=auto", &(RunOptions) { 0 });
  g_autoptr (Result) end_to_end = run_with (llama, fsdp, "workload.packing=concatenated;workload.document-length=512", &(RunOptions) { 0 });
  g_autoptr (Result) unfused = run_with (llama, fsdp, "training.attention=unfused", &(RunOptions) { 0 });
  g_autoptr (Result) masked = run_with (llama, fsdp, "training.attention=unfused;workload.packing=document-mask;workload.document-length=512",
                                        &(RunOptions) { .what_if = TRUE });

  g_assert_cmpfloat_with_epsilon (end_to_end->step_time, plain->step_time, 1e-15);
  g_assert_cmpfloat_with_epsilon (masked->step_time, unfused->step_time, 1e-15);
  g_assert_nonnull (strstr (masked->findings[0], "nothing is saved"));
}

/* The largest of n means of m numbers, of which each is a shape's of a normal number: drawn. */
static double
largest (const ContentsShape *shape, guint n, guint m)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (3);
  const guint times = 4000000 / n / m;
  double sum = 0;

  for (guint i = 0; i < times; i++)
    {
      double most = 0;

      for (guint k = 0; k < n; k++)
        {
          double mean = 0;

          for (guint j = 0; j < m; j++)
            mean += contents_value (shape, sqrt (-2 * log (1 - g_rand_double (random))) * cos (2 * G_PI * g_rand_double (random))) / m;
          most = fmax (most, mean);
        }
      sum += most;
    }
  return sum / times;
}

/* `each`: a class for each of the ranks; `sharing` of them in a row hold the same.
 * m micro-batches of one kernel of a second, then all meet; `inner`: at each. */
typedef struct { const char *name; guint ranks, micro; guint sharing; gboolean each, inner; } Drawing;

static StepGraph *
draw_graph (const Drawing *shape, const GraphSpread *spread)
{
  StepGraph *graph = graph_new ();
  const guint classes = shape->each ? shape->ranks : 1, calls = shape->inner ? 2 * shape->micro : 1;
  const GraphCall call = { .call = { .op = OP_ALL_REDUCE }, .flow = { .latency = 0, .cap = INFINITY }, .slowdown = 1,
                           .group = { .n_ranks = shape->ranks, .per_node = shape->ranks }, .label = "meet" };
  const guint id = graph_spread (graph, spread);

  graph->sharing = shape->sharing;
  for (guint i = 0; i < classes; i++)
    graph_class (graph, shape->ranks / classes);
  for (guint i = 0; i < calls; i++)
    graph_call (graph, &call);
  for (guint i = 0; i < classes; i++)
    {
      const RankClass class = g_array_index (graph->classes, RankClass, i);
      guint before = G_MAXUINT, next = 0;

      for (guint k = 0; k < 2 * shape->micro; k++)
        {
          const guint kernel = graph_kernel (graph, class.compute, CAUSE_COMPUTE, 0.5, 1, "kernel");

          graph_vary (graph, kernel, id, k / 2);
          if (before != G_MAXUINT)
            graph_edge (graph, before, kernel);
          if (shape->inner || k + 1 == 2 * shape->micro)
            {
              before = graph_meet (graph, class.comm, next++);
              graph_edge (graph, kernel, before);
            }
        }
      graph_edge (graph, before, graph_fixed (graph, class.compute, CAUSE_OTHER, 0, "end"));
    }
  return graph;
}

/* A share of 40 % is attention over documents of 1/8 of a sequence, CV 1. */
static GraphSpread
some_spread (void)
{
  const Documents documents = { 0.125, 1 };
  const Moments moments = documents_squares (&documents, 1);

  return (GraphSpread) { 0.4 * sqrt (moments.variance) / moments.mean, 0.4 * cbrt (moments.third) / moments.mean, 0.6 + 0.4 / moments.mean };
}

static const Drawing drawings[] = {
  { "each", 64, 1, 1, TRUE, FALSE }, { "slowest", 64, 1, 1, FALSE, FALSE },
  { "each-accumulated", 64, 4, 1, TRUE, FALSE }, { "slowest-accumulated", 64, 4, 1, FALSE, FALSE },
  { "each-met", 64, 4, 1, TRUE, TRUE }, { "slowest-met", 64, 4, 1, FALSE, TRUE },
  { "each-shared", 64, 4, 8, TRUE, FALSE }, { "slowest-shared", 64, 4, 8, FALSE, FALSE },
};

/* 400 steps: the deviation of the slowest over root 400 is below 1.5 %; the slowest of
 * sums is drawn by moving their parts, 2 % more. */
static void
test_slowest (gconstpointer data)
{
  const Drawing *shape = data;
  const NoiseSpec none = { .slow_factor = 1, .slow_nic = 1, .pause_interval = NAN };
  const PlayedOptions options = { .runs = 400 };
  const GraphSpread spread = some_spread ();
  const ContentsShape value = contents_shape (&spread);
  const guint replicas = shape->ranks / shape->sharing;
  const double want = shape->micro * largest (&value, replicas, shape->inner ? 1 : shape->micro);
  g_autoptr (Network) network = network_new ();
  g_auto (Played) played = { .graph = draw_graph (shape, &spread), .each = shape->each };
  g_autoptr (GError) error = NULL;

  played.x = execution_new (played.graph, network, FALSE);
  g_assert_true (steady_run (played.x, &played.window, &error));
  g_assert_true (played_draw (&played, &none, &options, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (played.seconds / want, 1, shape->each ? 0.02 : 0.035);
}

/* The shape has the spread's moments, and the largest of what sequences hold: laid end to
 * end and cut, 400,000 of them, the mean of the largest of 8 and 64 is 2.007 and 3.62
 * times the mean, of means of 4 sequences 1.503 and 2.024 (documents of 1/8, CV 1). */
static void
test_shape (void)
{
  static const struct { guint m, n; double want; } rows[] = { { 1, 8, 2.007 }, { 1, 64, 3.62 }, { 4, 8, 1.503 }, { 4, 64, 2.024 } };
  const Documents documents = { 0.125, 1 };
  const Moments moments = documents_squares (&documents, 1);

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const double m = rows[i].m;
      const GraphSpread spread = { sqrt (moments.variance / m) / moments.mean, cbrt (moments.third / m / m) / moments.mean, 1 / moments.mean };
      const ContentsShape shape = contents_shape (&spread);

      g_assert_cmpfloat_with_epsilon (largest (&shape, 1, 1), 1, 2e-3);
      g_assert_cmpfloat_with_epsilon (largest (&shape, rows[i].n, 1) / rows[i].want, 1, i == 1 ? 0.1 : 0.03);
    }
}

/* Tensor-parallel GPUs share sequences: what differs is between replicas.  The step
 * waits for the slowest; the finding says what that costs, and no what-if is below it. */
static void
test_finding (void)
{
  const char *sets = "strategy.kind=megatron;strategy.tensor-parallel=4;training.global-batch=16;workload.sequence=16384;"
                     "workload.packing=document-mask;workload.document-length=2048";
  g_autoptr (Result) folded = run_with (llama, sets, "noise.ranks=slowest", &(RunOptions) { .what_if = TRUE, .runs = 400 });
  g_autoptr (Result) each = run_with (llama, sets, "noise.ranks=each", &(RunOptions) { .what_if = TRUE, .runs = 400 });
  g_autoptr (Result) even = run_with (llama, sets, "workload.document-length-cv=0", &(RunOptions) { 0 });

  g_assert_cmpfloat_with_epsilon (folded->step_time / each->step_time, 1, 0.02);
  g_assert_cmpfloat (each->step_time, >, even->step_time);
  g_assert_nonnull (strstr (each->findings[0], "attention inside documents is "));
  g_assert_nonnull (strstr (each->findings[1], "sequences of unequal work cost "));
}

/* The same seed gives the same bits; the ranks drawn do not hang on how they are folded. */
static void
test_same (void)
{
  const char *sets = "strategy.kind=fsdp;training.batch-per-gpu=1;workload.packing=document-mask;workload.document-length=512";
  g_autoptr (Result) r = run_with (llama, sets, "training.accumulation=2;noise.ranks=each", &(RunOptions) { .runs = 20 });
  g_autoptr (Result) again = run_with (llama, sets, "training.accumulation=2;noise.ranks=each", &(RunOptions) { .runs = 20 });
  g_autoptr (Result) unfolded = run_with (llama, sets, "training.accumulation=2;noise.ranks=each", &(RunOptions) { .runs = 20, .unfold = TRUE });
  g_autoptr (Result) other = run_with (llama, sets, "training.accumulation=2;noise.ranks=each", &(RunOptions) { .runs = 20, .seed = 1 });

  g_assert_cmpuint (r->runs, ==, 20);
  g_assert_true (memcmp (&r->step_time, &again->step_time, sizeof (double)) == 0);
  g_assert_true (memcmp (&r->step_time, &unfolded->step_time, sizeof (double)) == 0);
  g_assert_cmpfloat (fabs (other->step_time - r->step_time), >, 0);
}

int
main (int argc, char **argv)
{
  static const char *const megatron[] = { "strategy.tensor-parallel=1", "strategy.tensor-parallel=2", "strategy.context-parallel=2" };

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (strategies); i++)
    {
      g_autofree char *path = g_strdup_printf ("/packing/quarters/%s", strategies[i]);

      g_test_add_data_func (path, strategies[i], test_quarters);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (megatron); i++)
    {
      g_autofree char *path = g_strdup_printf ("/packing/quarters/megatron/%s", megatron[i]);

      g_test_add_data_func (path, megatron[i], test_quarters_megatron);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (drawings); i++)
    {
      g_autofree char *path = g_strdup_printf ("/packing/slowest/%s", drawings[i].name);

      g_test_add_data_func (path, &drawings[i], test_slowest);
    }
  g_test_add_func ("/packing/padding", test_padding);
  g_test_add_func ("/packing/nothing-saved", test_nothing_saved);
  g_test_add_func ("/packing/shape", test_shape);
  g_test_add_func ("/packing/finding", test_finding);
  g_test_add_func ("/packing/same", test_same);
  return g_test_run ();
}
