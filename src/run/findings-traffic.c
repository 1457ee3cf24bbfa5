/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/findings.h"
#include <math.h>

/* What others move over the job's links, and what it costs. */

/* A slower exchange by less is not said: calls with a rate of their own slow nobody. */
static const double nothing = 1e-3;

enum { KIND_STEADY, KIND_JOB, KIND_INPUT, KIND_CHECKPOINTS, N_KINDS };

static void
take_out (Traffic *traffic, guint kind)
{
  switch (kind)
    {
    case KIND_STEADY:
      traffic->n_steady = 0;
      break;
    case KIND_JOB:
      traffic->job_size = 0;
      break;
    case KIND_INPUT:
      traffic->input_size = 0;
      break;
    default:
      traffic->checkpoint_steps = 0;
    }
}

static gboolean
has (const Traffic *traffic, guint kind)
{
  const gboolean has[N_KINDS] = { traffic->n_steady > 0, traffic->job_size > 0, traffic->input_size > 0, traffic->checkpoint_steps > 0 };

  return has[kind];
}

/* Input that is not read from the storage comes as the scenario's [input] says. */
static gboolean
step_without (const Point *point, const RunOptions *options, guint kind, double *seconds, GError **error)
{
  const PlayedOptions how = { FALSE, TRUE, options->runs, options->seed };
  StepInput input = point->input;
  Traffic less = point->traffic;
  g_auto (Played) played = { 0 };

  take_out (&less, kind);
  input.traffic = &less;
  input.unfold = options->unfold;
  if (kind == KIND_INPUT)
    input.input = &point->scenario->input;
  if (!played_step (point, &input, &how, &played, error))
    return FALSE;
  *seconds = played.seconds;
  return TRUE;
}

gboolean
findings_traffic (Result *r, const Point *point, const RunOptions *options, GError **error)
{
  static const char *const subjects[N_KINDS] = { "what other flows move over the job's links costs", "the second job costs",
                                                 "reading the input from storage costs", "checkpoints cost" };

  for (guint kind = 0; kind < N_KINDS && point->input.traffic != NULL; kind++)
    {
      g_autofree char *share = NULL;
      double without;

      if (!has (&point->traffic, kind))
        continue;
      if (!step_without (point, options, kind, &without, error))
        return FALSE;
      share = findings_cost (r->step_time, without);
      findings_add (r, g_strdup_printf ("%s %s of the step", subjects[kind], share != NULL ? share : "nothing"));
    }
  return TRUE;
}

static void
add_job (Result *r, const Played *played, const Traffic *traffic)
{
  const double seconds = played->rare_job ? played->exchange.seconds : execution_exchange_seconds (played->x);
  g_autofree char *now = quantity_format (seconds, UNIT_TIME), *alone = quantity_format (traffic->job_seconds, UNIT_TIME);

  if (!isnan (seconds) && seconds > traffic->job_seconds * (1 + nothing))
    findings_add (r, g_strdup_printf ("the second job's exchange takes %s beside this one, %s alone", now, alone));
}

static void
add_checkpoint (Result *r, const Played *played, const Traffic *traffic, double cards)
{
  g_autofree char *size = quantity_format (traffic->checkpoint_size * cards, UNIT_BYTES);
  g_autofree char *written = quantity_format (played->written.seconds, UNIT_TIME), *delay = quantity_format (played->written.delay, UNIT_TIME);
  const gboolean late = !traffic->checkpoint_blocking && played->written.seconds > (double) traffic->checkpoint_steps * played->seconds * (1 - 1e-9);

  if (traffic->checkpoint_blocking)
    findings_add (r, g_strdup_printf ("a checkpoint of %s stops the GPUs for %s", size, written));
  else if (late)
    findings_add (r, g_strdup_printf ("a checkpoint of %s takes %s, longer than the steps between two: they wait for the storage", size, written));
  else if (played->written.delay > 0)
    findings_add (r, g_strdup_printf ("a checkpoint of %s is written in %s and delays the steps beside it by %s in all", size, written, delay));
  else
    findings_add (r, g_strdup_printf ("a checkpoint of %s is written in %s, between the collectives, and delays nothing", size, written));
}

void
findings_others (Result *r, const Played *played, double cards)
{
  const Traffic *traffic = execution_others (played->x);

  if (played->job || played->rare_job)
    add_job (r, played, traffic);
  if (traffic != NULL && traffic->checkpoint_steps > 0)
    add_checkpoint (r, played, traffic, cards);
}
