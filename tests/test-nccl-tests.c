/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/nccl-tests.h"
#include <math.h>
#include <string.h>

/* A log of two ranks as nccl-tests prints it since 2023; S: rows. */
#define HEAD \
  "# nccl-tests version 2.17.6 nccl-headers=22703 nccl-library=22703\n# Collective test starting: all_reduce_perf\n" \
  "# Using devices\n#  Rank  0 Group  0 Pid  1 on  a device  0 [0000:07:00] NVIDIA A100-SXM4-80GB\n" \
  "#  Rank  1 Group  0 Pid  1 on  a device  1 [0000:0f:00] NVIDIA A100-SXM4-80GB\n#\n"
#define TAIL "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1\n"
/* 1000000 B in 50 us are 20 GB/s; on two ranks busbw is algbw. */
#define ROW_1M "  1000000  250000  float  sum  -1  50.00  20.00  20.00  0  52.00  19.23  19.23  0\n"
#define ROW_2M "  2000000  500000  float  sum  -1  80.00  25.00  25.00  0  80.00  25.00  25.00  0\n"
#define COLUMNS "collective,nodes,gpus_per_node,ranks,gpu,intra_link,inter_link,nccl_version,size_bytes,time_us,algbw_GBps,busbw_GBps,in_place\n"
#define LINE(size, time, alg, bus) "all_reduce,1,2,2,A100-SXM4-80GB,nvswitch,,2.27," size "," time "," alg "," bus ",0\n"

typedef struct { const char *name, *text, *message; } Bad;
static const Bad bad[] = {
  { "empty", "  \n", "x.txt: empty; give what nccl-tests prints, or a table of it" },
  { "no-rows", "hello\nworld\n", "x.txt: no rows of nccl-tests" },
  { "binary", "# a\n\001\000b", "x.txt: not text" },
  { "two-gpus", HEAD "#  Rank  2 Group  0 Pid  1 on  b device  1 [0000:0f:00] NVIDIA L40S\n" ROW_1M TAIL,
    "x.txt:7: ranks on different GPUs, 'NVIDIA A100-SXM4-80GB' and 'NVIDIA L40S'; give runs of one kind" },
  { "uneven", HEAD "#  Rank  2 Group  0 Pid  1 on  b device  1 [0000:0f:00] NVIDIA A100-SXM4-80GB\n" ROW_1M TAIL,
    "x.txt:8: 3 ranks are not even over 2 hosts" },
  { "no-ranks", "# Collective test starting: all_reduce_perf\n" ROW_1M TAIL, "x.txt:2: rows before a list of at least two ranks" },
  { "interleaved", HEAD ROW_2M ROW_1M TAIL, "x.txt:8: size 1000000 after 2000000 without a new head: the output of several runs is mixed" },
  { "two-processes", HEAD "[1,0]<stdout>:" ROW_1M "[1,1]<stdout>:" ROW_1M TAIL, "x.txt:8: rows of several processes, [1,0]<stdout> and [1,1]<stdout>" },
  { "second-head", HEAD ROW_1M HEAD ROW_1M TAIL, "x.txt:9: a second run begins inside the table of the first" },
  { "json-cut", "{\"results\": [", "x.txt: no JSON (" },
  { "json-other", "{\"a\": 1}", "x.txt: no list 'results' in it" },
  { "milliseconds", COLUMNS LINE ("1000000", "0.05", "20", "20") LINE ("2000000", "0.08", "25", "25") LINE ("4000000", "0.14", "28.6", "28.6"),
    "x.txt: size/time is 1e+03 times the algorithm bandwidth beside it in most rows, a mistake of units" },
  { "gigabits", COLUMNS LINE ("1000000", "50", "160", "160") LINE ("2000000", "80", "200", "200") LINE ("4000000", "140", "229", "229"),
    "x.txt: size/time is 0.125 times the algorithm bandwidth" },
  { "no-column", "collective,nodes\nall_reduce,1\n", "x.txt: column 'gpus_per_node' is missing" },
  { "no-collective", COLUMNS "gather,1,2,2,A100-SXM4-80GB,nvswitch,,2.27,8,9,0,0,0\n", "x.txt:2: collective 'gather' is none" },
  { "half-node", COLUMNS "all_reduce,0.5,2,1,A100-SXM4-80GB,nvswitch,,2.27,8,9,0,0,0\n", "x.txt:2: nodes and gpus_per_node are whole" },
};

