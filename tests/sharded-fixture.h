/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "graph-fixture.h"
#include "strategy/data-parallel.h"
#include <glib/gstdio.h>

/* Scenarios of ZeRO and FSDP: their graphs, results and memory. */

/* MPT-7B: 6,658,859,008 parameters (published 6,658.859 M); 32 blocks and a root of
 * token and position tables and the last norm: (50,368 + 2,048 + 2) x 4,096. */
static const double mpt = 6658859008.0, mpt_root = (50368.0 + 2048 + 2) * 4096;
static const char base[] = "[cluster]\nmachine = dgx-h100\nnodes = 2\n"
                           "[workload]\nname = mpt_7b\nprecision = mixed-bf16\n[training]\nbatch-per-gpu = 3\n"
                           "[strategy]\nkind = fsdp\n";
/* Three blocks of 900, 700 and 500 parameters between tables of 300 and 40. */
static const char small[] =
  "layer,kind,params,tensors,tensor_sizes,out_elems,flops_fwd_per_sample,bytes_fwd_per_sample_fp32,m,n,k,kh,kw,stride,groups\n"
  "wte,embedding,300,1,300,64,0,512,,,,,,,\n"
  "u0.a,gemm,900,1,900,64,4e9,2048,,,,,,,\n"
  "u1.a,gemm,700,1,700,64,6e9,1024,,,,,,,\n"
  "u2.a,gemm,500,1,500,64,5e9,3072,,,,,,,\n"
  "ln,norm,40,1,40,64,512,512,,,,,,,\n";

static inline Scenario *
scenario (const char *sets)
{
  g_auto (GStrv) list = g_strsplit (sets, " ", 0);
  g_autoptr (GError) error = NULL;
  Scenario *s = scenario_parse ("test.ini", base, strlen (base), (const char *const *) list, &error);

  g_assert_no_error (error);
  return s;
}

static inline Built
build (const char *sets)
{
  return built_of (scenario (sets));
}

static inline Result *
result (const char *sets, gboolean unfold)
{
  g_autoptr (Scenario) s = scenario (sets);
  g_autoptr (GError) error = NULL;
  Result *r = run_scenario (s, &(RunOptions) { .unfold = unfold }, &error);

  g_assert_no_error (error);
  return r;
}

static inline MemoryUse
memory (const char *sets)
{
  g_autoptr (Scenario) s = scenario (sets);
  g_autoptr (GError) error = NULL;
  g_autoptr (Point) point = point_new (s, &error);
  MemoryUse use;

  g_assert_no_error (error);
  point->strategy->memory (&point->input, &use);
  return use;
}

/* Bytes that one GPU sends in a step: (n-1)/n of a gather or reduce-scatter, twice
 * that of an all-reduce. */
static inline double
sent (const StepGraph *graph, guint ops)
{
  double bytes = 0;

  for (guint i = 0; i < graph->calls->len; i++)
    {
      const GraphCall *call = graph_get_call (graph, i);

      if ((call->call.op & ops) != 0)
        bytes += call->call.size * collective_bus_factor (call->call.op, call->group.n_ranks);
    }
  return bytes;
}

#define ALL_OPS G_MAXUINT

/* Seconds of the kernels of a layer. */
static inline double
kernel (const StepGraph *graph, const char *label, guint nth)
{
  for (guint i = 0; i < graph->tasks->len; i++)
    {
      const GraphTask *task = graph_task (graph, i);

      if (task->kind == GRAPH_KERNEL && g_str_equal (task->label, label) && nth-- == 0)
        return task->seconds;
    }
  g_assert_not_reached ();
}
