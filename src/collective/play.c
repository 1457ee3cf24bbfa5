/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/play-private.h"
#include <math.h>

static void
on_end (gpointer user, Engine *e, Id activity)
{
  Play *play = user;

  (void) e;
  network_end (play->network, activity);
  play_activity_ended (play, activity);
}

static void
on_instant (gpointer user, Engine *e)
{
  Play *play = user;

  (void) e;
  network_run_instant (play->network);
}

static void
begin_tracks (Play *play, const Job *job, uint32_t actor)
{
  const uint32_t tracks = job->spec.schedule->tracks;

  for (uint32_t t = 0; t < tracks; t++)
    {
      const uint32_t id = job->first_track + actor * tracks + t;

      TRACK (play, id)->start = engine_now (play->engine);
      play_advance (play, id);
    }
}

static void
on_begin (gpointer user, Engine *e, uint32_t actor)
{
  Play *play = user;
  const Job *job = JOB (play, g_array_index (play->actor_job, uint32_t, actor));

  (void) e;
  (job->streams ? play_streams_begin : begin_tracks) (play, job, actor - job->first_actor);
}

/* `e`: NULL: one of its own, as is the network run then. */
static Play *
new_play (const Fabric *fabric, gboolean apart, Engine *e, NetworkRun *network)
{
  static const EngineHooks hooks = { .on_end = on_end, .on_instant = on_instant };
  Play *play = g_new0 (Play, 1);
  const guint links = network_n_links (fabric_network (fabric));

  play->fabric = fabric;
  play->apart = apart;
  play->own = e == NULL;
  play->latency = 1;
  play->engine = e != NULL ? e : engine_new (&hooks, play);
  play->network = e != NULL ? network : network_run_new (fabric_network (fabric), play->engine, TICKS_PER_S);
  play->arrive = engine_handler (play->engine, play_on_arrive, play);
  play->arm = engine_handler (play->engine, play_on_arm, play);
  play->begin = engine_handler (play->engine, on_begin, play);
  play->jobs = g_array_new (FALSE, TRUE, sizeof (Job));
  play->tracks = g_array_new (FALSE, TRUE, sizeof (Track));
  play->sent = g_array_new (FALSE, TRUE, sizeof (Sent));
  play->seen = g_array_new (FALSE, TRUE, sizeof (Seen));
  play->of_activity = g_array_new (FALSE, TRUE, sizeof (uint32_t));
  play->actor_job = g_array_new (FALSE, TRUE, sizeof (uint32_t));
  play->spare = NOTHING;
  play->user = g_new0 (uint64_t, links + 1);
  play->bytes = g_new0 (double, links + 1);
  return play;
}

Play *
play_new (const Fabric *fabric, gboolean apart)
{
  return new_play (fabric, apart, NULL, NULL);
}

Play *
play_new_in (const Fabric *fabric, Engine *e, NetworkRun *network)
{
  return new_play (fabric, FALSE, e, network);
}

void
play_free (Play *play)
{
  if (play == NULL)
    return;
  for (guint i = 0; i < play->jobs->len; i++)
    {
      g_free (JOB (play, i)->lanes);
      g_free (JOB (play, i)->sent);
      g_free (JOB (play, i)->got);
      g_free (JOB (play, i)->expected);
      g_free (JOB (play, i)->left);
      g_free (JOB (play, i)->begun);
    }
  play_streams_free (play);
  if (play->own)
    {
      network_run_free (play->network);
      engine_free (play->engine);
    }
  g_array_unref (play->jobs);
  g_array_unref (play->tracks);
  g_array_unref (play->sent);
  g_array_unref (play->seen);
  g_array_unref (play->of_activity);
  g_array_unref (play->actor_job);
  g_free (play->user);
  g_free (play->bytes);
  g_free (play);
}

/* Messages that each actor sends and gets. */
static uint32_t *
count_messages (const Play *play, const PlayJob *spec)
{
  const Schedule *s = spec->schedule;
  const uint32_t actors = play_actors (play, spec);
  uint32_t *count = g_new0 (uint32_t, actors);
  Message m;

  for (uint32_t actor = 0; actor < actors; actor++)
    for (uint32_t t = 0; t < s->tracks; t++)
      for (uint32_t step = 0; step < s->steps; step++)
        for (uint32_t chunk = 0; chunk < s->chunks; chunk++)
          if (schedule_message (s, actor, t, step, chunk, &m))
            {
              count[actor]++;
              count[m.peer % actors]++;
            }
  return count;
}

static void
start_tracks (Play *play, Job *job, guint number)
{
  const Schedule *s = job->spec.schedule;
  Message last;

  for (uint32_t i = 0; i < job->actors * s->tracks; i++)
    {
      Track *track = TRACK (play, job->first_track + i);
      const gboolean alone = track->alone;

      play_carried (play, track);
      *track = (Track) { .job = number, .actor = i / s->tracks, .number = i % s->tracks, .first = NOTHING, .last = NOTHING,
                         .to = NOTHING, .alone = alone };
      play_next_head (play, track, TRUE);
      track->unbound = track->step < s->steps && track->head.after[0].count == 0
                       && schedule_message (s, track->actor, track->number, s->steps - 1, s->chunks - 1, &last)
                       && last.after[0].count == 0;   /* then none between them waits either */
    }
  for (gsize i = 0; i < (gsize) job->actors * s->lanes; i++)
    job->lanes[i] = (Lane) { 0, 0, NOTHING };
}

