/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine-fixture.h"

/* Activities whose rate changes: kernels and collectives that slow each other. */

#define US ((Tick) 1000000)      /* in ps */
#define MS (1000 * US)

typedef struct { Id activity; double rate[8]; guint n; } Rerate;

static void
rerate (gpointer user, Engine *e, uint32_t argument)
{
  Rerate *this = user;

  engine_set_rate (e, this->activity, this->rate[argument]);
}

/* 10 ms slowed by 1.5 from 2 to 6 ms: 2 + 4/1.5 + x = 10, x = 16/3 ms, so it ends
 * at 34/3 = 11.333... ms, in whole ps rounded up. */
static void
test_rated (void)
{
  g_autoptr (Engine) e = engine_new (NULL, NULL);
  const Id stream = engine_queue (e);
  const Id kernel = engine_task_rated (e, stream, 10.0 * (double) MS, 0, 0);
  Rerate change = { .activity = engine_get_task (e, kernel)->what, .rate = { 1 / 1.5, 1 } };
  const Id handler = engine_handler (e, rerate, &change);

  engine_at (e, 2 * MS, handler, 0);
  engine_at (e, 6 * MS, handler, 1);
  run_ok (e);
  assert_times (e, kernel, 0, 11333333334);
  g_assert_cmpuint (engine_activity_task (e, change.activity), ==, kernel);
}

/* 100 units: 10 ticks at 3, 10 at 0, 10 at 5, the last 20 at 7: 30 + 20/7 -> 33. */
static void
test_rates_by_hand (void)
{
  g_autoptr (Engine) e = engine_new (NULL, NULL);
  const Id kernel = engine_task_rated (e, 0, 100, 0, 0);
  Rerate change = { .activity = engine_get_task (e, kernel)->what, .rate = { 3, 0, 5, 7 } };
  const Id handler = engine_handler (e, rerate, &change);

  for (guint i = 0; i < 4; i++)
    engine_at (e, 10 * i, handler, i);
  run_ok (e);
  assert_times (e, kernel, 0, 33);
}

/* Setting the same rate again and again, a thousand times, must not move the end
 * of 1e10/0.7 = 14285714285.71 ticks. */
static void
test_rate_again (void)
{
  g_autoptr (Engine) e = engine_new (NULL, NULL);
  const Id kernel = engine_task_rated (e, 0, 1e10, 0, 0);
  Rerate change = { .activity = engine_get_task (e, kernel)->what, .rate = { 0.7 } };
  const Id handler = engine_handler (e, rerate, &change);

  for (guint i = 0; i < 1000; i++)
    engine_at (e, 7919 * i, handler, 0);
  run_ok (e);
  assert_times (e, kernel, 0, 14285714286);
}

static void
cancel (gpointer user, Engine *e, uint32_t argument)
{
  (void) user;
  engine_cancel (e, argument);
  engine_set_rate (e, argument, 5);   /* it stays cancelled */
}

static void
count_end (gpointer user, Engine *e, Id activity)
{
  guint *ended = user;

  (void) e;
  (void) activity;
  (*ended)++;
}

/* Of two activities of 40 ticks one is cancelled after 15: only the other ends,
 * and the dropped event does not lengthen the run. */
static void
test_cancel (void)
{
  const EngineHooks hooks = { .on_end = count_end };
  guint ended = 0;
  g_autoptr (Engine) e = engine_new (&hooks, &ended);
  const Id stays = engine_activity (e, 60, 0), goes = engine_activity (e, 80, 0);

  engine_set_rate (e, stays, 1.5);
  engine_set_rate (e, goes, 1.25);
  engine_at (e, 15, engine_handler (e, cancel, NULL), goes);
  run_ok (e);
  g_assert_cmpuint (ended, ==, 1);
  g_assert_cmpuint (engine_now (e), ==, 40);
  g_assert_cmpfloat_with_epsilon (engine_left (e, goes), 80 - 15 * 1.25, 1e-12);
  g_assert_cmpfloat_with_epsilon (engine_rate (e, goes), 0, 1e-300);
}

