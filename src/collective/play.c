/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/play.h"
#include <math.h>

#define NOTHING G_MAXUINT32

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
  Tick    *actor_end, end;
  double  *sent, *got;
} Job;

struct Play
{
  const Fabric *fabric;
  gboolean    apart;
  Engine     *engine;
  NetworkRun *network;
  Id          arrive, arm, begin;      /* handlers */
  GArray     *jobs, *tracks, *sent, *seen, *of_activity, *actor_job;
  GPtrArray  *traffic;
  uint32_t    spare;
  uint32_t   *user;                    /* of each link: a track + 1, or NOTHING: several */
  double     *bytes;
  PlaySeen    watch;
  gpointer    watch_user;
  guint64     messages, shared;
};

#define JOB(play, i) (&g_array_index ((play)->jobs, Job, (i)))
#define TRACK(play, i) (&g_array_index ((play)->tracks, Track, (i)))
#define SENT(play, i) (&g_array_index ((play)->sent, Sent, (i)))

Tick
play_ticks (double seconds)
{
  const double ticks = ceil (seconds * PLAY_TICKS_PER_S - 1e-4);

  return ticks < 0x1p62 ? (Tick) MAX (ticks, 0) : (Tick) 1 << 62;
}

static uint32_t
place_of (const Job *job, uint32_t actor)
{
  return job->spec.place != NULL ? job->spec.place[actor] : actor;
}

static void
route_of (const Play *play, const Track *track, uint32_t peer, Route *route)
{
  const Job *job = JOB (play, track->job);

  fabric_route (play->fabric, place_of (job, track->actor), place_of (job, peer), route);
}

/* What a track that is alone carried since its peer was another. */
static void
count_carried (Play *play, Track *track)
{
  Route route;

  if (!(track->carried > 0))
    return;
  route_of (play, track, track->to, &route);
  for (guint i = 0; i < route.n; i++)
    play->bytes[route.load[i].link] += track->carried;
  track->carried = 0;
}

static Tick
extra_of (const Job *job, uint32_t actor)
{
  return job->spec.extra != NULL ? job->spec.extra[actor] : 0;
}

/* The same conversion as an activity's: alone or not, a message takes as many ticks. */
static void
price_alone (Play *play, Track *track, uint32_t peer, double bytes)
{
  Route route;
  double rate;

  count_carried (play, track);
  route_of (play, track, peer, &route);
  rate = network_idle_rate (fabric_network (play->fabric), route.load, route.n, INFINITY);
  track->to = peer;
  track->latency = play_ticks (route.latency) + extra_of (JOB (play, track->job), track->actor);
  track->ticks = isfinite (rate) ? engine_ticks (bytes, rate / PLAY_TICKS_PER_S) : 0;
  track->ticks_of = bytes;
}

static uint32_t
new_sent (Play *play, uint32_t track, const Message *message)
{
  uint32_t id = play->spare;

  if (id != NOTHING)
    play->spare = SENT (play, id)->next;
  else
    {
      id = play->sent->len;
      g_array_set_size (play->sent, id + 1);
      if (play->watch != NULL)
        g_array_set_size (play->seen, id + 1);
    }
  *SENT (play, id) = (Sent) { .track = track, .peer = message->peer, .lane = message->lane, .next = NOTHING, .bytes = message->bytes };
  return id;
}

static void
send_alone (Play *play, uint32_t id, Track *track)
{
  const Tick now = engine_now (play->engine);
  Tick flows;

  if (track->head.peer != track->to || track->head.bytes < track->ticks_of || track->head.bytes > track->ticks_of)
    price_alone (play, track, track->head.peer, track->head.bytes);
  flows = MAX (now + track->latency, track->free);
  track->free = flows + track->ticks;
  track->carried += track->head.bytes;
  engine_at (play->engine, track->free, play->arrive, new_sent (play, id, &track->head));
}

