/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/data-parallel.h"
#include "strategy/price.h"

/* What the skeleton of data-parallel.c draws with; nobody else includes it.
 * Tasks alike, one for each process or rank class, stand in a row: a row is
 * named by its first index. */
struct Builder
{
  const StepInput    *in;
  const DataParallel *policy;
  const HostCosts    *host;
  StepGraph *graph;
  guint      n_processes;
  guint     *process;                   /* of each class; of the graph's arena, as is `factor` */
  double    *factor;                    /* on the kernels of each class */
  guint      host_queue, input_queue;   /* of the first process; the others follow */
  guint      cycle_queue;               /* the same, of a background thread; NO_ROW: none yet */
  double     issue;                     /* GPUs that one host task issues for */
  double     noise;
  double    *forward, *backward;        /* s a layer */
  GArray    *open;                      /* rows of meetings that the step waits for */
  double     whole;                     /* time of attention over whole sequences, over that of packed ones */
  guint      spread[2];                 /* of packed_spread (): of rows of tokens, of attention */
  guint      micro;                     /* micro-batch at work */
  guint      exchange_queue;            /* of exchange.c; NO_ROW: no table is dealt out */
};

#define NO_ROW G_MAXUINT

guint64 builder_world  (const StepInput *in);
/* Micro-steps, layers of about so many tasks and rank classes multiply the tasks of a
 * step; FALSE, before memory is spent: more than a run can take. */
gboolean builder_fits  (const StepInput *in, guint per_layer, GError **error);
/* One class for all ranks (one more where the first GPU is special, or some are
 * slow), one for each of a period, or unfolded one for each; hosts shared by the GPUs of one process. */
void    builder_queues (Builder *b);
/* A host task for each process. */
guint   host_row     (Builder *b, double seconds, const char *label);
guint   operator_row (Builder *b, double operators, const char *label);
/* A task on each class's compute queue, launched by a host row or NO_ROW. */
guint   compute_row  (Builder *b, guint host, GraphKind kind, Cause cause, double seconds, double noise, const char *label);
guint   kernel_row   (Builder *b, guint host, double seconds, double noise, const char *label);
/* The kernel of a layer's pass: its time goes with what the micro-batch holds. */
guint   layer_row    (Builder *b, guint host, guint layer, gboolean backward);
/* The same on the first class alone. */
guint   root_kernel  (Builder *b, guint host, Cause cause, double seconds, const char *label);
/* Behind `after`, a wait in a thread of the framework's own. */
guint   cycle_row    (Builder *b, guint after, double seconds, const char *label);
/* Every class waits, on its compute queue, for the rows in `open`. */
guint   wait_row     (Builder *b, const char *label);
/* A collective that starts behind `after` (a row of one task a class, or
 * NO_ROW) and its own host call; `extra`: s more on its queue.  Its members' row
 * is left in `open`. */
gboolean collective_row (Builder *b, CollectiveOp op, double bytes, double largest, double extra, guint after,
                         const char *label, GError **error);
/* The same with all its choices; its members' row is left in `placed` alone. */
typedef struct
{
  CollectiveOp op;
  double       bytes, largest, extra;
  guint        after;          /* NO_ROW: nothing but its host call */
  guint        queue;          /* of comm_row (); NO_ROW: the class's own */
  guint        host;           /* the call's own host row; NO_ROW: one is made */
  const RankGroup *group;      /* NULL: all GPUs */
  const char  *label;
} Collective;
gboolean collective_place (Builder *b, const Collective *what, guint *placed, GError **error);
/* One more communication queue a class. */
guint    comm_row     (Builder *b, const char *name);

/* Embedding tables on owners (exchange.c): where tables are dealt out, queues for
 * what they exchange; the last such table; the first layer that reads what they
 * give; the rows of a micro-batch, or their gradients, all to all behind `after`. */
void     exchange_init   (Builder *b);
gboolean exchange_last   (const Builder *b, guint layer);
gboolean exchange_reader (const Builder *b, guint layer);
gboolean exchange_place  (Builder *b, guint after, gboolean back, guint *placed, GError **error);
void     exchange_wait   (Builder *b, guint placed, guint row);

/* nn.DataParallel (one-process.c): batch and weights leave GPU 0; outputs return behind `last`. */
gboolean one_process_leave  (Builder *b, GError **error);
gboolean one_process_gather (Builder *b, guint last, GError **error);
