/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/traffic.h"
#include "collective/collective.h"
#include "engine/arena.h"
#include "strategy/cause.h"

/* One step as tasks on in-order queues, per rank class: what a strategy makes
 * and run/ plays, step after step without a barrier.  Durations are seconds.
 * Indices count from 0; queue order is the order of the graph_* calls. */

typedef enum { LANE_HOST, LANE_COMPUTE, LANE_COMM, LANE_INPUT } LaneKind;
typedef struct { LaneKind kind; guint rank_class; const char *name; } GraphQueue;

/* Ranks that do the same at the same instants; multiplicities add up to the world size. */
typedef struct { guint64 multiplicity; guint compute, comm; guint stage; } RankClass;   /* stage: of a pipeline, from 1; 0: none */

typedef enum { GRAPH_FIXED, GRAPH_KERNEL, GRAPH_MEET } GraphKind;
typedef struct
{
  GraphKind   kind;
  Cause       cause;        /* of the ticks in which it runs */
  guint       queue;
  double      seconds;      /* FIXED, KERNEL: when nothing slows it */
  double      noise;        /* KERNEL: factor of box and noise on it, >= 1 */
  guint       call;         /* MEET */
  guint       spread;       /* KERNEL: index into spreads from 1; 0: every micro-batch takes as long */
  guint       micro;        /* KERNEL that spreads: its micro-batch */
  const char *label;
} GraphTask;
typedef struct { guint before, after; } GraphEdge;

/* A call that one of the graph stands for, so many times one after the other; a part
 * of one moves as much of its bytes and takes as much of its hops. */
typedef struct
{
  CollectiveCall call;      /* algorithm and protocol as the library takes them */
  RankGroup      group;
  double         count;
  gboolean       aside;     /* of other ranks, at their ends: time alone */
  gboolean       together;  /* only once all ranks are through with the part before */
  double         seconds;   /* before its first message, on top of the library's */
} GraphPart;

/* How the work of a micro-batch differs from the mean, in shares of a kernel's time. */
typedef struct
{
  double deviation;         /* > 0 */
  double third_root;        /* cubic root of the third central moment */
  double most;              /* it never takes more, >= 1 */
} GraphSpread;

/* A collective of the step: every member class meets here. */
typedef struct
{
  CollectiveCall call;
  CollectiveFlow flow;
  RankGroup      group;
  double         launch;    /* s on the communication queue before flow.latency */
  double         slowdown;  /* of kernels beside it, >= 1 */
  guint          members;
  gboolean       merged;    /* stands for `parts`, or for none of collective/: then no messages are known */
  gboolean       together;  /* nobody's messages go before all have come */
  guint          n_parts;
  const GraphPart *parts;   /* of the graph's arena, or borrowed for longer */
  Id             link;      /* that bounds it where the flow has no loads: a rate of its own, shared with nobody */
  const char    *label;
} GraphCall;

typedef struct
{
  Arena  *arena;            /* names */
  guint   pauses;           /* the first of a task a class for its pauses (FIXED, no time of its own), in the order of the classes; G_MAXUINT: none */
  const Traffic *traffic;   /* of others, beside every step; borrowed; NULL: none */
  GArray *classes, *queues, *tasks, *edges, *calls;   /* RankClass, GraphQueue, GraphTask, GraphEdge, GraphCall */
  GArray *spreads;          /* GraphSpread */
  guint64 sharing;          /* ranks in a row that work on one micro-batch, in each stage */
  guint   stages;           /* of a pipeline: classes of each stand together; 1: none */
} StepGraph;

StepGraph *graph_new  (void);
void       graph_free (StepGraph *graph);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StepGraph, graph_free)

/* Adds a class with its compute and communication queue; returns its index. */
guint graph_class  (StepGraph *graph, guint64 multiplicity);
guint graph_queue  (StepGraph *graph, LaneKind kind, guint rank_class, const char *name);
guint graph_fixed  (StepGraph *graph, guint queue, Cause cause, double seconds, const char *label);
guint graph_kernel (StepGraph *graph, guint queue, Cause cause, double seconds, double noise, const char *label);
/* A task for pauses behind what each class's compute queue has so far. */
void  graph_pauses (StepGraph *graph, Cause cause);
/* Spreads alike are kept once; the index of one for graph_vary (). */
guint graph_spread (StepGraph *graph, const GraphSpread *spread);
/* A kernel whose time goes with what the micro-batch holds. */
void  graph_vary   (StepGraph *graph, guint task, guint spread, guint micro);
guint graph_call   (StepGraph *graph, const GraphCall *call);
guint graph_meet   (StepGraph *graph, guint queue, guint call);   /* counts the member */
void  graph_edge   (StepGraph *graph, guint before, guint after);

#define graph_task(graph, i)     (&g_array_index ((graph)->tasks, GraphTask, (i)))
#define graph_get_call(graph, i) (&g_array_index ((graph)->calls, GraphCall, (i)))
/* Ranks of all classes together. */
guint64 graph_world (const StepGraph *graph);