static void
send_shared (Play *play, uint32_t id, Track *track)
{
  const uint32_t sent = new_sent (play, id, &track->head);
  const Tick now = engine_now (play->engine);
  Route route;

  route_of (play, track, track->head.peer, &route);
  for (guint i = 0; i < route.n; i++)
    play->bytes[route.load[i].link] += track->head.bytes;
  if (play->watch != NULL)
    g_array_index (play->seen, Seen, sent) = (Seen) { track->head, track->step, track->chunk, now, 0 };
  if (track->first == NOTHING)
    track->first = sent;
  else
    SENT (play, track->last)->next = sent;
  track->last = sent;
  play->shared++;
  engine_at (play->engine, now + play_ticks (route.latency) + extra_of (JOB (play, track->job), track->actor), play->arm, sent);
}

/* The bytes of a track's first message flow, once its latency is over. */
static void
flow_first (Play *play, Track *track)
{
  Route route;
  double cap = INFINITY;
  Id activity;

  if (track->flowing || track->first == NOTHING || !SENT (play, track->first)->armed)
    return;
  track->flowing = TRUE;
  route_of (play, track, SENT (play, track->first)->peer, &route);
  if (play->apart)
    {
      cap = network_idle_rate (fabric_network (play->fabric), route.load, route.n, cap);
      route.n = 0;
    }
  if (play->watch != NULL)
    g_array_index (play->seen, Seen, track->first).flows = engine_now (play->engine);
  activity = network_start (play->network, 0, SENT (play, track->first)->bytes, cap, 1, route.load, route.n);
  if (activity >= play->of_activity->len)
    g_array_set_size (play->of_activity, activity + 1);
  g_array_index (play->of_activity, uint32_t, activity) = track->first + 1;
}

/* The next message of a track that exists. */
static void
next_head (Play *play, Track *track, gboolean first)
{
  const Schedule *s = JOB (play, track->job)->spec.schedule;

  do
    {
      if (!first && ++track->chunk >= s->chunks)
        {
          track->chunk = 0;
          track->step++;
        }
      first = FALSE;
    }
  while (track->step < s->steps && !schedule_message (s, track->actor, track->number, track->step, track->chunk, &track->head));
}

/* Whether the head may go; if not, its track waits at the first lane that lacks. */
static gboolean
may_go (Job *job, uint32_t id, Track *track)
{
  Lane *lanes = job->lanes + (gsize) track->actor * job->spec.schedule->lanes;

  for (guint i = 0; i < MESSAGE_WAITS && track->head.after[i].count > 0; i++)
    {
      Lane *lane = &lanes[track->head.after[i].lane];
      const uint32_t count = track->head.after[i].count;

      if (lane->came >= count)
        continue;
      track->next_waiting = lane->waiting;
      lane->wake = lane->waiting != NOTHING ? MIN (lane->wake, count) : count;
      lane->waiting = id;
      return FALSE;
    }
  return TRUE;
}

static void
advance (Play *play, uint32_t id)
{
  Track *track = TRACK (play, id);
  Job *job = JOB (play, track->job);
  const Schedule *s = job->spec.schedule;

  while (track->step < s->steps && may_go (job, id, track))
    {
      job->sent[track->actor] += track->head.bytes;
      play->messages++;
      if (track->alone)
        send_alone (play, id, track);
      else
        send_shared (play, id, track);
      next_head (play, track, FALSE);
    }
}

static void
deliver (Play *play, uint32_t sent)
{
  const Sent what = *SENT (play, sent);
  const Track *track = TRACK (play, what.track);
  Job *job = JOB (play, track->job);
  const uint32_t peer = fabric_folded (play->fabric) ? 0 : what.peer;
  Lane *lane = &job->lanes[(gsize) peer * job->spec.schedule->lanes + what.lane];
  const Tick now = engine_now (play->engine);

  job->end = job->actor_end[peer] = job->actor_end[track->actor] = now;
  job->got[peer] += what.bytes;
  SENT (play, sent)->next = play->spare;
  play->spare = sent;
  lane->came++;
  if (lane->waiting == NOTHING || lane->came < lane->wake)
    return;
  for (uint32_t id = lane->waiting, next = lane->waiting = NOTHING; id != NOTHING; id = next)
    {
      next = TRACK (play, id)->next_waiting;
      advance (play, id);
    }
}

static void
on_arrive (gpointer user, Engine *e, uint32_t sent)
{
  (void) e;
  deliver (user, sent);
}

static void
on_arm (gpointer user, Engine *e, uint32_t sent)
{
  Play *play = user;

  (void) e;
  SENT (play, sent)->armed = TRUE;
  flow_first (play, TRACK (play, SENT (play, sent)->track));
}

