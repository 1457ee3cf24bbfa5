/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "engine/arena.h"
#include "engine/engine.h"
#include <math.h>
#include <string.h>

/* Runs of an engine, and when its tasks ran. */

static inline void
run_ok (Engine *e)
{
  g_autoptr (GError) error = NULL;

  engine_run (e, &error);
  g_assert_no_error (error);
}

static inline void
run_fails (Engine *e, EngineError code, const char *const *words)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (engine_run (e, &error));
  g_assert_error (error, ENGINE_ERROR, (gint) code);
  g_test_message ("%s", error->message);
  for (; *words != NULL; words++)
    if (strstr (error->message, *words) == NULL)
      g_error ("'%s' is not in: %s", *words, error->message);
}

#define assert_times(e, task, START, END) \
  G_STMT_START { \
    g_assert_cmpuint (engine_get_task ((e), (task))->start, ==, (START)); \
    g_assert_cmpuint (engine_get_task ((e), (task))->end, ==, (END)); \
  } G_STMT_END
