/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network-fixture.h"

/* Random networks: max-min fairness, bytes kept, and the same in any order. */

#define RANDOM_LINKS 12
#define RANDOM_FLOWS 40

static void
random_network (GRand *random, double *capacity, Flow *flows)
{
  for (guint i = 0; i < RANDOM_LINKS; i++)
    capacity[i] = g_rand_double_range (random, 1e9, 5e10);
  for (guint i = 0; i < RANDOM_FLOWS; i++)
    {
      Flow *flow = &flows[i];
      const guint n = g_rand_int_range (random, 1, 5);

      *flow = (Flow) {
        .start = g_rand_int_range (random, 0, 4) * (Tick) 1234567891,
        .size = g_rand_double_range (random, 1e5, 1e8),
        .cap = g_rand_int_range (random, 0, 3) == 0 ? g_rand_double_range (random, 5e7, 5e9) : 0,
        .weight = g_rand_int_range (random, 1, 5),
      };
      for (guint k = 0; k < n; k++)
        flow->load[k] = (LinkLoad) {
          .link = g_rand_int_range (random, 1, RANDOM_LINKS + 1),
          .bytes = g_rand_double_range (random, 0.1, 2),
          .efficiency = g_rand_double_range (random, 0.5, 1),
        };
      /* A third are copies, so that there are ties. */
      if (i % 3 == 2)
        *flow = flows[i - 1];
    }
}

static void
shuffle (GRand *random, guint *order, guint n)
{
  for (guint i = 0; i < n; i++)
    order[i] = i;
  for (guint i = n; i > 1; i--)
    {
      const guint j = g_rand_int_range (random, 0, i), kept = order[i - 1];

      order[i - 1] = order[j];
      order[j] = kept;
    }
}

static double
demand_on (const Flow *flow, Id link)
{
  double demand = 0;

  for (guint k = 0; k < MAX_LOADS && flow->load[k].link != 0; k++)
    if (flow->load[k].link == link)
      demand += flow->weight * flow->load[k].bytes / flow->load[k].efficiency;
  return demand;
}

/* Max-min: no link carries more than it can, and each flow is at its cap or crosses a
 * full link on which no other flow is quicker (Bertsekas and Gallager, 6.5.2). */
static void
assert_max_min (const double *capacity, const Flow *flows, const double *rate)
{
  double used[RANDOM_LINKS + 1] = { 0 }, quickest[RANDOM_LINKS + 1] = { 0 };

  for (Id link = 1; link <= RANDOM_LINKS; link++)
    {
      for (guint i = 0; i < RANDOM_FLOWS; i++)
        if (flows[i].start == 0 && demand_on (&flows[i], link) > 0)
          {
            used[link] += demand_on (&flows[i], link) * rate[i];
            quickest[link] = MAX (quickest[link], rate[i]);
          }
      g_assert_cmpfloat (used[link], <=, capacity[link - 1] * (1 + 1e-9));
    }
  for (guint i = 0; i < RANDOM_FLOWS; i++)
    {
      gboolean held = flows[i].start > 0 || (flows[i].cap > 0 && rate[i] >= flows[i].cap * (1 - 1e-9));

      for (Id link = 1; link <= RANDOM_LINKS; link++)
        held |= demand_on (&flows[i], link) > 0 && used[link] >= capacity[link - 1] * (1 - 1e-9)
                && rate[i] >= quickest[link] * (1 - 1e-9);
      g_assert_true (held);
    }
}

static void
test_max_min (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (23);

  for (guint round = 0; round < 200; round++)
    {
      double capacity[RANDOM_LINKS];
      Flow flows[RANDOM_FLOWS];
      Play play;

      random_network (random, capacity, flows);
      play_init (&play, capacity, RANDOM_LINKS);
      play_run (&play, flows, RANDOM_FLOWS, NULL, 0);
      assert_max_min (capacity, flows, play.rate);
      play_clear (&play);
    }
}

/* Whatever order the flows of an instant start in, each ends at the same tick; and a
 * network that starts later does the same later. */
