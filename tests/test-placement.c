/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "topology-fixture.h"

/* Where the nodes sit, and meshes: hand arithmetic in the flow and in the message tier. */

static void
check_crossings (const Setup *s, gboolean more, guint64 made, guint64 needed)
{
  g_autoptr (Cluster) c = cluster_of (s, NULL);
  guint64 m, n;

  g_assert_true (cluster_crossings (c, &m, &n) == more);
  g_assert_cmpuint (m, ==, made);
  g_assert_cmpuint (n, ==, needed);
}

static void
test_crossings (void)
{
  check_crossings (&(Setup) { .nodes = 16, .topology = TOPOLOGY_FAT_TREE, .below = 4 }, FALSE, 4, 4);
  check_crossings (&(Setup) { .nodes = 16, .topology = TOPOLOGY_FAT_TREE, .below = 4, .placement = "scattered" }, TRUE, 16, 4);
  check_crossings (&(Setup) { .nodes = 16, .topology = TOPOLOGY_FAT_TREE, .below = 4, .placement = "scattered", .by_leaf = TRUE }, FALSE, 4, 4);
  check_crossings (&(Setup) { .nodes = 4, .topology = TOPOLOGY_FAT_TREE, .below = 4, .placement = "3,1,0,2" }, FALSE, 0, 0);
  check_crossings (&(Setup) { .nodes = 4, .placement = "scattered" }, FALSE, 0, 0);
  /* leaves of 2: 0 1 | 2 | 0' | 3 ... : 0,1 on leaf 0, 2 on 1, 5 on 2, 3 on 1 */
  check_crossings (&(Setup) { .nodes = 5, .topology = TOPOLOGY_FAT_TREE, .below = 2, .placement = "0,1,2,5,3" }, TRUE, 4, 3);
}

/* Racks of 18 trays count as one node: dealt over leaves they stay whole. */
static void
test_racks (void)
{
  ClusterSpec spec = { .machine = (char *) "gb200-nvl72", .nodes = 72, .placement = (char *) "scattered" };
  const NetworkSpec network = { .nic_bandwidth = NAN, .latency = NAN, .efficiency = NAN, .node_bandwidth = NAN, .oversubscription = 1,
                                .nodes_per_leaf = 36, .ecmp_share = 1, .topology = TOPOLOGY_FAT_TREE };
  g_autoptr (Cluster) racks = cluster_new (&spec, &network, NULL, NULL, NULL), torn = NULL;
  g_autoptr (GError) error = NULL;
  guint64 made, needed;

  /* racks 0 to 3 on leaves 0, 1, 0, 1 */
  g_assert_true (cluster_crossings (racks, &made, &needed));
  g_assert_cmpuint (made, ==, 4);
  g_assert_cmpuint (needed, ==, 2);
  spec.placement = (char *) "0..16, 40, 17..35, 36..39, 41..71";
  torn = cluster_new (&spec, &network, NULL, NULL, &error);
  g_assert_null (torn);
  g_assert_nonnull (strstr (error->message, "of one NVLink domain apart"));
}

/* The cube mesh of V100s: link 3 to 7, one wide, carries its own message and halves of 1
 * to 7, 2 to 7, 3 to 5 and 3 to 6; of P100s, where every way is one link wide, link 0 to
 * 4 its own and six halves.  A ring's neighbours 0 and 1 share one link. */
static void
test_mesh_ways (void)
{
  static const char v100[] = "0-1, 0-2, 0-3 x2, 0-4 x2, 1-2 x2, 1-3, 1-5 x2, 2-3 x2, 2-6, 3-7, 4-5, 4-6, 4-7 x2, 5-6 x2, 5-7, 6-7x2";
  static const char p100[] = "0-1,0-2,0-3,1-2,1-3,2-3,4-5,4-6,4-7,5-6,5-7,6-7,0-4,1-5,2-6,3-7";
  static const char *const wrong[] = { "", "0-8", "0-0", "0-1,1-0", "0-1 x0", "0-1 x19", "0", "0-1-2", "0-1,", "a-b", "-1-2", "0-1 2" };
  g_autoptr (Mesh) v = mesh_new (v100, 8, NULL), p = mesh_new (p100, 8, NULL);
  MeshHop hops[MESH_MOST_HOPS];

  g_assert_cmpuint (mesh_degree (v), ==, 6);
  g_assert_cmpuint (mesh_degree (p), ==, 4);
  g_assert_cmpfloat_with_epsilon (mesh_busiest (v, 8, 1, TRUE), 3, 1e-12);
  g_assert_cmpfloat_with_epsilon (mesh_busiest (p, 8, 1, TRUE), 4, 1e-12);
  g_assert_cmpfloat_with_epsilon (mesh_busiest (v, 8, 1, FALSE), 1, 1e-12);
  /* four side by side: each pair has its link */
  g_assert_cmpfloat_with_epsilon (mesh_busiest (v, 4, 1, TRUE), 1, 1e-12);
  /* 0 and 7: both links to 4 are two wide */
  g_assert_cmpuint (mesh_way (v, 8, 1, 0, 7, hops), ==, 2);
  g_assert_cmpuint (hops[0].to, ==, 4);
  g_assert_cmpuint (mesh_way (v, 2, 5, 0, 5, hops), ==, 0);
  for (gsize i = 1; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;

      if (mesh_new (wrong[i], 8, &error) != NULL)
        g_error ("'%s' is taken", wrong[i]);
      g_assert_error (error, KEYS_ERROR, KEYS_ERROR_VALUE);
    }
  g_assert_null (mesh_new ("0-1", 17, NULL));
}

