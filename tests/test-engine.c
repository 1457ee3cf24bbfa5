/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine-fixture.h"

/* Tasks on queues, their order, timers, and the memory of a run. */

/* A host issues three kernels, 5 ticks each; a kernel takes 7, 2 and 1.  Launches
 * at 5, 10, 15; kernels 5-12, 12-14, 15-16: the second waits for the stream, the
 * third for the host. */
static void
test_queues (void)
{
  static const Tick work[] = { 7, 2, 1 };
  g_autoptr (Engine) e = engine_new (NULL, NULL);
  const Id host = engine_queue (e), stream = engine_queue (e);
  Id issue[3], kernel[3];

  for (guint i = 0; i < 3; i++)
    {
      issue[i] = engine_task_fixed (e, host, 5, 0, 0);
      kernel[i] = engine_task_fixed (e, stream, work[i], 0, 0);
      engine_edge (e, issue[i], kernel[i]);
    }
  run_ok (e);
  assert_times (e, kernel[0], 5, 12);
  assert_times (e, kernel[1], 12, 14);
  assert_times (e, kernel[2], 15, 16);
  g_assert_cmpuint (engine_get_task (e, kernel[1])->ready, ==, 10);
  g_assert_cmpuint (engine_get_task (e, kernel[0])->last, ==, issue[0]);
  g_assert_cmpuint (engine_get_task (e, kernel[1])->last, ==, kernel[0]);
  g_assert_cmpuint (engine_get_task (e, kernel[2])->last, ==, issue[2]);
  g_assert_cmpuint (engine_get_task (e, issue[0])->last, ==, 0);
  g_assert_cmpuint (engine_queue_first (e, stream), ==, kernel[0]);
  g_assert_cmpuint (engine_get_task (e, kernel[0])->next, ==, kernel[1]);
  g_assert_cmpuint (engine_now (e), ==, 16);
}

/* A head that is not ready blocks those behind it; queue 0 blocks nobody. */
static void
test_order (void)
{
  g_autoptr (Engine) e = engine_new (NULL, NULL);
  const Id stream = engine_queue (e);
  const Id slow = engine_task_fixed (e, 0, 100, 0, 0);
  const Id head = engine_task_fixed (e, stream, 3, 0, 0);
  const Id behind = engine_task_fixed (e, stream, 4, 0, 0);
  const Id free_one = engine_task_fixed (e, 0, 4, 0, 0);

  engine_edge (e, slow, head);
  engine_edge (e, slow, free_one);
  run_ok (e);
  assert_times (e, head, 100, 103);
  assert_times (e, behind, 103, 107);
  assert_times (e, free_one, 100, 104);
}

/* Two predecessors end at 9; the lower id is the critical one, whichever is first
 * in the graph. */
static void
test_last_ties (void)
{
  g_autoptr (Engine) e = engine_new (NULL, NULL);
  const Id low = engine_task_fixed (e, 0, 9, 0, 0);
  const Id high = engine_task_fixed (e, 0, 9, 0, 0);
  const Id early = engine_task_fixed (e, 0, 8, 0, 0);
  const Id after = engine_task_fixed (e, 0, 1, 0, 0);

  engine_edge (e, high, after);
  engine_edge (e, early, after);
  engine_edge (e, low, after);
  run_ok (e);
  g_assert_cmpuint (engine_get_task (e, after)->last, ==, low);
}

/* A million tasks of no length, one behind the other over edges and a queue: no
 * time passes and no stack is used up. */
static void
test_zero_length (void)
{
  g_autoptr (Engine) e = engine_new (NULL, NULL);
  const Id queue = engine_queue (e);
  const guint n = 1000000;
  Id before = engine_task_fixed (e, 0, 13, 0, 0);

  for (guint i = 1; i < n; i++)
    {
      const Id task = i % 3 == 2 ? engine_task_meet (e, queue, engine_meeting (e, 0, 1), 0, 0)
                      : i % 3 == 1 ? engine_task_rated (e, queue, 0, 0, 0)
                                   : engine_task_fixed (e, i % 2 ? 0 : queue, 0, 0, 0);

      engine_edge (e, before, task);
      before = task;
    }
  run_ok (e);
  assert_times (e, before, 13, 13);
}

static void
test_overflow (void)
{
  g_autoptr (Engine) e = engine_new (NULL, NULL);
  const Id queue = engine_queue (e);
  static const char *const words[] = { "2^63", NULL };

  engine_task_fixed (e, queue, (Tick) 5 << 60, 0, 0);
  engine_task_fixed (e, queue, (Tick) 5 << 60, 0, 0);
  run_fails (e, ENGINE_ERROR_TIME, words);
  engine_reset (e);
  engine_task_rated (e, 0, 1e30, 0, 0);
  run_fails (e, ENGINE_ERROR_TIME, words);
}

/* What a hook adds runs as well: each task that ends builds the next, five times
 * 7 ticks, and a predecessor that has ended holds nobody up. */
