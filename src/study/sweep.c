/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/study.h"

/* Threads run ahead of the caller by at most this many points each: memory stays
 * small when one point takes long. */
static const guint ahead = 256;
static const guint most_jobs = 1024;
static const char *const no_keys[] = { NULL };

typedef struct { Result *result; GError *error; gboolean done; } Slot;

typedef struct
{
  const Scenario     *scenario;
  const SweepOptions *options;
  RunOptions          run;
  guint               n, window;
  GMutex              lock;     /* of all below */
  GCond               changed;
  guint               next;     /* the first point that no thread has taken */
  guint               taken;    /* points that the caller has got */
  gboolean            stop;
  Slot               *slots;    /* window of them; point i in slot i mod window */
} Sweep;

guint
sweep_jobs (guint jobs, guint n)
{
  if (jobs == 0)
    jobs = g_get_num_processors ();
  return CLAMP (jobs, 1, MIN (most_jobs, MAX (n, 1)));
}

static Result *
run_index (const Sweep *sweep, guint index, GError **error)
{
  g_autoptr (SetPoint) point = sets_at (sweep->scenario, no_keys, index);
  g_autoptr (Scenario) scenario = scenario_with (sweep->scenario, (const char *const *) point->sets, error);
  Result *result = scenario != NULL ? run_scenario (scenario, &sweep->run, error) : NULL;

  if (result == NULL)
    set_point_locate_error (sweep->scenario, point, error);
  return result;
}

/* Waits for room.  FALSE: nothing is left to do. */
static gboolean
take_index (Sweep *sweep, guint *index)
{
  gboolean ok;

  g_mutex_lock (&sweep->lock);
  while (!sweep->stop && sweep->next < sweep->n && sweep->next >= sweep->taken + sweep->window)
    g_cond_wait (&sweep->changed, &sweep->lock);
  ok = !sweep->stop && sweep->next < sweep->n;
  if (ok)
    *index = sweep->next++;
  g_mutex_unlock (&sweep->lock);
  return ok;
}

static void
work (G_GNUC_UNUSED gpointer job, gpointer user)
{
  Sweep *sweep = user;
  guint index;

  while (take_index (sweep, &index))
    {
      Slot slot = { .done = TRUE };

      slot.result = run_index (sweep, index, &slot.error);
      g_mutex_lock (&sweep->lock);
      sweep->slots[index % sweep->window] = slot;
      g_cond_broadcast (&sweep->changed);
      g_mutex_unlock (&sweep->lock);
    }
}

static Slot
wait_for (Sweep *sweep, guint index)
{
  Slot *slot = &sweep->slots[index % sweep->window], got;

  g_mutex_lock (&sweep->lock);
  while (!slot->done)
    g_cond_wait (&sweep->changed, &sweep->lock);
  got = *slot;
  *slot = (Slot) { 0 };
  sweep->taken = index + 1;
  g_cond_broadcast (&sweep->changed);
  g_mutex_unlock (&sweep->lock);
  return got;
}

/* Point after point to the caller, up to the first that fails. */
static gboolean
hand_over (Sweep *sweep, GError **error)
{
  const SweepOptions *options = sweep->options;

  for (guint i = 0; i < sweep->n; i++)
    {
      Slot slot = wait_for (sweep, i);
      g_autoptr (SetPoint) point = sets_at (sweep->scenario, no_keys, i);

      if (slot.result == NULL)
        {
          g_propagate_error (error, slot.error);
          return FALSE;
        }
      options->point (options->user, point, slot.result);
      result_free (slot.result);
      if (options->progress != NULL)
        options->progress (options->user, i + 1, sweep->n);
    }
  return TRUE;
}

static void
halt (Sweep *sweep)
{
  g_mutex_lock (&sweep->lock);
  sweep->stop = TRUE;
  g_cond_broadcast (&sweep->changed);
  g_mutex_unlock (&sweep->lock);
}

static void
sweep_clear (Sweep *sweep)
{
  for (guint i = 0; i < sweep->window; i++)
    {
      result_free (sweep->slots[i].result);
      g_clear_error (&sweep->slots[i].error);
    }
  g_free (sweep->slots);
  g_mutex_clear (&sweep->lock);
  g_cond_clear (&sweep->changed);
}

static gboolean
run_on (Sweep *sweep, guint jobs, GError **error)
{
  g_autoptr (GError) wrong = NULL;
  GThreadPool *pool = g_thread_pool_new (work, sweep, (int) jobs, TRUE, &wrong);
  gboolean ok;

  if (g_thread_pool_get_num_threads (pool) == 0)   /* fewer than asked for will do */
    {
      g_thread_pool_free (pool, TRUE, FALSE);
      g_propagate_error (error, g_steal_pointer (&wrong));
      return FALSE;
    }
  for (guint i = 0; i < jobs; i++)
    g_thread_pool_push (pool, GUINT_TO_POINTER (i + 1), NULL);
  ok = hand_over (sweep, error);
  halt (sweep);
  g_thread_pool_free (pool, FALSE, TRUE);
  return ok;
}

gboolean
study_sweep (const Scenario *scenario, const SweepOptions *options, GError **error)
{
  g_autoptr (Shelf) parts = shelf_new ();
  const guint n = sets_count (scenario, no_keys, error), jobs = sweep_jobs (options->jobs, n);
  Sweep sweep = { .scenario = scenario, .options = options, .run = options->run, .n = n, .window = jobs * ahead };
  gboolean ok;

  if (n == 0)
    return FALSE;
  sweep.run.parts = parts;
  sweep.slots = g_new0 (Slot, sweep.window);
  g_mutex_init (&sweep.lock);
  g_cond_init (&sweep.changed);
  ok = run_on (&sweep, jobs, error);
  sweep_clear (&sweep);
  return ok;
}
