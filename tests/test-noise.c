/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "noise-fixture.h"
#include "run/maxima.h"
#include "run/run.h"
#include "strategy/partition.h"
#include <string.h>

/* Ranks that differ: drawn one by one, and the slowest of them by its own
 * distribution.  Expected values: order statistics by numerical integration here,
 * published tables of them, and arithmetic by hand. */

/* E of the largest of n = integral of 1 - F^n from 0 on, for one of mean 1. */
static double
largest_of (guint64 n, double cv, gboolean normal)
{
  const double s2 = log1p (cv * cv), step = 1e-4;
  double sum = 0;

  for (double x = step / 2; x < 1 + 40 * cv; x += step)
    {
      const double z = normal ? (x - 1) / cv : (log (x) + s2 / 2) / sqrt (s2);

      sum += -expm1 ((double) n * log1p (-0.5 * erfc (z / sqrt (2)))) * step;
    }
  return sum;
}

/* Work of mean 1 and CV 0.4 a rank and step, one meeting, no network: efficiency
 * 1/E max, from order statistics: per cent. */
typedef struct { guint64 ranks; int distribution; double efficiency; } Efficiency;
static const Efficiency efficiencies[] = {
  { 8, NOISE_LOGNORMAL, 60.5 }, { 16, NOISE_LOGNORMAL, 53.3 }, { 32, NOISE_LOGNORMAL, 47.6 },
  { 8, NOISE_NORMAL, 63.7 }, { 16, NOISE_NORMAL, 58.6 }, { 32, NOISE_NORMAL, 54.7 },
};

static void
test_efficiency (gconstpointer data)
{
  const Efficiency *want = data;

  for (guint each = 0; each < 2; each++)
    {
      const Drawing shape = { want->ranks, each, 1, 1, 0, FALSE };
      const NoiseSpec steps = spec_of (0, 0.4, want->distribution), kernels = spec_of (0.4, 0, want->distribution);
      const Drawn a = draw (&shape, &steps, 20000), b = draw (&shape, &kernels, 20000);

      g_test_message ("each %u: %.3f %.3f", each, 100 / a.mean, 100 / b.mean);
      g_assert_cmpfloat_with_epsilon (100 / a.mean, want->efficiency, 0.3);
      g_assert_cmpfloat_with_epsilon (100 / b.mean, want->efficiency, 0.3);
      g_assert_cmpfloat_with_epsilon (100 / largest_of (want->ranks, 0.4, want->distribution == NOISE_NORMAL), want->efficiency, 0.1);
      /* a rank works for 1 in the mean and waits for the rest: the ledger says so */
      g_assert_cmpfloat_with_epsilon (a.wait, a.mean - 1, each ? 0.01 : 0.03);
      g_assert_cmpfloat_with_epsilon (a.busy, 1, each ? 0.01 : 0.03);
    }
}

/* 500 kernels of CV 2 % on 1,024 ranks with one meeting: the largest of sums, whose
 * CV is 2 %/sqrt (500), and not the sum of the largest, 6.6 % more. */
static void
test_kernels (void)
{
  const NoiseSpec spec = spec_of (0.02, 0, NOISE_LOGNORMAL);
  const Drawing slowest = { 1024, FALSE, 500, 1, 0, FALSE }, each = { 1024, TRUE, 500, 1, 0, FALSE };
  const double want = largest_of (1024, 0.02 / sqrt (500), FALSE);

  g_assert_cmpfloat_with_epsilon (want, 1.0029, 1e-4);
  g_assert_cmpfloat_with_epsilon (draw (&slowest, &spec, 2000).mean, want, 3e-5);
  g_assert_cmpfloat_with_epsilon (draw (&each, &spec, 4).mean, want, 4e-4);
}

/* Three overlapped buckets of 0.2 s: the slowest, drawn once a stretch, against
 * every rank: mean within 1 %, 95 % within 3 %. */
