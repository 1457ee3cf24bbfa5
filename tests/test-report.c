/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report.h"
#include "report/table.h"
#include "report/words.h"
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

/* The step worked by hand in the design: forward 30 ms, backward 30, three
 * all-reduces of 15 ms from 40 to 85, optimizer 5: compute 60, exposed 25. */
static CollectiveUse collectives[] = {
  { "bucket 1", "all-reduce", "ring", "simple", "nic-out", 31.5e6, 61e6, 0.040, 0.055, 0.015, 0.001, 0, 2.1e9, 1 },
  { "bucket 2", "all-reduce", "ring", "simple", "nic-out", 27.25e6, 53e6, 0.055, 0.070, 0.015, 0.001, 0.010, 2.2e9, 1 },
  { "bucket 3", "all-reduce", "ring", "simple", "nic-out", 28e6, 54e6, 0.070, 0.085, 0.015, 0.001, 0.015, 2.3e9, 1 },
};
static NamedTime exposed[] = { { "nic-out", 0.0225 }, { "contention", 0.0025 } };
static NamedTime what_if[] = { { "ideal network", 0.065 } };
static Span gpu_spans[] = {
  { 0, 0.060, "kernels", CAUSE_COMPUTE, TRUE }, { 0.060, 0.085, "bucket 3", CAUSE_EXPOSED_COMM, FALSE },
  { 0.085, 0.090, "optimizer", CAUSE_OPTIMIZER, TRUE },
};
static Span comm_spans[] = { { 0.040, 0.085, "buckets", CAUSE_EXPOSED_COMM, TRUE } };
static Lane lanes[] = { { "GPU", 3, gpu_spans }, { "communication", 1, comm_spans } };
static Check checks[] = { { "ledger", "sums", TRUE } };
static char *warnings[] = { "too few | reducers", NULL };

static Result
sample (guint64 nodes, double step)
{
  Result r = {
    .scenario = "ddp-5x8", .strategy = "ddp", .workload = "bert_base", .machine = "box-8xv100", .gpu = "V100", .precision = "fp32",
    .nodes = nodes, .gpus_per_node = 8, .gpus = 8 * nodes, .global_batch = 960, .batch_per_gpu = 24, .accumulation = 1,
    .step_time = step, .step_lo = NAN, .step_hi = NAN, .spread_p50 = NAN, .spread_p95 = NAN, .spread_p99 = NAN, .steady = TRUE,
    .throughput = 960 / step, .throughput_per_gpu = 960 / step / (double) (8 * nodes), .tokens_per_sample = 128, .epoch_time = NAN,
    .scaling_efficiency = 0.348, .efficiency_baseline = "1 node, 8 GPUs", .one_gpu_throughput = NAN,
    .gpu_idle_share = 0.2778, .mfu = NAN, .hfu = NAN,
    .n_exposed = 2, .exposed = exposed, .n_what_if = 1, .what_if = what_if, .n_collectives = 3, .collectives = collectives,
    .n_lanes = 2, .lanes = lanes, .n_checks = 1, .checks = checks, .warnings = warnings, .tier = "flow",
    .memory = { .weights = 4e8, .gradients = 4e8, .total = 13.7e9, .capacity = 17179869184.0, .fits = TRUE },
    .cost_per_hour = NAN, .cost_per_million_samples = NAN,
  };
  const double ledger[N_CAUSES] = { [CAUSE_COMPUTE] = 0.060, [CAUSE_EXPOSED_COMM] = step - 0.065, [CAUSE_OPTIMIZER] = 0.005 };

  memcpy (r.ledger, ledger, sizeof ledger);
  return r;
}

static const Scenario *const no_scenarios[] = { NULL, NULL };

/* Nothing wider than a page, no blanks at a line's end. */
static void
check_lines (const char *text, glong width)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (gsize i = 0; lines[i] != NULL; i++)
    {
      g_assert_false (g_str_has_suffix (lines[i], " "));
      if (g_utf8_strlen (lines[i], -1) > width)
        g_test_message ("too wide: %s", lines[i]);
      g_assert_cmpint (g_utf8_strlen (lines[i], -1), <=, width);
    }
}

static void
check_has (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    g_test_message ("missing: %s\nin:\n%s", part, text);
  g_assert_nonnull (strstr (text, part));
}

