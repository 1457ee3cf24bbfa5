/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "topology-fixture.h"

/* Leaves, pods, rails and groups: hand arithmetic in the flow and in the message tier. */

static double
message_ms (const Setup *s)
{
  const Made m = make (s);
  GError *error = NULL;
  Schedule schedule;
  double ms;

  schedule_init (&schedule, &m.call, &m.group, &m.paths, 0, &error);
  g_assert_no_error (error);
  {
    g_autoptr (Fabric) fabric = fabric_new (&schedule, &m.paths, cluster_network (m.cluster), PROTOCOL_SIMPLE, FALSE);
    g_autoptr (Play) play = play_new (fabric, FALSE);
    const PlayJob job = { .schedule = &schedule };

    play_add (play, &job);
    play_run (play, &error);
    g_assert_no_error (error);
    ms = (double) play_end (play, 0) * 1e-9;
  }
  cluster_free (m.cluster);
  return ms;
}

typedef struct { const char *name; Setup setup; double ms, tolerance; } Case;
static const Case cases[] = {
  /* two leaves of 4, uplinks 4 x 25/2: 4 x 4 messages of S/8 leave a leaf */
  { "all-to-all-2-to-1", { ALL, 8, .topology = TOPOLOGY_FAT_TREE, .below = 4, .over = 2 }, ONCE (2e8, 50e9), 0 },
  { "all-to-all-one-leaf", { ALL, 8, .topology = TOPOLOGY_FAT_TREE, .below = 8, .over = 2 }, ONCE (7e8 / 8, 25e9), 0 },
  /* a packed ring leaves each leaf once: 25 GB/s of 25 */
  { "ring-packed", { .nodes = 16, .topology = TOPOLOGY_FAT_TREE, .below = 4, .over = 4 }, RING (16, 25e9), 0 },
  /* dealt over four leaves every edge leaves its own: four share 25 GB/s */
  { "ring-scattered", { .nodes = 16, .topology = TOPOLOGY_FAT_TREE, .below = 4, .over = 4, .placement = "scattered" }, RING (16, 25e9 / 4), 0 },
  { "ring-list", { .nodes = 16, .topology = TOPOLOGY_FAT_TREE, .below = 4, .over = 4, .placement = "0,4,8,12,1,5,9,13,2,6,10,14,3,7,11,15" },
    RING (16, 25e9 / 4), 0 },
  { "ring-ordered", { .nodes = 16, .topology = TOPOLOGY_FAT_TREE, .below = 4, .over = 4, .placement = "scattered", .by_leaf = TRUE },
    RING (16, 25e9), 0 },
  /* four nodes alone on far leaves of 16: an uplink of 16 x 25/32 = 12.5 GB/s each */
  { "ring-spread", { .nodes = 4, .topology = TOPOLOGY_FAT_TREE, .below = 16, .over = 32, .placement = "5, 100, 37, 21" }, RING (4, 12.5e9), 0 },
  /* two of four edges leave leaf 0: 0 -> 2, 1 -> 3 */
  { "ring-zigzag", { .nodes = 4, .topology = TOPOLOGY_FAT_TREE, .below = 2, .over = 2, .placement = "0,2,1,3" }, RING (4, 12.5e9), 0 },
  /* leaves of 2, pods of 2 leaves with 4 x 25/4: 4 x 4 messages of S/8 leave a pod; leaves alone: 2 x 6 S/8 over 50 */
  { "all-to-all-pods", { ALL, 8, .topology = TOPOLOGY_FAT_TREE, .below = 2, .leaves_per_pod = 2, .pod_over = 4 }, ONCE (2e8, 25e9), 0 },
  { "all-to-all-full-pods", { ALL, 8, .topology = TOPOLOGY_FAT_TREE, .below = 2, .leaves_per_pod = 2 }, ONCE (7e8 / 8, 25e9), 0 },
  /* groups of 4, 50 GB/s to others: 4 x 12 messages of S/16 */
  { "dragonfly-all", { ALL, 16, .topology = TOPOLOGY_DRAGONFLY, .below = 4, .over = 2 }, ONCE (3e8, 50e9), 0 },
  { "dragonfly-all-minimal", { ALL, 16, .topology = TOPOLOGY_DRAGONFLY, .below = 4, .over = 2, .minimal = TRUE }, ONCE (3e8, 50e9), 0 },
  /* of 9 groups: 50/8 GB/s for each other one, S from one group to another */
  { "dragonfly-all-9", { ALL, 16, .topology = TOPOLOGY_DRAGONFLY, .below = 4, .over = 2, .minimal = TRUE, .groups = 9 }, ONCE (1e8, 6.25e9), 0 },
  /* by way of the others all 50 GB/s */
  { "dragonfly-all-9-adaptive", { ALL, 16, .topology = TOPOLOGY_DRAGONFLY, .below = 4, .over = 2, .groups = 9 }, ONCE (3e8, 50e9), 0 },
  /* a ring goes to one other group: 50/3 GB/s; a step in three quarters of the group's hops is quicker, and where it waits
   * for the slow one the 5 us pass meanwhile: 2 % */
  { "dragonfly-ring-minimal", { .nodes = 16, .topology = TOPOLOGY_DRAGONFLY, .below = 4, .over = 2, .minimal = TRUE }, RING (16, 50e9 / 3), 0.02 },
  /* adaptive: direct 1/3 and half of the other 2/3 */
  { "dragonfly-ring", { .nodes = 16, .topology = TOPOLOGY_DRAGONFLY, .below = 4, .over = 2 }, RING (16, 25e9), 0 },
  { "dragonfly-scattered", { .nodes = 16, .topology = TOPOLOGY_DRAGONFLY, .below = 4, .over = 2, .placement = "scattered" },
    RING (16, 50e9 * 2 / 3 / 4), 0 },
  /* 2 nodes of 8 GPUs: 8 x 8 messages of S/16 between them, each rail 8; by NVLink first they stay on their rails */
  { "rail-pxn", { ALL, 2, 8, .topology = TOPOLOGY_RAIL, .below = 2, .over = 4, .pxn = TRUE }, ONCE (5e7, 25e9), 0 },
  /* without it 7 of 8 leave their rail's leaf: 2 nodes x 7 x S/16 over 2 x 25/4 GB/s */
  { "rail-crossed", { ALL, 2, 8, .topology = TOPOLOGY_RAIL, .below = 2, .over = 4 }, ONCE (2 * 7e8 / 16, 12.5e9), 0 },
};

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  const double flow = flow_ms (&c->setup), message = message_ms (&c->setup), tolerance = fmax (c->tolerance, 1e-6) * c->ms;

  if (fabs (flow - c->ms) > tolerance || fabs (message - c->ms) > tolerance)
    g_error ("%s: flow %.9g, message %.9g, by hand %.9g ms", c->name, flow, message, c->ms);
}

