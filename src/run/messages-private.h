/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/messages.h"

/* Between messages.c (what there is, and the links) and messages-plan.c (who plays what). */
struct Messages
{
  const StepGraph *graph;
  const Cluster   *cluster;
  Arena           *arena;
  gboolean         folded;
  MessageCall     *calls;
  GPtrArray       *groups;        /* of MessageGroup */
  GHashTable      *known;         /* the same: set */
  guint           *line;          /* by call */
  guint           *first_member, *member;   /* classes by call: call i's from first_member[i] on, in the order of its tasks */
  guint           *position;      /* of each task of the graph among the members of its call */
  guint            twins;
  uint32_t         ranks, per_node;
  FabricWorld     *world;
  const Fabric    *any;
  double           count, memory;
  MessageCards     cards;
};

/* Those with the same r % spacing and r / (spacing x n) meet: the member that is an
 * actor of a twin. */
static inline guint
messages_position (guint64 n, guint64 spacing, guint twin, uint32_t actor)
{
  return (guint) (twin / spacing * spacing * n + actor * spacing + twin % spacing);
}

gboolean messages_refuse    (GError **error, const GraphCall *call, const char *key, const char *why);
gboolean messages_some_slow (const Messages *m);
/* FALSE: more than can be played. */
gboolean messages_fit       (Messages *m, GError **error);
GHashTable *messages_set_new (void);   /* of MessageGroup */
void     messages_members   (Messages *m);
gboolean messages_plan_call (Messages *m, guint call, GError **error);
/* Of a graph that is to be unfolded: the same, before that. */
gboolean messages_would_fit (Messages *m, GError **error);
