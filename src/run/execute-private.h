/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/execute.h"

/* Between execute.c (tasks and hooks), transfer.c and transfer-messages.c (what a
 * meeting asks of the network, as a flow or as messages) and beside.c (kernels that run beside collectives). */

/* A class whose kernels something may slow. */
typedef struct
{
  Id     kernel;            /* running activity, 0: none */
  guint  flying, spinning;  /* its collectives that move bytes, or wait for others */
  double slowdown;          /* of those */
  gboolean changed;
} ClassState;

typedef struct MessageRun MessageRun;
typedef struct TrafficRun TrafficRun;

struct Execution
{
  const StepGraph *graph;
  const Network   *links;
  gboolean    ideal_network;
  guint       steps;
  Engine     *engine;
  NetworkRun *network;
  Id          launched;     /* handlers: a meeting's launch, and its latency, are over */
  Id          bytes_flow;
  ClassState *classes;
  GArray     *changed;      /* of guint */
  guint      *last_compute; /* graph task that ends a class's step */
  DurationScale scale;
  MessageRun *messages;     /* NULL: all calls are flows */
  TrafficRun *traffic;      /* NULL: nothing else moves */
  ExecutionDraw draw;       /* NULL: durations of the graph */
  gpointer    draw_user;
  guint64     draw_first;
  gboolean    draw_own;
  GArray     *drawn;        /* of double: s of each task of each step */
};

static inline guint
execute_class (const Execution *x, Id task)
{
  const guint queue = engine_get_task (x->engine, task)->queue - 1;   /* execution_queue () */

  return g_array_index (x->graph->queues, GraphQueue, queue).rank_class;
}

/* Which call of the graph a meeting is, and in which step. */
static inline guint
execute_index (const Execution *x, Id meeting)
{
  return (meeting - 1) % x->graph->calls->len;
}

static inline guint
execute_step (const Execution *x, Id meeting)
{
  return (meeting - 1) / x->graph->calls->len;
}

static inline const GraphCall *
execute_call (const Execution *x, Id meeting)
{
  return graph_get_call (x->graph, execute_index (x, meeting));
}

static inline Tick
execute_latency (const Execution *x, double seconds)
{
  return ticks_from_seconds (seconds * x->scale.latency);
}

/* The factor on what this link takes. */
static inline double
execute_link_scale (const Execution *x, Id link)
{
  const gboolean all = x->scale.links[0] == 0;

  return all || link == x->scale.links[0] || link == x->scale.links[1] ? x->scale.link : 1;
}

/* Kernels beside a call.  One that slows nothing is of no matter to them: receives of a
 * pipeline wait all the time. */
static inline gboolean
execute_slows (const Execution *x, const GraphCall *call)
{
  return !x->ideal_network && call->slowdown > 1;
}

/* transfer.c: a member waits at the head of its queue; all do; the meeting is over. */
void   transfer_init    (Execution *x);
void   transfer_reset   (Execution *x);
void   transfer_arrived (Execution *x, Id task);
void   transfer_met     (Execution *x, Id meeting);
void   transfer_ended   (Execution *x, Id meeting);

/* transfer-messages.c: the same of calls that are played message by message. */
gboolean message_plays          (const Execution *x, guint call);
void     message_arrived        (Execution *x, Id task);
void     message_met            (Execution *x, Id meeting);
void     message_activity_ended (Execution *x, Id activity);
void     message_run_reset      (Execution *x);
void     message_run_settle     (MessageRun *messages);
void     message_run_free       (MessageRun *messages);
void     message_run_instant    (MessageRun *messages);

/* traffic.c: what others move, from time 0 on; any activity of nobody may be theirs. */
void   traffic_init           (Execution *x);
void   traffic_start          (Execution *x);
void   traffic_activity_ended (Execution *x, Id activity);
/* Share of a link that is left now for one flow more. */
double traffic_left           (const Execution *x, Id link);

/* beside.c: a member's collective starts to wait for others (`slowdown` of kernels
 * meanwhile), to move bytes, is over; a kernel starts, ends; nothing more happens at
 * this instant. */
void   beside_spins        (Execution *x, Id member, double slowdown);
void   beside_met          (Execution *x, Id member);
void   beside_flies        (Execution *x, Id member);
void   beside_ended        (Execution *x, Id member);
void   beside_kernel       (Execution *x, Id task);
void   beside_kernel_ended (Execution *x, Id task);
void   beside_instant      (Execution *x);
