/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/play-private.h"

/* Who uses a link: one, or several. */
static gboolean
use_links (Play *play, const Route *route, uint64_t user)
{
  for (guint i = 0; i < route->n; i++)
    {
      uint64_t *of = &play->user[route->load[i].link];

      *of = *of == 0 || *of == user ? user : SEVERAL;
    }
  return TRUE;
}

static gboolean
has_links (Play *play, const Route *route, uint64_t user)
{
  for (guint i = 0; i < route->n; i++)
    if (play->user[route->load[i].link] != user)
      return FALSE;
  return TRUE;
}

/* Every route of a track; stops at the first FALSE. */
static gboolean
each_route (Play *play, const PlayJob *spec, uint32_t actor, uint32_t number, uint64_t user,
            gboolean (*what) (Play *play, const Route *route, uint64_t user))
{
  const Schedule *s = spec->schedule;
  const Job job = { .spec = *spec };
  Message m;
  Route route;

  for (uint32_t step = 0; step < (s->one_peer ? 1 : s->steps); step++)
    if (schedule_message (s, actor, number, step, 0, &m))
      {
        fabric_route (play_fabric (play, &job), play_place (&job, actor), play_place (&job, m.peer), &route);
        if (!what (play, &route, user))
          return FALSE;
      }
  return TRUE;
}

/* In an engine of others: who sends, on which of its tracks, on which line. */
uint64_t
play_user_on_line (const PlayJob *spec, uint32_t actor, uint32_t number)
{
  const uint32_t place = spec->place != NULL ? spec->place[actor] : actor;

  return ((uint64_t) spec->line << 44 | (uint64_t) place << 20 | (number & 0xfffff)) + 1;
}

uint32_t
play_actors (const Play *play, const PlayJob *spec)
{
  if (fabric_folded (spec->fabric != NULL ? spec->fabric : play->fabric))
    return 1;
  return spec->played > 0 ? spec->played : spec->schedule->actors;
}

void
play_use_links (Play *play, const PlayJob *spec, uint32_t actor, uint32_t number, uint64_t user)
{
  each_route (play, spec, actor, number, user, use_links);
}

gboolean
play_has_links (Play *play, const PlayJob *spec, uint32_t actor, uint32_t number, uint64_t user)
{
  return each_route (play, spec, actor, number, user, has_links);
}

void
play_expect (Play *play, const PlayJob *spec)
{
  for (uint32_t actor = 0; actor < play_actors (play, spec); actor++)
    for (uint32_t t = 0; t < spec->schedule->tracks; t++)
      each_route (play, spec, actor, t, play_user_on_line (spec, actor, t), use_links);
}
