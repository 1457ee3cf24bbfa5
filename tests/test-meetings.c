/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine-fixture.h"

/* Meetings: who waits for whom, who ends when, and what is a deadlock. */

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/meetings/by-hand", test_meetings);
  g_test_add_func ("/engine/meetings/apart", test_members_apart);
  g_test_add_func ("/engine/meetings/ties", test_meeting_ties);
  g_test_add_func ("/engine/deadlock/opposite-order", test_opposite_order);
  g_test_add_func ("/engine/deadlock/cycle", test_deadlock);
  g_test_add_func ("/engine/deadlock/too-few", test_too_few);
  return g_test_run ();
}
