/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "topology-fixture.h"

/* Several groups and jobs over the same links, message by message. */

/* Eight rings of one GPU a node, each on its rail, take as long as one; what the
 * spine lacks hits all alike. */
static void
test_rail_twins (void)
{
  const Setup one = { .nodes = 8, .topology = TOPOLOGY_RAIL, .below = 8, .over = 8 };
  Setup eight = one;

  g_assert_cmpfloat_with_epsilon (flow_ms (&one), RING (8, 25e9), 1e-6);
  eight.gpus = 8;
  for (guint i = 0; i < 2; i++)
    {
      /* scattered over two sets of leaves of 4, each 4 x 25/8 GB/s up a rail, four edges on it */
      Setup s = eight;
      const double expected = i == 0 ? RING (8, 25e9) : RING (8, 12.5e9 / 4);

      s.below = i == 0 ? 8 : 4;
      s.placement = i == 0 ? NULL : "scattered";
      const Made m = make (&s);
      RankGroup twins = { .n_ranks = 8, .n_nodes = 8, .per_node = 1, .twins_per_node = 8 };
      CollectiveFlow flow;
      Paths paths;

      g_assert_true (cluster_paths (m.cluster, "nccl", &twins, &paths, NULL));
      g_assert_true (collective_flow (&m.call, &twins, &paths, cluster_network (m.cluster), &flow, NULL));
      g_assert_cmpfloat_with_epsilon (collective_estimate (&flow, cluster_network (m.cluster), size) * 1e3, expected, 1e-6 * expected);
      cluster_free (m.cluster);
    }
}

/* Message by message: two rings over the same cards take twice as long on the wire,
 * over disjoint rails they do not touch. */
static void
test_two_jobs (void)
{
  const Made all = make (&(Setup) { ALL, 4, 8, .topology = TOPOLOGY_RAIL, .below = 4, .pxn = TRUE });
  const Made ring = make (&(Setup) { .nodes = 4 });
  static const uint32_t first[] = { 0, 8, 16, 24 }, second[] = { 1, 9, 17, 25 };
  Schedule whole, four;
  GError *error = NULL;

  g_assert_true (schedule_init (&whole, &all.call, &all.group, &all.paths, 0, &error));
  g_assert_true (schedule_init (&four, &ring.call, &ring.group, &ring.paths, 0, &error));
  for (guint same = 0; same < 2; same++)
    {
      g_autoptr (Fabric) fabric = fabric_new (&whole, &all.paths, cluster_network (all.cluster), PROTOCOL_SIMPLE, FALSE);
      g_autoptr (Play) play = play_new (fabric, FALSE);
      const PlayJob a = { .schedule = &four, .place = first }, b = { .schedule = &four, .place = same ? first : second };

      play_add (play, &a);
      play_add (play, &b);
      g_assert_true (play_run (play, &error));
      for (guint job = 0; job < 2; job++)
        g_assert_cmpfloat_with_epsilon ((double) play_end (play, job) * 1e-9, RING (4, same ? 12.5e9 : 25e9), 1e-6);
    }
  cluster_free (all.cluster);
  cluster_free (ring.cluster);
}

/* The same in the world of a step, whose cards and rails are bundles: rings of card 0 and
 * of card 1, or both of card 0, on four nodes dealt over two sets of leaves; 2 x 25/4
 * GB/s up a rail, on which each ring has two edges. */
static void
test_world (void)
{
  const Made all = make (&(Setup) { .nodes = 4, .gpus = 8, .topology = TOPOLOGY_RAIL, .below = 2, .over = 4, .placement = "scattered" });
  const RankGroup group = { .n_ranks = 4, .n_nodes = 4, .per_node = 1, .twins_per_node = 8 };
  static const uint32_t place[2][4] = { { 0, 8, 16, 24 }, { 1, 9, 17, 25 } };
  GError *error = NULL;
  Schedule ring;
  Paths paths;

  g_assert_true (cluster_paths (all.cluster, "nccl", &group, &paths, &error));
  g_assert_true (schedule_init (&ring, &all.call, &group, &paths, 0, &error));
  for (guint same = 0; same < 2; same++)
    {
      g_autoptr (FabricWorld) world = world_new (32, 8, FALSE);
      Fabric *fabric[2];
      g_autoptr (Play) play = NULL;

      for (guint i = 0; i < 2; i++)
        g_assert_true (world_cards (world, same ? 1 : 1 << i));
      for (guint i = 0; i < 2; i++)
        fabric_expect (world, &ring, &paths, cluster_network (all.cluster), PROTOCOL_SIMPLE, same ? 1 : 1 << i);
      world_close (world);
      for (guint i = 0; i < 2; i++)
        fabric[i] = fabric_view (world, &ring, &paths, cluster_network (all.cluster), PROTOCOL_SIMPLE, same ? 1 : 1 << i);
      play = play_new (fabric[0], FALSE);
      for (guint i = 0; i < 2; i++)
        play_add (play, &(PlayJob) { .schedule = &ring, .place = place[same ? 0 : i], .fabric = fabric[i] });
      g_assert_true (play_run (play, &error));
      for (guint i = 0; i < 2; i++)
        g_assert_cmpfloat_with_epsilon ((double) play_end (play, i) * 1e-9, RING (4, same ? 3.125e9 : 6.25e9), 1e-6);
      fabric_free (fabric[0]);
      fabric_free (fabric[1]);
    }
  cluster_free (all.cluster);
}

/* There 7 of 8 messages to the other node of a set leave their rail's leaf, as in
 * rail-crossed. */
static void
test_world_crossed (void)
{
  const Made all = make (&(Setup) { ALL, 2, 8, .topology = TOPOLOGY_RAIL, .below = 2, .over = 4 });
  g_autoptr (FabricWorld) world = world_new (16, 8, FALSE);
  g_autoptr (Fabric) fabric = NULL;
  g_autoptr (Play) play = NULL;
  Schedule schedule;

  g_assert_true (schedule_init (&schedule, &all.call, &all.group, &all.paths, 0, NULL));
  g_assert_true (world_cards (world, 0xff));
  fabric_expect (world, &schedule, &all.paths, cluster_network (all.cluster), PROTOCOL_SIMPLE, 0xff);
  world_close (world);
  fabric = fabric_view (world, &schedule, &all.paths, cluster_network (all.cluster), PROTOCOL_SIMPLE, 0xff);
  play = play_new (fabric, FALSE);
  play_add (play, &(PlayJob) { .schedule = &schedule });
  g_assert_true (play_run (play, NULL));
  g_assert_cmpfloat_with_epsilon ((double) play_end (play, 0) * 1e-9, ONCE (2 * 7e8 / 16, 12.5e9), 1e-6);
  cluster_free (all.cluster);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/rail-twins", test_rail_twins);
  g_test_add_func ("/topology/two-jobs", test_two_jobs);
  g_test_add_func ("/topology/world", test_world);
  g_test_add_func ("/topology/world-crossed", test_world_crossed);
  return g_test_run ();
}