static void
test_numbers (void)
{
  static const struct { double value; const char *text; } cases[] = {
    { 0, "0" }, { 5962.7, "5963" }, { 87.126, "87.13" }, { 9.99996, "10.00" }, { 0.004123, "0.004123" },
    { 1234567, "1234567" }, { 3.2e12, "3.2e+12" }, { -1.5, "-1.500" }, { NAN, "" },
  };
  static const struct { double seconds; const char *text; } times[] = {
    { 7e-6, "7.000 us" }, { 0.1613, "161.3 ms" }, { 61, "61.00 s" }, { 150, "2.500 min" }, { 9000, "2.500 h" }, { 216000, "2.500 d" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = text_number (cases[i].value);
      g_assert_cmpstr (text, ==, cases[i].text);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (times); i++)
    {
      g_autofree char *text = text_time (times[i].seconds);
      g_assert_cmpstr (text, ==, times[i].text);
    }
  g_autofree char *gain = text_change (0.0513);
  g_autofree char *clean = text_clean ("a\nb\033[1m");
  g_assert_cmpstr (gain, ==, "+5.1 %");
  g_assert_cmpstr (clean, ==, "a?b?[1m");
}

static void
test_markdown (void)
{
  g_autoptr (TextTable) table = text_table_new ("<name|>ms|>empty");
  g_autoptr (GString) out = g_string_new (NULL);

  text_table_add (table, "a|b");
  text_table_add (table, "12.5");
  text_table_add (table, "");
  text_table_add (table, "wide one");
  text_table_add (table, "7");
  text_table_add (table, NULL);
  text_table_append (table, TABLE_MARKDOWN, 0, 100, out);
  g_assert_cmpstr (out->str, ==,
                   "| name     |   ms |\n"
                   "|:---------|-----:|\n"
                   "| a\\|b     | 12.5 |\n"
                   "| wide one |    7 |\n");
}

/* A number stays with its unit, choices break behind their bars, later lines are indented. */
static void
test_wrap (void)
{
  g_autoptr (GString) out = g_string_new ("  ");

  /* columns:     "  takes 12.3 ms" are 15 */
  text_wrap (out, "takes 12.3 ms of 5 x 8 GPUs: a|bc|def", 4, 15);
  g_assert_cmpstr (out->str, ==,
                   "  takes 12.3 ms\n"
                   "    of\n"
                   "    5 x 8 GPUs:\n"
                   "    a|bc|def\n");
  g_string_truncate (out, 0);
  text_wrap (out, "takes 12.3 ms of a|bc|def", 0, 12);
  g_assert_cmpstr (out->str, ==,
                   "takes\n"
                   "12.3 ms of\n"
                   "a|bc|def\n");
  g_string_truncate (out, 0);
  text_wrap (out, "a|bc|def", 0, 5);
  g_assert_cmpstr (out->str, ==, "a|bc|\ndef\n");
}

/* 14 columns of "| name | a | b |" would be 19: the rest goes under the names again. */
static void
test_markdown_split (void)
{
  g_autoptr (TextTable) table = text_table_new ("<name|>a|>b");
  g_autoptr (GString) out = g_string_new (NULL);

  text_table_keys (table, 1);
  text_table_add (table, "one");
  text_table_add (table, "1.5");
  text_table_add (table, "250");
  text_table_append (table, TABLE_MARKDOWN, 0, 14, out);
  g_assert_cmpstr (out->str, ==,
                   "| name |   a |\n"
                   "|:-----|----:|\n"
                   "| one  | 1.5 |\n"
                   "\n"
                   "| name |   b |\n"
                   "|:-----|----:|\n"
                   "| one  | 250 |\n");
}

/* Titles first, then the last text under itself, then under its row. */
static void
test_narrow (void)
{
  static const char words[] = "aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj";   /* 49 columns */
  g_autoptr (TextTable) table = text_table_new ("<key|>so many ms|<help");
  g_autoptr (GString) out = g_string_new (NULL);

  text_table_section (table, "[one]");
  text_table_add (table, "nodes");
  text_table_add (table, "7");
  text_table_add (table, words);
  text_table_append (table, TABLE_PLAIN, 0, 52, out);
  /* 5 + 2 + 4 + 2 leave 39: eight words of four */
  g_assert_cmpstr (out->str, ==,
                   "         so\n"
                   "       many\n"
                   "key      ms  help\n"
                   "\n[one]\n"
                   "nodes     7  aaaa bbbb cccc dddd eeee ffff gggg hhhh\n"
                   "             iiii jjjj\n");
  g_string_truncate (out, 0);
  /* 27 are left, too few */
  text_table_append (table, TABLE_PLAIN, 0, 40, out);
  g_assert_cmpstr (out->str, ==,
                   "         so\n"
                   "       many\n"
                   "key      ms\n"
                   "    help\n"
                   "\n[one]\n"
                   "nodes     7\n"
                   "    aaaa bbbb cccc dddd eeee ffff gggg\n"
                   "    hhhh iiii jjjj\n");
}

/* A narrow page has fewer columns, and says which are not there. */
static void
test_narrow_run (void)
{
  static const char heading[] = "Collectives of one step", next[] = "Memory of one GPU";
  Result result = sample (5, 0.090);
  Result *const results[] = { &result };
  Look narrow = look_plain;
  g_autoptr (GString) out = g_string_new (NULL);

  narrow.width = 56;
  report_run (out, FORMAT_TABLE, no_scenarios, results, 1, FALSE, FALSE, &narrow);
  char *from = strstr (out->str, heading), *to = strstr (out->str, next);

  g_assert_true (from != NULL && to > from);
  *to = '\0';
  check_lines (from, 56);
  check_has (from, "No room here for: from, to ms");
}

static void
test_run_table (void)
{
  Result result = sample (5, 0.090);
  Result *const results[] = { &result };
  g_autoptr (GString) out = g_string_new (NULL);

  report_run (out, FORMAT_TABLE, no_scenarios, results, 1, TRUE, FALSE, &look_plain);
  check_lines (out->str, 100);
  check_has (out->str, "step time        90.00 ms");
  /* 960/0.09, and 128 times that */
  check_has (out->str, "throughput       10667 samples/s, 266.7 per GPU\n                   1365333 tokens/s, 34133 per GPU\n");
  check_has (out->str, "  price            not known for box-8xv100\n");
  check_has (out->str, "  compute                60.00   66.7 %  ###");
  /* 22.5 of 25 ms on the NICs */
  check_has (out->str, "largest loss is exposed communication, 25.00 ms of 90.00 ms, 90 % of it");
  check_has (out->str, "(nic-out)");
  check_has (out->str, "ideal network (bytes take no time)    65.00  27.8 %  1.38 x");
  check_has (out->str, "12.76 GiB of 16.00 GiB: fits");
  check_has (out->str, "Warning: too few | reducers");
  g_assert_null (strstr (out->str, "nan"));
  g_assert_null (strstr (out->str, "check passed"));
  g_string_truncate (out, 0);
  report_run (out, FORMAT_TABLE, no_scenarios, results, 1, FALSE, TRUE, &look_plain);
  check_has (out->str, "check passed: ledger: sums");
}

/* Against one GPU that would not have the memory, or above 100 %: the table says why. */
static void
test_odd_efficiency (void)
{
  Result result = sample (5, 0.090);
  Result *const results[] = { &result };
  g_autoptr (GString) out = g_string_new (NULL);

  result.scaling_efficiency = 1.02;
  report_run (out, FORMAT_TABLE, no_scenarios, results, 1, FALSE, FALSE, &look_plain);
  check_has (out->str, "above 100 %: what is split");
  g_assert_null (strstr (out->str, "too little memory"));
  result.one_gpu_small = TRUE;
  report_run (out, FORMAT_TABLE, no_scenarios, results, 1, FALSE, FALSE, &look_plain);
  check_has (out->str, "one GPU has too little memory for it");
}

/* Twelve equal buckets are one line, a call unlike them its own. */
static void
test_collectives_grouped (void)
{
  CollectiveUse many[8];
  Result result = sample (5, 0.090);
  Result *const results[] = { &result };
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; i < 7; i++)
    many[i] = collectives[i % 3];
  many[7] = collectives[0];
  many[7].label = "buffers";
  many[7].bytes = 1e6;
  result.n_collectives = 8;
  result.collectives = many;
  report_run (out, FORMAT_TABLE, no_scenarios, results, 1, FALSE, FALSE, &look_plain);
  check_has (out->str, "7 x bucket  27.2 to 31.5 MB  ring simple");
  /* seven calls of 15 ms */
  check_has (out->str, "105.00");
  check_has (out->str, "buffers             1.00 MB");
}

