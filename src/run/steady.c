/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/steady.h"
#include <math.h>

/* Of the rate of input between two rounds. */
static const double agreed = 1e-6;
/* A first try that most steps settle in, and the last one. */
static const guint few_steps = 3, most_steps = 12, mean_of = 8;

static Tick
length (const Execution *x, guint step)
{
  return execution_end (x, step) - (step == 0 ? 0 : execution_end (x, step - 1));
}

static gboolean
find_equal (const Execution *x, Window *out)
{
  for (guint k = 2; k < execution_steps (x); k++)
    {
      if (length (x, k) != length (x, k - 1))
        continue;
      *out = (Window) { .from = execution_end (x, k - 1), .to = execution_end (x, k), .first = k, .n = 1, .steady = TRUE };
      return TRUE;
    }
  return FALSE;
}

static gboolean
settle (Execution *x, Window *out, GError **error)
{
  if (!execution_run (x, few_steps, error))
    return FALSE;
  if (find_equal (x, out))
    return TRUE;
  if (!execution_run (x, most_steps, error))
    return FALSE;
  if (!find_equal (x, out))
    *out = (Window) { .from = execution_end (x, most_steps - mean_of - 1), .to = execution_end (x, most_steps - 1),
                      .first = most_steps - mean_of, .n = mean_of };
  return TRUE;
}

double
steady_seconds (const Window *window)
{
  return seconds_from_ticks (window->to - window->from) / window->n;
}

/* Input is read at the rate at which the steps use it up, and slows them: some rounds
 * of one and the other agree. */
gboolean
steady_run (Execution *x, Window *out, GError **error)
{
  const Traffic *others = execution_others (x);
  const guint most = others != NULL && others->input_size > 0 ? 16 : 0;
  TrafficChoice choice = { 0 };

  execution_traffic (x, &choice);
  if (!settle (x, out, error))
    return FALSE;
  for (guint i = 0; i < most && steady_seconds (out) > 0; i++)
    {
      const double before = choice.read;

      choice.read = others->input_size / steady_seconds (out);
      if (fabs (choice.read - before) <= agreed * choice.read)
        break;
      execution_traffic (x, &choice);
      if (!settle (x, out, error))
        return FALSE;
    }
  return TRUE;
}
