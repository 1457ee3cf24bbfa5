/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/cluster.h"
#include "collective/spec.h"
#include "compute/compute.h"
#include "strategy/batch.h"
#include "strategy/graph.h"
#include "strategy/memory.h"
#include "strategy/noise.h"
#include "strategy/spec.h"
#include "workload/workload.h"

typedef struct FrameworkCosts FrameworkCosts;   /* strategy/software.h */

/* Everything a strategy needs, resolved.  Borrowed. */
typedef struct
{
  const Cluster        *cluster;
  const Workload       *workload;
  const ComputeModel   *compute;
  const StrategySpec   *spec;
  const TrainingSpec   *training;
  const InputSpec      *input;
  const CollectiveSpec *collective;
  const FrameworkCosts *costs;
  Batch                 batch;
  gboolean              noise;     /* box(N) on compute */
  const NoiseSpec      *uneven;    /* slow ranks, pauses; NULL: all ranks alike */
  const Traffic        *traffic;   /* what others move; NULL: nothing */
  gboolean              even;      /* what sequences hold does not differ: [workload] packing at its mean */
  gboolean              unfold;    /* a class for every rank */
  guint64               period;    /* ranks r and r + period of all (of a stage) do the same, a class for each of the first: where it divides; 0: no matter */
} StepInput;

/* How one way of training runs: one file, one const table. */
typedef struct
{
  const char *name;              /* as written in scenario files: "ddp" */
  const char *summary;           /* one line, shown by `list strategies` */
  const char *tuning;            /* of its framework's kernels, a key of models/efficiency.csv; NULL: plain */
  guint64     max_gpus;          /* 0: any number */
  guint64     max_nodes;         /* 0: any number */
  const char *instead;           /* what runs on more */
  gboolean    layout;            /* needs the GPUs that the scenario gives it: nothing is run on one of them for comparison */
  /* How the batch is spread; NULL: batch_resolve (). */
  gboolean (*batch)  (const StrategySpec *spec, const TrainingSpec *training, guint64 gpus, Batch *out, GError **error);
  gboolean (*build)  (const StepInput *in, StepGraph *graph, GError **error);
  void     (*memory) (const StepInput *in, MemoryUse *out);       /* of the fullest GPU */
  GArray  *(*stages) (const StepInput *in);                       /* of MemoryStage, caller frees; NULL: no pipeline */
  void     (*values) (const StepInput *in, ClusterValue value, gpointer user);
} Strategy;

#define STRATEGY_ERROR (strategy_error_quark ())
typedef enum { STRATEGY_ERROR_UNKNOWN, STRATEGY_ERROR_UNSUITED } StrategyError;
GQuark strategy_error_quark (void);

const Strategy *const *strategy_list (void);                              /* NULL-terminated, borrowed */
gboolean strategy_find  (const char *name, const Strategy **out, GError **error);
/* Checks what the strategy can do on this cluster, then builds its step. */
gboolean strategy_build (const Strategy *strategy, const StepInput *in, StepGraph *graph, GError **error);
/* Bytes of weights (master copies too) and optimizer, all ranks together: what a checkpoint holds. */
double   strategy_state_bytes (const StepInput *in);
/* What the strategy settles where the scenario says nothing, for `show`. */
void     strategy_values (const Strategy *strategy, const StepInput *in, ClusterValue value, gpointer user);
