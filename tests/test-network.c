/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network-fixture.h"

/* Rates of transfers that share links, by hand. */

#define assert_near(a, b) g_assert_cmpfloat_with_epsilon ((a) / (b), 1, 1e-12)

/* A transfer may end most of a tick late. */
#define assert_busy(a, b) g_assert_cmpfloat_with_epsilon ((a), (b), 3e-12)

/* The second starts at s = T/2: the first then has half left at half speed and
 * ends at 1.5 T; the second has moved T/2 worth of the wire by then and ends at 2 T. */
static void
test_half_way (void)
{
  const double wire[] = { WIRE };
  const Flow flows[] = {
    { .size = SIZE, .load = { { 1, 1, 0 } } },
    { .start = HALF, .size = SIZE, .load = { { 1, 1, 0 } } },
  };
  Play play;

  play_init (&play, wire, 1);
  play_run (&play, flows, 2, NULL, 0);
  assert_ticks (play.end[0], 1.5 * ALONE);
  assert_ticks (play.end[1], 2 * ALONE);
  g_assert_cmpuint (network_run_solves (play.run), ==, 1);
  assert_near (network_run_bytes (play.run, 1), 2 * SIZE);
  assert_busy (network_run_busy (play.run, 1), 2 * SIZE / WIRE);
  play_clear (&play);
}

/* On disjoint rails each takes T and nothing is solved. */
static void
test_disjoint (void)
{
  const double rails[] = { WIRE, WIRE };
  const Flow flows[] = {
    { .size = SIZE, .load = { { 1, 1, 0 } } },
    { .start = HALF, .size = SIZE, .load = { { 2, 1, 0 } } },
  };
  Play play;

  play_init (&play, rails, 2);
  play_run (&play, flows, 2, NULL, 0);
  assert_ticks (play.end[0], ALONE);
  assert_ticks (play.end[1], 1.5 * ALONE);
  g_assert_cmpuint (network_run_solves (play.run), ==, 0);
  play_clear (&play);
}

/* Eight twin rings: over one NIC eight times one, over eight NICs once. */
static void
test_twins (void)
{
  const double nics[] = { WIRE, WIRE, WIRE, WIRE, WIRE, WIRE, WIRE, WIRE };
  const Flow one = { .size = SIZE, .load = { { 1, 1.75, 0 } } };
  Flow shared = one, spread = { .size = SIZE, .weight = 8 };
  Play play;
  Tick alone;

  play_init (&play, nics, 8);
  play_run (&play, &one, 1, NULL, 0);
  alone = play.end[0];
  assert_ticks (alone, 1.75 * ALONE);
  shared.weight = 8;
  for (Id link = 1; link <= 8; link++)
    spread.load[link - 1] = (LinkLoad) { link, 1.75 / 8, 1 };
  engine_reset (play.e);
  network_run_reset (play.run);
  play_run (&play, &shared, 1, NULL, 0);
  assert_ticks (play.end[0], 8 * 1.75 * ALONE);
  assert_near (network_run_bytes (play.run, 1), 8 * 1.75 * SIZE);
  engine_reset (play.e);
  network_run_reset (play.run);
  play_run (&play, &spread, 1, NULL, 0);
  g_assert_cmpuint (play.end[0], ==, alone);
  assert_near (network_run_bytes (play.run, 7), 1.75 * SIZE);
  play_clear (&play);
}

typedef struct
{
  const char *name;
  guint       n_links, n_flows;
  double      capacity[6];
  Flow        flow[5];
  double      rate[5];
} HandWorked;

