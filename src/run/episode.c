/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/episode.h"
#include <math.h>

/* Steps that one is watched for at most; beyond, the rest goes as those did. */
static const double most_watched = 200, least_watched = 4;
/* Rounds of a second job that the steps in a row must show. */
static const double least_rounds = 16;
/* Places in a step at which its exchange is let begin. */
static const guint starts = 4;

gboolean
episode_job (const Traffic *traffic, double step, guint runs)
{
  return traffic->job_size > 0 && traffic->job_seconds + traffic->job_compute > runs * step / least_rounds;
}

/* Two runs that start alike, so that their difference is its doing. */
static gboolean
watch (Execution *x, TrafficKind kind, const TrafficChoice *with, double alone, double step, Episode *out, GError **error)
{
  const guint steps = (guint) CLAMP (ceil (1.5 * (alone + with->job_wait) / step) + 2, least_watched, most_watched);
  const TrafficChoice quiet = { .read = with->read };
  Tick without, end, when;
  double share;

  execution_traffic (x, &quiet);
  if (!execution_run (x, steps, error))
    return FALSE;
  without = execution_end (x, steps - 1);
  execution_traffic (x, with);
  if (!execution_run (x, steps, error))
    return FALSE;
  end = execution_end (x, steps - 1);
  share = execution_moved (x, kind, &when);
  out->delay += seconds_from_ticks (end - without) / share;
  out->seconds += when > 0 ? seconds_from_ticks (when) - with->job_wait : (seconds_from_ticks (end) - with->job_wait) / share;
  return TRUE;
}

static gboolean
watch_job (Played *played, const Traffic *traffic, double step, GError **error)
{
  TrafficChoice with = { .read = traffic->input_size / step, .job = TRUE, .job_once = TRUE };

  for (guint i = 0; i < starts; i++)
    {
      with.job_wait = step * i / starts;
      if (!watch (played->x, TRAFFIC_JOB, &with, traffic->job_seconds, step, &played->exchange, error))
        return FALSE;
    }
  played->exchange.delay = fmax (played->exchange.delay / starts, 0);
  played->exchange.seconds /= starts;
  return TRUE;
}

gboolean
episode_watch (Played *played, const Traffic *traffic, GError **error)
{
  const double step = steady_seconds (&played->window);
  const TrafficChoice writes = { .read = traffic->input_size / step, .writes = TRUE };

  played->written = (Episode) { 0 };
  if (!(step > 0))
    return TRUE;
  if (traffic->checkpoint_steps > 0 && traffic->checkpoint_blocking)
    played->written = (Episode) { traffic->checkpoint_seconds, traffic->checkpoint_seconds };
  else if (traffic->checkpoint_steps > 0
           && !watch (played->x, TRAFFIC_CHECKPOINT, &writes, traffic->checkpoint_seconds, step, &played->written, error))
    return FALSE;
  if (played->rare_job && !watch_job (played, traffic, step, error))
    return FALSE;
  return steady_run (played->x, &played->window, error);
}

/* A checkpoint starts once the one before it is written: where that takes longer than
 * the steps between them, these wait for the storage. */
static double
checkpoint_share (const Played *played, const Traffic *traffic)
{
  const double between = (double) traffic->checkpoint_steps;
  const double waits = traffic->checkpoint_blocking ? 0 : played->written.seconds - between * played->seconds;

  return between > 0 ? fmax (fmax (played->written.delay, waits), 0) / between : 0;
}

/* A round of R s holds (R - delay)/step steps. */
static double
job_share (const Played *played, const Traffic *traffic)
{
  const double round = traffic->job_compute + played->exchange.seconds, delay = played->exchange.delay;

  return played->rare_job && round > delay ? played->seconds * delay / (round - delay) : 0;
}

void
episode_add (Played *played, const Traffic *traffic)
{
  const double share = checkpoint_share (played, traffic) + job_share (played, traffic);
  const Tick ticks = ticks_from_seconds (share * played->steps);

  played->ticks += ticks;
  played->seconds = seconds_from_ticks (played->ticks) / played->steps;
  if (played->ledger == NULL)
    return;
  played->ledger->to += ticks;
  played->ledger->cause[CAUSE_OTHER] += (RankTicks) ticks * played->ledger->world;
  played->ledger->path[CAUSE_OTHER] += ticks;
}