/* Gathers of two sizes take turns: a line for each size, under the word that they share. */
static void
test_collectives_by_turns (void)
{
  CollectiveUse many[8];
  Result result = sample (5, 0.090);
  Result *const results[] = { &result };
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; i < 8; i++)
    {
      many[i] = collectives[0];
      many[i].label = i < 6 ? i % 2 == 0 ? "gather h0.qkv" : "gather h0.fc" : i == 6 ? "sum forward" : "sum backward";
      many[i].bytes = i % 2 == 0 ? 10e6 : 40e6;
    }
  many[7].bytes = many[6].bytes;
  result.n_collectives = 8;
  result.collectives = many;
  report_run (out, FORMAT_TABLE, no_scenarios, results, 1, FALSE, FALSE, &look_plain);
  check_has (out->str, "\n  3 x gather    10.0 MB  ring simple");
  check_has (out->str, "\n  3 x gather    40.0 MB  ring simple");
  check_has (out->str, "\n  sum forward   10.0 MB  ring simple");
  check_has (out->str, "\n  sum backward  10.0 MB  ring simple");
}

static void
test_run_csv (void)
{
  Result result = sample (5, 0.090);
  Result *const results[] = { &result };
  g_autoptr (GString) out = g_string_new (NULL);

  report_run (out, FORMAT_CSV, no_scenarios, results, 1, FALSE, FALSE, &look_plain);
  g_assert_cmpstr (out->str, ==,
    "scenario,nodes,gpus,global_batch,step_time_s,step_time_lo_s,step_time_hi_s,step_spread_p50_s,step_spread_p95_s,"
    "step_spread_p99_s,epoch_time_s,throughput_samples_per_s,throughput_per_gpu_samples_per_s,scaling_efficiency,"
    "efficiency_baseline,gpu_idle_share,mfu,compute_s,host_s,exposed_comm_s,bubble_s,wait_s,input_s,optimizer_s,other_s,"
    "memory_per_gpu_bytes,fits,cost_per_hour_usd,cost_per_million_samples_usd\n"
    "ddp-5x8,5,40,960,0.09,,,,,,,10666.6667,266.666667,0.348,\"1 node, 8 GPUs\",0.2778,,0.06,0,0.025,0,0,0,0.005,0,"
    "1.37e+10,true,,\n");
}

