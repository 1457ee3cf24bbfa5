/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/ticks.h"
#include "run/messages.h"
#include "cluster/traffic.h"

/* Plays the steps of a graph on the engine, one behind the other without a
 * barrier: meetings become transfers on the network, kernels slow down beside
 * them.  One tick is a picosecond. */
typedef struct Execution Execution;

/* Factors on durations, by the resource that each belongs to: 1 leaves it as it
 * is.  For sensitivities. */
typedef struct
{
  double host, framework, input, kernel, optimizer, latency;
  Id     links[2];       /* these link classes (both ways of one NIC); 0: all */
  double link;           /* with the software's own limits where such a link is the slowest */
  double wait;           /* of what noise adds to kernels */
} DurationScale;
extern const DurationScale duration_as_is;

/* `ideal_network`: every collective takes no time (the host still issues it). */
Execution *execution_new  (const StepGraph *graph, const Network *network, gboolean ideal_network);
void       execution_scale (Execution *x, const DurationScale *scale);   /* before execution_run () */
void       execution_free (Execution *x);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Execution, execution_free)
/* Before the first run: calls are played message by message, over `messages` of the
 * same graph (borrowed). */
void       execution_messages (Execution *x, const Messages *messages);
/* Seconds of all tasks of the graph in a step, numbered from `first` on, in place
 * of the graph's.  `own`: all of it is the class's own work; else what is beyond
 * the graph's seconds is waiting for the slowest.  NULL: as in the graph. */
typedef void (*ExecutionDraw) (gpointer user, guint64 step, double *seconds);
void       execution_draw  (Execution *x, ExecutionDraw draw, gpointer user, guint64 first, gboolean own);
/* s of a task when nothing slows it, noise counted; *own: its class's own (may be NULL). */
double     execution_seconds (const Execution *x, Id task, double *own);
/* Of what others move (graph->traffic) beside its steady flows; before execution_run (). */
typedef struct
{
  double   read;          /* bytes/s of input over each card, read ahead evenly */
  gboolean job;           /* the second job */
  gboolean job_once;      /* one exchange of it alone */
  double   job_wait;      /* s until the first one */
  gboolean writes;        /* a checkpoint, from time 0 on */
} TrafficChoice;
void           execution_traffic (Execution *x, const TrafficChoice *choice);
const Traffic *execution_others  (const Execution *x);        /* NULL: none */
double         execution_traffic_bytes (const Execution *x, Id link);   /* theirs, over each link of the class */
/* Mean s of the second job's exchanges that are over; NAN: none is. */
double         execution_exchange_seconds (const Execution *x);
/* Share of the checkpoint, or of the second job's first exchange, that was moved; *when: the
 * time at which all of it was, 0: not yet. */
typedef enum { TRAFFIC_JOB, TRAFFIC_INPUT, TRAFFIC_CHECKPOINT, TRAFFIC_STEADY } TrafficKind;
double         execution_moved   (const Execution *x, TrafficKind kind, Tick *when);
/* From time 0.  May be called again.  ENGINE_ERROR_DEADLOCK names the tasks. */
gboolean   execution_run  (Execution *x, guint steps, GError **error);

const StepGraph  *execution_graph   (const Execution *x);
const Engine     *execution_engine  (const Execution *x);
const NetworkRun *execution_network (const Execution *x);
guint             execution_steps   (const Execution *x);
/* Its messages; NULL: all calls were flows. */
const Play       *execution_play      (const Execution *x);
const Messages   *execution_plan      (const Execution *x);
double            execution_play_sent (const Execution *x, guint group);   /* bytes of a group of the plan, as they were sent */
double            execution_play_busy (const Execution *x, Id link);   /* s that the bytes over a link take it */
gboolean          execution_plays   (const Execution *x, guint call);
/* From when on a member of a meeting moves bytes, as far as that is known: all have
 * come, or it was done before. */
Tick              execution_met     (const Execution *x, const Task *member);
/* The end of a step (from 0): the latest last compute task of any class. */
Tick              execution_end     (const Execution *x, guint step);
/* Which task of the graph, and in which step, an engine task is. */
const GraphTask  *execution_task    (const Execution *x, Id task, guint *step);
guint             execution_call    (const Execution *x, Id meeting, guint *step);
Id                execution_task_id (const Execution *x, guint step, guint graph_task);
Id                execution_queue   (const Execution *x, guint graph_queue);
Id                execution_call_link (const GraphCall *call, const Network *network);   /* the same of a call */