static void
test_permutation (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (29);

  for (guint round = 0; round < 60; round++)
    {
      static const Tick offsets[] = { 0, 0, 77, 123456789012345 };
      double capacity[RANDOM_LINKS];
      Flow flows[RANDOM_FLOWS];
      guint order[RANDOM_FLOWS];
      Tick expected[RANDOM_FLOWS];
      Play play;

      random_network (random, capacity, flows);
      play_init (&play, capacity, RANDOM_LINKS);
      play_run (&play, flows, RANDOM_FLOWS, NULL, 0);
      memcpy (expected, play.end, sizeof expected);
      for (guint again = 0; again < G_N_ELEMENTS (offsets); again++)
        {
          engine_reset (play.e);
          network_run_reset (play.run);
          shuffle (random, order, RANDOM_FLOWS);
          play_run (&play, flows, RANDOM_FLOWS, order, offsets[again]);
          for (guint i = 0; i < RANDOM_FLOWS; i++)
            g_assert_cmpuint (play.end[i] - offsets[again], ==, expected[i]);
        }
      play_clear (&play);
    }
}

/* Bytes by what flows moved; busy seconds by what links carried over time: two sums
 * that must agree with the flows' sizes. */
static void
test_conservation (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (31);

  for (guint round = 0; round < 50; round++)
    {
      double capacity[RANDOM_LINKS];
      Flow flows[RANDOM_FLOWS];
      Play play;

      random_network (random, capacity, flows);
      play_init (&play, capacity, RANDOM_LINKS);
      play_run (&play, flows, RANDOM_FLOWS, NULL, 0);
      for (Id link = 1; link <= RANDOM_LINKS; link++)
        {
          double bytes = 0, busy = 0;

          for (guint i = 0; i < RANDOM_FLOWS; i++)
            {
              for (guint k = 0; k < MAX_LOADS && flows[i].load[k].link != 0; k++)
                if (flows[i].load[k].link == link)
                  bytes += flows[i].size * flows[i].weight * flows[i].load[k].bytes;
              busy += flows[i].size * demand_on (&flows[i], link) / capacity[link - 1];
            }
          g_assert_cmpfloat_with_epsilon (network_run_bytes (play.run, link), bytes, 1e-12 * bytes + 1e-9);
          g_assert_cmpfloat_with_epsilon (network_run_busy (play.run, link), busy, 1e-9 * busy + 1e-12);
        }
      play_clear (&play);
    }
}

/* Fifty pairs on fifty links, and one more flow on the last link half way: the
 * component of that link is solved again, the others are not. */
static void
test_component_only (void)
{
  double capacity[25];
  Flow flows[51];
  Play play;

  for (guint i = 0; i < 50; i++)
    {
      capacity[i / 2] = WIRE;
      flows[i] = (Flow) { .size = SIZE, .load = { { i / 2 + 1, 1, 0 } } };
    }
  flows[50] = (Flow) { .start = HALF, .size = SIZE, .load = { { 25, 1, 0 } } };
  play_init (&play, capacity, 25);
  play_run (&play, flows, 51, NULL, 0);
  /* 25 pairs at first, then one component of three; what is alone needs no solve. */
  g_assert_cmpuint (network_run_solves (play.run), ==, 25 + 1);
  g_assert_cmpuint (network_run_rated (play.run), ==, 50 + 3);
  for (guint i = 0; i < 48; i++)
    assert_ticks (play.end[i], 2 * ALONE);
  /* By T/2 a quarter of each is done; three quarters at a third of the wire take
   * 2.25 T.  The late one then has a quarter left, alone: 0.25 T. */
  assert_ticks (play.end[49], 2.75 * ALONE);
  assert_ticks (play.end[50], 3 * ALONE);
  play_clear (&play);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/network/max-min", test_max_min);
  g_test_add_func ("/network/permutation", test_permutation);
  g_test_add_func ("/network/conservation", test_conservation);
  g_test_add_func ("/network/component-only", test_component_only);
  return g_test_run ();
}