static void
test_folded (gconstpointer data)
{
  const guint64 ranks = GPOINTER_TO_UINT (data);
  const guint runs = ranks > 1000 ? 60 : 300;
  const NoiseSpec spec = spec_of (0.08, 0.06, NOISE_LOGNORMAL);
  const Drawing each = { ranks, TRUE, 9, 3, 0.2, FALSE }, slowest = { ranks, FALSE, 9, 3, 0.2, FALSE };
  const Drawn a = draw (&each, &spec, runs), b = draw (&slowest, &spec, 2000);

  g_test_message ("mean %.5f %.5f, p95 %.5f %.5f", a.mean, b.mean, a.p95, b.p95);
  g_assert_cmpfloat_with_epsilon (b.mean, a.mean, 0.01 * a.mean);
  g_assert_cmpfloat_with_epsilon (b.p95, a.p95, 0.03 * a.p95);
}

/* Every meeting stops all: three stretches with their own largest each, the sum of
 * which is the step. */
static void
test_every_stop (void)
{
  const NoiseSpec spec = spec_of (0.3, 0, NOISE_NORMAL);
  const Drawing each = { 64, TRUE, 1, 1, 0.1, FALSE }, slowest = { 64, FALSE, 1, 1, 0.1, FALSE };
  /* 1 + 0.3 x 2.3439 (Harter 1961, largest of 64 normals) + 0.1 */
  const double want = 1 + 0.3 * 2.3439 + 0.1;

  g_assert_cmpfloat_with_epsilon (draw (&each, &spec, 4000).mean, want, 0.01);
  g_assert_cmpfloat_with_epsilon (draw (&slowest, &spec, 4000).mean, want, 0.01);
}

/* Harter 1961, "Expected values of normal order statistics", table 1. */
static void
test_maxima (void)
{
  static const struct { double n, deviations; } rows[] = { { 2, 0.56419 }, { 10, 1.53875 }, { 100, 2.50759 }, { 1000, 3.24144 } };
  const TimeSpread one = { 100, 1, TRUE }, wide = { 1, 0.16, FALSE };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpfloat_with_epsilon (maxima_of (&one, rows[i].n).mean - 100, rows[i].deviations, 1e-4);
  /* variance of the larger of two: 1 - 1/pi */
  g_assert_cmpfloat_with_epsilon (maxima_of (&one, 2).variance, 1 - 1 / G_PI, 1e-4);
  g_assert_cmpfloat_with_epsilon (maxima_of (&wide, 1e5).mean, largest_of (100000, 0.4, FALSE), 2e-3);
}

/* A kernel more on the queue, another kind of noise beside it: what was drawn for
 * the others stays. */
static void
test_draws_stay (void)
{
  const char *const labels[2][3] = { { "a", "b", NULL }, { "a", "new", "b" } };
  double drawn[2][2] = { { 0 } };

  for (guint k = 0; k < 2; k++)
    {
      const NoiseSpec spec = spec_of (0.1, 0, NOISE_LOGNORMAL);
      const DrawsChoice choice = { &spec, 7, TRUE };
      g_autoptr (StepGraph) graph = graph_new ();
      g_autoptr (Network) network = network_new ();
      g_autoptr (Execution) x = NULL;
      g_autoptr (Draws) draws = NULL;
      double seconds[3];

      graph_class (graph, 1);
      for (guint i = 0; i < 3 && labels[k][i] != NULL; i++)
        graph_kernel (graph, 0, CAUSE_COMPUTE, 1, 1, labels[k][i]);
      x = execution_new (graph, network, FALSE);
      g_assert_true (execution_run (x, 1, NULL));
      draws = draws_new (&choice, x, 0);
      draws_step (draws, 11, seconds);
      drawn[k][0] = seconds[0];
      drawn[k][1] = seconds[graph->tasks->len - 1];
    }
  g_assert_true (memcmp (drawn[0], drawn[1], sizeof drawn[0]) == 0);
  g_assert_cmpfloat (fabs (drawn[0][0] - drawn[0][1]), >, 1e-6);
}

/* Work of 1 s, pauses of 5 s once in 10 steps.  Together: 1.5 s a step.  Each at its
 * own time: 100,000 ranks leave no step without; so do 200 one by one, but for 200
 * x 0.9^200. */
