/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "scenario/scenario.h"
#include "scenario/values.h"

static const char base_text[] =
  "# Three nodes of four: is it the network?\n"
  "# A second line.\n"
  "[cluster]\n"
  "machine = n1-standard-32-4xt4\n"
  "nodes = 3\n"
  "[workload]\n"
  "name = resnet50\n"
  "[training]\n"
  "batch-per-gpu = 37\n"
  "[strategy]\n"
  "kind = ddp\n";

static Scenario *
parse (const char *more, const char *const *sets, GError **error)
{
  g_autofree char *text = g_strconcat (base_text, more, NULL);

  return scenario_parse ("fixtures/a.ini", text, strlen (text), sets, error);
}

static void
assert_fails (const char *more, const char *const *sets, const char *start)
{
  g_autoptr (GError) error = NULL;
  Scenario *scenario = parse (more, sets, &error);

  g_assert_null (scenario);
  g_assert_nonnull (error);
  if (!g_str_has_prefix (error->message, start))
    g_error ("'%s' does not start with '%s'", error->message, start);
  g_assert_null (strchr (error->message, '\n'));
}

static void
test_plain (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) scenario = parse ("[network]\nlatency = 7 us\n", NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (scenario->name, ==, "a");
  g_assert_cmpstr (scenario->path, ==, "fixtures/a.ini");
  g_assert_true (g_str_has_prefix (scenario->question, "Three nodes of four: is it the network?"));
  g_assert_null (scenario->title);
  g_assert_cmpstr (scenario->cluster.machine, ==, "n1-standard-32-4xt4");
  g_assert_cmpuint (scenario->cluster.nodes, ==, 3);
  g_assert_cmpuint (scenario->training.batch_per_gpu, ==, 37);
  g_assert_cmpuint (scenario->training.global_batch, ==, 0);
  g_assert_cmpfloat_with_epsilon (scenario->network.latency, 7e-6, 1e-15);
  g_assert_cmpuint (scenario->n_axes, ==, 0);
  g_assert_cmpuint (scenario->n_measured, ==, 0);
}

static void
test_measured (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) scenario =
    parse ("[scenario]\ntitle = T\nquestion = Why?\n[measured]\n4x8 = 0.167 s\n1x8 = 5123 samples/s\n", NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (scenario->question, ==, "Why?");
  g_assert_cmpstr (scenario->title, ==, "T");
  g_assert_cmpuint (scenario->n_measured, ==, 2);
  g_assert_cmpuint (scenario->measured[0].nodes, ==, 4);
  g_assert_cmpuint (scenario->measured[0].gpus_per_node, ==, 8);
  g_assert_cmpfloat_with_epsilon (scenario->measured[0].step_time, 0.167, 1e-12);
  g_assert_true (isnan (scenario->measured[0].throughput));
  g_assert_cmpuint (scenario->measured[1].nodes, ==, 1);
  g_assert_cmpfloat_with_epsilon (scenario->measured[1].throughput, 5123, 1e-9);
  g_assert_true (isnan (scenario->measured[1].step_time));
}

/* Lists written out by hand. */
static const struct { const char *text, *values; } lists[] = {
  { "1, 2, 4", "1|2|4" },
  { "7", "7" },
  { "8..512 x2", "8|16|32|64|128|256|512" },
  { "8..511 x2", "8|16|32|64|128|256" },
  { "3..100 x3", "3|9|27|81" },
  { "0..64 +8", "0|8|16|24|32|40|48|56|64" },
  { "0.1..0.7 +0.2", "0.1|0.3|0.5|0.7" },
  { "1..16 MiB x4", "1 MiB|4 MiB|16 MiB" },
  { "1 MiB..16 MiB x4", "1 MiB|4 MiB|16 MiB" },
  { "10..30 Gbit/s +10 Gbit/s", "10 Gbit/s|20 Gbit/s|30 Gbit/s" },
  { "25 MiB, 1..4 us x2, ring", "25 MiB|1 us|2 us|4 us|ring" },
};

static void
test_lists (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      g_autoptr (GError) error = NULL;
      guint n = 0;
      g_auto (GStrv) values = values_expand (lists[i].text, 100, &n, &error);
      g_autofree char *joined = NULL;

      g_assert_no_error (error);
      joined = g_strjoinv ("|", values);
      g_assert_cmpstr (joined, ==, lists[i].values);
      g_assert_cmpuint (n, ==, g_strv_length (values));
    }
}