static const HandWorked hand_worked[] = {
  /* Shares at first: 11/2, 7/2, 23/3, 5.  Link 2 fixes flows 0 and 2 at 3.5; then
   * link 4 fixes flow 3 at 5; link 1 leaves 11 - 3.5 = 7.5 to flow 1, link 3
   * leaves 23 - 3.5 - 5 = 14.5 to flow 4. */
  { "paths", 4, 5, { 11, 7, 23, 5 },
    { { .size = 1e3, .load = { { 1, 1, 0 }, { 2, 1, 0 } } },
      { .size = 1e3, .load = { { 1, 1, 0 } } },
      { .size = 1e3, .load = { { 2, 1, 0 }, { 3, 1, 0 } } },
      { .size = 1e3, .load = { { 3, 1, 0 }, { 4, 1, 0 } } },
      { .size = 1e3, .load = { { 3, 1, 0 } } } },
    { 3.5, 7.5, 3.5, 5, 14.5 } },
  /* Demands: link 1 3 + 1, link 2 1 + 2, link 3 1 + 1, link 4 1 + 1/0.5, link 5 1.
   * Shares 19/4, 13/3, 29/2, 17/3, 8; cap 4.1 comes first and fixes flow 3.  Link 2
   * fixes flows 1 and 2 at 13/3; link 1 leaves (19 - 13/3)/3 = 44/9 to flow 0; link 4
   * leaves (17 - 4.1)/2 = 6.45 to flow 4, under the 8 of link 5. */
  { "caps-and-weights", 5, 5, { 19, 13, 29, 17, 8 },
    { { .size = 1e3, .weight = 3, .load = { { 1, 1, 0 } } },
      { .size = 1e3, .load = { { 1, 1, 0 }, { 2, 1, 0 } } },
      { .size = 1e3, .cap = 1e6, .load = { { 2, 2, 0 }, { 3, 1, 0 } } },
      { .size = 1e3, .cap = 4.1, .load = { { 3, 1, 0 }, { 4, 1, 0 } } },
      { .size = 1e3, .load = { { 4, 0.7, 0.7 }, { 5, 1, 0 }, { 4, 0.5, 0.5 } } } },
    { 44 / 9.0, 13 / 3.0, 13 / 3.0, 4.1, 6.45 } },
  /* Two leaves: out of node a1, out of a2, uplink, into b1, into b2, into a1.  Shares
   * 25/2, 25/(1 + 2), 31/3, 25/3, 6, 25/2.  Into b2: flow 1 gets 6.  Into b1 and out
   * of a2 tie at 25/3 and fix the rest; the uplink carries 6 + 50/3 < 31. */
  { "fat-tree-tie", 6, 5, { 25, 25, 31, 25, 6, 25 },
    { { .size = 1e3, .load = { { 1, 1, 0 }, { 3, 1, 0 }, { 4, 1, 0 } } },
      { .size = 1e3, .load = { { 1, 1, 0 }, { 3, 1, 0 }, { 5, 1, 0 } } },
      { .size = 1e3, .load = { { 2, 1, 0 }, { 3, 1, 0 }, { 4, 1, 0 } } },
      { .size = 1e3, .load = { { 4, 1, 0 } } },
      { .size = 1e3, .weight = 2, .load = { { 2, 1, 0 }, { 6, 1, 0 } } } },
    { 25 / 3.0, 6, 25 / 3.0, 25 / 3.0, 25 / 3.0 } },
};

static void
test_hand_worked (gconstpointer data)
{
  const HandWorked *row = data;
  Play play;

  play_init (&play, row->capacity, row->n_links);
  play_run (&play, row->flow, row->n_flows, NULL, 0);
  for (guint i = 0; i < row->n_flows; i++)
    assert_near (play.rate[i], row->rate[i]);
  play_clear (&play);
}

/* What ties on paper ties in bits: flows 0, 2, 3, 4 above. */
static void
test_exact_ties (void)
{
  const HandWorked *row = &hand_worked[2];
  Play play;

  play_init (&play, row->capacity, row->n_links);
  play_run (&play, row->flow, row->n_flows, NULL, 0);
  g_assert_true (memcmp (&play.rate[0], &play.rate[2], sizeof (double)) == 0);
  g_assert_true (memcmp (&play.rate[0], &play.rate[3], sizeof (double)) == 0);
  g_assert_true (memcmp (&play.rate[0], &play.rate[4], sizeof (double)) == 0);
  play_clear (&play);
}

/* Alone, a flow has the idle rate to the bit, at odd loads and caps. */
static void
test_alone (void)
{
  const double capacity[] = { WIRE, 3.3e9 };
  Flow flow = { .size = SIZE, .cap = 4.4e9, .load = { { 1, 0.37, 0.83 }, { 2, 1.11, 0.9 } } };
  Play play;

  for (guint round = 0; round < 3; round++)
    {
      play_init (&play, capacity, 2);
      flow.cap = round == 1 ? 2.2e9 : 4.4e9;
      flow.load[0].bytes = round == 2 ? 1.7 : 0.37;

      const double idle = network_idle_rate (play.network, flow.load, 2, flow.cap);
      /* 1.7e9*0.83/0.37 = 3.8135e9, 3.3e9*0.9/1.11 = 2.67568e9; 1.7e9*0.83/1.7 = 0.83e9 */
      static const double expected[] = { 3.3e9 * 0.9 / 1.11, 2.2e9, 0.83e9 };

      assert_near (idle, expected[round]);
      play_run (&play, &flow, 1, NULL, 0);
      g_assert_cmpuint (play.end[0], ==, engine_ticks (SIZE, idle / TICKS_PER_S));
      g_assert_cmpuint (network_run_solves (play.run), ==, 0);
      play_clear (&play);
    }
}

/* A link of infinite factor never limits and joins nobody. */
static void
test_scale_infinite (void)
{
  const double capacity[] = { WIRE, WIRE };
  const Flow flows[] = {
    { .size = SIZE, .load = { { 1, 1, 0 } } },
    { .size = SIZE, .load = { { 1, 1, 0 }, { 2, 1, 0 } } },
    { .size = SIZE, .cap = 0.5 * WIRE, .load = { { 1, 3, 0 } } },
  };
  Play play;

  play_init (&play, capacity, 2);
  network_run_scale (play.run, 1, INFINITY);
  play_run (&play, flows, 3, NULL, 0);
  g_assert_cmpuint (play.end[0], ==, 0);
  assert_ticks (play.end[1], ALONE);
  assert_ticks (play.end[2], 2 * ALONE);
  g_assert_cmpuint (network_run_solves (play.run), ==, 0);
  assert_near (network_run_bytes (play.run, 1), 5 * SIZE);
  g_assert_cmpfloat_with_epsilon (network_run_busy (play.run, 1), 0, 1e-300);
  play_clear (&play);
}

