/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>
#include "base/id.h"
#include "strategy/cause.h"
#include "strategy/memory.h"

typedef struct { char *name; double seconds; } NamedTime;
typedef struct { char *name, *detail; gboolean ok; } Check;
/* Calls of one kind in a step: of one name, operation, size and way.  Seconds of the
 * wire, latency and exposed ones are those of all of them. */
typedef struct
{
  char   *label;              /* "bucket 3", "all-reduce of all gradients" */
  char   *op, *algorithm, *protocol, *link;   /* link: the class that bounds it, "nic-out"; "software": less than those NICs carry */
  double  bytes;              /* message */
  double  nic_bytes;          /* wire bytes each way a node, per call */
  double  start, end;         /* s from the step's start, first of them */
  double  wire_s, latency_s;  /* from the last arrival to the end; of which before the bytes flow */
  double  exposed_s;          /* of the step, this call's share of exposed communication */
  double  busbw;              /* bytes/s */
  guint64 calls;
} CollectiveUse;
typedef struct { double start, end; char *label; Cause cause; gboolean busy; } Span;   /* busy: something runs (compute lane: a kernel; comm lane: bytes or latency) */
typedef struct { char *name; guint n_spans; Span *spans; } Lane;      /* "GPU", "communication", "host" of a rank class */

/* One scenario run once.  Seconds, bytes, bytes/s, USD; NAN: not known. */
typedef struct
{
  char    *scenario, *question, *strategy, *workload, *machine, *gpu, *precision;
  guint64  nodes, gpus_per_node, gpus, global_batch, batch_per_gpu, accumulation;
  guint64  reducers, servers;
  double   step_time, step_lo, step_hi;
  double   spread_p50, spread_p95, spread_p99;
  gboolean steady;              /* two equal steps were found; else step_time is a mean */
  guint    steps;
  guint    runs;                /* steps drawn by [noise]; 0: none, and no spread */
  double   throughput, throughput_per_gpu, epoch_time;   /* samples/s, s */
  double   tokens_per_sample;   /* of text, padding not counted; 0: not known, or samples are no text */
  double   scaling_efficiency;  /* NAN: no baseline was run */
  char    *efficiency_baseline; /* "1 node", "one GPU" */
  double   one_gpu_throughput;  /* samples/s of one GPU alone (same batch per GPU in weak, same global batch in strong mode); NAN: not run */
  gboolean one_gpu_small;       /* its memory is too small for that: a figure of comparison only */
  double   gpu_idle_share, mfu, hfu;
  char    *peak_name;           /* "125 TFLOP/s dense mixed-fp16" */
  double   ledger[N_CAUSES];    /* sums to step_time */
  guint    n_exposed;           NamedTime *exposed;       /* exposed communication by link and by contention; sums to its ledger line */
  guint    n_path;              NamedTime *path;          /* critical path, by what runs; sums to step_time */
  guint    n_what_if;           NamedTime *what_if;       /* counterfactuals: "ideal network", "ideal GPU", "ideal input" (where the step waits for it), "no noise": the step time then */
  guint    n_sensitivity;       NamedTime *sensitivity;   /* relative change of the step per relative change of a resource's duration; no seconds */
  GArray  *unused;              /* of UnusedKey (run/unused.h): keys that can change nothing; NULL: not asked for */
  char    *validated;           /* the validated table nearest to this hardware and the error there; NULL: not asked for */
  guint    n_collectives;       CollectiveUse *collectives;
  guint    n_lanes;             Lane *lanes;              /* of the reported step */
  MemoryUse memory;
  GArray  *stages;             /* of MemoryStage where a pipeline has several; NULL */
  double   cost_per_hour, cost_per_million_samples;
  guint    n_checks;            Check *checks;
  char   **warnings;            /* NULL-terminated */
  char   **findings;            /* sentences on what the scenario asks about: what a slow GPU costs; NULL-terminated, NULL: none */
  guint64  events, tasks, meetings, solves;
  char    *tier, *tier_reason;  /* "flow", "message"; why */
  guint64  messages;            /* of a step, played one by one */
} Result;
void result_free (Result *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Result, result_free)