/* Actors that play_begin () starts. */
static void
hold (Play *play, guint number)
{
  Job *job = JOB (play, number);
  const Schedule *s = job->spec.schedule;

  job->expected = count_messages (play, &job->spec);
  job->left = g_new0 (uint32_t, job->actors);
  job->begun = g_new0 (gboolean, job->actors);
  for (uint32_t i = 0; i < job->actors * s->tracks; i++)
    TRACK (play, job->first_track + i)->alone
      = play_has_links (play, &job->spec, i / s->tracks, i % s->tracks, play_user_on_line (&job->spec, i / s->tracks, i % s->tracks));
  play_again (play, number);
}

void
play_again (Play *play, guint number)
{
  Job *job = JOB (play, number);

  start_tracks (play, job, number);
  for (uint32_t i = 0; i < job->actors; i++)
    {
      job->left[i] = job->expected[i];
      job->begun[i] = FALSE;
    }
  job->open = FALSE;
}

void
play_begin (Play *play, guint number, uint32_t actor)
{
  Job *job = JOB (play, number);
  const uint32_t ranks = job->spec.schedule->ranks;

  if (!job->open)   /* servers and switches are always there */
    for (uint32_t i = ranks; i < job->actors; i++)
      begin_tracks (play, job, i);
  job->open = TRUE;
  job->begun[actor] = TRUE;
  if (job->left[actor] == 0)
    job->spec.done (job->spec.user, number, actor);
  else
    begin_tracks (play, job, actor);
}

guint
play_add (Play *play, const PlayJob *spec)
{
  const Schedule *s = spec->schedule;
  const guint number = play->jobs->len;
  Job job = { .spec = *spec, .actors = play_actors (play, spec), .first_track = play->tracks->len, .first_actor = play->actor_job->len };

  job.lanes = g_new (Lane, (gsize) job.actors * s->lanes);
  job.sent = g_new0 (double, job.actors);
  job.got = g_new0 (double, job.actors);
  g_array_append_val (play->jobs, job);
  g_array_set_size (play->tracks, job.first_track + job.actors * s->tracks);
  if (spec->done != NULL)
    {
      hold (play, number);
      return number;
    }
  start_tracks (play, JOB (play, number), number);
  for (uint32_t i = 0; i < job.actors * s->tracks; i++)
    play_use_links (play, spec, i / s->tracks, i % s->tracks, job.first_track + i + 1);
  for (uint32_t i = 0; i < job.actors; i++)
    {
      g_array_append_val (play->actor_job, number);
      engine_at (play->engine, spec->start != NULL ? spec->start[i] : 0, play->begin, job.first_actor + i);
    }
  return number;
}

void
play_reset (Play *play)
{
  g_array_set_size (play->sent, 0);
  g_array_set_size (play->of_activity, 0);
  play->spare = NOTHING;
  play->messages = play->shared = 0;
  for (guint i = 0; i < play->jobs->len; i++)
    {
      play_again (play, i);
      for (uint32_t k = 0; k < JOB (play, i)->actors; k++)
        JOB (play, i)->sent[k] = JOB (play, i)->got[k] = 0;
    }
  for (guint i = 0; i <= network_n_links (fabric_network (play->fabric)); i++)
    play->bytes[i] = 0;
}

void
play_scale (Play *play, double latency, const double *link)
{
  play->latency = latency;
  play->slower = link;
}

void
play_watch (Play *play, PlaySeen seen, gpointer user)
{
  play->watch = seen;
  play->watch_user = user;
}

static gboolean
all_done (const Play *play, GError **error)
{
  for (uint32_t i = 0; i < play->tracks->len; i++)
    {
      const Track *track = TRACK (play, i);

      if (track->step >= JOB (play, track->job)->spec.schedule->steps)
        continue;
      g_set_error (error, ENGINE_ERROR, ENGINE_ERROR_DEADLOCK,
                   "deadlock: rank %u waits for ever with its message of step %u, chunk %u, on track %u", track->actor, track->step,
                   track->chunk, track->number);
      return FALSE;
    }
  return TRUE;
}

static gboolean
has_own_links (Play *play, uint32_t id)
{
  const Track *track = TRACK (play, id);

  return play_has_links (play, &JOB (play, track->job)->spec, track->actor, track->number, id + 1);
}

void
play_settle (Play *play)
{
  for (uint32_t i = 0; i < play->tracks->len; i++)
    play_carried (play, TRACK (play, i));
}

gboolean
play_run (Play *play, GError **error)
{
  for (uint32_t i = 0; i < play->tracks->len; i++)
    TRACK (play, i)->alone = play->watch == NULL && (play->apart || has_own_links (play, i));
  play_streams_find (play);
  if (!engine_run (play->engine, error))
    return FALSE;
  for (guint i = 0; i < play->jobs->len; i++)
    if (JOB (play, i)->streams)
      play_streams_count (play, i);
  play_settle (play);
  return all_done (play, error);
}

Tick
play_end (const Play *play, guint job)
{
  return JOB (play, job)->end;
}

guint64
play_messages (const Play *play)
{
  return play->messages;
}

guint64
play_shared (const Play *play)
{
  return play->shared;
}

double
play_sent (const Play *play, guint job, uint32_t actor)
{
  return JOB (play, job)->sent[actor];
}

double
play_job_sent (const Play *play, guint job)
{
  double sent = 0;

  for (uint32_t k = 0; k < JOB (play, job)->actors; k++)
    sent += JOB (play, job)->sent[k];
  return sent;
}

void
play_totals (const Play *play, double *sent, double *got)
{
  *sent = *got = 0;
  for (guint i = 0; i < play->jobs->len; i++)
    for (uint32_t k = 0; k < JOB (play, i)->actors; k++)
      {
        *sent += JOB (play, i)->sent[k];
        *got += JOB (play, i)->got[k];
      }
}

double
play_bytes (const Play *play, Id link)
{
  return play->bytes[link];
}
