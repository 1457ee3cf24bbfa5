/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cluster/cluster.h"
#include "collective/play.h"
#include <math.h>
#include <string.h>

/* Leaves, pods, rails and groups, and where the nodes sit: hand arithmetic in the flow
 * and in the message tier.  25 GB/s a card, 5 us, transport plain, all of the uplinks
 * usable, unless said. */

typedef struct
{
  const char  *algorithm;      /* NULL: ring */
  CollectiveOp op;             /* 0: all-reduce */
  guint64      nodes, gpus;    /* gpus 0: one a node and one card; else of 8 with 8 cards */
  int          topology;
  guint64      below;          /* nodes of a leaf or group */
  double       over;           /* 0: 1 */
  const char  *placement;
  gboolean     by_leaf;
  guint64      leaves_per_pod, groups;
  double       pod_over, level_latency;
  gboolean     minimal, pxn;
  guint64      twins, stride;
} Setup;

static const double size = 1e8, rate = 25e9, hop = 5e-6;

typedef struct { Cluster *cluster; Paths paths; RankGroup group; CollectiveCall call; } Made;

static Cluster *
cluster_of (const Setup *s, GError **error)
{
  const ClusterSpec cluster = { .machine = (char *) (s->gpus > 0 ? "dgx-a100" : "generic-1gpu"), .nodes = s->nodes,
                                .placement = (char *) s->placement, .rank_order = s->by_leaf ? RANK_ORDER_BY_LEAF : RANK_ORDER_AS_PLACED };
  const NetworkSpec network = { .transport = (char *) "plain", .nic_bandwidth = rate, .latency = hop, .efficiency = NAN,
                                .node_bandwidth = s->gpus > 0 ? 200e9 : NAN, .oversubscription = fmax (s->over, 1), .topology = s->topology,
                                .nodes_per_leaf = MAX (s->below, 1), .nodes_per_group = MAX (s->below, 1), .ecmp_share = 1,
                                .leaves_per_pod = s->leaves_per_pod, .pod_oversubscription = fmax (s->pod_over, 1), .groups = s->groups,
                                .routing = s->minimal ? ROUTING_MINIMAL : ROUTING_ADAPTIVE, .pxn = s->pxn,
                                .level_latency = s->level_latency };

  return cluster_new (&cluster, &network, NULL, NULL, error);
}

static Made
make (const Setup *s)
{
  const guint64 gpus = MAX (s->gpus, 1);
  Made m = { .call = { .op = s->op != 0 ? s->op : OP_ALL_REDUCE, .size = size, .protocol = PROTOCOL_SIMPLE } };
  GError *error = NULL;

  m.cluster = cluster_of (s, &error);
  g_assert_no_error (error);
  g_assert_true (collective_find (s->algorithm != NULL ? s->algorithm : "ring", &m.call.algorithm, &error));
  m.group = (RankGroup) { .n_ranks = s->nodes * gpus, .n_nodes = s->nodes, .per_node = gpus, .twins_per_node = MAX (s->twins, 1) };
  if (s->stride > 0)
    {
      m.group.node_stride = s->stride;
      m.group.n_nodes /= s->stride;
      m.group.n_ranks /= s->stride;
    }
  g_assert_true (cluster_paths (m.cluster, "nccl", &m.group, &m.paths, &error));
  return m;
}

static double
flow_ms (const Setup *s)
{
  const Made m = make (s);
  CollectiveFlow flow;
  GError *error = NULL;
  double seconds;

  collective_flow (&m.call, &m.group, &m.paths, cluster_network (m.cluster), &flow, &error);
  g_assert_no_error (error);
  seconds = collective_estimate (&flow, cluster_network (m.cluster), m.call.size);
  cluster_free (m.cluster);
  return seconds * 1e3;
}

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

/* 2(n-1) steps of 5 us and S/n at `bytes_per_s`; all-to-all: 5 us and `bytes`. */
#define RING(n, bytes_per_s) (2e3 * ((n) - 1) * (5e-6 + 1e8 / (n) / (bytes_per_s)))
#define ONCE(bytes, bytes_per_s) (1e3 * (5e-6 + (bytes) / (bytes_per_s)))
#define ALL "point-to-point", OP_ALL_TO_ALL

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
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/topology/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/topology/tiers", test_tiers);
  g_test_add_func ("/topology/bytes", test_bytes);
  g_test_add_func ("/topology/rail-twins", test_rail_twins);
  g_test_add_func ("/topology/two-jobs", test_two_jobs);
  g_test_add_func ("/topology/world", test_world);
  g_test_add_func ("/topology/world-crossed", test_world_crossed);
  g_test_add_func ("/topology/spine-only", test_spine_only);
  g_test_add_func ("/topology/stride", test_stride);
  g_test_add_func ("/topology/level-latency", test_level_latency);
  g_test_add_func ("/mesh/ways", test_mesh_ways);
  g_test_add_func ("/mesh/tiers", test_mesh);
  g_test_add_func ("/placement/crossings", test_crossings);
  g_test_add_func ("/placement/racks", test_racks);
  g_test_add_func ("/placement/refused", test_refused);
  return g_test_run ();
}