typedef struct { guint left; Id previous; } Chain;

static void
add_next (gpointer user, Engine *e, Id meeting)
{
  Chain *chain = user;

  (void) meeting;
  if (chain->left-- == 0)
    return;

  const Id work = engine_task_fixed (e, 1, 7, 0, 0);
  const Id end = engine_task_meet (e, 2, engine_meeting (e, 0, 1), 0, 0);

  engine_edge (e, work, end);
  if (chain->previous != 0)
    engine_edge (e, chain->previous, work);
  chain->previous = work;
}

static void
test_added_in_the_run (void)
{
  const EngineHooks hooks = { .on_meeting_end = add_next };
  Chain chain = { .left = 5 };
  g_autoptr (Engine) e = engine_new (&hooks, &chain);

  engine_queue (e);
  engine_queue (e);
  engine_task_meet (e, 2, engine_meeting (e, 0, 1), 0, 0);
  run_ok (e);
  g_assert_cmpuint (engine_now (e), ==, 35);
  g_assert_cmpuint (engine_n_tasks (e), ==, 11);
  /* And after the run: 4 ticks more. */
  engine_task_fixed (e, 1, 4, 0, 0);
  run_ok (e);
  assert_times (e, 12, 35, 39);
}

/* on_instant: once for all that touched at an instant, after the last of its events. */
typedef struct { GString *log; Id handler; } Instants;

static void
touch (gpointer user, Engine *e, uint32_t argument)
{
  Instants *this = user;

  g_string_append_printf (this->log, "%u ", argument);
  engine_touch (e);
  if (argument == 3)
    engine_at (e, engine_now (e), this->handler, 4);
}

static void
instant (gpointer user, Engine *e)
{
  Instants *this = user;

  g_string_append_printf (this->log, "[%" G_GUINT64_FORMAT "] ", engine_now (e));
}

static void
test_instants (void)
{
  const EngineHooks hooks = { .on_instant = instant };
  Instants this = { .log = g_string_new (NULL) };
  g_autoptr (Engine) e = engine_new (&hooks, &this);

  this.handler = engine_handler (e, touch, &this);
  engine_at (e, 30, this.handler, 3);
  engine_at (e, 10, this.handler, 1);
  engine_at (e, 30, this.handler, 9);
  engine_at (e, 10, this.handler, 2);
  run_ok (e);
  g_assert_cmpstr (this.log->str, ==, "1 2 [10] 3 9 4 [30] ");
  g_assert_cmpuint (engine_events (e), ==, 5);
  g_string_free (this.log, TRUE);
}

/* A reset engine does the same again in the memory that it has. */
static void
test_reset (void)
{
  g_autoptr (Engine) e = engine_new (NULL, NULL);
  gsize bytes = 0;
  uint64_t events = 0;

  for (guint round = 0; round < 3; round++)
    {
      const Id queue = engine_queue (e);

      for (guint i = 0; i < 3000; i++)
        engine_task_fixed (e, i % 2 ? queue : 0, 17 * i % 101, 0, 0);
      run_ok (e);
      /* The odd ones of 0..2999 on the queue: 17 i mod 101 goes 14 times and a part through
       * its cycle; summed here the plain way. */
      Tick sum = 0;

      for (guint i = 1; i < 3000; i += 2)
        sum += 17 * i % 101;
      g_assert_cmpuint (engine_now (e), ==, sum);
      if (round > 0)
        {
          g_assert_cmpuint (engine_event_bytes (e), ==, bytes);
          g_assert_cmpuint (engine_events (e), ==, events);
        }
      bytes = engine_event_bytes (e);
      events = engine_events (e);
      engine_reset (e);
      g_assert_cmpuint (engine_now (e), ==, 0);
      g_assert_cmpuint (engine_n_tasks (e), ==, 0);
    }
}

static void
test_arena (void)
{
  g_autoptr (Arena) arena = arena_new ();

  for (guint i = 0; i < 5000; i++)
    {
      const gsize size = i * 7919 % 1009 + (i % 1000 == 999 ? 200000 : 0);
      char *memory = arena_alloc (arena, size);

      g_assert_cmpuint ((guintptr) memory % 16, ==, 0);
      for (gsize k = 0; k < size; k++)
        g_assert_cmpint (memory[k], ==, 0);
      memset (memory, 0x5a, size);
    }
  g_assert_nonnull (arena_array (arena, Task, 3));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/queues", test_queues);
  g_test_add_func ("/engine/order", test_order);
  g_test_add_func ("/engine/last-ties", test_last_ties);
  g_test_add_func ("/engine/zero-length", test_zero_length);
  g_test_add_func ("/engine/errors/time", test_overflow);
  g_test_add_func ("/engine/added-in-the-run", test_added_in_the_run);
  g_test_add_func ("/engine/instants", test_instants);
  g_test_add_func ("/engine/reset", test_reset);
  g_test_add_func ("/engine/arena", test_arena);
  return g_test_run ();
}
