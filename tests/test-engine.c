/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/arena.h"
#include "engine/engine.h"
#include <math.h>
#include <string.h>

#define US ((Tick) 1000000)      /* in ps */
#define MS (1000 * US)

static void
run_ok (Engine *e)
{
  g_autoptr (GError) error = NULL;

  engine_run (e, &error);
  g_assert_no_error (error);
}

static void
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

/* Kernels and collectives that slow each other. */

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

/* Meetings. */

typedef struct { Tick length; GString *log; Id handler; } Wire;

static void
end_wire (gpointer user, Engine *e, uint32_t meeting)
{
  (void) user;
  engine_end_meeting (e, meeting);
}

static void
meet (gpointer user, Engine *e, Id meeting)
{
  Wire *wire = user;

  g_string_append_printf (wire->log, "meet%u ", meeting);
  engine_at (e, engine_now (e) + wire->length, wire->handler, meeting);
}

static void
wait (gpointer user, Engine *e, Id task)
{
  Wire *wire = user;

  g_string_append_printf (wire->log, "wait%u@%" G_GUINT64_FORMAT " ", task, engine_now (e));
}

static void
meeting_end (gpointer user, Engine *e, Id meeting)
{
  Wire *wire = user;
  const Meeting *m = engine_get_meeting (e, meeting);

  g_string_append_printf (wire->log, "end%u@%" G_GUINT64_FORMAT " ", meeting, engine_now (e));
  for (Id member = m->first_member; member != 0; member = engine_next_member (e, member))
    g_assert_cmpuint (engine_get_task (e, member)->end, ==, engine_now (e));
}

static void
describe (gpointer user, Id task, GString *out)
{
  (void) user;
  g_string_append_printf (out, "t%u", task);
}

static const EngineHooks wire_hooks = {
  .on_meet = meet, .on_wait = wait, .on_meeting_end = meeting_end, .describe = describe,
};

static Engine *
wire_engine (Wire *wire, Tick length)
{
  Engine *e = engine_new (&wire_hooks, wire);

  wire->length = length;
  wire->log = g_string_new (NULL);
  wire->handler = engine_handler (e, end_wire, NULL);
  return e;
}

/* Ranks A and B compute 10 and 12, then meet for 5; B's queue has a second meeting
 * with C behind it, to which C comes at 3.  First meeting 12-17, last there: B.
 * Second: C waits from 3, B is there at 17 (its queue was blocked), 17-22. */
static void
test_meetings (void)
{
  Wire wire;
  g_autoptr (Engine) e = wire_engine (&wire, 5);
  const Id a = engine_queue (e), b = engine_queue (e), c = engine_queue (e);
  const Id first = engine_meeting (e, 77, 2), second = engine_meeting (e, 78, 2);
  const Id a1 = engine_task_fixed (e, a, 10, 0, 0), a2 = engine_task_meet (e, a, first, 0, 0);
  const Id b1 = engine_task_fixed (e, b, 12, 0, 0), b2 = engine_task_meet (e, b, first, 0, 0);
  const Id b3 = engine_task_meet (e, b, second, 0, 0);
  const Id c1 = engine_task_fixed (e, c, 3, 0, 0), c2 = engine_task_meet (e, c, second, 0, 0);
  const Id a3 = engine_task_fixed (e, a, 2, 0, 0);

  run_ok (e);
  assert_times (e, a2, 10, 17);
  assert_times (e, b2, 12, 17);
  assert_times (e, b3, 17, 22);
  assert_times (e, c2, 3, 22);
  assert_times (e, a3, 17, 19);
  g_assert_cmpuint (engine_get_task (e, b2)->last, ==, b1);
  g_assert_cmpuint (engine_get_task (e, a2)->last, ==, a1);
  g_assert_cmpuint (engine_get_task (e, c2)->last, ==, c1);

  const Meeting *m = engine_get_meeting (e, first);

  g_assert_cmpuint (m->call, ==, 77);
  g_assert_cmpuint (m->first, ==, 10);
  g_assert_cmpuint (m->last, ==, 12);
  g_assert_cmpuint (m->end, ==, 17);
  g_assert_cmpuint (m->last_task, ==, b2);
  g_assert_cmpuint (engine_get_meeting (e, second)->last_task, ==, b3);
  g_assert_cmpuint (engine_n_meetings (e), ==, 2);
  g_assert_cmpstr (wire.log->str, ==,
                   "wait7@3 wait2@10 wait4@12 meet1 end1@17 wait5@17 meet2 end2@22 ");
  g_string_free (wire.log, TRUE);
}