static const char *const bad_lists[] = {
  "", "1,,2", "1,", "1..", "..4 x2", "1..4", "1..4 x", "1..4 *2", "4..1 x2", "0..8 x2", "1..8 x1", "1..8 x0.5",
  "1..8 +0", "1..8 +-1", "1..nan +1", "1..inf x2", "a..b x2", "1 MiB..4 GiB x2", "1..4 MiB x2 MiB", "1..1000 +1",
  "1..1e300 x1.0000001", "1..60 +1, 1..60 +1",
};

static void
test_bad_lists (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (bad_lists); i++)
    {
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) values = values_expand (bad_lists[i], 100, NULL, &error);

      if (values != NULL)
        g_error ("'%s' was read as a list", bad_lists[i]);
      g_assert_nonnull (error);
    }
}

static void
test_sweep (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) scenario =
    parse ("[sweep]\ncluster.nodes = 1..4 x2\nstrategy.bucket-size = 25 MiB, 100 MiB\n", NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (scenario->n_axes, ==, 2);
  g_assert_cmpstr (scenario->axes[0].key, ==, "cluster.nodes");
  g_assert_cmpuint (scenario->axes[0].n, ==, 3);
  g_assert_cmpstr (scenario->axes[0].values[2], ==, "4");
  g_assert_cmpstr (scenario->axes[1].key, ==, "strategy.bucket-size");
  g_assert_cmpstr (scenario->axes[1].values[1], ==, "100 MiB");
}

/* What follows the base text (its last line is 11), and how the error starts. */
static const struct { const char *more, *start; } wrong[] = {
  { "[sweep]\ncluster.nodse = 1, 2\n", "fixtures/a.ini:13: [sweep] cluster.nodse: no key that can be swept; did you mean 'cluster.nodes'?" },
  { "[sweep]\nscenario.title = 1, 2\n", "fixtures/a.ini:13: [sweep] scenario.title: no key that can be swept" },
  { "[sweep]\nnodes = 1, 2\n", "fixtures/a.ini:13: [sweep] nodes: no key that can be swept" },
  { "[sweep]\ncluster.nodes = 1..1e9 +1\n", "fixtures/a.ini:13: [sweep] cluster.nodes: a range of 1000000000 values" },
  { "[measured]\n4by8 = 0.167 s\n", "fixtures/a.ini:13: [measured] 4by8: not the shape of a job" },
  { "[measured]\n0x8 = 0.167 s\n", "fixtures/a.ini:13: [measured] 0x8: not the shape of a job" },
  { "[measured]\n4x8x2 = 0.167 s\n", "fixtures/a.ini:13: [measured] 4x8x2: not the shape of a job" },
  { "[measured]\n4x8 = 0.167\n", "fixtures/a.ini:13: [measured] 4x8: " },
  { "[measured]\n4x8 = 5 MB/s\n", "fixtures/a.ini:13: [measured] 4x8: " },
  { "[measured]\n4x8 = 0 s\n", "fixtures/a.ini:13: [measured] 4x8: 0 s is not above 0" },
  { "[measured]\n4x8 = -1 s\n", "fixtures/a.ini:13: [measured] 4x8: -1 s is not above 0" },
  { "[collective]\nalgorithm = rnig\n", "fixtures/a.ini:13: [collective] algorithm: " },
  { "[nework]\nlatency = 1 us\n", "fixtures/a.ini:12: [nework]: unknown group; did you mean 'network'?" },
  { "[network]\nlatencie = 1 us\n", "fixtures/a.ini:13: [network] latencie: unknown key; did you mean 'latency'?" },
  { "[network]\nlatency = 1\n", "fixtures/a.ini:13: [network] latency: " },
  { "[scenario]\ninclude = /etc/passwd\n", "fixtures/a.ini:13: [scenario] include: '/etc/passwd' is absolute" },
  { "[scenario]\ninclude = ../fixtures/a.ini\n", "fixtures/a.ini:13: [scenario] include: '../fixtures/a.ini' includes itself" },
  { "[scenario]\ninclude = none.ini\n", "fixtures/a.ini:13: [scenario] include: fixtures/none.ini: " },
};

