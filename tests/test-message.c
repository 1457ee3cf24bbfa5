/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "message-fixture.h"
#include "collective/max-plus.h"

/* The two tiers that play schedules. */

/* 2(n-1)(5 us + 100 MB/(n 25 GB/s)); S/n (n-1)/B + 5 us. */
typedef struct { Setup setup; double ms; } Case;
static const Case cases[] = {
  { { "ring", .nodes = 8, .gpus = 1, .size = 1e8 }, 7.07 },
  { { "ring", .nodes = 64, .gpus = 1, .size = 1e8 }, 8.505 },
  { { "ring", .nodes = 256, .gpus = 1, .size = 1e8 }, 10.51875 },
  { { "ring", .nodes = 1024, .gpus = 1, .size = 1e8 }, 18.2221875 },
  { { "point-to-point", .op = OP_ALL_TO_ALL, .nodes = 64, .gpus = 1, .size = 1e8 }, 3.9425 },
  { { "point-to-point", .op = OP_ALL_TO_ALL, .nodes = 128, .gpus = 1, .size = 1e8 }, 3.97375 },
  { { "point-to-point", .op = OP_ALL_TO_ALL, .nodes = 256, .gpus = 1, .size = 1e8 }, 3.989375 },
  /* 2 log2 8 messages of 1/2, 1/4, 1/8, ...: 6 x 5 us + 2 x 7/8 S/B */
  { { "halving-doubling", .nodes = 8, .gpus = 1, .size = 1e8 }, 7.03 },
  /* each server gets S/R of n nodes: n S/(R B), R = n: 4 ms, and back while it comes in, k chunks: 1/k more; 2 x 5 us */
  { { "switch-reduction", .nodes = 4, .gpus = 1, .size = 1e8, .chunks = 100 }, 4.05 },
  /* seven rounds of S/8 */
  { { "pairwise", .op = OP_ALL_TO_ALL, .nodes = 8, .gpus = 1, .size = 1e8 }, 3.535 },
  /* six steps of two parts: 50 us, both copied twice at once at 10 GB/s, both over the wire */
  { { "grpc-ring", .nodes = 4, .gpus = 1, .size = 1e8 }, 6 * (0.05 + 2 * 1.25 + 1) },
  /* the CPUs' 7 GB/s of message, and six steps of 5 us; in a ring of seven twelve */
  { { "host-mpi", .nodes = 8, .gpus = 1, .size = 1e8 }, 100 / 7. + 0.03 },
  { { "host-mpi", .nodes = 7, .gpus = 1, .size = 1e8 }, 100 / 7. + 0.06 },
  /* the second of two segments comes right behind the first: of two hops one shows */
  { { "gloo", .nodes = 2, .gpus = 1, .size = 1e8 }, 100 / 7. + 0.005 },
  { { "gloo", .nodes = 5, .gpus = 1, .size = 1e8, .chunks = 1 }, 100 / 7. + 0.04 },
  /* half of the bytes to the other node and the sum of the other half back, then the other way */
  { { "parameter-server", .nodes = 2, .gpus = 1, .servers = 2, .size = 1e8, .chunks = 1, .colocated = COLOCATED_TRUE }, 4.01 },
  /* seven pairs at once: S/B + 5 us */
  { { "point-to-point", .op = OP_SEND_RECV, .nodes = 7, .gpus = 1, .size = 1e8 }, 4.005 },
};

static void
test_closed (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Made m = make (&cases[i].setup);
      const double ms = (double) play_once (&m, FALSE, NULL) * 1e-9;

      if (fabs (ms / cases[i].ms - 1) > 1e-6)
        g_error ("%s on %" G_GUINT64_FORMAT ": %.9g ms, not %.9g", cases[i].setup.algorithm, cases[i].setup.nodes, ms, cases[i].ms);
      cluster_free (m.cluster);
    }
}

