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
  guint           *twin;          /* of each member */
  uint32_t        *actor;
  uint32_t         period, block; /* of every `block` ranks the first `period` have classes, and stand for the others; 0: all have, or one for all */
  uint32_t        *list, *index, *played, *number;  /* for messages_family (): its ranks, their places; twins that are played, their numbers */
  guint            twins;
  uint32_t         ranks, per_node;
  FabricWorld     *world;
  const Fabric    *any;
  double           count, memory;
  MessageCards     cards;
};

/* The ranks of a call, and who of them meets whom. */
typedef struct
{
  const uint32_t *ranks;
  guint    n;
  guint64  size, spacing;         /* those with the same r % spacing and r / (spacing x size) meet */
  guint    twins;                 /* played */
  const uint32_t *twin;           /* which; NULL: all */
  uint32_t come;                  /* of each, the first so many */
} Family;

/* FALSE: those with classes cannot stand for the others. */
gboolean messages_family (Messages *m, guint call, const RankGroup *group, const Schedule *schedule, gboolean one_way, Family *out);
uint32_t family_rank     (const Family *family, guint twin, uint32_t actor);   /* of those played */
/* Which twin and actor each member of the call is. */
void     family_members  (Messages *m, guint call, const Family *family);

/* Some nodes have slower cards than the others. */
gboolean messages_some_slow (const Messages *m);
GHashTable *messages_set_new (void);   /* of MessageGroup */
void     messages_members   (Messages *m);
gboolean messages_plan_call (Messages *m, guint call, GError **error);
/* Of a graph that is to be unfolded: the same, before that. */
gboolean messages_would_fit (Messages *m, GError **error);