static JsonObject *
parse_object (JsonParser *parser, const GString *out)
{
  g_autoptr (GError) error = NULL;

  json_parser_load_from_data (parser, out->str, (gssize) out->len, &error);
  g_assert_no_error (error);
  return json_node_get_object (json_parser_get_root (parser));
}

static void
test_run_json (void)
{
  Result result = sample (5, 0.090);
  Result *const results[] = { &result };
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (JsonParser) parser = json_parser_new ();

  report_run (out, FORMAT_JSON, no_scenarios, results, 1, FALSE, FALSE, &look_plain);
  JsonObject *root = parse_object (parser, out);
  JsonObject *body = json_object_get_object_member (root, "result");
  JsonObject *step = json_object_get_object_member (body, "step_time_s");

  g_assert_cmpint (json_object_get_int_member (root, "schema"), ==, 1);
  g_assert_cmpstr (json_object_get_string_member (root, "command"), ==, "run");
  g_assert_true (json_object_get_null_member (step, "lo"));
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (step, "mean"), 0.090, 1e-12);
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (body, "ledger")), ==, N_CAUSES);
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (body, "collectives")), ==, 3);
  /* 9 figures of 10666.666..., not 17 */
  check_has (out->str, "\"throughput_samples_per_s\": 10666.6667,");
  check_has (out->str, "\"throughput_tokens_per_s\": 1365333.33,");
  g_assert_null (strstr (out->str, "nan"));
  g_assert_null (strstr (out->str, "inf\""));
}

/* Two points, the second measured through a throughput: 960/4810 = 199.6 ms
 * against 190 ms predicted is an error of -4.8 %. */
