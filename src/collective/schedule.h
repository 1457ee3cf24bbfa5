/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "collective/collective.h"

/* View 2: every message of a collective as a pure function of who sends, on which
 * track, in which step and chunk; nothing is stored.
 *
 * Actors are the ranks, then servers or switches.  Each runs its tracks side by
 * side; a track sends its messages one after the other (steps, in each all chunks).
 * What came is counted in the receiver's lanes, and a message says which counts it
 * waits for: who matches whom is arithmetic, never a search. */
#define MESSAGE_WAITS 3
typedef struct
{
  uint32_t peer, lane;                     /* who gets it; the peer's lane that counts it */
  struct { uint32_t lane, count; } after[MESSAGE_WAITS];   /* own lanes; count 0: no wait */
  uint32_t block, n_blocks, stride;        /* blocks (block + i stride) mod blocks */
  double   bytes;
  gboolean reduces;                        /* is added to the peer's own blocks, else replaces them */
} Message;

typedef enum { ACTORS_NONE, ACTORS_SERVERS, ACTORS_SWITCH } ActorsMore;

struct Schedule
{
  const CollectiveSteps *steps_of;
  CollectiveOp op;
  double     size;                         /* bytes, as in CollectiveCall */
  uint32_t   ranks, nodes, per_node;       /* rank r: local r mod per_node of node r/per_node */
  ActorsMore more;                         /* what the actors behind the ranks are */
  uint32_t   actors;
  uint32_t   tracks, steps, chunks;        /* upper bounds of each actor's */
  uint32_t   lanes;
  uint32_t   blocks;                       /* the vector is cut in */
  uint32_t   shards, servers;              /* of server schedules: GPUs that share a copy, and those who sum */
  gboolean   one_peer;                     /* a track sends to one peer only */
  gboolean   alike;                        /* every rank does the same, turned by its number */
  gboolean   point;                        /* priced as point to point: the share of the line is its own */
};

struct CollectiveSteps
{
  /* Fills what the algorithm decides; ranks, op, size and chunks stand already. */
  gboolean (*plan)    (Schedule *schedule, const RankGroup *group, const Paths *paths, GError **error);
  /* FALSE: there is none here.  `out` is zeroed. */
  gboolean (*message) (const Schedule *schedule, uint32_t actor, uint32_t track, uint32_t step, uint32_t chunk, Message *out);
};

/* `chunks` 0: one for rings and pairs; as NCCL cuts for trees, chains and servers.
 * The call's algorithm must be named and its protocol settled.  Errors: no messages
 * known of the algorithm, an operation that it cannot do, more than 2^32 of something. */
gboolean schedule_init (Schedule *out, const CollectiveCall *call, const RankGroup *group, const Paths *paths,
                        guint chunks, GError **error);

static inline gboolean
schedule_message (const Schedule *s, uint32_t actor, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  *out = (Message) { .stride = 1 };
  return s->steps_of->message (s, actor, track, step, chunk, out);
}

extern const CollectiveSteps ring_steps, tree_steps, hierarchical_steps, halving_doubling_steps, pat_steps,
  point_to_point_steps, server_steps, parameter_server_steps, switch_steps;