static void
test_folded (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Made m = make (&cases[i].setup);

      if (fabric_may_fold (&m.schedule, &m.paths))
        g_assert_cmpuint (play_once (&m, TRUE, NULL), ==, play_once (&m, FALSE, NULL));
      cluster_free (m.cluster);
    }
}

/* Starts up to 17 us apart, up to 1 us more latency a rank. */
static void
test_unequal (void)
{
  static const guint64 ranks[] = { 2, 3, 8, 64, 256, 1023, 1024 };

  for (gsize i = 0; i < G_N_ELEMENTS (ranks); i++)
    {
      const guint64 n = ranks[i];
      const Made m = make (&(Setup) { "ring", .nodes = n, .gpus = 1, .size = 1e8 });
      g_autoptr (Fabric) fabric = fabric_of (&m, FALSE);
      g_autoptr (Play) play = play_new (fabric, FALSE);
      g_autoptr (GRand) random = g_rand_new_with_seed (7);
      g_autofree Tick *start = g_new (Tick, n), *extra = g_new (Tick, n);
      const PlayJob job = { .schedule = &m.schedule, .start = start, .extra = extra };
      GError *error = NULL;
      Tick end;

      for (guint64 r = 0; r < n; r++)
        {
          start[r] = (Tick) g_rand_double_range (random, 0, 17e6);
          extra[r] = (Tick) g_rand_double_range (random, 0, 1e6);
        }
      g_assert_true (max_plus_run (fabric, FALSE, &job, &end, &error));
      play_add (play, &job);
      g_assert_true (play_run (play, &error));
      g_assert_cmpuint (end, ==, play_end (play, 0));
      cluster_free (m.cluster);
    }
}

/* All tracks apart: trees, chains, exchanges, with unequal starts and latencies. */
static void
test_unequal_apart (void)
{
  static const Setup setups[] = {
    { "ring", OP_ALL_GATHER, 7, 1, .size = 2.385e7, .chunks = 3 }, { "ring", OP_BROADCAST, 13, 1, .size = 2.385e7, .chunks = 11 },
    { "ring", OP_ALL_REDUCE, 3, 5, .size = 2.385e7, .chunks = 2 }, { "tree", OP_ALL_REDUCE, 13, 1, .size = 2.385e7, .chunks = 9 },
    { "tree", OP_ALL_REDUCE, 6, 4, .size = 2.385e7, .chunks = 5 }, { "halving-doubling", OP_ALL_REDUCE, 6, 5, .size = 2.385e7 },
    { "hierarchical", OP_ALL_REDUCE, 5, 3, .size = 2.385e7, .chunks = 2 }, { "pat", OP_ALL_GATHER, 13, 1, .size = 2.385e7 },
    { "pairwise", OP_ALL_TO_ALL, 13, 1, .size = 2.385e7, .chunks = 2 }, { "grpc-ring", OP_ALL_REDUCE, 3, 4, .size = 2.385e7 },
    { "host-mpi", OP_ALL_REDUCE, 8, 2, .size = 2.385e7 }, { "gloo", OP_ALL_REDUCE, 5, 3, .size = 2.385e7 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (setups); i++)
    {
      const Made m = make (&setups[i]);
      g_autoptr (Fabric) fabric = fabric_of (&m, FALSE);
      g_autoptr (Play) play = play_new (fabric, TRUE);
      Tick start[64], extra[64], end;
      const PlayJob job = { .schedule = &m.schedule, .start = start, .extra = extra };
      GError *error = NULL;

      for (guint r = 0; r < 64; r++)
        {
          start[r] = (Tick) (r * 7919 % 64) * 265625;
          extra[r] = (Tick) (r * 104729 % 64) * 15625;
        }
      g_assert_true (max_plus_run (fabric, TRUE, &job, &end, &error));
      play_add (play, &job);
      g_assert_true (play_run (play, &error));
      g_assert_cmpuint (end, ==, play_end (play, 0));
      cluster_free (m.cluster);
    }
}

/* A chain of d hops and k chunks: d latencies and (d + k - 1) slots of S/(k B), within a tick a slot. */
static void
test_pipeline (void)
{
  static const struct { guint64 ranks; guint chunks; } rows[] = { { 2, 1 }, { 5, 7 }, { 8, 64 }, { 13, 3 } };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const Made m = make (&(Setup) { "ring", OP_BROADCAST, rows[i].ranks, 1, .size = 2.385e7, .chunks = rows[i].chunks });
      const double depth = (double) rows[i].ranks - 1, k = rows[i].chunks, slots = depth + k - 1;
      const double expected = (depth * 5e-6 + slots * 2.385e7 / k / 25e9) * TICKS_PER_S;

      g_assert_cmpfloat_with_epsilon ((double) play_once (&m, FALSE, NULL), expected, slots + 1);
      cluster_free (m.cluster);
    }
}