static void
test_scale_table (void)
{
  Result first = sample (1, 0.280), second = sample (2, 0.190);
  Result *points[] = { &first, &second };
  Curve curve = { .n_points = 2, .points = points, .crossing = NAN, .knee = 0 };
  MeasuredPoint measured[] = { { 2, 8, NAN, 4810 }, { 9, 8, 0.1, NAN } };
  ScaleStudy study = { .strong = TRUE, .n_curves = 1, .curves = &curve, .baseline = "1 node (8 GPUs)", .crossing = NAN,
                       .n_measured = 2, .measured = measured };
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GString) csv = g_string_new (NULL);
  g_autoptr (GString) json = g_string_new (NULL);
  g_autoptr (JsonParser) parser = json_parser_new ();

  report_scale (out, FORMAT_TABLE, NULL, &study, &look_plain);
  check_lines (out->str, 145);
  check_has (out->str, "strong scaling");
  check_has (out->str, "199.6 | -4.8 % |");
  /* 280/190 - 1 */
  check_has (out->str, "| +47.4 % |");
  check_has (out->str, "The knee is at 1 node (8 GPUs): going on to 16 GPUs changes the throughput by +47.4 %,");
  check_has (out->str, "Measured at 9 x 8 GPUs");
  report_scale (csv, FORMAT_CSV, NULL, &study, &look_plain);
  g_assert_true (g_str_has_prefix (csv->str, "nodes,gpus,global_batch,step_time_s,"));
  report_scale (json, FORMAT_JSON, NULL, &study, &look_plain);
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (parse_object (parser, json), "points")), ==, 2);
}

static void
test_compare (void)
{
  Result slow = sample (5, 0.190), fast = sample (5, 0.100);
  Result *results[] = { &slow, &fast };
  guint rank[] = { 2, 1 };
  char *reasons[] = { "waits for nic-out", "reducers halve the bytes" }, *values[] = { "0", "16" };
  Difference difference = { "reduction-server.count", values };
  Comparison comparison = { 2, results, rank, reasons, 1, &difference };
  g_autoptr (GString) out = g_string_new (NULL);

  fast.scenario = "with-reducers";
  report_compare (out, FORMAT_TABLE, no_scenarios, &comparison, &look_plain);
  check_has (out->str, "| reduction-server.count | 0       | 16            |");
  g_assert_true (strstr (out->str, "1. with-reducers: reducers halve") < strstr (out->str, "2. ddp-5x8: waits for nic-out"));
}

static void
test_collective (void)
{
  CollectiveRow rows[] = { { 1e8, 7.07e-3, 1e8 / 7.07e-3, 1.75e8 / 7.07e-3, 2.475e10, NAN, NAN, "all-reduce", "ring", "simple" } };
  CollectiveTable table = { "generic-1gpu", "GPU", 8, 8, 1, rows, NULL };
  g_autoptr (GString) out = g_string_new (NULL);

  report_collective (out, FORMAT_TABLE, &table, &look_plain);
  check_has (out->str, "100000000  7070.00       14.14       24.75");
  g_string_truncate (out, 0);
  report_collective (out, FORMAT_CSV, &table, &look_plain);
  g_assert_cmpstr (out->str, ==,
                   "op,size_bytes,time_s,algbw_Bps,busbw_Bps,wire_Bps,algorithm,protocol,time_lo_s,time_hi_s\n"
                   "all-reduce,100000000,0.00707,1.41442716e+10,2.47524752e+10,2.475e+10,ring,simple,,\n");
}

/* One column a millisecond. */
static void
test_timeline (void)
{
  const Result result = sample (5, 0.090);
  g_autoptr (GString) out = g_string_new (NULL);
  g_autofree char *compute = g_strnfill (60, '#'), *idle = g_strnfill (25, '.'), *bytes = g_strnfill (45, '=');
  g_autofree char *gpu = g_strdup_printf ("\nGPU             %s%s@@@@@\n", compute, idle);
  g_autofree char *comm = g_strdup_printf ("\ncommunication   %40s%s\n", "", bytes);

  report_timeline (out, &result, 16 + 90);
  check_has (out->str, gpu);
  check_has (out->str, comm);
  check_has (out->str, "ms              0                   20                  40");
  check_has (out->str, "= communicates");
  check_lines (out->str, 106);
}