static void
test_pauses (void)
{
  NoiseSpec spec = spec_of (0, 0, NOISE_LOGNORMAL);
  const Drawing many = { 100000, FALSE, 1, 1, 0, TRUE }, some = { 200, TRUE, 1, 1, 0, TRUE };

  spec.pause = 5;
  spec.pause_steps = 10;
  g_assert_cmpfloat_with_epsilon (draw (&many, &spec, 100).mean, 6, 1e-9);
  g_assert_cmpfloat_with_epsilon (draw (&some, &spec, 100).mean, 6, 1e-9);
  spec.pause_together = TRUE;
  g_assert_cmpfloat_with_epsilon (draw (&many, &spec, 100).mean, 1.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (draw (&some, &spec, 100).mean, 1.5, 1e-9);
  /* 2.5 times the quiet step of 1 s */
  spec.pause_steps = 0;
  spec.pause_interval = 2.5;
  g_assert_cmpfloat_with_epsilon (draw (&some, &spec, 100).mean, 1 + 5 / 2.5, 1e-9);
}

/* Tensor-parallel groups of 4 side by side, data-parallel ones of 3 across, rank 0
 * slow: itself, the 3 beside it, the 2 it reduces with, and the 6 others. */
static void
test_partition (void)
{
  static const PipelineGroup groups[] = { { 4, 1 }, { 3, 4 } };
  static const guint64 sizes[] = { 1, 3, 2, 6 }, first[] = { 0, 1, 4, 5 };
  static const guint beside[] = { 0, 0, 1, 1 }, across[] = { 0, 1, 0, 1 };
  g_autoptr (Partition) p = partition_new (12, 1, FALSE, groups, 2), one = partition_new (12, 0, FALSE, groups, 2);
  guint n;
  g_autofree guint *tensor = partition_meetings (p, &groups[0], &n), *data = partition_meetings (p, &groups[1], &n);

  g_assert_cmpuint (one->n, ==, 1);
  g_assert_cmpuint (p->n, ==, 4);
  g_assert_cmpuint (n, ==, 2);
  for (guint i = 0; i < 4; i++)
    {
      g_assert_cmpuint (p->size[i], ==, sizes[i]);
      g_assert_cmpuint (p->first[i], ==, first[i]);
      g_assert_cmpuint (tensor[i], ==, beside[i]);
      g_assert_cmpuint (data[i], ==, across[i]);
    }
}

static Result *
run_sets (const char *path, const char *text, const char *const *sets, const RunOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) s = path != NULL ? scenario_load (path, sets, &error) : scenario_parse ("test.ini", text, strlen (text), sets, &error);
  Result *r;

  g_assert_no_error (error);
  r = run_scenario (s, options, &error);
  g_assert_no_error (error);
  return r;
}

/* Folded and with a class a rank: the same bits, with slow ranks, noise off. */
static void
test_slow_folded (gconstpointer name)
{
  g_autofree char *path = g_strdup_printf ("%s/scenarios/%s.ini", g_getenv ("LOCKSTEP_SOURCE"), (const char *) name);

  for (guint slow = 1; slow <= 3; slow += 2)
    {
      g_autofree char *ranks = g_strdup_printf ("noise.slow-ranks=%u", slow);
      const gboolean many = g_str_equal (name, "fsdp-7b-h100");   /* 512 ranks, one by one, would take long */
      const char *const sets[] = { ranks, "noise.slow-factor=1.37", many ? "cluster.nodes=2" : NULL, NULL };
      g_autoptr (Result) folded = run_sets (path, NULL, sets, &(RunOptions) { 0 });
      g_autoptr (Result) each = run_sets (path, NULL, sets, &(RunOptions) { .unfold = TRUE });
      g_autoptr (Result) without = run_sets (path, NULL, sets + 2, &(RunOptions) { 0 });

      g_assert_true (memcmp (&folded->step_time, &each->step_time, sizeof (double)) == 0);
      g_assert_true (memcmp (folded->ledger, each->ledger, sizeof folded->ledger) == 0);
      g_assert_cmpfloat (folded->step_time, >, without->step_time);
      g_assert_cmpfloat (folded->step_time, <=, 1.37 * without->step_time);
    }
}