/* Two rings over one NIC a node take twice as long each on the wire; a ring beside
 * another on other nodes is not touched, and traffic slows what it meets. */
static void
test_shared (void)
{
  const Made all = make (&(Setup) { "ring", .nodes = 8, .gpus = 1, .size = 1e8 });
  const Made half = make (&(Setup) { "ring", .nodes = 4, .gpus = 1, .size = 1e8 });
  const Made send = make (&(Setup) { "point-to-point", OP_SEND_RECV, .nodes = 2, .gpus = 1, .size = 25e6, .one_way = TRUE });
  static const uint32_t even[] = { 0, 2, 4, 6 }, odd[] = { 1, 3, 5, 7 }, between[] = { 1, 2 };
  const double alone = 6 * (5e-6 + 1e9 / 1e9 * 1e8 / 4 / 25e9);
  g_autoptr (Fabric) fabric = fabric_of (&all, FALSE);
  g_autoptr (Play) same = play_new (fabric, FALSE), other = play_new (fabric, FALSE), busy = play_new (fabric, FALSE);
  const PlayJob a = { .schedule = &half.schedule, .place = even }, b = { .schedule = &half.schedule, .place = odd };
  const PlayJob c = { .schedule = &send.schedule, .place = between };
  GError *error = NULL;

  play_add (same, &a);
  play_add (same, &a);
  g_assert_true (play_run (same, &error));
  g_assert_cmpfloat_with_epsilon ((double) play_end (same, 0) * 1e-12, 6 * (5e-6 + 2 * 1e8 / 4 / 25e9), 1e-11);
  g_assert_cmpuint (play_end (same, 0), ==, play_end (same, 1));
  play_add (other, &a);
  play_add (other, &b);
  g_assert_true (play_run (other, &error));
  g_assert_cmpfloat_with_epsilon ((double) play_end (other, 0) * 1e-12, alone, 1e-11);
  g_assert_cmpuint (play_shared (other), ==, 0);
  /* 25 MB from node 1 to node 2 too: the first message out of the one and that into the other,
   * as long, have half of the line: 1 ms more */
  play_add (busy, &b);
  play_add (busy, &a);
  play_add (busy, &c);
  g_assert_true (play_run (busy, &error));
  g_assert_cmpfloat_with_epsilon ((double) play_end (busy, 0) * 1e-12, alone + 1e-3, 1e-11);
  g_assert_cmpfloat_with_epsilon ((double) play_end (busy, 1) * 1e-12, alone + 1e-3, 1e-11);
  g_assert_cmpfloat_with_epsilon ((double) play_end (busy, 2) * 1e-12, 5e-6 + 2e-3, 1e-11);
  cluster_free (all.cluster);
  cluster_free (half.cluster);
  cluster_free (send.cluster);
}

/* Leaves of two nodes, oversubscribed 2 to 1: of an all-to-all on 4 nodes two of three
 * messages cross; the leaf's 25 GB/s carry 2 x 2 x S/4. */
