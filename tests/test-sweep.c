/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report.h"
#include <string.h>

/* Sweeps: the product in key order, the same bytes for any number of threads,
 * points equal to single runs, errors that name the point. */

#define HEAD \
  "[cluster]\nmachine = n1-standard-32-4xt4\nnodes = 2\n" \
  "[workload]\nname = resnet50\nprecision = fp32\n" \
  "[training]\nbatch-per-gpu = 24\noptimizer = momentum\n" \
  "[strategy]\nkind = ddp\n"

static Scenario *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  Scenario *scenario = scenario_parse ("t.ini", text, strlen (text), NULL, &error);

  g_assert_no_error (error);
  return scenario;
}

static void
add_point (gpointer user, const SetPoint *point, const Result *result)
{
  sweep_report_add (user, point, result);
}

static GString *
sweep (const Scenario *scenario, Format format, guint jobs, GError **error)
{
  g_autoptr (SweepReport) report = sweep_report_new (format, scenario, &look_plain);
  const SweepOptions options = { .jobs = jobs, .point = add_point, .user = report };
  GString *out = g_string_new (NULL);

  if (study_sweep (scenario, &options, error))
    sweep_report_end (report, out);
  return out;
}

/* The first `n` cells of each line behind the header, blank between lines. */
static char *
first_cells (const char *csv, guint n)
{
  g_auto (GStrv) lines = g_strsplit (csv, "\n", -1);
  GString *out = g_string_new (NULL);

  for (guint i = 1; lines[i] != NULL && lines[i][0] != '\0'; i++)
    {
      g_auto (GStrv) cells = g_strsplit (lines[i], ",", -1);

      g_string_append (out, i > 1 ? " " : "");
      for (guint k = 0; k < n; k++)
        g_string_append_printf (out, "%s%s", k > 0 ? "/" : "", cells[k]);
    }
  return g_string_free (out, FALSE);
}

typedef struct { const char *name, *axes; guint n_keys; const char *order; } Order;
/* Written out by hand: the last key runs fastest, in the order of the file; values
 * as they are given, ranges with their upper end where a step falls on it. */
static const Order orders[] = {
  { "list", "cluster.nodes = 3, 1, 2\n", 1, "3 1 2" },
  { "product", "training.batch-per-gpu = 7, 3\ncluster.nodes = 1, 5, 2\n", 2, "7/1 7/5 7/2 3/1 3/5 3/2" },
  { "times", "cluster.nodes = 3..24 x2\n", 1, "3 6 12 24" },
  { "times-short", "cluster.nodes = 3..23 x2\n", 1, "3 6 12" },
  { "plus", "training.batch-per-gpu = 5..26 +7\n", 1, "5 12 19 26" },
  { "unit", "strategy.bucket-size = 3..27 MiB x3, 25 MiB\n", 1, "3 MiB 9 MiB 27 MiB 25 MiB" },
  { "three", "strategy.kind = ddp\nnetwork.nic-bandwidth = 7 Gbit/s, 40 Gbit/s\ncluster.nodes = 2, 1\n", 3,
    "ddp/7 Gbit/s/2 ddp/7 Gbit/s/1 ddp/40 Gbit/s/2 ddp/40 Gbit/s/1" },
};

static void
test_order (gconstpointer data)
{
  const Order *order = data;
  g_autofree char *text = g_strconcat (HEAD "[sweep]\n", order->axes, NULL);
  g_autoptr (Scenario) scenario = parse (text);
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) csv = sweep (scenario, FORMAT_CSV, 3, &error);
  g_autofree char *cells = first_cells (csv->str, order->n_keys);

  g_assert_no_error (error);
  g_assert_cmpstr (cells, ==, order->order);
}

#define AXES "[sweep]\ntraining.batch-per-gpu = 3..45 +7\nstrategy.bucket-size = 1..32 MiB x2\ncluster.nodes = 1..9 +2\n"

static void
test_threads (void)
{
  g_autoptr (Scenario) scenario = parse (HEAD AXES);

  for (Format format = 0; format < N_FORMATS; format++)
    {
      g_autoptr (GString) one = sweep (scenario, format, 1, NULL);

      for (guint jobs = 2; jobs <= 5; jobs += 3)
        {
          g_autoptr (GString) several = sweep (scenario, format, jobs, NULL);

          g_assert_cmpuint (one->len, >, 0);
          g_assert_cmpstr (one->str, ==, several->str);
        }
    }
}

