/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/engine-private.h"

/* An engine's memory, and the error that stops it. */

G_DEFINE_QUARK (engine-error-quark, engine_error)

Engine *
engine_new (const EngineHooks *hooks, gpointer user)
{
  Engine *e = g_new0 (Engine, 1);

  if (hooks != NULL)
    e->hooks = *hooks;
  e->user = user;
  radix_heap_init (&e->heap);
  return e;
}

void
engine_free (Engine *e)
{
  if (e == NULL)
    return;
  radix_heap_finish (&e->heap);
  g_aligned_free (e->task.at);
  g_aligned_free (e->more.at);
  g_aligned_free (e->queue.at);
  g_aligned_free (e->edge.at);
  g_aligned_free (e->meeting.at);
  g_aligned_free (e->meeting_more.at);
  g_aligned_free (e->activity.at);
  g_aligned_free (e->spare.at);
  g_aligned_free (e->fresh.at);
  g_aligned_free (e->handler.at);
  g_clear_error (&e->error);
  g_free (e);
}

void
engine_reset (Engine *e)
{
  g_return_if_fail (!e->running);
  radix_heap_clear (&e->heap);
  e->task.n = e->more.n = e->queue.n = e->edge.n = 0;
  e->meeting.n = e->meeting_more.n = e->activity.n = e->spare.n = e->fresh.n = 0;
  e->now = 0;
  e->touched = e->adding = FALSE;
  e->ended = 0;
  e->events = 0;
  g_clear_error (&e->error);
}

void
engine_fail (Engine *e, EngineError code, const char *format, ...)
{
  va_list arguments;

  if (e->error != NULL)
    return;
  va_start (arguments, format);
  e->error = g_error_new_valist (ENGINE_ERROR, code, format, arguments);
  va_end (arguments);
}

void
engine_fail_number (Engine *e, const char *format, double number)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *message = g_strdup_printf (format, g_ascii_formatd (text, sizeof text, "%.9g", number));

  engine_fail (e, ENGINE_ERROR_AMOUNT, "%s", message);
}

void
engine_array_grow (gpointer *at, uint32_t n, uint32_t *room, gsize size, uint32_t wanted)
{
  gpointer more;

  g_assert (n + 1 < EVENT_INDEX);
  if (wanted <= *room)
    return;
  more = g_aligned_alloc (wanted, size, 64);
  if (*at != NULL)
    memcpy (more, *at, (n + 1) * size);
  g_aligned_free (*at);
  *at = more;
  *room = wanted;
}
