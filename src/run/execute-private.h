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

guint            execute_class (const Execution *x, Id task);
const GraphCall *execute_call  (const Execution *x, Id meeting);

/* transfer.c: a member waits at the head of its queue; all do; the meeting is over. */
void   transfer_init    (Execution *x);
void   transfer_reset   (Execution *x);
void   transfer_arrived (Execution *x, Id task);
void   transfer_met     (Execution *x, Id meeting);
void   transfer_ended   (Execution *x, Id meeting);
Tick     transfer_latency    (const Execution *x, double seconds);   /* scaled */
double   transfer_link_scale (const Execution *x, Id link);
gboolean transfer_slows      (const Execution *x, const GraphCall *call);   /* kernels beside it */

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