/* Four nodes of one GPU, a wire that takes no time, nothing that the host adds. */
static const char bare[] = "[cluster]\nmachine = horovod-4xp100\nnodes = 4\ngpus-per-node = 1\n"
                           "[network]\ntransport = plain\nnic-bandwidth = 1e6 GB/s\nlatency = 0 s\n"
                           "[workload]\nname = vgg16\n[training]\nbatch-per-gpu = 64\n"
                           "[strategy]\nkind = flat\nhost = cuda-graph\nfixed = 0 s\nlaunch = 0 s\nslowdown = 1\nbox-noise = false\n"
                           "[collective]\nalgorithm = ring\n";

/* All wait for one rank of four at 1.3 x: the step is 1.3 times as long, so 0.3/1.3
 * = 23.1 % of it are lost; three ranks of four wait for 0.3 of the old step. */
static void
test_slow_by_hand (void)
{
  const char *const sets[] = { "noise.slow-ranks=1", "noise.slow-factor=1.3", NULL };
  g_autoptr (Result) before = run_sets (NULL, bare, NULL, &(RunOptions) { 0 });
  g_autoptr (Result) r = run_sets (NULL, bare, sets, &(RunOptions) { .what_if = TRUE, .one_gpu = TRUE });

  g_assert_cmpfloat_with_epsilon (r->step_time, 1.3 * before->step_time, 1e-3 * before->step_time);
  g_assert_cmpfloat_with_epsilon (r->ledger[CAUSE_WAIT], 0.3 * before->step_time * 3 / 4, 1e-3 * before->step_time);
  g_assert_cmpstr (r->findings[0], ==, "1 slow rank of 4 at 1.3x costs 23.1 % of the step: everybody waits");
  /* all alike again */
  g_assert_cmpstr (r->what_if[2].name, ==, "no noise");
  /* messages here, flows there: a tick a message */
  g_assert_cmpfloat_with_epsilon (r->what_if[2].seconds, before->step_time, 1e-9);
  /* the one GPU to compare with is a sound one */
  g_assert_cmpfloat_with_epsilon (r->scaling_efficiency, 1 / 1.3, 1e-3);
}

/* Draws with and without slow ranks are others: a slow rank that next to nothing is
 * lost by may come out ahead of them, and costs nothing then. */
static void
test_slow_hidden (void)
{
  const char *const sets[] = { "noise.ranks=slowest", "noise.step-cv=0.1", "noise.slow-ranks=1", "noise.slow-factor=1.001", NULL };
  guint nothing = 0;

  for (guint64 seed = 0; seed < 8; seed++)
    {
      g_autoptr (Result) r = run_sets (NULL, bare, sets, &(RunOptions) { .what_if = TRUE, .seed = seed, .runs = 4 });

      for (guint i = 0; r->findings[i] != NULL; i++)
        {
          g_assert_null (strstr (r->findings[i], "costs -"));
          nothing += strstr (r->findings[i], "costs nothing of the step") != NULL;
        }
    }
  g_assert_cmpuint (nothing, >, 0);
}

/* The ring's 2 (n - 1)/n S over the slowest card: of 4 nodes one has 1/4 of 1.25
 * GB/s left, so the all-reduce of 138,357,544 x 4 B takes 3 x 1.5 S/1.25e9 s more. */
static void
test_nic_by_hand (void)
{
  const char *const wire = "network.nic-bandwidth=1.25 GB/s", *const before_sets[] = { wire, NULL };
  const char *const sets[] = { wire, "noise.slow-nodes=1", "noise.slow-nic=0.25", NULL };
  g_autoptr (Result) before = run_sets (NULL, bare, before_sets, &(RunOptions) { 0 });
  g_autoptr (Result) r = run_sets (NULL, bare, sets, &(RunOptions) { 0 });
  const double more = 3 * 1.5 * 138357544.0 * 4 / 1.25e9;

  g_assert_cmpfloat_with_epsilon (r->step_time - before->step_time, more, 1e-6 * more);
}

/* Given a spread, the average over ranks of the strategy is not taken; what is left
 * without noise is the step without both.  The same seed gives the same bits. */
