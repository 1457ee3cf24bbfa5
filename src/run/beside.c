/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/execute-private.h"

/* While a collective only waits for others its kernel spins on part of the
 * multiprocessors: half the effect. */
static double
kernel_rate (const ClassState *state)
{
  if (state->flying > 0)
    return 1 / state->slowdown;
  if (state->spinning > 0)
    return 1 / (1 + (state->slowdown - 1) / 2);
  return 1;
}

static ClassState *
changed (Execution *x, Id member)
{
  const guint index = execute_class (x, member);
  ClassState *state = &x->classes[index];

  if (state->changed)
    return state;
  state->changed = TRUE;
  g_array_append_val (x->changed, index);
  engine_touch (x->engine);
  return state;
}

void
beside_spins (Execution *x, Id member, double slowdown)
{
  ClassState *state = changed (x, member);

  state->slowdown = state->flying + state->spinning > 0 ? MAX (state->slowdown, slowdown) : slowdown;
  state->spinning++;
}

void
beside_met (Execution *x, Id member)
{
  changed (x, member)->spinning--;
}

void
beside_flies (Execution *x, Id member)
{
  changed (x, member)->flying++;
}

void
beside_ended (Execution *x, Id member)
{
  changed (x, member)->flying--;
}

void
beside_kernel (Execution *x, Id task)
{
  ClassState *state = &x->classes[execute_class (x, task)];

  state->kernel = engine_get_task (x->engine, task)->what;
  engine_set_rate (x->engine, state->kernel, kernel_rate (state));
}

void
beside_kernel_ended (Execution *x, Id task)
{
  x->classes[execute_class (x, task)].kernel = 0;
}

void
beside_instant (Execution *x)
{
  for (guint i = 0; i < x->changed->len; i++)
    {
      ClassState *state = &x->classes[g_array_index (x->changed, guint, i)];
      const double rate = kernel_rate (state);

      state->changed = FALSE;
      if (state->kernel != 0 && (engine_rate (x->engine, state->kernel) < rate || engine_rate (x->engine, state->kernel) > rate))
        engine_set_rate (x->engine, state->kernel, rate);
    }
  g_array_set_size (x->changed, 0);
}
