/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <unistd.h>

#include "cli/cli.h"

/* Until then nobody wonders: at a terminal, and reading a log. */
static const gint64 patience = 2 * G_USEC_PER_SEC, patience_of_log = 20 * G_USEC_PER_SEC;

struct Notice
{
  Call       *call;
  GThread    *thread;
  GMutex      lock;
  GCond       ended;
  gboolean    done;
};

static gpointer
wait_long (gpointer user)
{
  Notice *notice = user;
  const gint64 end = g_get_monotonic_time () + (isatty (STDERR_FILENO) ? patience : patience_of_log);
  const char *doing;
  gboolean late = FALSE;

  g_mutex_lock (&notice->lock);
  while (!notice->done && !late)
    late = !g_cond_wait_until (&notice->ended, &notice->lock, end);
  late = !notice->done;
  g_mutex_unlock (&notice->lock);
  doing = g_atomic_pointer_get (&notice->call->doing);
  if (late)
    call_remark (notice->call, "still at work%s%s; the results come all at once", doing != NULL ? ": " : "", doing != NULL ? doing : "");
  return NULL;
}

Notice *
notice_new (Call *call)
{
  Notice *notice;

  if (call->options.quiet || call->command->progress)
    return NULL;
  notice = g_new0 (Notice, 1);
  notice->call = call;
  g_mutex_init (&notice->lock);
  g_cond_init (&notice->ended);
  notice->thread = g_thread_new ("notice", wait_long, notice);
  return notice;
}

void
notice_free (Notice *notice)
{
  if (notice == NULL)
    return;
  g_mutex_lock (&notice->lock);
  notice->done = TRUE;
  g_cond_signal (&notice->ended);
  g_mutex_unlock (&notice->lock);
  g_thread_join (notice->thread);
  g_mutex_clear (&notice->lock);
  g_cond_clear (&notice->ended);
  g_free (notice);
}