/* 120 GB/s of 6 links, 80 of 4: 20 a link.  All-to-all 3 and 4 x S/8 on the busiest,
 * send-recv S; 5 us more. */
static void
test_mesh (void)
{
  static const struct { const char *machine, *algorithm; CollectiveOp op; double ms; } rows[] = {
    { "dgx-1-v100", ALL, 3 * 1e11 / 8 / 20e9 }, { "dgx-1-p100", ALL, 4 * 1e11 / 8 / 20e9 },
    { "dgx-1-v100", "point-to-point", OP_SEND_RECV, 1e11 / 20e9 }, { "dgx-1-p100", "point-to-point", OP_SEND_RECV, 1e11 / 20e9 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const ClusterSpec spec = { .machine = (char *) rows[i].machine, .nodes = 1 };
      const NetworkSpec network = { .transport = (char *) "plain", .node_transport = (char *) "plain", .nic_bandwidth = NAN, .latency = NAN,
                                    .efficiency = NAN, .node_bandwidth = 120e9, .oversubscription = 1, .nodes_per_leaf = 1, .ecmp_share = 1 };
      const RankGroup group = { .n_ranks = 8, .n_nodes = 1, .per_node = 8, .twins_per_node = 1 };
      g_autoptr (Cluster) c = cluster_new (&spec, &network, NULL, NULL, NULL);
      CollectiveCall call = { .op = rows[i].op, .size = 1e8, .protocol = PROTOCOL_SIMPLE };
      g_autoptr (Fabric) fabric = NULL;
      g_autoptr (Play) play = NULL;
      CollectiveFlow flow;
      Schedule schedule;
      Paths paths;

      g_assert_true (collective_find (rows[i].algorithm, &call.algorithm, NULL));
      g_assert_true (cluster_paths (c, "nccl", &group, &paths, NULL));
      g_assert_true (collective_flow (&call, &group, &paths, cluster_network (c), &flow, NULL));
      g_assert_cmpfloat_with_epsilon (collective_estimate (&flow, cluster_network (c), 1e8) * 1e3, rows[i].ms + 5e-3, 1e-6);
      g_assert_true (schedule_init (&schedule, &call, &group, &paths, 0, NULL));
      fabric = fabric_new (&schedule, &paths, cluster_network (c), PROTOCOL_SIMPLE, FALSE);
      play = play_new (fabric, FALSE);
      play_add (play, &(PlayJob) { .schedule = &schedule });
      g_assert_true (play_run (play, NULL));
      g_assert_cmpfloat_with_epsilon ((double) play_end (play, 0) * 1e-9, rows[i].ms + 5e-3, 1e-6);
    }
}

static void
test_refused (void)
{
  static const struct { const char *placement, *what; } rows[] = {
    { "0,1,2", "3 places for 4 nodes" }, { "0,1,2,3,4", "more than 4 places" }, { "0,1,2,1", "place 1 is given twice" },
    { "0,1,2,-3", "'-3' is no place" }, { "0,1,,3", "'' is no place" }, { "3..0", "'3..0' is no place" }, { "0..3..5", "is no place" },
    { "random", "'random' is no place" }, { "0..99999999", "more than 4 places" }, { "0,1,2,4294967297", "is no place" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    for (int topology = TOPOLOGY_SWITCH; topology <= TOPOLOGY_DRAGONFLY; topology++)
      {
        g_autoptr (GError) error = NULL;
        g_autoptr (Cluster) c = cluster_of (&(Setup) { .nodes = 4, .topology = topology, .below = 2, .placement = rows[i].placement }, &error);

        g_assert_null (c);
        g_assert_error (error, KEYS_ERROR, KEYS_ERROR_VALUE);
        g_assert_true (g_str_has_prefix (error->message, "[cluster] placement: "));
        g_assert_null (strchr (error->message, '\n'));
        if (strstr (error->message, rows[i].what) == NULL)
          g_error ("'%s': %s", rows[i].placement, error->message);
      }
  g_autoptr (GError) error = NULL;
  g_autoptr (Cluster) few = cluster_of (&(Setup) { .nodes = 8, .topology = TOPOLOGY_DRAGONFLY, .below = 2, .groups = 3 }, &error);

  g_assert_null (few);
  g_assert_true (g_str_has_prefix (error->message, "[network] groups: 3, "));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mesh/ways", test_mesh_ways);
  g_test_add_func ("/mesh/tiers", test_mesh);
  g_test_add_func ("/placement/crossings", test_crossings);
  g_test_add_func ("/placement/racks", test_racks);
  g_test_add_func ("/placement/refused", test_refused);
  return g_test_run ();
}
