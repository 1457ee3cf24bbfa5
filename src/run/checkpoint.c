/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/checkpoint.h"
#include <math.h>

/* Steps that a checkpoint is watched for at most; beyond, the rest goes as those did. */
static const double most_watched = 200, least_watched = 4;

/* s that it delays the steps beside which it is written, from a start of its own, and
 * s until it is written.  Both runs start alike, so their difference is its doing. */
static gboolean
watch (Execution *x, const Traffic *traffic, double read, double step, double *delay, double *written, GError **error)
{
  const double alone = traffic->checkpoint_seconds / step;
  const guint steps = (guint) CLAMP (ceil (1.5 * alone) + 2, least_watched, most_watched);
  TrafficChoice choice = { .read = read };
  Tick without, when;
  double share;

  execution_traffic (x, &choice);
  if (!execution_run (x, steps, error))
    return FALSE;
  without = execution_end (x, steps - 1);
  choice.writes = TRUE;
  execution_traffic (x, &choice);
  if (!execution_run (x, steps, error))
    return FALSE;
  share = execution_written (x, &when);
  *delay = seconds_from_ticks (execution_end (x, steps - 1) - without) / share;
  *written = when > 0 ? seconds_from_ticks (when) : seconds_from_ticks (execution_end (x, steps - 1)) / share;
  return TRUE;
}

gboolean
checkpoint_watch (Played *played, const Traffic *traffic, GError **error)
{
  const double step = steady_seconds (&played->window);

  played->delay = played->written = traffic->checkpoint_seconds;
  if (traffic->checkpoint_blocking || !(step > 0))
    return TRUE;
  return watch (played->x, traffic, traffic->input_size / step, step, &played->delay, &played->written, error)
         && steady_run (played->x, &played->window, error);
}

/* A checkpoint starts once the one before it is written: where that takes longer than
 * the steps between them, these wait for the storage. */
void
checkpoint_add (Played *played, const Traffic *traffic)
{
  const double between = (double) traffic->checkpoint_steps;
  const double waits = traffic->checkpoint_blocking ? 0 : played->written - between * played->seconds;
  const Tick ticks = ticks_from_seconds (fmax (fmax (played->delay, waits), 0) / between * played->steps);

  played->ticks += ticks;
  played->seconds = seconds_from_ticks (played->ticks) / played->steps;
  if (played->ledger == NULL)
    return;
  played->ledger->to += ticks;
  played->ledger->cause[CAUSE_OTHER] += (RankTicks) ticks * played->ledger->world;
  played->ledger->path[CAUSE_OTHER] += ticks;
}
