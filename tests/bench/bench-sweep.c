/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 10,000 points of DDP ResNet-50, nodes x batch x NIC x bucket, as CSV: to take
 * under 15 s on two cores.  Prints the seconds for 1 thread and for all. */
#include "report/report.h"
#include <string.h>

static const char text[] =
  "[cluster]\nmachine = dgx-a100\nnodes = 1\n"
  "[workload]\nname = resnet50\nprecision = mixed-fp16\n"
  "[training]\nbatch-per-gpu = 64\noptimizer = momentum\n"
  "[strategy]\nkind = ddp\n"
  "[sweep]\n"
  "training.batch-per-gpu = 32..257 +25\n"
  "network.nic-bandwidth = 10..200 Gbit/s +21\n"
  "strategy.bucket-size = 2..56 MiB +6\n"
  "cluster.nodes = 1..10 +1\n";

static const double most_seconds = 15;

static void
add_point (gpointer user, const SetPoint *point, const Result *result)
{
  sweep_report_add (user, point, result);
}

static GString *
sweep (const Scenario *scenario, guint jobs, double *seconds)
{
  g_autoptr (SweepReport) report = sweep_report_new (FORMAT_CSV, scenario, &look_plain);
  const SweepOptions options = { .jobs = jobs, .run = { .one_gpu = TRUE }, .point = add_point, .user = report };
  const gint64 start = g_get_monotonic_time ();
  g_autoptr (GError) error = NULL;
  GString *out = g_string_new (NULL);

  if (!study_sweep (scenario, &options, &error))
    g_error ("%s", error->message);
  sweep_report_end (report, out);
  *seconds = 1e-6 * (double) (g_get_monotonic_time () - start);
  g_print ("%4u thread%s: 10000 points in %.2f s, %.0f points/s\n", jobs, jobs == 1 ? " " : "s", *seconds, 10000 / *seconds);
  return out;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) scenario = scenario_parse ("bench.ini", text, strlen (text), NULL, &error);
  double one, all;

  if (scenario == NULL)
    g_error ("%s", error->message);
  g_autoptr (GString) serial = sweep (scenario, 1, &one);
  g_autoptr (GString) parallel = sweep (scenario, sweep_jobs (0, 10000), &all);
  if (!g_string_equal (serial, parallel))
    {
      g_printerr ("the bytes depend on the number of threads\n");
      return 1;
    }
  return all < most_seconds ? 0 : 1;
}
