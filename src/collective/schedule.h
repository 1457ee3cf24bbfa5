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
  uint32_t into;                           /* blocks further on they lie at the peer */
  double   bytes;
  gboolean reduces;                        /* is added to the peer's own blocks, else replaces them */
} Message;

typedef enum { ACTORS_NONE, ACTORS_SERVERS, ACTORS_SWITCH, ACTORS_NVSWITCHES } ActorsMore;   /* NVSwitches: one a node */
/* Whose share of the links and whose hops its messages have; PAIR: point to point
 * with one peer at a time. */
typedef enum { PRICED_RING, PRICED_TREE, PRICED_PAT, PRICED_POINT, PRICED_PAIR, PRICED_GRPC, PRICED_HOST } Priced;

struct Schedule
{
  const CollectiveSteps *steps_of;
  CollectiveOp op;
  double     size;                         /* bytes, as in CollectiveCall */
  uint32_t   ranks, nodes, per_node;       /* rank r: local r mod per_node of node r/per_node */
  ActorsMore more;                         /* what the actors behind the ranks are */
  uint32_t   actors;
  uint32_t   tracks, steps, chunks;        /* upper bounds of each actor's */
  gboolean   chunks_first;                 /* of each chunk all steps; else of each step all chunks */
  uint32_t   lanes;
  uint32_t   blocks, scratch;              /* the vector is cut in blocks; the last `scratch` of them are sums on their way */
  uint32_t   shards, servers;              /* of server schedules: GPUs that share a copy, and those who sum */
  uint32_t   hosted;                       /* of the servers, the first so many sit on the nodes of their numbers */
  uint32_t   n_first;                      /* of the servers, the first so many hold `first_share` of the bytes each */
  double     first_share;
  double     own;                          /* bytes of a rank's own that pass its kernel besides what it gets */
  Priced     priced;
  gboolean   one_peer;                     /* a track sends to one peer only */
  gboolean   stream;                       /* a track has all its messages, of one size, to the lane of its number, and sends one of the
                                              first step at once, each other when as many came in that lane but one step */
  gboolean   alike;                        /* every rank does the same, turned by its number */
  gboolean   one_way;                      /* only the first rank sends */
  const Variables *variables;              /* the servers' actors; NULL: there are none */
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

/* The message that a track sends after this one; step = steps: there is none. */
static inline void
schedule_next (const Schedule *s, uint32_t *step, uint32_t *chunk)
{
  if (s->chunks_first)
    {
      if (++*step >= s->steps && ++*chunk < s->chunks)
        *step = 0;
    }
  else if (++*chunk >= s->chunks)
    {
      *chunk = 0;
      ++*step;
    }
}

extern const CollectiveSteps ring_steps, tree_steps, hierarchical_steps, halving_doubling_steps, pat_steps,
  point_to_point_steps, pairwise_steps, server_steps, parameter_server_steps, switch_steps, nvls_steps,
  grpc_ring_steps, host_mpi_steps, gloo_steps;

/* Whether the same messages go round if all ranks are renumbered by some nodes on: of
 * partners by an exclusive or they do not. */
static inline gboolean
schedule_turns (const Schedule *s)
{
  return (s->alike && !(s->steps_of == &pairwise_steps && (s->ranks & (s->ranks - 1)) == 0)) || s->steps_of == &hierarchical_steps;
}

/* A message between two nodes fills no pipeline: its hop is LL's, as in view 1. */
static inline gboolean
schedule_one_message (const Schedule *s)
{
  return s->op == OP_SEND_RECV && s->nodes > 1;
}

/* Seconds before a rank's first message: the library's call, and its own block's way
 * through the kernel. */
double schedule_launch (const Schedule *schedule, const Paths *paths, Protocol protocol);

/* Share of the bytes that BytePS puts on each worker where servers run on the `nodes`
 * workers and on machines of their own. */
double server_worker_share (const Paths *paths, double nodes);

/* Whether MPI halves and doubles; else a ring: with another number of ranks than a power
 * of two, partners would carry the bytes of two. */
gboolean host_mpi_halves (double size, guint64 nodes, guint64 per_node);

/* The double binary tree over n nodes (tree 0 or 1): neighbours, G_MAXUINT32: none. */
#define TREE_NOBODY G_MAXUINT32
typedef struct { uint32_t up, down[2]; } TreeNode;
TreeNode tree_node (uint32_t node, uint32_t n, uint32_t tree);

/* Variables to their servers and back: two parts of a step, one behind the other. */
extern const CollectiveAlgorithm collective_push, collective_pull;
