/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One training step at TP 8 x PP 12 x DP 16 to 1,024, 32 micro-batches of GPT-3's 96
 * layers: from the text of the scenario to the result, ranks alike folded to one; and
 * with noise, 200 steps of which draw the slowest of each ring's ranks. */
#include "bench.h"
#include "run/run.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 5

typedef struct { guint32 replicas; const char *tier, *noise; double most, most_bytes; } Row;   /* goals; 0: none */

static double
once (const char *text, double *step, guint64 *ranks)
{
  const RunOptions options = { 0 };
  const double start = bench_cpu ();
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) scenario = scenario_parse ("bench.ini", text, strlen (text), NULL, &error);
  Result *result;
  double seconds;

  if (scenario == NULL || (result = run_scenario (scenario, &options, &error)) == NULL)
    g_error ("%s", error->message);
  seconds = bench_cpu () - start;
  *step = result->step_time;
  *ranks = result->gpus;
  result_free (result);
  return seconds;
}

static void
measure (gconstpointer data)
{
  const Row *row = data;
  g_autofree char *text = g_strdup_printf (
    "[cluster]\nmachine = dgx-h100\nnodes = %u\n"
    "[workload]\nname = gpt3_175b\nprecision = mixed-bf16\n"
    "[training]\nglobal-batch = %u\n"
    "[strategy]\nkind = megatron\nstack = megatron-core-2023\ntensor-parallel = 8\nsequence-parallel = yes\n"
    "pipeline-parallel = 12\nmicro-batch = 1\ndistributed-optimizer = yes\noverlap-grad-reduce = yes\n"
    "overlap-param-gather = yes\n%s",
    12 * row->replicas, 32 * row->replicas, row->noise);
  double seconds[ROUNDS], step = 0, cpu, bytes;
  guint64 ranks = 0;

  for (int round = 0; round < ROUNDS; round++)
    seconds[round] = once (text, &step, &ranks);
  cpu = bench_median (seconds, ROUNDS);
  bytes = bench_peak ();
  printf ("step,%" G_GUINT64_FORMAT ",%s,%.6f,%.0f,%.9g,%s\n", ranks, row->tier, cpu, bytes, step,
          row->most > 0 ? cpu < row->most && bytes < row->most_bytes ? "met" : "MISSED" : "");
  fflush (stdout);
}

int
main (void)
{
  static const Row rows[] = {
    { 16, "folded", "", 0, 0 }, { 64, "folded", "", 0, 0 }, { 256, "folded", "", 0, 0 }, { 1024, "folded", "", 0.05, 64e6 },
    { 1024, "drawn", "[noise]\nkernel-cv = 2 %\nstep-cv = 3 %\n", 5, INFINITY },
  };

  printf ("work,ranks,tier,cpu_s,memory_bytes,predicted_s,goal\n");
  fflush (stdout);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    bench_apart (measure, &rows[i]);
  return 0;
}