/* A point is what `run` with its values gives. */
static void
test_single (void)
{
  static const char *const sets[] = { "training.batch-per-gpu=17", "strategy.bucket-size=4 MiB", "cluster.nodes=7", NULL };
  g_autoptr (Scenario) scenario = parse (HEAD AXES);
  g_autoptr (Scenario) alone = scenario_with (scenario, sets, NULL);
  const RunOptions options = { 0 };
  g_autoptr (Result) result = run_scenario (alone, &options, NULL);
  g_autoptr (GString) all = sweep (scenario, FORMAT_CSV, 2, NULL), row = g_string_new (NULL);

  report_run (row, FORMAT_CSV, (const Scenario *const[]) { alone }, (Result *const[]) { result }, 1, FALSE, FALSE, &look_plain);
  /* behind the header and the scenario's name */
  g_autofree char *wanted = g_strconcat ("\n17,4 MiB,7,", strchr (strchr (row->str, '\n'), ',') + 1, NULL);
  g_assert_nonnull (strstr (all->str, wanted));
}

typedef struct { const char *name, *axes, *message; } Failure;
static const Failure failures[] = {
  /* of several bad points the first in key order, whichever thread is first; line of [sweep] */
  { "range", "training.batch-per-gpu = 3, 5\ncluster.nodes = 1, 99999999, 88888888\n",
    "t.ini:14: [cluster] nodes: '99999999' is out of range; it must be from 1 to 10000000 "
    "(at training.batch-per-gpu=3, cluster.nodes=99999999)" },
  { "machine", "cluster.nodes = 1\ncluster.machine = n1-standard-32-4xt4, n1-highcpu-16\n",
    "t.ini:14: [cluster] machine: 'n1-highcpu-16' has no GPU; give a machine with GPUs for the workers "
    "(at cluster.nodes=1, cluster.machine=n1-highcpu-16)" },
  /* the fault is in a key that is not swept: its own line stays */
  { "elsewhere", "cluster.nodes = 1\n[network]\nnode-transport = nvlink\n",
    "t.ini:15: [network] node-transport: 'nvlink' needs NVLink, which 'n1-standard-32-4xt4' has not; * (at cluster.nodes=1)" },
  { "kind", "strategy.kind = ddp, mirrored\n",
    "t.ini:13: [strategy] kind: mirrored runs on 1 node, not on 2; 'multi-worker-mirrored' runs on several "
    "(at strategy.kind=mirrored)" },
  { "unit", "network.nic-bandwidth = 3 Gbit/s, 4\n",
    "t.ini:13: [network] nic-bandwidth: '4' has no unit; *(at network.nic-bandwidth=4)" },
  { "many", "training.batch-per-gpu = 1..2000 +1\ncluster.nodes = 1..2000 +1\n",
    "t.ini: [sweep]: 4e+06 points; at most 1e+06 are taken" },
};

static void
test_failure (gconstpointer data)
{
  const Failure *failure = data;
  g_autofree char *text = g_strconcat (HEAD "[sweep]\n", failure->axes, NULL);
  g_autoptr (Scenario) scenario = parse (text);

  for (guint jobs = 1; jobs <= 4; jobs++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GString) out = sweep (scenario, FORMAT_CSV, jobs, &error);

      g_assert_nonnull (error);
      if (!g_pattern_match_simple (failure->message, error->message))
        g_assert_cmpstr (error->message, ==, failure->message);
      g_assert_cmpuint (out->len, ==, 0);
    }
}

static void
note_progress (gpointer user, guint done, guint n)
{
  guint *last = user;

  g_assert_cmpuint (done, ==, *last + 1);
  g_assert_cmpuint (n, ==, 6);
  *last = done;
}

static void
no_point (gpointer user, const SetPoint *point, const Result *result)
{
  g_assert_nonnull (user);
  g_assert_cmpuint (point->n, ==, 2);
  g_assert_cmpfloat (result->step_time, >, 0);
}

static void
test_progress (void)
{
  g_autoptr (Scenario) scenario = parse (HEAD "[sweep]\ntraining.batch-per-gpu = 3, 5\ncluster.nodes = 1, 2, 4\n");
  guint last = 0;
  const SweepOptions options = { .jobs = 2, .point = no_point, .progress = note_progress, .user = &last };

  g_assert_true (study_sweep (scenario, &options, NULL));
  g_assert_cmpuint (last, ==, 6);
}

static void
test_jobs (void)
{
  g_assert_cmpuint (sweep_jobs (0, 1000), ==, MIN (g_get_num_processors (), 1000));
  g_assert_cmpuint (sweep_jobs (7, 1000), ==, 7);
  g_assert_cmpuint (sweep_jobs (7, 3), ==, 3);   /* no idle threads */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (orders); i++)
    {
      g_autofree char *path = g_strconcat ("/sweep/order/", orders[i].name, NULL);
      g_test_add_data_func (path, &orders[i], test_order);
    }
  g_test_add_func ("/sweep/threads", test_threads);
  g_test_add_func ("/sweep/single-run", test_single);
  for (gsize i = 0; i < G_N_ELEMENTS (failures); i++)
    {
      g_autofree char *path = g_strconcat ("/sweep/failure/", failures[i].name, NULL);
      g_test_add_data_func (path, &failures[i], test_failure);
    }
  g_test_add_func ("/sweep/progress", test_progress);
  g_test_add_func ("/sweep/jobs", test_jobs);
  return g_test_run ();
}