static void
test_leaves (void)
{
  const Made m = make (&(Setup) { "point-to-point", OP_ALL_TO_ALL, 4, 1, .leaf = 2, .size = 1e8, .over = 2 });

  g_assert_cmpfloat_with_epsilon ((double) play_once (&m, FALSE, NULL) * 1e-12, 5e-6 + 4 * 1e8 / 4 / 25e9, 1e-11);
  cluster_free (m.cluster);
}

/* As activities on the network or not, a message takes the same ticks. */
static void
count_message (gpointer user, const PlayedMessage *message)
{
  g_assert_cmpuint (message->end, >, message->ready);
  g_assert_cmpuint (message->flows, >=, message->ready);
  ++*(guint *) user;
}

static void
test_watched (void)
{
  const Made m = make (&(Setup) { "ring", .nodes = 7, .gpus = 1, .size = 2.385e7, .chunks = 3 });
  g_autoptr (Fabric) fabric = fabric_of (&m, FALSE);
  g_autoptr (Play) play = play_new (fabric, FALSE);
  const PlayJob job = { .schedule = &m.schedule };
  GError *error = NULL;
  guint64 shared;
  guint seen = 0;

  play_watch (play, count_message, &seen);
  play_add (play, &job);
  g_assert_true (play_run (play, &error));
  g_assert_cmpuint (seen, ==, 7 * 12 * 3);
  g_assert_cmpuint (play_end (play, 0), ==, play_once (&m, FALSE, &shared));
  g_assert_cmpuint (shared, ==, 0);
  cluster_free (m.cluster);
}

/* 4,096 ranks by max-plus: 2 x 4095 x (5 us + 100 MB/(4096 x 25 GB/s)). */
static void
test_large (void)
{
  const Made m = make (&(Setup) { "ring", .nodes = 4096, .gpus = 1, .size = 1e8 });
  g_autoptr (Fabric) fabric = fabric_of (&m, FALSE);
  const PlayJob job = { .schedule = &m.schedule };
  GError *error = NULL;
  Tick end;

  g_assert_true (max_plus_run (fabric, FALSE, &job, &end, &error));
  g_assert_cmpfloat_with_epsilon ((double) end * 1e-9, 8190 * (5e-3 + 1e11 / 4096 / 25e9), 48.948e-6);
  cluster_free (m.cluster);
}

static void
test_refused (void)
{
  static const Setup none = { "ring", .nodes = 4, .gpus = 1, .size = 1e6 };
  const Made m = make (&none);
  const Made shared = make (&(Setup) { "point-to-point", OP_ALL_TO_ALL, 4, 1, .size = 1e6 });
  g_autoptr (Fabric) fabric = fabric_of (&shared, FALSE);
  const PlayJob job = { .schedule = &shared.schedule };
  CollectiveCall call = m.call;
  g_autoptr (GError) error = NULL, other = NULL;
  Schedule schedule;
  Tick end;

  call.op = OP_ALL_TO_ALL;   /* a ring cannot */
  g_assert_false (schedule_init (&schedule, &call, &m.group, &m.paths, 0, &error));
  g_assert_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED);
  g_assert_false (max_plus_run (fabric, FALSE, &job, &end, &other));
  g_assert_error (other, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED);
  cluster_free (m.cluster);
  cluster_free (shared.cluster);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/message/closed-forms", test_closed);
  g_test_add_func ("/message/folded", test_folded);
  g_test_add_func ("/message/pipeline", test_pipeline);
  g_test_add_func ("/message/shared-links", test_shared);
  g_test_add_func ("/message/leaves", test_leaves);
  g_test_add_func ("/message/watched", test_watched);
  g_test_add_func ("/message/refused", test_refused);
  g_test_add_func ("/max-plus/unequal", test_unequal);
  g_test_add_func ("/max-plus/apart", test_unequal_apart);
  g_test_add_func ("/max-plus/large", test_large);
  return g_test_run ();
}