static void
show (Play *play, uint32_t sent, const Track *track)
{
  const Seen *seen = &g_array_index (play->seen, Seen, sent);
  const PlayedMessage played = { .job = track->job, .from = track->actor, .to = seen->message.peer, .step = seen->step,
                                 .chunk = seen->chunk, .message = &seen->message, .ready = seen->ready,
                                 .flows = seen->flows, .end = engine_now (play->engine) };

  play->watch (play->watch_user, &played);
}

static void
on_end (gpointer user, Engine *e, Id activity)
{
  Play *play = user;
  uint32_t sent;
  Track *track;

  (void) e;
  network_end (play->network, activity);
  sent = activity < play->of_activity->len ? g_array_index (play->of_activity, uint32_t, activity) : 0;
  if (sent-- == 0)   /* other traffic */
    return;
  track = TRACK (play, SENT (play, sent)->track);
  track->flowing = FALSE;
  track->first = SENT (play, sent)->next;
  if (play->watch != NULL)
    show (play, sent, track);
  deliver (play, sent);
  flow_first (play, track);
}

static void
on_instant (gpointer user, Engine *e)
{
  Play *play = user;

  (void) e;
  network_run_instant (play->network);
}

static void
on_begin (gpointer user, Engine *e, uint32_t actor)
{
  Play *play = user;
  Job *job = JOB (play, g_array_index (play->actor_job, uint32_t, actor));
  const uint32_t tracks = job->spec.schedule->tracks;

  (void) e;
  for (uint32_t t = 0; t < tracks; t++)
    advance (play, job->first_track + (actor - job->first_actor) * tracks + t);
}

Play *
play_new (const Fabric *fabric, gboolean apart)
{
  static const EngineHooks hooks = { .on_end = on_end, .on_instant = on_instant };
  Play *play = g_new0 (Play, 1);
  const guint links = network_n_links (fabric_network (fabric));

  play->fabric = fabric;
  play->apart = apart;
  play->engine = engine_new (&hooks, play);
  play->network = network_run_new (fabric_network (fabric), play->engine, PLAY_TICKS_PER_S);
  play->arrive = engine_handler (play->engine, on_arrive, play);
  play->arm = engine_handler (play->engine, on_arm, play);
  play->begin = engine_handler (play->engine, on_begin, play);
  play->jobs = g_array_new (FALSE, TRUE, sizeof (Job));
  play->tracks = g_array_new (FALSE, TRUE, sizeof (Track));
  play->sent = g_array_new (FALSE, TRUE, sizeof (Sent));
  play->seen = g_array_new (FALSE, TRUE, sizeof (Seen));
  play->of_activity = g_array_new (FALSE, TRUE, sizeof (uint32_t));
  play->actor_job = g_array_new (FALSE, TRUE, sizeof (uint32_t));
  play->traffic = g_ptr_array_new_with_free_func (g_free);
  play->spare = NOTHING;
  play->user = g_new0 (uint32_t, links + 1);
  play->bytes = g_new0 (double, links + 1);
  return play;
}

void
play_free (Play *play)
{
  if (play == NULL)
    return;
  for (guint i = 0; i < play->jobs->len; i++)
    {
      g_free (JOB (play, i)->lanes);
      g_free (JOB (play, i)->actor_end);
      g_free (JOB (play, i)->sent);
      g_free (JOB (play, i)->got);
    }
  network_run_free (play->network);
  engine_free (play->engine);
  g_array_unref (play->jobs);
  g_array_unref (play->tracks);
  g_array_unref (play->sent);
  g_array_unref (play->seen);
  g_array_unref (play->of_activity);
  g_array_unref (play->actor_job);
  g_ptr_array_unref (play->traffic);
  g_free (play->user);
  g_free (play->bytes);
  g_free (play);
}

/* Who uses a link: one track, or several. */
static void
use_links (Play *play, const Route *route, uint32_t user)
{
  for (guint i = 0; i < route->n; i++)
    {
      uint32_t *of = &play->user[route->load[i].link];

      *of = *of == 0 || *of == user ? user : NOTHING;
    }
}