static void
test_replaces_average (void)
{
  const char *const on[] = { "strategy.box-noise=true", "noise.step-cv=0.05", NULL }, *const off[] = { "strategy.box-noise=false", NULL };
  const RunOptions options = { .what_if = TRUE, .runs = 50 }, other_seed = { .what_if = TRUE, .runs = 50, .seed = 1 };
  g_autoptr (Result) r = run_sets (NULL, bare, on, &options), again = run_sets (NULL, bare, on, &options);
  g_autoptr (Result) other = run_sets (NULL, bare, on, &other_seed), quiet = run_sets (NULL, bare, off, &(RunOptions) { 0 });

  g_assert_cmpuint (r->runs, ==, 50);
  g_assert_cmpfloat_with_epsilon (r->what_if[2].seconds, quiet->step_time, 1e-12);
  /* the largest of four normals: 1.0294 deviations (Harter); lognormal a little more; +-3 of their error */
  g_assert_cmpfloat_with_epsilon (r->step_time / quiet->step_time, 1 + 0.05 * 1.03, 0.016);
  g_assert_cmpfloat (r->spread_p50, <, r->spread_p95);
  g_assert_cmpfloat (r->spread_p95, <=, r->spread_p99);
  g_assert_true (memcmp (&r->step_time, &again->step_time, sizeof (double)) == 0);
  g_assert_true (memcmp (&r->spread_p99, &again->spread_p99, sizeof (double)) == 0);
  g_assert_cmpfloat (fabs (other->step_time - r->step_time), >, 0);
}

static void
test_refused (void)
{
  static const char *const rows[][2] = {
    { "noise.slow-ranks=5", "--set: [noise] slow-ranks: 5 of 4 GPUs; give 0 to 4" },
    { "noise.slow-nodes=9", "--set: [noise] slow-nodes: 9 of 4 nodes; give 0 to 4" },
    { "noise.pause=1 s", "--set: [noise] pause: how often is not given; add pause-steps = 100, or pause-interval = 60 s" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const char *const sets[] = { rows[i][0], NULL };
      g_autoptr (GError) error = NULL;
      g_autoptr (Scenario) s = scenario_parse ("test.ini", bare, strlen (bare), sets, &error);

      g_assert_no_error (error);
      g_assert_null (run_scenario (s, &(RunOptions) { 0 }, &error));
      g_assert_cmpstr (error->message, ==, rows[i][1]);
    }
}

int
main (int argc, char **argv)
{
  static const char *const slow[] = {
    "ddp-5x8", "mwms-4x4", "fsdp-7b-h100", "zero3-2-nodes-tcp", "data-parallel-4xv100", "vgg16-16xpascal-25gbe", "megatron-175b",
    "moe-8x7b-ep", "ddp-5x8-reduction-server",
  };
  static const guint folded[] = { 64, 512, 4096 };

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (efficiencies); i++)
    {
      const Efficiency *row = &efficiencies[i];
      g_autofree char *path = g_strdup_printf ("/noise/efficiency/%s/%u", row->distribution == NOISE_NORMAL ? "normal" : "lognormal",
                                               (guint) row->ranks);

      g_test_add_data_func (path, row, test_efficiency);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (folded); i++)
    {
      g_autofree char *path = g_strdup_printf ("/noise/folded/%u", folded[i]);

      g_test_add_data_func (path, GUINT_TO_POINTER (folded[i]), test_folded);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (slow); i++)
    {
      g_autofree char *path = g_strdup_printf ("/noise/slow-ranks-folded/%s", slow[i]);

      g_test_add_data_func (path, slow[i], test_slow_folded);
    }
  g_test_add_func ("/noise/kernels", test_kernels);
  g_test_add_func ("/noise/every-stop", test_every_stop);
  g_test_add_func ("/noise/maxima", test_maxima);
  g_test_add_func ("/noise/draws-stay", test_draws_stay);
  g_test_add_func ("/noise/pauses", test_pauses);
  g_test_add_func ("/noise/partition", test_partition);
  g_test_add_func ("/noise/slow-by-hand", test_slow_by_hand);
  g_test_add_func ("/noise/slow-hidden", test_slow_hidden);
  g_test_add_func ("/noise/nic-by-hand", test_nic_by_hand);
  g_test_add_func ("/noise/replaces-average", test_replaces_average);
  g_test_add_func ("/noise/refused", test_refused);
  return g_test_run ();
}
