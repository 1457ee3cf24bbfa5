/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/play-private.h"
#include <math.h>

static void
route_of (const Play *play, const Track *track, uint32_t peer, Route *route)
{
  const Job *job = JOB (play, track->job);

  fabric_route (play_fabric (play, job), play_place (job, track->actor), play_place (job, peer), route);
}

/* What a track that is alone carried since its peer was another. */
void
play_carried (Play *play, Track *track)
{
  Route route;

  if (!(track->carried > 0))
    return;
  route_of (play, track, track->to, &route);
  for (guint i = 0; i < route.n; i++)
    play->bytes[route.load[i].link] += track->carried * route.load[i].bytes;
  track->carried = 0;
}

static Tick
latency_of (const Play *play, const Track *track, const Route *route, double bytes)
{
  const Job *job = JOB (play, track->job);

  const double hops = job->spec.hops > 0 ? job->spec.hops : 1;

  return ticks_from_seconds (route_delay (route, bytes, hops) * play->latency) + (job->spec.extra != NULL ? job->spec.extra[track->actor] : 0);
}

static double
rate_alone (const Play *play, const Route *route)
{
  LinkLoad load[ROUTE_LINKS];

  if (play->slower == NULL)
    return network_idle_rate (fabric_network (play->fabric), route->load, route->n, INFINITY);
  for (guint i = 0; i < route->n; i++)
    {
      load[i] = route->load[i];
      load[i].efficiency /= play->slower[load[i].link];
    }
  return network_idle_rate (fabric_network (play->fabric), load, route->n, INFINITY);
}

void
play_price_alone (Play *play, Track *track, uint32_t peer, double bytes)
{
  Route route;
  double rate;

  play_carried (play, track);
  route_of (play, track, peer, &route);
  rate = rate_alone (play, &route);
  track->to = peer;
  track->latency = latency_of (play, track, &route, bytes);
  track->ticks = isfinite (rate) ? engine_ticks (bytes, rate / TICKS_PER_S) : 0;
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
    play_price_alone (play, track, track->head.peer, track->head.bytes);
  flows = MAX (now + track->latency, track->free);
  track->free = flows + track->ticks;
  track->carried += track->head.bytes;
  engine_at (play->engine, track->free, play->arrive, new_sent (play, id, &track->head));
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
    g_array_set_size (play->of_activity, MAX (activity + 1, 2 * play->of_activity->len));
  g_array_index (play->of_activity, uint32_t, activity) = track->first + 1;
}

static void
send_shared (Play *play, uint32_t id, Track *track)
{
  const uint32_t sent = new_sent (play, id, &track->head);
  const Tick now = engine_now (play->engine), ready = track->unbound ? track->start : now;
  Tick flows;
  Route route;

  route_of (play, track, track->head.peer, &route);
  for (guint i = 0; i < route.n; i++)
    play->bytes[route.load[i].link] += track->head.bytes * route.load[i].bytes;
  if (play->watch != NULL)
    g_array_index (play->seen, Seen, sent) = (Seen) { track->head, track->step, track->chunk, ready, 0 };
  if (track->first == NOTHING)
    track->first = sent;
  else
    SENT (play, track->last)->next = sent;
  track->last = sent;
  play->shared++;
  flows = ready + latency_of (play, track, &route, track->head.bytes);
  if (flows > now)
    {
      engine_at (play->engine, flows, play->arm, sent);
      return;
    }
  SENT (play, sent)->armed = TRUE;
  flow_first (play, track);
}