static void
use_track (Play *play, uint32_t id)
{
  const Track *track = TRACK (play, id);
  const Schedule *s = JOB (play, track->job)->spec.schedule;
  Message m;
  Route route;

  for (uint32_t step = 0; step < (s->one_peer ? 1 : s->steps); step++)
    if (schedule_message (s, track->actor, track->number, step, 0, &m))
      {
        route_of (play, track, m.peer, &route);
        use_links (play, &route, id + 1);
      }
}

static gboolean
is_alone (const Play *play, uint32_t id)
{
  const Track *track = TRACK (play, id);
  const Schedule *s = JOB (play, track->job)->spec.schedule;
  Message m;
  Route route;

  for (uint32_t step = 0; step < (s->one_peer ? 1 : s->steps); step++)
    if (schedule_message (s, track->actor, track->number, step, 0, &m))
      {
        route_of (play, track, m.peer, &route);
        for (guint i = 0; i < route.n; i++)
          if (play->user[route.load[i].link] != id + 1)
            return FALSE;
      }
  return TRUE;
}

guint
play_add (Play *play, const PlayJob *spec)
{
  const Schedule *s = spec->schedule;
  const guint number = play->jobs->len;
  Job job = { .spec = *spec, .actors = fabric_folded (play->fabric) ? 1 : s->actors, .first_track = play->tracks->len,
              .first_actor = play->actor_job->len };

  job.lanes = g_new (Lane, (gsize) job.actors * s->lanes);
  for (gsize i = 0; i < (gsize) job.actors * s->lanes; i++)
    job.lanes[i] = (Lane) { 0, 0, NOTHING };
  job.actor_end = g_new0 (Tick, job.actors);
  job.sent = g_new0 (double, job.actors);
  job.got = g_new0 (double, job.actors);
  g_array_append_val (play->jobs, job);
  g_array_set_size (play->tracks, job.first_track + job.actors * s->tracks);
  for (uint32_t i = 0; i < job.actors * s->tracks; i++)
    {
      Track *track = TRACK (play, job.first_track + i);

      *track = (Track) { .job = number, .actor = i / s->tracks, .number = i % s->tracks, .first = NOTHING, .last = NOTHING,
                         .to = NOTHING };
      use_track (play, job.first_track + i);
      next_head (play, track, TRUE);
    }
  for (uint32_t i = 0; i < job.actors; i++)
    {
      g_array_append_val (play->actor_job, number);
      engine_at (play->engine, spec->start != NULL ? spec->start[i] : 0, play->begin, job.first_actor + i);
    }
  return number;
}

typedef struct { Play *play; Route route; double bytes; } Traffic;

static void
start_traffic (gpointer user, Engine *e, uint32_t argument)
{
  Traffic *traffic = user;

  (void) e;
  (void) argument;
  network_start (traffic->play->network, 0, traffic->bytes, INFINITY, 1, traffic->route.load, traffic->route.n);
}

void
play_traffic (Play *play, uint32_t from, uint32_t to, double bytes, Tick start)
{
  Traffic *traffic = g_new0 (Traffic, 1);

  traffic->play = play;
  traffic->bytes = bytes;
  g_ptr_array_add (play->traffic, traffic);
  fabric_route (play->fabric, from, to, &traffic->route);
  use_links (play, &traffic->route, NOTHING);
  engine_at (play->engine, start, engine_handler (play->engine, start_traffic, traffic), 0);
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

gboolean
play_run (Play *play, GError **error)
{
  for (uint32_t i = 0; i < play->tracks->len; i++)
    TRACK (play, i)->alone = play->watch == NULL && (play->apart || is_alone (play, i));
  if (!engine_run (play->engine, error))
    return FALSE;
  for (uint32_t i = 0; i < play->tracks->len; i++)
    count_carried (play, TRACK (play, i));
  return all_done (play, error);
}

Tick
play_end (const Play *play, guint job)
{
  return JOB (play, job)->end;
}

Tick
play_actor_end (const Play *play, guint job, uint32_t actor)
{
  return JOB (play, job)->actor_end[actor];
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
play_got (const Play *play, guint job, uint32_t actor)
{
  return JOB (play, job)->got[actor];
}

double
play_bytes (const Play *play, Id link)
{
  return play->bytes[link];
}