/* Members that end each by itself: A is there at 10 and ends at 11, before B has come at
 * 12; B ends at 15, and with it the meeting.  What stands behind A starts at 11. */
typedef struct { Id handler; Id of[2]; guint ended; } Apart;

static void
end_apart (gpointer user, Engine *e, uint32_t task)
{
  (void) user;
  engine_end_member (e, task);
}

static void
wait_apart (gpointer user, Engine *e, Id task)
{
  const Apart *apart = user;

  engine_at (e, engine_now (e) + (task == apart->of[0] ? 1 : 3), apart->handler, task);
}

static void
nothing_yet (G_GNUC_UNUSED gpointer user, G_GNUC_UNUSED Engine *e, G_GNUC_UNUSED Id meeting)
{
}

static void
apart_ended (gpointer user, Engine *e, Id meeting)
{
  g_assert_cmpuint (engine_get_meeting (e, meeting)->end, ==, 15);
  ((Apart *) user)->ended++;
}

static void
test_members_apart (void)
{
  static const EngineHooks hooks = { .on_wait = wait_apart, .on_meet = nothing_yet, .on_meeting_end = apart_ended };
  Apart apart = { 0 };
  g_autoptr (Engine) e = engine_new (&hooks, &apart);
  const Id a = engine_queue (e), b = engine_queue (e), meeting = engine_meeting (e, 1, 2);
  Id after;

  apart.handler = engine_handler (e, end_apart, &apart);
  engine_task_fixed (e, a, 10, 0, 0);
  engine_task_fixed (e, b, 12, 0, 0);
  apart.of[0] = engine_task_meet (e, a, meeting, 0, 0);
  apart.of[1] = engine_task_meet (e, b, meeting, 0, 0);
  after = engine_task_fixed (e, a, 2, 0, 0);
  run_ok (e);
  assert_times (e, apart.of[0], 10, 11);
  assert_times (e, after, 11, 13);
  assert_times (e, apart.of[1], 12, 15);
  g_assert_cmpuint (engine_get_meeting (e, meeting)->last, ==, 12);
  g_assert_cmpuint (apart.ended, ==, 1);
}

/* An edge into a member, and equal arrivals: the member with the lowest id counts
 * as the last.  Three queues: members ready at 6, 6 and 4. */
static void
test_meeting_ties (void)
{
  Wire wire;
  g_autoptr (Engine) e = wire_engine (&wire, 8);
  const Id meeting = engine_meeting (e, 0, 3);
  const Id kernel = engine_task_fixed (e, 0, 6, 0, 0), other = engine_task_fixed (e, 0, 4, 0, 0);
  Id member[3];

  for (guint i = 0; i < 3; i++)
    member[i] = engine_task_meet (e, engine_queue (e), meeting, 0, 0);
  engine_edge (e, kernel, member[1]);
  engine_edge (e, kernel, member[0]);
  engine_edge (e, other, member[2]);
  run_ok (e);
  g_assert_cmpuint (engine_get_meeting (e, meeting)->last_task, ==, member[0]);
  for (guint i = 0; i < 3; i++)
    assert_times (e, member[i], (i == 2 ? 4 : 6), 14);
  g_string_free (wire.log, TRUE);
}

/* Two ranks issue two collectives in opposite order: t1, t2 on one queue, t3, t4 on
 * the other, t1 meets t4 and t2 meets t3. */