/* Both tiers over algorithms, placements and odd numbers of nodes.  Exchanges of a
 * power of two wait for each other and are exact; of 13 nodes some run ahead into the
 * next round's links.  Of rings some hops hide behind others' bytes; trees are as near
 * as their chunks. */
static void
test_tiers (void)
{
  static const struct { const char *algorithm; CollectiveOp op; double tolerance, odd; } algorithms[] = {
    { "ring", OP_ALL_REDUCE, 0.02, 0.02 }, { "tree", OP_ALL_REDUCE, 0.02, 0.02 }, { "halving-doubling", OP_ALL_REDUCE, 1e-6, 0.15 },
    { "pat", OP_ALL_GATHER, 0.002, 0.05 }, { "point-to-point", OP_ALL_TO_ALL, 1e-6, 1e-6 }, { "point-to-point", OP_SEND_RECV, 1e-6, 1e-6 },
  };
  static const Setup places[] = {
    { .topology = TOPOLOGY_FAT_TREE, .below = 4, .over = 3 }, { .topology = TOPOLOGY_FAT_TREE, .below = 4, .over = 3, .placement = "scattered" },
    { .topology = TOPOLOGY_FAT_TREE, .below = 2, .leaves_per_pod = 2, .over = 1.5, .pod_over = 2, .level_latency = 1e-6 },
    { .topology = TOPOLOGY_DRAGONFLY, .below = 4, .over = 2 },
    { .topology = TOPOLOGY_DRAGONFLY, .below = 4, .over = 2, .minimal = TRUE, .placement = "scattered" },
  };
  static const guint64 nodes[] = { 8, 13, 16 };

  for (gsize a = 0; a < G_N_ELEMENTS (algorithms); a++)
    for (gsize p = 0; p < G_N_ELEMENTS (places); p++)
      for (gsize n = 0; n < G_N_ELEMENTS (nodes); n++)
        {
          Setup s = places[p];
          double flow, message;

          s.algorithm = algorithms[a].algorithm;
          s.op = algorithms[a].op;
          s.nodes = nodes[n];
          flow = flow_ms (&s);
          message = message_ms (&s);
          if (fabs (message / flow - 1) > (s.nodes == 13 ? algorithms[a].odd : algorithms[a].tolerance))
            g_error ("%s, place %u, %u nodes: flow %.9g, message %.9g ms", s.algorithm, (guint) p, (guint) s.nodes, flow, message);
        }
}

/* What the messages of every algorithm carry up the leaves is what view 1 loads on
 * them, and as much comes down. */
