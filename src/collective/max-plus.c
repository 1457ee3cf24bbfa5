/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/max-plus.h"
#include <math.h>

static gboolean
refuse (GError **error, const char *why)
{
  g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED, "the max-plus tier %s; give --tier message", why);
  return FALSE;
}

static uint32_t
place_of (const PlayJob *job, uint32_t actor)
{
  return job->place != NULL ? job->place[actor] : actor;
}

static Tick
latency_of (const PlayJob *job, const Route *route, double bytes, uint32_t actor)
{
  return ticks_from_seconds (route_delay (route, bytes, 1)) + (job->extra != NULL ? job->extra[actor] : 0);
}

static Tick
bytes_ticks (const Fabric *fabric, const Route *route, double bytes)
{
  const double rate = network_idle_rate (fabric_network (fabric), route->load, route->n, INFINITY);

  return isfinite (rate) ? engine_ticks (bytes, rate / TICKS_PER_S) : 0;
}

/* Each link has one track. */
static gboolean
nothing_shared (const Fabric *fabric, const PlayJob *job)
{
  const Schedule *s = job->schedule;
  g_autofree uint32_t *user = g_new0 (uint32_t, network_n_links (fabric_network (fabric)) + 1);
  const uint32_t actors = fabric_folded (fabric) ? 1 : s->actors;
  Message m;
  Route route;

  for (uint32_t i = 0; i < actors * s->tracks; i++)
    for (uint32_t step = 0; step < (s->one_peer ? 1 : s->steps); step++)
      {
        if (!schedule_message (s, i / s->tracks, i % s->tracks, step, 0, &m))
          continue;
        fabric_route (fabric, place_of (job, i / s->tracks), place_of (job, m.peer), &route);
        for (guint k = 0; k < route.n; k++)
          {
            uint32_t *of = &user[route.load[k].link];

            if (*of != 0 && *of != i + 1)
              return FALSE;
            *of = i + 1;
          }
      }
  return TRUE;
}

/* Whole numbers below 2^53 are exact in doubles, and two of them are one machine
 * word: the sums are the same to the tick. */
#define EXACT 0x1p53

/* One chunk: E'[i] = max (E[i - 1] + latency[i], E[i]) + ticks[i]; E'[-1] stands
 * before the first as the last rank's. */
static void
turn_once (const double *restrict before, double *restrict end, const double *restrict latency, const double *restrict ticks,
           uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    {
      const double came = before[i] + latency[i], own = before[i + 1];

      end[i + 1] = (came > own ? came : own) + ticks[i];
    }
  end[0] = end[n];
}

/* `end`, `other`: n + 1.  The last end, or one past EXACT. */
static double
turn_ring (double *end, double *other, const double *latency, const double *ticks, uint32_t n, uint32_t steps)
{
  double last = 0;

  for (uint32_t step = 1; step < steps; step++)
    {
      double *before = end;

      turn_once (before, other, latency, ticks, n);
      end = other;
      other = before;
    }
  for (uint32_t i = 1; i <= n; i++)
    last = MAX (last, end[i]);
  return last;
}

/* FALSE: past what doubles hold, 2.5 hours. */
static gboolean
ring (const Fabric *fabric, const PlayJob *job, Tick *out)
{
  const Schedule *s = job->schedule;
  const uint32_t n = s->ranks;
  g_autofree double *end = g_new (double, n + 1), *other = g_new (double, n + 1), *latency = g_new (double, n), *ticks = g_new (double, n);
  double last;

  for (uint32_t i = 0; i < n; i++)
    {
      Route route;

      fabric_route (fabric, place_of (job, i), place_of (job, (i + 1) % n), &route);
      latency[i] = (double) latency_of (job, &route, s->size / n / s->chunks, i);
      ticks[i] = (double) bytes_ticks (fabric, &route, s->size / n / s->chunks);
      end[i + 1] = (double) (job->start != NULL ? job->start[i] : 0) + latency[i] + ticks[i];
    }
  end[0] = end[n];
  last = turn_ring (end, other, latency, ticks, n, s->steps);
  *out = last < EXACT ? (Tick) last : 0;
  return last < EXACT;
}

/* Any other: tracks in whatever order their messages become known, with the time of
 * every count of a lane.  Only for lanes that one track fills, in order. */
typedef struct { Message head; uint32_t step, chunk; Tick issued, free; gboolean open; } Walk;
typedef struct { GArray *came; uint32_t feeder, waiting; } WalkLane;   /* Ticks by count; track + 1 */

typedef struct
{
  const Fabric  *fabric;
  const PlayJob *job;
  Walk     *walks;
  WalkLane *lanes;
  uint32_t *next;      /* by track: the next that waits at the same lane, + 1 */
  GArray   *ready;     /* tracks to look at */
  Tick      end;
  gboolean  mixed;     /* a lane that several fill */
} Walker;