/* Two flows share a wire, which is three times as quick from T/2 on: a quarter of each
 * is done, the other 1.5 sizes take T/2, so both end at T.  And with INFINITY: at T/2. */
static void
test_scale_in_flight (void)
{
  const double capacity[] = { WIRE };
  const Flow flows[] = {
    { .size = SIZE, .load = { { 1, 1, 0 } } }, { .size = SIZE, .load = { { 1, 1, 0 } } },
  };
  static const double factors[] = { 3, INFINITY }, ends[] = { 1, 0.5 };

  for (guint round = 0; round < 2; round++)
    {
      Play play;

      play_init (&play, capacity, 1);
      play.factor = factors[round];
      engine_at (play.e, HALF, play.scale_handler, 0);
      play_run (&play, flows, 2, NULL, 0);
      assert_ticks (play.end[0], ends[round] * ALONE);
      assert_ticks (play.end[1], ends[round] * ALONE);
      assert_busy (network_run_busy (play.run, 1), ends[round] * SIZE / WIRE);
      play_clear (&play);
    }
}

/* Nothing limits: it ends at once; only a cap: at the cap; nothing to send: at once. */
static void
test_no_links (void)
{
  const Flow flows[] = { { .size = SIZE }, { .size = SIZE, .cap = WIRE }, { .size = 0, .cap = WIRE } };
  Play play;

  play_init (&play, NULL, 0);
  play_run (&play, flows, 3, NULL, 0);
  g_assert_cmpuint (play.end[0], ==, 0);
  assert_ticks (play.end[1], ALONE);
  g_assert_cmpuint (play.end[2], ==, 0);
  play_clear (&play);
}

/* A transfer ends its meeting, and with it the members. */
typedef struct { NetworkRun *run; } Meets;

static void
meets_start (gpointer user, Engine *e, Id meeting)
{
  Meets *meets = user;
  const LinkLoad load = { 1, 1.5, 0.75 };

  (void) e;
  network_start (meets->run, meeting, SIZE, INFINITY, 1, &load, 1);
}

static void
meets_end (gpointer user, Engine *e, Id activity)
{
  Meets *meets = user;

  (void) e;
  network_end (meets->run, activity);
}

static void
meets_instant (gpointer user, Engine *e)
{
  Meets *meets = user;

  (void) e;
  network_run_instant (meets->run);
}

static void
test_meeting (void)
{
  const EngineHooks hooks = { .on_meet = meets_start, .on_end = meets_end, .on_instant = meets_instant };
  Meets meets;
  g_autoptr (Network) network = network_new ();
  g_autoptr (Engine) e = engine_new (&hooks, &meets);
  g_autoptr (GError) error = NULL;

  network_add (network, "nic", WIRE, 7e-6, 4, FALSE);
  g_assert_cmpstr (network_link (network, 1)->name, ==, "nic");
  g_assert_cmpuint (network_n_links (network), ==, 1);

  g_autoptr (NetworkRun) run = network_run_new (network, e, TICKS_PER_S);

  meets.run = run;

  /* A kernel of 3 us, then the wire at 0.75 of the line with 1.5 bytes a byte: 2 T. */
  const Id meeting = engine_meeting (e, 0, 2);
  const Id stream = engine_queue (e);

  engine_task_rated (e, stream, 3e6, 0, 0);
  engine_task_meet (e, stream, meeting, 0, 0);
  engine_task_meet (e, engine_queue (e), meeting, 0, 0);
  engine_task_fixed (e, stream, 5, 0, 0);

  /* Default on_start: without one, at full speed. */
  g_assert_true (engine_run (e, &error));
  g_assert_no_error (error);
  assert_ticks (engine_get_meeting (e, meeting)->end, 3e6 + 2 * ALONE);
  g_assert_cmpuint (engine_now (e), ==, engine_get_meeting (e, meeting)->end + 5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/network/half-way", test_half_way);
  g_test_add_func ("/network/disjoint", test_disjoint);
  g_test_add_func ("/network/twins", test_twins);
  for (gsize i = 0; i < G_N_ELEMENTS (hand_worked); i++)
    {
      g_autofree char *path = g_strdup_printf ("/network/hand-worked/%s", hand_worked[i].name);

      g_test_add_data_func (path, &hand_worked[i], test_hand_worked);
    }
  g_test_add_func ("/network/exact-ties", test_exact_ties);
  g_test_add_func ("/network/alone", test_alone);
  g_test_add_func ("/network/scale/infinite", test_scale_infinite);
  g_test_add_func ("/network/scale/in-flight", test_scale_in_flight);
  g_test_add_func ("/network/no-links", test_no_links);
  g_test_add_func ("/network/meeting", test_meeting);
  return g_test_run ();
}