static void
check_bytes (const Setup *s)
{
  const Made m = make (s);
  Schedule schedule;
  CollectiveFlow flow;
  double up = 0, down = 0, loaded = 0;

  g_assert_true (schedule_init (&schedule, &m.call, &m.group, &m.paths, 0, NULL));
  g_assert_true (collective_flow (&m.call, &m.group, &m.paths, cluster_network (m.cluster), &flow, NULL));
  {
    g_autoptr (Fabric) fabric = fabric_new (&schedule, &m.paths, cluster_network (m.cluster), PROTOCOL_SIMPLE, FALSE);
    g_autoptr (Play) play = play_new (fabric, FALSE);
    const PlayJob job = { .schedule = &schedule };
    const Network *network = fabric_network (fabric);

    play_add (play, &job);
    g_assert_true (play_run (play, NULL));
    for (Id i = 1; i <= network_n_links (network); i++)
      {
        up += g_str_equal (network_link (network, i)->name, "leaf-up") ? play_bytes (play, i) : 0;
        down += g_str_equal (network_link (network, i)->name, "leaf-down") ? play_bytes (play, i) : 0;
      }
  }
  for (guint i = 0; i < flow.n_loads; i++)
    if (flow.load[i].link == m.paths.level[0].up)
      loaded += flow.load[i].bytes * size * (double) network_link (cluster_network (m.cluster), flow.load[i].link)->multiplicity;
  g_assert_cmpfloat_with_epsilon (up, down, 1e-3);
  g_assert_cmpfloat (up, >, 0);
  g_assert_cmpfloat_with_epsilon (up, loaded, 1e-3);
  cluster_free (m.cluster);
}

static void
test_bytes (void)
{
  static const struct { const char *algorithm; CollectiveOp op; } algorithms[] = {
    { "ring", OP_ALL_REDUCE }, { "ring", OP_ALL_GATHER }, { "tree", OP_ALL_REDUCE }, { "halving-doubling", OP_ALL_REDUCE },
    { "pat", OP_ALL_GATHER }, { "point-to-point", OP_ALL_TO_ALL }, { "point-to-point", OP_SEND_RECV },
  };

  for (gsize a = 0; a < G_N_ELEMENTS (algorithms); a++)
    for (guint i = 0; i < 4; i++)
      check_bytes (&(Setup) { algorithms[a].algorithm, algorithms[a].op, i % 2 == 0 ? 16 : 13, .topology = TOPOLOGY_FAT_TREE,
                              .below = 4, .over = 2, .placement = i < 2 ? "packed" : "scattered" });
  for (guint i = 0; i < 2; i++)
    check_bytes (&(Setup) { "point-to-point", OP_ALL_TO_ALL, 4, 8, .topology = TOPOLOGY_RAIL, .below = 2, .over = 2, .pxn = i > 0 });
}

/* Uplinks of 6 x 25/12 = 12.5 GB/s, which two edges of the ring across share; the one
 * inside is as quick as alone. */
static void
test_spine_only (void)
{
  const Made all = make (&(Setup) { .nodes = 12, .topology = TOPOLOGY_FAT_TREE, .below = 6, .over = 12 });
  const Made ring = make (&(Setup) { .nodes = 4 });
  static const uint32_t inside[] = { 2, 3, 4, 5 }, across[] = { 0, 6, 1, 7 };
  g_autoptr (Fabric) fabric = NULL;
  g_autoptr (Play) play = NULL;
  Schedule whole, four;
  GError *error = NULL;

  g_assert_true (schedule_init (&whole, &all.call, &all.group, &all.paths, 0, &error));
  g_assert_true (schedule_init (&four, &ring.call, &ring.group, &ring.paths, 0, &error));
  fabric = fabric_new (&whole, &all.paths, cluster_network (all.cluster), PROTOCOL_SIMPLE, FALSE);
  play = play_new (fabric, FALSE);
  play_add (play, &(PlayJob) { .schedule = &four, .place = inside });
  play_add (play, &(PlayJob) { .schedule = &four, .place = across });
  g_assert_true (play_run (play, &error));
  g_assert_cmpfloat_with_epsilon ((double) play_end (play, 0) * 1e-9, RING (4, 25e9), 1e-6);
  g_assert_cmpfloat_with_epsilon ((double) play_end (play, 1) * 1e-9, RING (4, 6.25e9), 1e-6);
  cluster_free (all.cluster);
  cluster_free (ring.cluster);
}

/* Rings of every fourth node, all four at once: of 16 nodes on leaves of 4 every edge
 * leaves its leaf, as if scattered; rings of neighbours stay inside. */
static void
test_stride (void)
{
  g_assert_cmpfloat_with_epsilon (flow_ms (&(Setup) { .nodes = 16, .topology = TOPOLOGY_FAT_TREE, .below = 4, .over = 4, .stride = 4 }),
                                  RING (4, 25e9 / 4), 1e-6);
}

/* Half of the hops of eight nodes on leaves of two cross: 1 us more on average.
 * Message by message a block takes two rounds less one edge. */
static void
test_level_latency (void)
{
  const Setup s = { .nodes = 8, .topology = TOPOLOGY_FAT_TREE, .below = 2, .level_latency = 2e-6 };
  const double expected = RING (8, 25e9) + 14 * 1e-3;

  g_assert_cmpfloat_with_epsilon (flow_ms (&s), expected, 1e-6);
  g_assert_cmpfloat_with_epsilon (message_ms (&s), expected, 2e-3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/topology/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/topology/tiers", test_tiers);
  g_test_add_func ("/topology/bytes", test_bytes);
  g_test_add_func ("/topology/spine-only", test_spine_only);
  g_test_add_func ("/topology/stride", test_stride);
  g_test_add_func ("/topology/level-latency", test_level_latency);
  return g_test_run ();
}
