/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/engine-private.h"

/* Activities: what is left of them, at which rate since when.  A new rate is a new
 * event; the old one is known by its generation and dropped. */

void
engine_fill_activity (Engine *e, Id id, double amount, uint32_t owner)
{
  if (!(amount >= 0))
    engine_fail_number (e, "an activity cannot have %s units to do", amount);
  e->activity.at[id] = (Activity) { .left = amount, .since = TICK_NEVER, .owner = owner };
}

Id
engine_activity (Engine *e, double amount, Id meeting)
{
  g_return_val_if_fail (meeting <= e->meeting.n, 0);

  /* events of the one that had the number before are of an older generation */
  const Id id = e->spare.n > 0 ? e->spare.at[e->spare.n--] : ARRAY_ADD (&e->activity);
  const uint32_t generation = e->activity.at[id].generation + 1;

  engine_fill_activity (e, id, amount, meeting);
  e->activity.at[id].since = e->now;
  e->activity.at[id].generation = generation;
  return id;
}

/* A thousandth of a tick is the rounding of the rates, not work left over. */
#define TICK_SLACK 0x1p-10

Tick
engine_ticks (double amount, double rate)
{
  const double ticks = amount / rate - TICK_SLACK;

  if (!(ticks < 0x1p63))
    return TICK_NEVER;
  if (!(ticks > 0))
    return 0;

  const Tick whole = (Tick) (int64_t) ticks;

  return (double) whole < ticks ? whole + 1 : whole;
}

static inline gboolean
same (double a, double b)
{
  return a <= b && a >= b;
}

static double
left_now (const Engine *e, const Activity *a)
{
  if (a->since == TICK_NEVER || e->now == a->since || !(a->rate > 0))
    return a->left;
  return MAX (0.0, a->left - a->rate * (double) (e->now - a->since));
}

void
engine_set_rate (Engine *e, Id activity, double rate)
{
  g_return_if_fail (activity > 0 && activity <= e->activity.n);

  Activity *a = &e->activity.at[activity];

  if (a->since == TICK_NEVER)
    return;
  if (G_UNLIKELY (!(rate >= 0)))
    {
      engine_fail_number (e, "an activity cannot run at %s units a tick", rate);
      return;
    }
  /* Its event stands already, and stays right to the last bit. */
  if (rate > 0 && same (rate, a->rate))
    return;
  a->left = left_now (e, a);
  a->since = e->now;
  a->rate = rate;
  a->generation++;
  if (!(a->left > 0))
    engine_push (e, e->now, EVENT_ACTIVITY, activity, a->generation);
  else if (rate > 0)
    engine_push_after (e, engine_ticks (a->left, rate), EVENT_ACTIVITY, activity, a->generation);
}

void
engine_cancel (Engine *e, Id activity)
{
  g_return_if_fail (activity > 0 && activity <= e->activity.n);

  Activity *a = &e->activity.at[activity];

  a->left = left_now (e, a);
  a->rate = 0;
  a->since = TICK_NEVER;
  a->generation++;
}

double
engine_rate (const Engine *e, Id activity)
{
  g_return_val_if_fail (activity > 0 && activity <= e->activity.n, 0);
  return e->activity.at[activity].rate;
}

double
engine_left (const Engine *e, Id activity)
{
  g_return_val_if_fail (activity > 0 && activity <= e->activity.n, 0);
  return left_now (e, &e->activity.at[activity]);
}

Id
engine_activity_task (const Engine *e, Id activity)
{
  g_return_val_if_fail (activity > 0 && activity <= e->activity.n, 0);

  const uint32_t owner = e->activity.at[activity].owner;

  return owner & OWNER_TASK ? owner & ~OWNER_TASK : 0;
}
