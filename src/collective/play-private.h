/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "collective/play.h"

/* Between play.c (jobs and their runs), play-send.c (a message's way), play-links.c
 * (who alone uses a link) and play-stream.c (the short way of rings). */
#define NOTHING G_MAXUINT32
#define SEVERAL G_MAXUINT64

/* One sequence of messages.  `alone`: nobody else ever uses its links, so a message's
 * end is known when it is ready and one event is all it costs; else its bytes are an
 * activity on the network. */
typedef struct
{
  Message  head;                /* the next one */
  uint32_t job, actor, number;
  uint32_t step, chunk;         /* of the head; step = steps: there is none left */
  uint32_t next_waiting;
  uint32_t first, last;         /* messages on their way, where it is not alone */
  gboolean alone, flowing;
  gboolean unbound;             /* none of its messages waits for any: one at a time is on its way */
  Tick     start;               /* when it began */
  /* alone: */
  Tick     free, latency, ticks;
  double   ticks_of, carried;   /* bytes that take `ticks`; bytes to `to` not yet counted on links */
  uint32_t to;
} Track;

typedef struct { uint32_t track, peer, lane, next; double bytes; gboolean armed; } Sent;
typedef struct { Message message; uint32_t step, chunk; Tick ready, flows; } Seen;
typedef struct { uint32_t came, wake, waiting; } Lane;   /* wake: least count that a waiting track wants */

typedef struct
{
  PlayJob  spec;
  uint32_t actors, first_track, first_actor;
  Lane    *lanes;
  Tick     end;
  double  *sent, *got;
  uint32_t *expected, *left;    /* held: messages that an actor sends and gets, and those still to come */
  gboolean *begun, open;
  gboolean streams;             /* its tracks go the short way */
} Job;

typedef struct Streams Streams;

struct Play
{
  const Fabric *fabric;
  gboolean    apart, own;              /* own: engine and network run */
  Engine     *engine;
  NetworkRun *network;
  Id          arrive, arm, begin;      /* handlers */
  GArray     *jobs, *tracks, *sent, *seen, *of_activity, *actor_job;
  uint32_t    spare;
  uint64_t   *user;                    /* of each link: who alone uses it, or SEVERAL */
  double     *bytes;
  double      latency;                 /* factors on durations */
  const double *slower;                /* by link; NULL: none */
  PlaySeen    watch;
  gpointer    watch_user;
  guint64     messages, shared;
  Streams    *streams;                 /* NULL: none */
};

#define JOB(play, i) (&g_array_index ((play)->jobs, Job, (i)))
#define TRACK(play, i) (&g_array_index ((play)->tracks, Track, (i)))
#define SENT(play, i) (&g_array_index ((play)->sent, Sent, (i)))

static inline uint32_t
play_place (const Job *job, uint32_t actor)
{
  return job->spec.place != NULL ? job->spec.place[actor] : actor;
}

static inline const Fabric *
play_fabric (const Play *play, const Job *job)
{
  return job->spec.fabric != NULL ? job->spec.fabric : play->fabric;
}

/* play-send.c */
void play_next_head (Play *play, Track *track, gboolean first);   /* the next message of a track that exists */
void play_advance   (Play *play, uint32_t track);                 /* sends what may go */
void play_carried   (Play *play, Track *track);                   /* counts what a track that is alone carried */
/* Latency and ticks of its messages to a peer; as an activity's: alone or not, a message
 * takes as many ticks. */
void play_price_alone (Play *play, Track *track, uint32_t peer, double bytes);
void play_on_arrive (gpointer user, Engine *e, uint32_t sent);
void play_on_arm    (gpointer user, Engine *e, uint32_t sent);

/* play-links.c: a track's links get a user; are it alone's. */
void     play_use_links (Play *play, const PlayJob *spec, uint32_t actor, uint32_t number, uint64_t user);
gboolean play_has_links (Play *play, const PlayJob *spec, uint32_t actor, uint32_t number, uint64_t user);
uint64_t play_user_on_line (const PlayJob *spec, uint32_t actor, uint32_t number);
uint32_t play_actors    (const Play *play, const PlayJob *spec);

/* play-stream.c: before the run, at an actor's start, and after. */
void play_streams_find  (Play *play);
void play_streams_begin (Play *play, const Job *job, uint32_t actor);
void play_streams_count (Play *play, guint job);
void play_streams_free  (Play *play);