/* A hostile title is a title: nothing of it runs, and the picture is whole. */
static void
test_plot (void)
{
  Result first = sample (1, 0.280), second = sample (2, 0.190);
  Result *points[] = { &first, &second };
  Curve curve = { .n_points = 2, .points = points, .crossing = NAN, .knee = 2 };
  ScaleStudy study = { .strong = TRUE, .n_curves = 1, .curves = &curve, .crossing = NAN };
  g_autofree char *program = g_find_program_in_path ("gnuplot");
  g_autofree char *folder = g_dir_make_tmp ("test-report-XXXXXX", NULL);
  g_autofree char *trap = g_build_filename (folder, "trap", NULL);
  g_autofree char *picture = g_build_filename (folder, "a.svg", NULL);
  g_autofree char *title = g_strdup_printf ("`touch %s`\"; system('touch %s') # \n_x^{2}", trap, trap);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  if (program == NULL)
    {
      g_rmdir (folder);
      g_test_skip ("gnuplot is not installed");
      return;
    }
  g_assert_true (plot_scaling (&study, title, picture, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (picture, &text, NULL, NULL));
  check_has (text, "</svg>");
  check_has (text, "`touch ");
  g_assert_false (g_file_test (trap, G_FILE_TEST_EXISTS));
  g_unlink (picture);
  g_rmdir (folder);
}

static void
test_plot_refused (void)
{
  g_autofree char *folder = g_dir_make_tmp ("test-report-XXXXXX", NULL);
  g_autofree char *csv = g_build_filename (folder, "a.csv", NULL);
  g_autofree char *picture = g_build_filename (folder, "a.svg", NULL);
  g_autofree char *other = g_build_filename (folder, "a.gif", NULL);
  g_autofree char *path = g_strdup (g_getenv ("PATH"));
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (csv, "a,b\n1,2\n", -1, NULL));
  g_assert_false (plot_csv (csv, picture, &error));
  g_assert_error (error, PLOT_ERROR, PLOT_ERROR_INPUT);
  g_clear_error (&error);
  g_assert_true (g_file_set_contents (csv, "op,size_bytes,time_s,algbw_Bps,busbw_Bps,wire_Bps,algorithm,protocol,time_lo_s,"
                                      "time_hi_s\nall-reduce,1024,1e-5,1e8,2e8,2e8,ring,ll,,\n", -1, NULL));
  g_assert_false (plot_csv (csv, other, &error));
  g_assert_error (error, PLOT_ERROR, PLOT_ERROR_INPUT);
  g_clear_error (&error);
  g_setenv ("PATH", folder, TRUE);
  g_assert_false (plot_csv (csv, picture, &error));
  g_assert_error (error, PLOT_ERROR, PLOT_ERROR_TOOL);
  check_has (error->message, "gnuplot-nox");
  g_assert_false (g_file_test (picture, G_FILE_TEST_EXISTS));
  g_setenv ("PATH", path, TRUE);
  g_unlink (csv);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/report/run/narrow", test_narrow_run);
  g_test_add_func ("/report/text/numbers", test_numbers);
  g_test_add_func ("/report/table/markdown", test_markdown);
  g_test_add_func ("/report/table/markdown-split", test_markdown_split);
  g_test_add_func ("/report/table/narrow", test_narrow);
  g_test_add_func ("/report/text/wrap", test_wrap);
  g_test_add_func ("/report/run/table", test_run_table);
  g_test_add_func ("/report/run/odd-efficiency", test_odd_efficiency);
  g_test_add_func ("/report/run/collectives-grouped", test_collectives_grouped);
  g_test_add_func ("/report/run/collectives-by-turns", test_collectives_by_turns);
  g_test_add_func ("/report/run/csv", test_run_csv);
  g_test_add_func ("/report/run/json", test_run_json);
  g_test_add_func ("/report/scale", test_scale_table);
  g_test_add_func ("/report/compare", test_compare);
  g_test_add_func ("/report/collective", test_collective);
  g_test_add_func ("/report/timeline", test_timeline);
  g_test_add_func ("/report/plot/title-is-data", test_plot);
  g_test_add_func ("/report/plot/refused", test_plot_refused);
  return g_test_run ();
}