static void
test_wrong (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    assert_fails (wrong[i].more, NULL, wrong[i].start);
}

static void
test_required (void)
{
  static const struct { const char *text, *start; } cases[] = {
    { "[cluster]\nnodes = 3\n", "b.ini:1: [cluster] machine: " },
    { "[cluster]\nmachine = dgx-a100\n[strategy]\nkind = ddp\n", "b.ini: [workload] name: no workload is given" },
    { "[cluster]\nmachine = dgx-a100\n[workload]\nname = resnet50\nfile = x.csv\n[strategy]\nkind = ddp\n",
      "b.ini:5: [workload] file: given together with name" },
    { "[cluster]\nmachine = dgx-a100\n[workload]\nname = resnet50\n[training]\noptimizer = sgd\n[strategy]\nkind = ddp\n",
      "b.ini:5: [training] batch-per-gpu: no batch is given" },
    { "[cluster]\nmachine = dgx-a100\n[workload]\nname = resnet50\n[training]\nbatch-per-gpu = 3\n[strategy]\nkind = dpd\n",
      "b.ini:8: [strategy] kind: " },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (scenario_parse ("b.ini", cases[i].text, strlen (cases[i].text), NULL, &error));
      if (!g_str_has_prefix (error->message, cases[i].start))
        g_error ("'%s' does not start with '%s'", error->message, cases[i].start);
    }
}

