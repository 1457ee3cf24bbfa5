/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/cluster.h"
#include "collective/play.h"
#include "strategy/graph.h"

/* The calls of a step's graph message by message: schedules, the links under all of
 * them, and which task of the graph starts whom.  Reads neither flows nor estimates
 * (of the flow only which algorithm and protocol the library takes). */
typedef struct Messages Messages;

/* A schedule in one communicator, shared by all calls of a line that play the same. */
typedef struct
{
  Schedule  schedule;
  Protocol  protocol;
  Paths     paths;
  Fabric   *fabric;
  uint32_t *place;          /* of each actor */
  uint32_t  played;         /* actors that are (PlayJob.played) */
  guint     line;           /* of lines_of () */
  double    hops;           /* factor on their latency */
  double    times;          /* in a step, over all calls */
  guint     number;
} MessageGroup;

/* So many times one after the other. */
typedef struct
{
  guint        times;
  double       launch;      /* s before the first message of each */
  gboolean     together;    /* only once all are through with the part before */
  const guint *group;       /* of each twin */
} MessagePart;

typedef struct
{
  guint        n_groups;    /* twins; 0: the call moves nothing, or takes time of its own only */
  guint        ranks;       /* of one of them that come */
  guint        first;       /* number of the first of them among all of the step */
  gboolean     together;    /* nobody begins before all of all twins have come */
  guint        n_parts;
  const MessagePart *part;
} MessageCall;

/* The graph has one class of all ranks (then one stands for all, where that is exact), a
 * class for each of a `period` (StepInput.period; the same), or a class for every rank.
 * Errors of COLLECTIVE_ERROR: a call of which no messages are known, more than can be
 * played; or MESSAGES_FOLDED where another graph may do. */
#define MESSAGES_ERROR (messages_error_quark ())
typedef enum { MESSAGES_FOLDED } MessagesError;
GQuark messages_error_quark (void);
/* `slow_nodes`: the first so many have the cluster's cards, the others whole ones, of
 * which those are the share `left` (cluster_degrade_nics ()). */
typedef struct { guint64 slow_nodes; double left; } MessageCards;
Messages *messages_new  (const StepGraph *graph, const Cluster *cluster, const MessageCards *cards, guint64 period, GError **error);
/* Whether a class for every rank could be played, before there is such a graph. */
gboolean  messages_may_unfold (const StepGraph *graph, const Cluster *cluster, GError **error);
void      messages_free (Messages *messages);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Messages, messages_free)

const MessageCall  *messages_call    (const Messages *messages, guint call);
guint               messages_twins   (const Messages *messages);        /* of all calls */
guint               messages_groups  (const Messages *messages);
const MessageGroup *messages_group   (const Messages *messages, guint group);
const FabricWorld  *messages_world   (const Messages *messages);        /* NULL: no message at all */
const Fabric       *messages_fabric  (const Messages *messages);        /* one of them */
double              messages_whole   (const Messages *messages, Id link);   /* factor on the times of a link: less than 1 where its card is whole */
guint               messages_stand   (const Messages *messages);        /* ranks that are played, for all */
double              messages_count   (const Messages *messages);        /* of a step, at most */
/* The twin of its call that a task of the graph is in, and as which actor. */
void                messages_member  (const Messages *messages, guint task, guint *twin, uint32_t *actor);
