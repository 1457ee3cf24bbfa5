/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/ticks.h"
#include "collective/fabric.h"

/* The message tier: schedules played on the engine, message by message.  A message
 * is ready when what it waits for came; its bytes flow a hop's latency later, behind
 * those before it on its track, and share their links with whatever is on them.
 * Reads neither view 1 nor estimates. */
typedef struct Play Play;

typedef struct
{
  const Schedule *schedule;    /* borrowed, as all of this */
  const uint32_t *place;       /* the end of the fabric of each actor; NULL: its own number */
  const Tick     *start;       /* of each actor, its first message; NULL: 0 */
  const Tick     *extra;       /* latency of its messages besides the hop's; NULL: 0 */
  const Fabric   *fabric;      /* over the links of the play's; NULL: that one */
  double          hops;        /* factor on the latency of its hops; 0: 1 */
  uint32_t        played;      /* actors that are, the first ones: actor i stands for i + played, and so on; 0: all */
  /* Held: its actors wait for play_begin (), and `done` tells when all that a rank sends
   * and gets is there.  Jobs of one line are at an actor one after the other. */
  void          (*done) (gpointer user, guint job, uint32_t actor);
  gpointer        user;
  uint32_t        line;
} PlayJob;

/* A message as it went.  `flows`: its first byte. */
typedef struct { uint32_t job, from, to, step, chunk; const Message *message; Tick ready, flows, end; } PlayedMessage;
typedef void (*PlaySeen) (gpointer user, const PlayedMessage *message);

/* `apart`: every track has its links for itself (a mesh, or a question about order only). */
Play    *play_new      (const Fabric *fabric, gboolean apart);
void     play_free     (Play *play);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Play, play_free)
/* Messages among whatever else `e` runs, on a run of the fabric's network; takes held
 * jobs.  Whoever runs the engine calls network_run_instant (), and play_activity_ended ()
 * with what ended (FALSE: not a message). */
Play    *play_new_in   (const Fabric *fabric, Engine *e, NetworkRun *network);
gboolean play_activity_ended (Play *play, Id activity);
/* Of every held job, before the first of them is added: whose links are whose. */
void     play_expect   (Play *play, const PlayJob *job);
/* After the engine's reset: every job as before its first actor; counts are 0. */
void     play_reset    (Play *play);
/* A held job once more, all of whose ranks are done; an actor's start, now. */
void     play_again    (Play *play, guint job);
void     play_begin    (Play *play, guint job, uint32_t actor);
/* After the engine's run: what went over each link is counted. */
void     play_settle   (Play *play);
/* Factors on durations: hops, and bytes by link (borrowed; NULL: none), where the
 * network run has the same. */
void     play_scale    (Play *play, double latency, const double *link);
/* Before the run.  Returns the job's number, from 0. */
guint    play_add      (Play *play, const PlayJob *job);
/* Each message as it ends; slower.  Messages then are all activities on the network. */
void     play_watch    (Play *play, PlaySeen seen, gpointer user);
/* An actor that waits for ever is an error that names it. */
gboolean play_run      (Play *play, GError **error);

/* When all of a job's messages came. */
Tick     play_end      (const Play *play, guint job);
guint64  play_messages (const Play *play);
guint64  play_shared   (const Play *play);      /* of them, those whose links others may use too */
double   play_sent     (const Play *play, guint job, uint32_t actor);   /* bytes */
double   play_job_sent (const Play *play, guint job);                   /* of all its actors */
void     play_totals   (const Play *play, double *sent, double *got);    /* of all actors */
double   play_bytes    (const Play *play, Id link);                      /* of the fabric's network */
