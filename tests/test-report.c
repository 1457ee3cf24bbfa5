/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report-fixture.h"

/* Tables, CSV and JSON of results. */

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/report/run/narrow", test_narrow_run);
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
  return g_test_run ();
}