static gboolean
head (Walker *w, uint32_t id)
{
  const Schedule *s = w->job->schedule;
  Walk *walk = &w->walks[id];

  for (; walk->step < s->steps; schedule_next (s, &walk->step, &walk->chunk))
    if (schedule_message (s, id / s->tracks, id % s->tracks, walk->step, walk->chunk, &walk->head))
      return TRUE;
  walk->open = FALSE;
  return FALSE;
}

static void
came (Walker *w, const Message *m, uint32_t id, Tick end)
{
  WalkLane *lane = &w->lanes[(gsize) m->peer * w->job->schedule->lanes + m->lane];

  if (lane->feeder != 0 && lane->feeder != id + 1)
    w->mixed = TRUE;
  lane->feeder = id + 1;
  if (lane->came == NULL)
    lane->came = g_array_new (FALSE, FALSE, sizeof (Tick));
  g_array_append_val (lane->came, end);
  for (uint32_t waits = lane->waiting; waits != 0; waits = w->next[waits - 1])
    {
      const uint32_t track = waits - 1;

      g_array_append_val (w->ready, track);
    }
  lane->waiting = 0;
  w->end = MAX (w->end, end);
}

static void
walk_on (Walker *w, uint32_t id)
{
  const Schedule *s = w->job->schedule;
  const uint32_t actor = id / s->tracks;
  Walk *walk = &w->walks[id];

  while (head (w, id))
    {
      Tick issued = walk->issued;
      Route route;

      for (guint i = 0; i < MESSAGE_WAITS && walk->head.after[i].count > 0; i++)
        {
          WalkLane *lane = &w->lanes[(gsize) actor * s->lanes + walk->head.after[i].lane];

          if (lane->came == NULL || lane->came->len < walk->head.after[i].count)
            {
              w->next[id] = lane->waiting;
              lane->waiting = id + 1;
              return;
            }
          issued = MAX (issued, g_array_index (lane->came, Tick, walk->head.after[i].count - 1));
        }
      fabric_route (w->fabric, place_of (w->job, actor), place_of (w->job, walk->head.peer), &route);
      walk->issued = issued;
      walk->free = MAX (issued + latency_of (w->job, &route, walk->head.bytes, actor), walk->free) + bytes_ticks (w->fabric, &route, walk->head.bytes);
      schedule_next (s, &walk->step, &walk->chunk);
      came (w, &walk->head, id, walk->free);
    }
}

static gboolean
walk_all (const Fabric *fabric, const PlayJob *job, Tick *end, GError **error)
{
  const Schedule *s = job->schedule;
  const uint32_t n = s->actors * s->tracks;
  Walker w = { .fabric = fabric, .job = job, .walks = g_new0 (Walk, n), .next = g_new0 (uint32_t, n),
               .lanes = g_new0 (WalkLane, (gsize) s->actors * s->lanes), .ready = g_array_new (FALSE, FALSE, sizeof (uint32_t)) };
  gboolean open = FALSE;

  for (uint32_t i = 0; i < n; i++)
    {
      w.walks[i] = (Walk) { .open = TRUE, .issued = job->start != NULL ? job->start[i / s->tracks] : 0 };
      walk_on (&w, i);
    }
  while (w.ready->len > 0)
    {
      const uint32_t id = g_array_index (w.ready, uint32_t, w.ready->len - 1);

      g_array_set_size (w.ready, w.ready->len - 1);
      walk_on (&w, id);
    }
  for (uint32_t i = 0; i < n; i++)
    open |= w.walks[i].open;
  for (gsize i = 0; i < (gsize) s->actors * s->lanes; i++)
    if (w.lanes[i].came != NULL)
      g_array_unref (w.lanes[i].came);
  *end = w.end;
  g_free (w.walks);
  g_free (w.next);
  g_free (w.lanes);
  g_array_unref (w.ready);
  if (w.mixed || open)
    return refuse (error, w.mixed ? "cannot tell apart what several send to one place" : "found ranks that wait for ever");
  return TRUE;
}

gboolean
max_plus_run (const Fabric *fabric, gboolean apart, const PlayJob *job, Tick *end, GError **error)
{
  const Schedule *s = job->schedule;

  g_return_val_if_fail (!fabric_folded (fabric), FALSE);
  if (!apart && !nothing_shared (fabric, job))
    return refuse (error, "is for rings and pipelines whose messages share no link; here some do");
  if (s->steps_of == &ring_steps && s->op != OP_BROADCAST && s->chunks == 1 && ring (fabric, job, end))
    return TRUE;
  return walk_all (fabric, job, end, error);
}