static void
test_bad (gconstpointer data)
{
  const Bad *row = data;
  const gsize length = g_str_equal (row->name, "binary") ? 7 : strlen (row->text);
  g_autoptr (GError) error = NULL;
  g_autoptr (NcclTests) tests = nccl_tests_parse ("x.txt", row->text, length, &error);

  g_assert_null (tests);
  if (!g_str_has_prefix (error->message, row->message))
    g_error ("'%s', not '%s'", error->message, row->message);
}

typedef struct { const char *name, *text; guint rows, skips; NcclTestsReason reason; const char *remark; } Trimmed;
static const Trimmed trimmed[] = {
  { "truncated", HEAD ROW_1M "  2000000  500000  float  sum  -1  80.00  25.0", 1, 1, NCCL_TESTS_TRUNCATED, "x.txt:8: a row of 7 fields" },
  { "no-summary", HEAD ROW_1M, 1, 0, NCCL_TESTS_TRUNCATED, "x.txt:7: the log ends without its summary" },
  { "log-lines-inside", HEAD ROW_1M "a:1:1 [0] NCCL INFO Channel 00/24\n" ROW_2M TAIL, 2, 0, NCCL_TESTS_TRUNCATED, NULL },
  { "labels", "[1,0]<stdout>:" ROW_1M, 0, 0, NCCL_TESTS_TRUNCATED, NULL },
  { "wrong-result", HEAD ROW_2M "  4000000  500000  float  sum  -1  160.00  25.00  25.00  7  160.00  25.00  25.00  0\n" TAIL, 2, 1,
    NCCL_TESTS_WRONG_RESULT, "x.txt:8: 7 wrong elements" },
  { "zero-time", COLUMNS LINE ("1000000", "0", "0", "0") LINE ("2000000", "80", "25", "25"), 1, 1, NCCL_TESTS_NO_TIME, "x.txt:2: no time above zero" },
  { "zero-size", COLUMNS LINE ("0", "9", "0", "0") LINE ("2000000", "80", "25", "25"), 1, 1, NCCL_TESTS_NO_SIZE, NULL },
  { "other-algbw", COLUMNS LINE ("1000000", "50", "30", "30") LINE ("2000000", "80", "25", "25"), 1, 1, NCCL_TESTS_INCONSISTENT,
    "x.txt:2: algbw 30 GB/s, but size/time is 20" },
  { "other-busbw", COLUMNS LINE ("1000000", "50", "20", "35") LINE ("2000000", "80", "25", "25"), 1, 1, NCCL_TESTS_INCONSISTENT,
    "x.txt:2: busbw 35 GB/s, but algbw times 1 for all-reduce on 2 ranks is 20" },
  { "other-ranks", COLUMNS "all_reduce,1,2,4,A100-SXM4-80GB,nvswitch,,2.27,8,9,0,0,0\n" LINE ("2000000", "80", "25", "25"), 1, 1,
    NCCL_TESTS_INCONSISTENT, "x.txt:2: 4 ranks on 1 nodes of 2 GPUs" },
  { "two-passes", COLUMNS LINE ("1000000", "50", "20", "20") LINE ("1000000", "72", "13.89", "13.89"), 1, 0, NCCL_TESTS_NO_TIME, NULL },
};

static void
test_trimmed (gconstpointer data)
{
  const Trimmed *row = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_str_equal (row->name, "labels")
                            ? g_strconcat (HEAD, row->text, "[1,0]<stdout>:", ROW_2M, TAIL, NULL) : g_strdup (row->text);
  g_autoptr (NcclTests) tests = nccl_tests_parse ("x.txt", text, strlen (text), &error);

  g_assert_no_error (error);
  g_assert_cmpuint (tests->rows->len, ==, g_str_equal (row->name, "labels") ? 2 : row->rows);
  g_assert_cmpuint (tests->skips->len, ==, row->skips);
  if (row->skips > 0)
    g_assert_cmpint (g_array_index (tests->skips, NcclTestsSkip, 0).reason, ==, row->reason);
  if (row->remark != NULL)
    {
      g_assert_cmpuint (tests->remarks->len, >, 0);
      g_assert_true (g_str_has_prefix (g_ptr_array_index (tests->remarks, 0), row->remark));
    }
}

