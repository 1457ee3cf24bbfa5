/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/graph.h"
#include "strategy/partition.h"

/* Micro-batches through the stages of a pipeline as a graph: who computes what in
 * which order, and which message it waits for.  A virtual stage is one model chunk
 * on one stage, numbered chunk x stages + stage, as a micro-batch meets them. */
typedef enum { SCHEDULE_GPIPE, SCHEDULE_1F1B, SCHEDULE_INTERLEAVED } PipelineSchedule;

typedef struct { GraphCall call; PipelineGroup group; } PipelineCall;

/* One pass of one micro-batch through one virtual stage: kernels, then what of the
 * host's issuing shows, then collectives that nothing hides. */
#define PIPELINE_MAX_CALLS 4
typedef struct
{
  double       seconds;     /* of the kernels */
  double       attention;   /* share of them */
  double       whole;       /* time of attention over whole sequences, over that of packed ones */
  guint        spread;      /* of the kernels, for graph_vary () */
  double       host;        /* s */
  guint        n_calls;
  PipelineCall call[PIPELINE_MAX_CALLS];
} PipelineWork;

typedef struct
{
  PipelineSchedule    schedule;
  guint               stages, chunks, micro_batches;
  guint               group;      /* micro-batches of a chunk in a row, interleaved: `stages` unless said otherwise */
  guint64             ranks;      /* of one stage */
  gboolean            unfold;     /* a class for every rank; else one a stage, or as many as slow ranks make */
  guint64             period;     /* of StepInput */
  guint64             slow_ranks; /* the first ones of all, stage after stage */
  double              slow_factor;
  const PipelineGroup *groups;    /* all kinds in which ranks of a stage meet, for slow ranks */
  guint               n_groups;
  gboolean            pauses;     /* ranks may pause, `pause_cause` of their ticks */
  Cause               pause_cause;
  double              noise;      /* factor on kernels */
  gboolean            blocking;   /* a stage sends before it goes on */
  const PipelineWork *forward, *backward;   /* of each virtual stage */
  const GraphCall    *ahead;      /* the message behind each virtual stage's forward pass, to the next */
  const GraphCall    *back;       /* behind its backward pass, to the one before */
  const guint        *pieces;     /* tasks that the kernels of the last micro-batch's backward pass come in; NULL: one */
  const guint        *gathers;    /* the same of the first one's forward pass, which parameters may have to reach first; NULL: not */
  guint               round;      /* micro-batches of a chunk after which its gradients leave; 0: the last alone */
} Pipeline;

/* Rows: as many tasks as `copies`, one a class of the stage, named by the first. */
typedef struct
{
  guint   copies;           /* parts of `partition` */
  Partition *partition;     /* of the ranks of a stage */
  GArray *meetings;         /* who meets whom in each kind of group so far */
  double *factor;           /* on kernels, [stage x copies + copy]; NULL: 1 */
  guint  *first_class;      /* of each stage */
  guint  *data_queue;       /* of each stage's first class: data-parallel collectives; the others' stand `queue_step` apart */
  guint   queue_step;
  guint **piece;            /* [virtual stage][piece]: rows of the last micro-batch's backward pass */
  guint **round;            /* [virtual stage][i]: rows of the backward pass that ends each round but the last */
  guint  *begin;            /* of each stage, with `gathers`: the row that opens the step */
  guint **taker;            /* [virtual stage][piece]: rows of the first micro-batch's forward pass, with `gathers` */
  GArray **open;            /* of guint, a stage: rows that its next kernel has to wait for */
} PipelineRows;

/* Adds a step to an empty graph; `rows`: what further tasks are added by, O(tasks).
 * pipeline_rows_clear () frees what is in them. */
void  pipeline_build (const Pipeline *pipeline, StepGraph *graph, PipelineRows *rows);
void  pipeline_rows_clear (PipelineRows *rows, const Pipeline *pipeline);
/* A kernel (or a fixed task) on the compute queue of every class of a stage, behind
 * all that is open there. */
guint pipeline_compute (StepGraph *graph, PipelineRows *rows, guint stage, GraphKind kind, Cause cause, double seconds, const char *label);
/* A collective on the data-parallel queue of every class of a stage, behind the row `after`. */
guint pipeline_collective (StepGraph *graph, PipelineRows *rows, guint stage, guint after, const PipelineCall *call);
/* Behind the row `before`, too. */
void  pipeline_edge (StepGraph *graph, const PipelineRows *rows, guint before, guint after);
/* One meeting of every class of the stages in [from, from + n x step) behind all that is open there. */
void  pipeline_meet (StepGraph *graph, PipelineRows *rows, guint from, guint n, guint step, const GraphCall *call);
