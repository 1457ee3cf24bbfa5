/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "report/report.h"
#include "report/table.h"
#include "report/words.h"
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

/* A result to print, and what a text must hold. */

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

static inline Result
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

static inline void
check_has (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    g_test_message ("missing: %s\nin:\n%s", part, text);
  g_assert_nonnull (strstr (text, part));
}