static void
test_sets (void)
{
  const char *const sets[] = { "cluster.nodes=5", "network.latency=9 us", NULL };
  const char *const unknown[] = { "cluster.nodse=5", NULL };
  const char *const absurd[] = { "cluster.nodes=1000000000000", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) scenario = parse ("", sets, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (scenario->cluster.nodes, ==, 5);
  g_assert_cmpfloat_with_epsilon (scenario->network.latency, 9e-6, 1e-15);
  assert_fails ("", unknown, "--set: [cluster] nodse: unknown key; did you mean 'nodes'?");
  assert_fails ("", absurd, "--set: [cluster] nodes: ");
}

/* Of two batch keys the command line's holds, and the one set last. */
static void
test_batch (void)
{
  const char *const global[] = { "training.global-batch=960", NULL };
  const char *const per_gpu[] = { "training.batch-per-gpu=24", NULL };
  const char *const both[] = { "training.batch-per-gpu=24", "training.global-batch=960", NULL };
  const char *const nodes[] = { "cluster.nodes=2", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) first = parse ("", global, &error);
  g_autoptr (Scenario) second = NULL, third = NULL;

  g_assert_no_error (error);
  g_assert_cmpuint (first->training.global_batch, ==, 960);
  g_assert_cmpuint (first->training.batch_per_gpu, ==, 0);
  second = scenario_with (first, nodes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (second->training.global_batch, ==, 960);
  g_assert_cmpuint (second->training.batch_per_gpu, ==, 0);
  third = scenario_with (second, per_gpu, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (third->training.global_batch, ==, 0);
  g_assert_cmpuint (third->training.batch_per_gpu, ==, 24);
  g_assert_cmpuint (third->cluster.nodes, ==, 2);
  assert_fails ("", both, "--set: [training] global-batch: given together with batch-per-gpu");
}

static void
test_both_batches_in_file (void)
{
  static const char text[] = "[cluster]\nmachine = dgx-a100\n[workload]\nname = resnet50\n[strategy]\nkind = ddp\n"
                             "[training]\nbatch-per-gpu = 24\nglobal-batch = 960\n";
  g_autoptr (GError) error = NULL;

  g_assert_null (scenario_parse ("b.ini", text, strlen (text), NULL, &error));
  g_assert_cmpstr (error->message, ==,
                   "b.ini:9: [training] global-batch: given together with batch-per-gpu; give one of the two");
}

static void
test_with (void)
{
  const char *const sets[] = { "cluster.nodes=5", NULL };
  const char *const more[] = { "strategy.bucket-size=3 MiB", NULL };
  const char *const axis[] = { "sweep.cluster.nodes=1, 2", NULL };
  const char *const bad[] = { "cluster.nodes=five", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) scenario = parse ("[sweep]\ncluster.nodes = 1, 2, 4\n", sets, &error);
  g_autoptr (Scenario) with = NULL, with_axis = NULL;

  g_assert_no_error (error);
  with = scenario_with (scenario, more, &error);
  g_assert_no_error (error);
  with_axis = scenario_with (with, axis, &error);
  g_assert_no_error (error);
  g_assert_null (scenario_with (scenario, bad, &error));
  g_assert_true (g_str_has_prefix (error->message, "--set: [cluster] nodes: "));

  g_assert_true (isnan (scenario->strategy.bucket_size));
  g_assert_cmpfloat_with_epsilon (with->strategy.bucket_size, 3 * 1048576.0, 1e-6);
  g_assert_cmpuint (with->cluster.nodes, ==, 5);
  g_assert_cmpstr (with->question, ==, scenario->question);
  g_assert_cmpstr (with->name, ==, "a");
  g_clear_pointer (&scenario, scenario_free);   /* the lists outlive it */
  g_assert_cmpuint (with->axes[0].n, ==, 3);
  g_assert_cmpuint (with_axis->axes[0].n, ==, 2);
}

/* A sweep makes one of these a point: below 50 us with an idle machine. */
static void
test_with_speed (void)
{
  enum { ROUNDS = 2000 };
  const char *const sets[] = { "cluster.nodes=5", "training.batch-per-gpu=24", NULL };
  g_autoptr (Scenario) scenario = parse ("[sweep]\ntraining.batch-per-gpu = 1..90000 +1\n", NULL, NULL);
  const gint64 start = g_get_monotonic_time ();
  double each;

  for (int i = 0; i < ROUNDS; i++)
    scenario_free (scenario_with (scenario, sets, NULL));
  each = (double) (g_get_monotonic_time () - start) / ROUNDS;
  g_test_message ("scenario_with: %.1f us", each);
  if (g_test_perf ())
    g_assert_cmpfloat (each, <, 50);
}

static void
locate (const Scenario *scenario, const char *message, const char *expected)
{
  GError *error = g_error_new_literal (KEYS_ERROR, KEYS_ERROR_VALUE, message);

  scenario_locate_error (scenario, &error);
  g_assert_cmpstr (error->message, ==, expected);
  g_error_free (error);
}

static void
test_locate (void)
{
  const char *const sets[] = { "cluster.nodes=5", NULL };
  g_autoptr (Scenario) scenario = parse ("", sets, NULL);

  locate (scenario, "[cluster] machine: what", "fixtures/a.ini:4: [cluster] machine: what");
  locate (scenario, "[cluster] nodes: too many: 5", "--set: [cluster] nodes: too many: 5");
  locate (scenario, "[cluster] gpu: none", "fixtures/a.ini: [cluster] gpu: none");
  locate (scenario, "x.csv:3: what", "x.csv:3: what");
  locate (scenario, "[odd", "[odd");
  locate (scenario, "[odd] end", "[odd] end");
}

static void
test_workload_file (void)
{
  static const char text[] = "[cluster]\nmachine = dgx-a100\n[workload]\nfile = nets/x.csv\n[strategy]\nkind = ddp\n"
                             "[training]\nbatch-per-gpu = 24\n";
  const char *const sets[] = { "workload.file=here.csv", NULL };
  const char *const name[] = { "workload.name=vgg16", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) scenario = scenario_parse ("fixtures/a.ini", text, strlen (text), NULL, &error);
  g_autoptr (Scenario) with = NULL;

  g_assert_no_error (error);
  g_assert_cmpstr (scenario->workload.file, ==, "fixtures/nets/x.csv");
  with = scenario_with (scenario, sets, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (with->workload.file, ==, "here.csv");
  g_clear_pointer (&with, scenario_free);
  with = scenario_with (scenario, name, &error);   /* beats the file's other key */
  g_assert_no_error (error);
  g_assert_cmpstr (with->workload.name, ==, "vgg16");
  g_assert_null (with->workload.file);
}

static void
write_file (const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
}

static Scenario *
load (const char *folder, const char *name, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  return scenario_load (path, NULL, error);
}

static void
test_include (void)
{
  g_autofree char *folder = g_dir_make_tmp ("lockstep-XXXXXX", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) top = NULL;

  write_file (folder, "base.ini", base_text);
  write_file (folder, "top.ini", "# The top.\n[scenario]\ninclude = base.ini\n[cluster]\nnodes = 7\n");
  write_file (folder, "a.ini", "[scenario]\ninclude = b.ini\n");
  write_file (folder, "b.ini", "[scenario]\ninclude = a.ini\n");
  write_file (folder, "bad.ini", "[scenario]\ninclude = wrong.ini\n");
  write_file (folder, "wrong.ini", "[cluster]\nnodse = 4\n");
  for (int i = 0; i < 4; i++)
    {
      g_autofree char *name = g_strdup_printf ("d%d.ini", i);
      g_autofree char *text = g_strdup_printf ("[scenario]\ninclude = d%d.ini\n", i + 1);

      write_file (folder, name, text);
    }
  write_file (folder, "d4.ini", "[scenario]\ninclude = base.ini\n");

  top = load (folder, "top.ini", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (top->cluster.nodes, ==, 7);
  g_assert_cmpstr (top->cluster.machine, ==, "n1-standard-32-4xt4");
  g_assert_true (g_str_has_prefix (top->question, "The top."));

  g_assert_null (load (folder, "a.ini", &error));
  g_assert_nonnull (strstr (error->message, "b.ini:2: [scenario] include: 'a.ini' includes itself"));
  g_clear_error (&error);
  g_assert_null (load (folder, "bad.ini", &error));
  g_assert_nonnull (strstr (error->message, "wrong.ini:2: [cluster] nodse: unknown key"));
  g_clear_error (&error);
  g_assert_null (load (folder, "d0.ini", &error));   /* base.ini would be the fifth below it */
  g_assert_nonnull (strstr (error->message, "d4.ini:2: [scenario] include: more than 4 files deep"));
  g_clear_error (&error);
  g_clear_pointer (&top, scenario_free);
  top = load (folder, "d1.ini", &error);
  g_assert_no_error (error);
}

typedef struct { GString *text; guint n; } Seen;

static void
see (gpointer user, const char *group, const char *key, const char *text, const char *where)
{
  Seen *seen = user;

  g_string_append_printf (seen->text, "%s.%s=%s (%s)\n", group, key, text, where);
  seen->n++;
}

static void
test_values (void)
{
  const char *const sets[] = { "cluster.nodes=5", "training.global-batch=960", NULL };
  g_autoptr (Scenario) scenario = parse ("[measured]\n4x8 = 0.167 s\n", sets, NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  Seen seen = { text, 0 };

  scenario_values (scenario, see, &seen);
  g_assert_nonnull (strstr (text->str, "cluster.machine=n1-standard-32-4xt4 (fixtures/a.ini:4)\n"));
  g_assert_nonnull (strstr (text->str, "cluster.nodes=5 (--set)\n"));
  g_assert_nonnull (strstr (text->str, "cluster.gpu= (default)\n"));
  g_assert_nonnull (strstr (text->str, "training.batch-per-gpu= (fixtures/a.ini:9)\n"));
  g_assert_nonnull (strstr (text->str, "training.global-batch=960 (--set)\n"));
  g_assert_nonnull (strstr (text->str, "measured.4x8=0.167 s (fixtures/a.ini:13)\n"));
  g_assert_cmpuint (seen.n, >, 30);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scenario/plain", test_plain);
  g_test_add_func ("/scenario/measured", test_measured);
  g_test_add_func ("/scenario/lists", test_lists);
  g_test_add_func ("/scenario/bad-lists", test_bad_lists);
  g_test_add_func ("/scenario/sweep", test_sweep);
  g_test_add_func ("/scenario/wrong", test_wrong);
  g_test_add_func ("/scenario/required", test_required);
  g_test_add_func ("/scenario/sets", test_sets);
  g_test_add_func ("/scenario/batch", test_batch);
  g_test_add_func ("/scenario/both-batches", test_both_batches_in_file);
  g_test_add_func ("/scenario/with", test_with);
  g_test_add_func ("/scenario/with-speed", test_with_speed);
  g_test_add_func ("/scenario/locate", test_locate);
  g_test_add_func ("/scenario/workload-file", test_workload_file);
  g_test_add_func ("/scenario/include", test_include);
  g_test_add_func ("/scenario/values", test_values);
  return g_test_run ();
}