static void
test_bad_numbers (void)
{
  g_autoptr (Engine) e = engine_new (NULL, NULL);

  engine_set_rate (e, engine_activity (e, 5, 0), NAN);
  run_fails (e, ENGINE_ERROR_AMOUNT, (const char *const[]) { "nan", NULL });
  engine_reset (e);
  engine_set_rate (e, engine_activity (e, 5, 0), -2);
  run_fails (e, ENGINE_ERROR_AMOUNT, (const char *const[]) { "-2", NULL });
  engine_reset (e);
  engine_activity (e, -1, 0);
  run_fails (e, ENGINE_ERROR_AMOUNT, (const char *const[]) { "-1", NULL });
  engine_reset (e);

  /* Infinitely fast: it ends where it starts. */
  const Id activity = engine_activity (e, 5e30, 0);

  engine_set_rate (e, activity, INFINITY);
  run_ok (e);
  g_assert_cmpuint (engine_now (e), ==, 0);
}

static void
test_ticks (void)
{
  static const struct { double amount, rate; Tick ticks; } rows[] = {
    { 1e8, 0.025, 4000000000 },
    { 10, 3, 4 },
    { 9, 3, 3 },
    { 0.3, 0.1, 3 },                /* 0.3/0.1 is 2.9999999999999996 */
    { 3 * 0.1, 0.1, 3 },            /* and this 3.0000000000000004 */
    { 0, 3, 0 },
    { 5, INFINITY, 0 },
    { 1, 0, G_MAXUINT64 },
    { 1e30, 1, G_MAXUINT64 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpuint (engine_ticks (rows[i].amount, rows[i].rate), ==, rows[i].ticks);
}

/* A schedule that starts later is the same schedule, to the bit: kernels of odd
 * lengths slowed by odd factors, at five offsets far apart. */
static void
build_shifted (Engine *e, Rerate *changes, Tick offset)
{
  const Id queue = engine_queue (e);
  const Id delay = engine_task_fixed (e, queue, offset, 0, 0);

  (void) delay;
  for (guint i = 0; i < 40; i++)
    {
      const Id kernel = engine_task_rated (e, queue, 1e7 * sqrt (i + 1.7), 0, 0);

      changes[i] = (Rerate) {
        .activity = engine_get_task (e, kernel)->what, .rate = { 1 / (1.1 + 0.013 * i), 0.3 + 0.01 * i },
      };

      const Id handler = engine_handler (e, rerate, &changes[i]);

      engine_at (e, offset + 23456789 * (Tick) i, handler, 0);
      engine_at (e, offset + 23456789 * (Tick) i + 7654321, handler, 1);
    }
}

static void
start_at_one (gpointer user, Engine *e, Id task)
{
  (void) user;
  engine_set_rate (e, engine_get_task (e, task)->what, 1);
}

static void
test_shift (void)
{
  const EngineHooks hooks = { .on_start = start_at_one };
  g_autofree Rerate *changes = g_new0 (Rerate, 40);
  Tick expected[42] = { 0 };

  for (guint round = 0; round < 5; round++)
    {
      static const Tick offsets[] = { 0, 1, 999999999999, (Tick) 1 << 45, 123456789012345678 };
      g_autoptr (Engine) e = engine_new (&hooks, NULL);

      build_shifted (e, changes, offsets[round]);
      run_ok (e);
      for (Id task = 1; task <= 41; task++)
        if (round == 0)
          expected[task] = engine_get_task (e, task)->end;
        else
          g_assert_cmpuint (engine_get_task (e, task)->end - offsets[round], ==, expected[task]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/rated/slowed-kernel", test_rated);
  g_test_add_func ("/engine/rated/by-hand", test_rates_by_hand);
  g_test_add_func ("/engine/rated/same-again", test_rate_again);
  g_test_add_func ("/engine/rated/cancel", test_cancel);
  g_test_add_func ("/engine/rated/ticks", test_ticks);
  g_test_add_func ("/engine/rated/shift", test_shift);
  g_test_add_func ("/engine/errors/numbers", test_bad_numbers);
  return g_test_run ();
}
