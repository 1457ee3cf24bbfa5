/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/cluster.h"
#include "collective/play.h"
#include "strategy/graph.h"

/* The calls of a step's graph message by message: schedules, the links under all of
 * them, and which task of the graph starts whom.  Reads neither flows nor estimates
 * (of the flow only which algorithm and protocol the library takes). */
typedef struct Messages Messages;

typedef struct
{
  Schedule  schedule;
  Fabric   *fabric;
  uint32_t *place;          /* of each actor */
} MessageGroup;             /* one communicator */

typedef struct
{
  guint         n_groups;   /* twins; 0: the call moves nothing, or takes time of its own only */
  MessageGroup *group;
  guint         first;      /* number of the first of them among all of the step */
  double        launch;     /* s on top of the graph's, before the first message */
} MessageCall;

/* The graph has one class of all ranks (then one stands for all, where that is exact),
 * or a class for every rank.  Errors of COLLECTIVE_ERROR: a call of which no messages are
 * known, more than can be played, or MESSAGES_FOLDED where only the unfolded graph will do. */
#define MESSAGES_ERROR (messages_error_quark ())
typedef enum { MESSAGES_FOLDED } MessagesError;
GQuark messages_error_quark (void);
/* `slow_nodes`: the first so many have the cluster's cards, the others whole ones, of
 * which those are the share `left` (cluster_degrade_nics ()). */
typedef struct { guint64 slow_nodes; double left; } MessageCards;
Messages *messages_new  (const StepGraph *graph, const Cluster *cluster, const MessageCards *cards, GError **error);
void      messages_free (Messages *messages);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Messages, messages_free)

const MessageCall *messages_call   (const Messages *messages, guint call);
guint              messages_groups (const Messages *messages);        /* of all calls */
const FabricWorld *messages_world  (const Messages *messages);        /* NULL: no message at all */
const Fabric      *messages_fabric (const Messages *messages);        /* one of them */
double             messages_whole  (const Messages *messages, Id link);   /* factor on the times of a link: less than 1 where its card is whole */
gboolean           messages_folded (const Messages *messages);
double             messages_count  (const Messages *messages);        /* of a step, at most */
/* The group of a call that a member is in, and as which actor. */
void               messages_member (const Messages *messages, guint call, guint rank_class, guint *group, uint32_t *actor);