static void
test_opposite_order (void)
{
  Wire wire;
  g_autoptr (Engine) e = wire_engine (&wire, 5);
  const Id a = engine_queue (e), b = engine_queue (e);
  const Id x = engine_meeting (e, 0, 2), y = engine_meeting (e, 0, 2);
  static const char *const words[] = {
    "4 of 4", "t1 waits at a meeting where 1 of 2 are", "t3 waits", "opposite order",
    "t1 before t2", "t3 before t4", NULL,
  };

  engine_task_meet (e, a, x, 0, 0);
  engine_task_meet (e, a, y, 0, 0);
  engine_task_meet (e, b, y, 0, 0);
  engine_task_meet (e, b, x, 0, 0);
  run_fails (e, ENGINE_ERROR_DEADLOCK, words);
  g_string_free (wire.log, TRUE);
}

/* t1 and t2 wait for each other, t3 to t7 for t1, t8 is cancelled before it starts;
 * only t9 ends.  Six of the eight are named. */
static void
test_deadlock (void)
{
  const EngineHooks hooks = { .describe = describe };
  g_autoptr (Engine) e = engine_new (&hooks, NULL);
  const Id one = engine_task_fixed (e, 0, 1, 0, 0), two = engine_task_fixed (e, 0, 1, 0, 0);
  static const char *const words[] = {
    "8 of 9", "t1 waits for 1 other,", "t6 waits for 1 other and 2 more", NULL,
  };
  static const char *const alone[] = { "task 1 never ends", NULL };

  engine_edge (e, one, two);
  engine_edge (e, two, one);
  for (guint i = 0; i < 5; i++)
    engine_edge (e, one, engine_task_fixed (e, i % 2 ? engine_queue (e) : 0, 1, 0, 0));
  engine_cancel (e, engine_get_task (e, engine_task_rated (e, 0, 5, 0, 0))->what);
  engine_task_fixed (e, 0, 1, 0, 0);
  run_fails (e, ENGINE_ERROR_DEADLOCK, words);

  g_autoptr (Engine) other = engine_new (NULL, NULL);

  engine_cancel (other, engine_get_task (other, engine_task_rated (other, 0, 5, 0, 0))->what);
  run_fails (other, ENGINE_ERROR_DEADLOCK, alone);
}

/* A meeting that expects more than there are, by the default names. */
static void
test_too_few (void)
{
  g_autoptr (Engine) e = engine_new (NULL, NULL);

  engine_task_meet (e, engine_queue (e), engine_meeting (e, 0, 3), 0, 0);
  run_fails (e, ENGINE_ERROR_DEADLOCK, (const char *const[]) { "task 1", "1 of 3", NULL });
}

/* Time and numbers at their ends. */

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
  g_test_add_func ("/engine/rated/slowed-kernel", test_rated);
  g_test_add_func ("/engine/rated/by-hand", test_rates_by_hand);
  g_test_add_func ("/engine/rated/same-again", test_rate_again);
  g_test_add_func ("/engine/rated/cancel", test_cancel);
  g_test_add_func ("/engine/rated/ticks", test_ticks);
  g_test_add_func ("/engine/rated/shift", test_shift);
  g_test_add_func ("/engine/meetings/by-hand", test_meetings);
  g_test_add_func ("/engine/meetings/apart", test_members_apart);
  g_test_add_func ("/engine/meetings/ties", test_meeting_ties);
  g_test_add_func ("/engine/deadlock/opposite-order", test_opposite_order);
  g_test_add_func ("/engine/deadlock/cycle", test_deadlock);
  g_test_add_func ("/engine/deadlock/too-few", test_too_few);
  g_test_add_func ("/engine/errors/time", test_overflow);
  g_test_add_func ("/engine/errors/numbers", test_bad_numbers);
  g_test_add_func ("/engine/added-in-the-run", test_added_in_the_run);
  g_test_add_func ("/engine/instants", test_instants);
  g_test_add_func ("/engine/reset", test_reset);
  g_test_add_func ("/engine/arena", test_arena);
  return g_test_run ();
}