/* 50 and 52 us agree: their geometric mean; 50 and 72 do not: the least. */
static void
test_passes (void)
{
  g_autoptr (NcclTests) close = nccl_tests_parse ("x.txt", HEAD ROW_1M TAIL, strlen (HEAD ROW_1M TAIL), NULL);
  const char *text = COLUMNS LINE ("1000000", "50", "20", "20") LINE ("1000000", "72", "13.89", "13.89");
  g_autoptr (NcclTests) far = nccl_tests_parse ("x.txt", text, strlen (text), NULL);
  const NcclTestsRow *row = &g_array_index (close->rows, NcclTestsRow, 0);

  g_assert_cmpfloat_with_epsilon (row->time, sqrt (50.0 * 52.0) * 1e-6, 1e-12);
  g_assert_cmpfloat_with_epsilon (row->noise, log (52.0 / 50.0), 1e-9);
  g_assert_cmpfloat_with_epsilon (g_array_index (far->rows, NcclTestsRow, 0).time, 50e-6, 1e-12);
}

/* What stands in the files (their README): invented numbers, real layouts. */
typedef struct { const char *file; guint rows; guint64 nodes, per_node; const char *gpu, *version; double least, most; } File;
static const File files[] = {
  { "nccl-tests_allreduce_1x8_a100.txt", 31, 1, 8, "NVIDIA A100-SXM4-80GB", "2.27.3", 8, 8589934592.0 },
  { "nccl-tests_allreduce_2x8_h100_mpi.txt", 15, 2, 8, "NVIDIA H100 80GB HBM3", "2.27.3", 1048576, 17179869184.0 },
  { "nccl-tests_allreduce_1x4_v100_2019-layout.txt", 25, 1, 4, "Tesla V100-SXM2-16GB", "", 8, 134217728 },
  { "nccl-tests_allreduce_1x8_b200.json", 5, 1, 8, "NVIDIA B200", "2.28.7", 67108864, 1073741824 },
};

static void
test_file (gconstpointer data)
{
  const File *file = data;
  const char *folder = g_getenv ("LOCKSTEP_MEASURED");
  g_autofree char *path = g_build_filename (folder != NULL ? folder : "", "inputs", file->file, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (NcclTests) tests = NULL;
  const NcclTestsRow *first, *last;
  const NcclTestsSystem *system;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("no measured data; set LOCKSTEP_MEASURED");
      return;
    }
  tests = nccl_tests_load (path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (tests->rows->len, ==, file->rows);
  g_assert_cmpuint (tests->skips->len, ==, 0);
  g_assert_cmpuint (tests->systems->len, ==, 1);
  system = g_ptr_array_index (tests->systems, 0);
  g_assert_cmpstr (system->gpu, ==, file->gpu);
  g_assert_cmpstr (system->version, ==, file->version);
  first = &g_array_index (tests->rows, NcclTestsRow, 0);
  last = &g_array_index (tests->rows, NcclTestsRow, tests->rows->len - 1);
  g_assert_cmpint (first->op, ==, OP_ALL_REDUCE);
  g_assert_cmpuint (first->nodes, ==, file->nodes);
  g_assert_cmpuint (first->per_node, ==, file->per_node);
  g_assert_cmpfloat_with_epsilon (first->size, file->least, 0.5);
  g_assert_cmpfloat_with_epsilon (last->size, file->most, 0.5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *path = g_strdup_printf ("/nccl-tests/bad/%s", bad[i].name);

      g_test_add_data_func (path, &bad[i], test_bad);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (trimmed); i++)
    {
      g_autofree char *path = g_strdup_printf ("/nccl-tests/trimmed/%s", trimmed[i].name);

      g_test_add_data_func (path, &trimmed[i], test_trimmed);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_strdup_printf ("/nccl-tests/files/%s", files[i].file);

      g_test_add_data_func (path, &files[i], test_file);
    }
  g_test_add_func ("/nccl-tests/passes", test_passes);
  return g_test_run ();
}
