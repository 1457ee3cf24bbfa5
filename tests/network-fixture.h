/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "network/network.h"
#include <math.h>
#include <string.h>

/* Transfers over a small network, and when each ended. */

#define TICKS_PER_S 1e12

/* Transfers that start at given times, and when each ended. */
#define MAX_FLOWS 64
#define MAX_LOADS 8

typedef struct
{
  Tick     start;
  double   size, cap, weight;   /* 0: no cap, weight 1 */
  LinkLoad load[MAX_LOADS];     /* efficiency 0: 1 */
} Flow;

typedef struct
{
  Network    *network;
  Engine     *e;
  NetworkRun *run;
  Flow        flow[MAX_FLOWS];
  guint       n;
  Id          activity[MAX_FLOWS];
  Tick        end[MAX_FLOWS];
  double      rate[MAX_FLOWS];   /* after the first instant, bytes/s */
  gboolean    rated;
  Id          start_handler, scale_handler;
  double      factor;            /* of link 1, by scale_handler */
} Play;

static inline void
on_end (gpointer user, Engine *e, Id activity)
{
  Play *play = user;

  for (guint i = 0; i < play->n; i++)
    if (play->activity[i] == activity)
      {
        play->end[i] = engine_now (e);
        play->activity[i] = 0;   /* another's from now on */
      }
  network_end (play->run, activity);
}

static inline void
on_instant (gpointer user, Engine *e)
{
  Play *play = user;

  network_run_instant (play->run);
  for (guint i = 0; i < play->n && !play->rated; i++)
    play->rate[i] = play->activity[i] != 0 ? engine_rate (e, play->activity[i]) * TICKS_PER_S : 0;
  play->rated = TRUE;
}

static inline void
start_flow (gpointer user, Engine *e, uint32_t i)
{
  Play *play = user;
  const Flow *flow = &play->flow[i];
  LinkLoad loads[MAX_LOADS];
  guint n = 0;

  (void) e;
  for (; n < MAX_LOADS && flow->load[n].link != 0; n++)
    {
      loads[n] = flow->load[n];
      if (!(loads[n].efficiency > 0))
        loads[n].efficiency = 1;
    }
  play->activity[i] = network_start (play->run, 0, flow->size, flow->cap > 0 ? flow->cap : INFINITY,
                                     flow->weight > 0 ? flow->weight : 1, loads, n);
}

static inline void
scale_first (gpointer user, Engine *e, uint32_t argument)
{
  Play *play = user;

  (void) e;
  (void) argument;
  network_run_scale (play->run, 1, play->factor);
}

static inline void
play_init (Play *play, const double *capacities, guint n_links)
{
  const EngineHooks hooks = { .on_end = on_end, .on_instant = on_instant };

  *play = (Play) { .network = network_new () };
  for (guint i = 0; i < n_links; i++)
    {
      g_autofree char *name = g_strdup_printf ("link%u", i + 1);

      g_assert_cmpuint (network_add (play->network, name, capacities[i], 0, 1, FALSE), ==, i + 1);
    }
  play->e = engine_new (&hooks, play);
  play->run = network_run_new (play->network, play->e, TICKS_PER_S);
  play->start_handler = engine_handler (play->e, start_flow, play);
  play->scale_handler = engine_handler (play->e, scale_first, play);
}

static inline void
play_clear (Play *play)
{
  network_run_free (play->run);
  engine_free (play->e);
  network_free (play->network);
}

/* `order` (or NULL): the order in which flows of one instant start. */
static inline void
play_run (Play *play, const Flow *flows, guint n, const guint *order, Tick offset)
{
  g_autoptr (GError) error = NULL;

  play->n = n;
  play->rated = FALSE;
  for (guint i = 0; i < n; i++)
    {
      play->flow[i] = flows[i];
      play->activity[i] = 0;
      play->end[i] = 0;
    }
  for (guint i = 0; i < n; i++)
    {
      const guint flow = order != NULL ? order[i] : i;

      engine_at (play->e, offset + flows[flow].start, play->start_handler, flow);
    }
  engine_run (play->e, &error);
  g_assert_no_error (error);
}

static inline void
assert_ticks (Tick got, double expected)
{
  /* Ends are rounded up, and HALF is a third of a tick off. */
  g_assert_cmpfloat_with_epsilon ((double) got, expected, 1.5);
}

#define SIZE 2.385e7
#define WIRE 1.7e9
#define ALONE (SIZE / WIRE * TICKS_PER_S)   /* T = 14029411764.7 */
#define HALF ((Tick) 7014705882)            /* T/2 */
