/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/play-private.h"

/* Rings whose tracks all have their links for themselves: a message is one event, and
 * all that it reads and writes of a rank is one line of the cache. */
typedef struct
{
  Tick     free, latency, ticks, end;   /* end: of the last that came */
  uint32_t next, total;                 /* to send; 0: not yet begun */
  uint32_t lag, came;
  uint32_t to;                          /* track that gets what this one sends */
} Stream;
G_STATIC_ASSERT (sizeof (Stream) <= 64);

struct Streams { Id handler; Stream *of; };   /* by track; aligned */

static void
send_on (const Streams *streams, Engine *e, Stream *stream)
{
  const Tick now = engine_now (e);

  for (; stream->next < stream->total && stream->next < stream->came + stream->lag; stream->next++)
    {
      const Tick flows = MAX (now + stream->latency, stream->free);

      stream->free = flows + stream->ticks;
      engine_at (e, stream->free, streams->handler, stream->to);
    }
}

static void
on_message (gpointer user, Engine *e, uint32_t track)
{
  const Streams *streams = user;
  Stream *stream = &streams->of[track];

  stream->came++;
  stream->end = engine_now (e);
  send_on (streams, e, stream);
}

static gboolean
may_stream (const Play *play, const Job *job)
{
  const Schedule *s = job->spec.schedule;

  if (!s->stream || job->spec.done != NULL)
    return FALSE;
  for (uint32_t i = 0; i < job->actors * s->tracks; i++)
    if (!TRACK (play, job->first_track + i)->alone)
      return FALSE;
  return TRUE;
}

static uint32_t
receiver (const Job *job, const Track *track)
{
  const uint32_t peer = track->head.peer % job->actors;

  return job->first_track + peer * job->spec.schedule->tracks + track->head.lane;
}

static void
set_up (Play *play, const Job *job)
{
  const Schedule *s = job->spec.schedule;

  for (uint32_t i = job->first_track; i < job->first_track + job->actors * s->tracks; i++)
    {
      Track *track = TRACK (play, i);

      play_price_alone (play, track, track->head.peer, track->head.bytes);
      play->streams->of[i] = (Stream) { .latency = track->latency, .ticks = track->ticks, .lag = s->chunks, .to = receiver (job, track) };
    }
}

void
play_streams_find (Play *play)
{
  for (guint i = 0; i < play->jobs->len; i++)
    {
      Job *job = JOB (play, i);

      job->streams = may_stream (play, job);
      if (!job->streams)
        continue;
      if (play->streams == NULL)
        {
          play->streams = g_new0 (Streams, 1);
          play->streams->handler = engine_handler (play->engine, on_message, play->streams);
          play->streams->of = g_aligned_alloc0 (play->tracks->len, 64, 64);
        }
      set_up (play, job);
    }
}

void
play_streams_begin (Play *play, const Job *job, uint32_t actor)
{
  const Schedule *s = job->spec.schedule;
  const uint32_t first = job->first_track + actor * s->tracks;

  for (uint32_t i = first; i < first + s->tracks; i++)
    {
      play->streams->of[i].total = s->steps * s->chunks;
      send_on (play->streams, play->engine, &play->streams->of[i]);
    }
}

/* What was sent and came, as if each had been counted. */
void
play_streams_count (Play *play, guint number)
{
  Job *job = JOB (play, number);
  const Schedule *s = job->spec.schedule;

  for (uint32_t i = job->first_track; i < job->first_track + job->actors * s->tracks; i++)
    {
      Track *track = TRACK (play, i);
      const Stream *stream = &play->streams->of[i];
      const double bytes = track->head.bytes;

      job->sent[track->actor] += stream->next * bytes;
      job->got[track->actor] += stream->came * bytes;
      job->end = MAX (job->end, stream->end);
      track->carried = stream->next * bytes;
      track->step = stream->next / s->chunks;
      track->chunk = stream->next % s->chunks;
      play->messages += stream->next;
    }
}

void
play_streams_free (Play *play)
{
  if (play->streams != NULL)
    g_aligned_free (play->streams->of);
  g_free (play->streams);
}
