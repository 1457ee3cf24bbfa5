/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/execute-private.h"
#include <math.h>

/* What others move while the steps run: flows that never end, a second job that
 * moves and computes in turn, input that is read ahead, a checkpoint that is
 * written.  All of it shares the links with the job's own calls. */

/* A flow without end is started again after so many seconds at its full rate. */
static const double refill = 1e3;

typedef struct
{
  const TrafficFlow *flow;
  Id     activity;              /* 0: it moves nothing now */
  double amount, moved;         /* bytes of one of its flows: asked for now, moved before */
  Tick   first;                 /* when its first amount was moved; 0: not yet */
} Mover;

struct TrafficRun
{
  const Traffic *what;
  TrafficChoice  choice;
  Mover   mover[TRAFFIC_STEADY + G_N_ELEMENTS (((Traffic *) NULL)->steady)];
  guint   n_movers;
  Id      computed;             /* handler: the second job's kernels are done */
  guint64 rounds;               /* its exchanges that are over, and what they took */
  Tick    exchanged, exchange_start;
};

static void
move (Execution *x, Mover *mover, double amount, double rate)
{
  const TrafficFlow *flow = mover->flow;

  mover->amount = amount / flow->flows;
  mover->activity = network_start (x->network, 0, mover->amount, rate / flow->flows, flow->flows, flow->load, flow->n_loads);
}

static void
keep_moving (Execution *x, Mover *mover, double rate)
{
  const double most = network_link (x->links, mover->flow->load[0].link)->capacity;

  move (x, mover, fmin (rate, most) * refill, rate);
}

static void
exchange (gpointer user, Engine *e, uint32_t argument)
{
  Execution *x = user;
  TrafficRun *run = x->traffic;

  (void) argument;
  run->exchange_start = engine_now (e);
  move (x, &run->mover[TRAFFIC_JOB], run->what->job_size, run->what->job.rate);
}

void
traffic_init (Execution *x)
{
  const Traffic *what = x->ideal_network ? NULL : x->graph->traffic;
  TrafficRun *run;

  if (what == NULL)
    return;
  run = x->traffic = g_new0 (TrafficRun, 1);
  run->what = what;
  run->mover[TRAFFIC_JOB].flow = &what->job;
  run->mover[TRAFFIC_INPUT].flow = &what->input;
  run->mover[TRAFFIC_CHECKPOINT].flow = &what->checkpoint;
  for (guint i = 0; i < what->n_steady; i++)
    run->mover[TRAFFIC_STEADY + i].flow = &what->steady[i];
  run->n_movers = TRAFFIC_STEADY + what->n_steady;
  run->computed = engine_handler (x->engine, exchange, x);
  engine_background (x->engine, TRUE);
}

void
traffic_start (Execution *x)
{
  TrafficRun *run = x->traffic;

  if (run == NULL)
    return;
  run->rounds = 0;
  run->exchanged = 0;
  for (guint i = 0; i < run->n_movers; i++)
    run->mover[i] = (Mover) { .flow = run->mover[i].flow };
  for (guint i = 0; i < run->what->n_steady; i++)
    keep_moving (x, &run->mover[TRAFFIC_STEADY + i], run->what->steady[i].rate);
  if (run->choice.read > 0)
    keep_moving (x, &run->mover[TRAFFIC_INPUT], run->choice.read);
  if (run->choice.job && run->what->job_size > 0)
    engine_at (x->engine, MAX (ticks_from_seconds (run->choice.job_wait), 0), run->computed, 0);
  if (run->choice.writes && run->what->checkpoint_size > 0)
    move (x, &run->mover[TRAFFIC_CHECKPOINT], run->what->checkpoint_size, run->what->checkpoint.rate);
}

static void
moved (Execution *x, guint which)
{
  TrafficRun *run = x->traffic;
  Mover *mover = &run->mover[which];

  mover->moved += mover->amount;
  mover->activity = 0;
  if (mover->first == 0)
    mover->first = engine_now (x->engine);
  if (which == TRAFFIC_JOB)
    {
      run->rounds++;
      run->exchanged += engine_now (x->engine) - run->exchange_start;
      if (!run->choice.job_once)
        engine_at (x->engine, engine_now (x->engine) + MAX (ticks_from_seconds (run->what->job_compute), 0), run->computed, 0);
    }
  else if (which != TRAFFIC_CHECKPOINT)
    keep_moving (x, mover, which == TRAFFIC_INPUT ? run->choice.read : mover->flow->rate);
}

void
traffic_activity_ended (Execution *x, Id activity)
{
  for (guint i = 0; x->traffic != NULL && i < x->traffic->n_movers; i++)
    if (x->traffic->mover[i].activity == activity)
      {
        moved (x, i);
        return;
      }
}

static gboolean
crosses (const Mover *mover, Id link)
{
  for (guint i = 0; mover->activity != 0 && i < mover->flow->n_loads; i++)
    if (mover->flow->load[i].link == link)
      return TRUE;
  return FALSE;
}

/* Max-min: those that ask for less than an equal share have it, the others what is left
 * in equal parts. */
double
traffic_left (const Execution *x, Id link)
{
  const double capacity = network_link (x->links, link)->capacity;
  double share = 0, before;

  if (x->traffic == NULL)
    return 1;
  do
    {
      double flows = 1, left = capacity;

      before = share;
      for (guint i = 0; i < x->traffic->n_movers; i++)
        {
          const Mover *mover = &x->traffic->mover[i];
          const double rate = crosses (mover, link) ? (i == TRAFFIC_INPUT ? x->traffic->choice.read : mover->flow->rate) / mover->flow->flows : 0;

          if (rate > 0 && rate <= before)
            left -= rate * mover->flow->flows;
          else if (rate > 0)
            flows += mover->flow->flows;
        }
      share = left / flows;
    }
  while (share > before * (1 + 1e-12));
  return share / capacity;
}

/* Bytes of one of its equal flows so far. */
static double
bytes_of (const Execution *x, const Mover *mover)
{
  return mover->moved + (mover->activity != 0 ? mover->amount - engine_left (x->engine, mover->activity) : 0);
}

double
execution_traffic_bytes (const Execution *x, Id link)
{
  double bytes = 0;

  for (guint i = 0; x->traffic != NULL && i < x->traffic->n_movers; i++)
    {
      const Mover *mover = &x->traffic->mover[i];

      for (guint k = 0; mover->flow != NULL && k < mover->flow->n_loads; k++)
        if (mover->flow->load[k].link == link)
          bytes += bytes_of (x, mover) * mover->flow->flows;
    }
  return bytes;
}

void
execution_traffic (Execution *x, const TrafficChoice *choice)
{
  if (x->traffic != NULL)
    x->traffic->choice = *choice;
}

const Traffic *
execution_others (const Execution *x)
{
  return x->traffic != NULL ? x->traffic->what : NULL;
}

double
execution_exchange_seconds (const Execution *x)
{
  const TrafficRun *run = x->traffic;

  return run != NULL && run->rounds > 0 ? seconds_from_ticks (run->exchanged) / (double) run->rounds : NAN;
}

double
execution_moved (const Execution *x, TrafficKind kind, Tick *when)
{
  const Mover *mover = &x->traffic->mover[kind];

  *when = mover->first;
  return mover->first > 0 ? 1 : bytes_of (x, mover) / mover->amount;
}