/* The next message of a track that exists. */
void
play_next_head (Play *play, Track *track, gboolean first)
{
  const Schedule *s = JOB (play, track->job)->spec.schedule;

  do
    {
      if (!first)
        schedule_next (s, &track->step, &track->chunk);
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

void
play_advance (Play *play, uint32_t id)
{
  Track *track = TRACK (play, id);
  Job *job = JOB (play, track->job);
  const Schedule *s = job->spec.schedule;

  while (track->step < s->steps && may_go (job, id, track))
    {
      if (track->unbound && !track->alone && track->first != NOTHING)
        return;   /* goes when the one before it ends */
      job->sent[track->actor] += track->head.bytes;
      play->messages++;
      if (track->alone)
        send_alone (play, id, track);
      else
        send_shared (play, id, track);
      play_next_head (play, track, FALSE);
    }
}

/* Of a held job's actor: a message that it sent, or that it waits for, is there. */
static void
one_less (Job *job, guint number, uint32_t actor)
{
  if (--job->left[actor] == 0 && job->begun[actor] && actor < job->spec.schedule->ranks)
    job->spec.done (job->spec.user, number, actor);
}

static inline Lane *
lane_of (const Job *job, uint32_t peer, uint32_t lane)
{
  return &job->lanes[(gsize) (peer < job->actors ? peer : peer % job->actors) * job->spec.schedule->lanes + lane];
}

static void
deliver (Play *play, uint32_t sent)
{
  const Sent what = *SENT (play, sent);
  const Track *track = TRACK (play, what.track);
  const guint number = track->job;
  Job *job = JOB (play, number);
  const uint32_t from = track->actor, peer = what.peer < job->actors ? what.peer : what.peer % job->actors;
  Lane *lane = lane_of (job, what.peer, what.lane);
  const Tick now = engine_now (play->engine);

  job->end = now;
  job->got[peer] += what.bytes;
  SENT (play, sent)->next = play->spare;
  play->spare = sent;
  lane->came++;
  if (lane->waiting != NOTHING && lane->came >= lane->wake)
    for (uint32_t id = lane->waiting, next = lane->waiting = NOTHING; id != NOTHING; id = next)
      {
        next = TRACK (play, id)->next_waiting;
        play_advance (play, id);
      }
  if (job->left == NULL)
    return;
  one_less (job, number, from);
  one_less (job, number, peer);
}

/* What a message's end will read is asked for some events before, each record once what
 * leads to it is there. */
enum { ASK_MESSAGE, ASK_TRACK, ASK_LANE, ASK_WAITING, ASK_STEPS };
#define ASK_AHEAD(step) (2 * (ASK_STEPS - (step)) - 1)   /* events */

static void
ask_track (const Play *play, uint32_t id)
{
  const char *track = (const char *) TRACK (play, id);

  for (gsize line = 0; line < sizeof (Track); line += 64)
    __builtin_prefetch (track + line);
}

static void
ask (const Play *play, uint32_t sent, guint step)
{
  const Sent *message = SENT (play, sent);

  if (step == ASK_MESSAGE)
    __builtin_prefetch (message);
  else if (step == ASK_TRACK)
    ask_track (play, message->track);
  else
    {
      const Lane *lane = lane_of (JOB (play, TRACK (play, message->track)->job), message->peer, message->lane);

      if (step == ASK_LANE)
        __builtin_prefetch (lane);
      else if (lane->waiting != NOTHING)
        ask_track (play, lane->waiting);
    }
}

static void
ask_for_ends (const Play *play)
{
  for (guint step = 0; step < ASK_STEPS; step++)
    {
      const Id activity = engine_ends_ahead (play->engine, ASK_AHEAD (step));
      const uint32_t sent = activity < play->of_activity->len ? g_array_index (play->of_activity, uint32_t, activity) : 0;

      if (sent == 0)
        continue;
      ask (play, sent - 1, step);
      if (step < NETWORK_ASK_STEPS)
        network_ask (play->network, activity, step);
    }
}

static void
ask_for_starts (const Play *play)
{
  uint32_t sent;

  for (guint step = ASK_MESSAGE; step <= ASK_TRACK; step++)
    if (engine_calls_ahead (play->engine, ASK_AHEAD (step), play->arm, &sent))
      ask (play, sent, step);
}

void
play_on_arrive (gpointer user, Engine *e, uint32_t sent)
{
  (void) e;
  deliver (user, sent);
}

void
play_on_arm (gpointer user, Engine *e, uint32_t sent)
{
  Play *play = user;

  (void) e;
  ask_for_starts (play);
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

gboolean
play_activity_ended (Play *play, Id activity)
{
  uint32_t sent = activity < play->of_activity->len ? g_array_index (play->of_activity, uint32_t, activity) : 0;
  Track *track;
  uint32_t id;

  if (sent-- == 0)   /* other traffic */
    return FALSE;
  ask_for_ends (play);
  g_array_index (play->of_activity, uint32_t, activity) = 0;
  id = SENT (play, sent)->track;
  track = TRACK (play, id);
  track->flowing = FALSE;
  track->first = SENT (play, sent)->next;
  if (play->watch != NULL)
    show (play, sent, track);
  deliver (play, sent);
  flow_first (play, track);
  if (track->unbound && track->first == NOTHING)
    play_advance (play, id);
  return TRUE;
}
