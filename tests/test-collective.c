/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "cluster/cluster.h"
#include "collective/collective.h"
#include "collective/spec.h"

/* One priced call on a cluster made for it. */
typedef struct
{
  const char *machine, *transport, *algorithm;
  CollectiveOp op;           /* 0: all-reduce */
  guint64  nodes, gpus, twins, servers;
  const char *server;
  double   size, largest, latency, nic_bandwidth, node_bandwidth, efficiency;   /* 0: the parts' */
  double   sum_rate, server_latency;
  Protocol protocol;         /* as given; PROTOCOL_LL is 0 */
  gboolean automatic;        /* protocol auto */
  gboolean colocated, local_reduction;
  guint64  nodes_per_leaf;   /* 0: one switch */
  double   oversubscription;
} Setup;
typedef struct { Cluster *cluster; Paths paths; RankGroup group; CollectiveFlow flow; double seconds; } Priced;

static double
or_nan (double value)
{
  return value > 0 ? value : NAN;
}

static Cluster *
make (const Setup *s)
{
  const ClusterSpec cluster = { .machine = (char *) s->machine, .nodes = s->nodes, .gpus_per_node = s->gpus * MAX (s->twins, 1) };
  const NetworkSpec network = { .transport = (char *) s->transport, .nic_bandwidth = or_nan (s->nic_bandwidth),
                                .latency = or_nan (s->latency), .efficiency = or_nan (s->efficiency),
                                .node_bandwidth = or_nan (s->node_bandwidth), .oversubscription = MAX (s->oversubscription, 1),
                                .topology = s->nodes_per_leaf > 0 ? TOPOLOGY_FAT_TREE : TOPOLOGY_SWITCH,
                                .nodes_per_leaf = MAX (s->nodes_per_leaf, 1), .ecmp_share = 1 };
  const ServerSpec servers = { .machine = (char *) (s->server != NULL ? s->server : "n1-highcpu-16"), .count = s->servers,
                               .efficiency = NAN, .latency = or_nan (s->server_latency), .sum_rate = or_nan (s->sum_rate),
                               .colocated = s->colocated, .local_reduction = s->local_reduction };
  const gboolean parameter = g_strcmp0 (s->algorithm, "parameter-server") == 0;
  GError *error = NULL;
  Cluster *c = cluster_new (&cluster, &network, parameter ? NULL : &servers, parameter ? &servers : NULL, &error);

  g_assert_no_error (error);
  return c;
}

static Priced
price (const Setup *s)
{
  Priced out = { .cluster = make (s) };
  CollectiveCall call = { .op = s->op != 0 ? s->op : OP_ALL_REDUCE, .size = s->size, .largest = s->largest,
                          .protocol = s->automatic ? PROTOCOL_AUTO : s->protocol };
  GError *error = NULL;

  g_assert_true (collective_find (s->algorithm, &call.algorithm, &error));
  out.group = (RankGroup) { .n_ranks = s->nodes * s->gpus, .n_nodes = s->nodes, .per_node = s->gpus, .twins_per_node = MAX (s->twins, 1) };
  g_assert_true (cluster_paths (out.cluster, collective_paths (call.algorithm), &out.group, &out.paths, &error));
  g_assert_true (collective_flow (&call, &out.group, &out.paths, cluster_network (out.cluster), &out.flow, &error));
  g_assert_no_error (error);
  out.seconds = collective_estimate (&out.flow, cluster_network (out.cluster), s->size);
  return out;
}

static double
seconds_of (const Setup *s)
{
  Priced p = price (s);

  cluster_free (p.cluster);
  return p.seconds;
}

static double
nic_bytes_of (const Setup *s)
{
  Priced p = price (s);

  cluster_free (p.cluster);
  return p.flow.nic_bytes;
}

/* Closed forms by hand. */
typedef struct { const char *name; Setup setup; double seconds; } Case;
#define PLAIN .machine = "generic-1gpu", .gpus = 1
static const Case cases[] = {
  /* 2(n-1)(5 us + 100 MB/(n 25 GB/s)): Patarasuk and Yuan 2009 */
  { "ring-8",    { PLAIN, .algorithm = "ring", .nodes = 8, .size = 1e8, .latency = 5e-6 }, 7.07e-3 },
  { "ring-64",   { PLAIN, .algorithm = "ring", .nodes = 64, .size = 1e8, .latency = 5e-6 }, 8.505e-3 },
  { "ring-256",  { PLAIN, .algorithm = "ring", .nodes = 256, .size = 1e8, .latency = 5e-6, .automatic = TRUE }, 10.51875e-3 },
  { "ring-1024", { PLAIN, .algorithm = "ring", .nodes = 1024, .size = 1e8, .latency = 5e-6 }, 18.2221875e-3 },
  /* a tree is less: 2 log2 64 x 5 us + 2 x 100 MB/25 GB/s; on more bytes the ring */
  { "auto-tree", { PLAIN, .algorithm = "auto", .nodes = 64, .size = 1e8, .latency = 5e-6, .automatic = TRUE }, 8.06e-3 },
  { "auto-ring", { PLAIN, .algorithm = "auto", .nodes = 64, .size = 1e9, .latency = 5e-6, .automatic = TRUE }, 126 * 5e-6 + 1e9 * 126 / 64 / 25e9 },
  /* 2*3*(7e-6 + 2.5e5*8.3e-11) */
  { "ring-4", { PLAIN, .algorithm = "ring", .nodes = 4, .size = 1e6, .latency = 7e-6, .nic_bandwidth = 1 / 8.3e-11,
                .protocol = PROTOCOL_LL }, 1.665e-4 },
  { "alone", { PLAIN, .algorithm = "ring", .nodes = 1, .size = 1e6 }, 0 },
  { "empty", { PLAIN, .algorithm = "ring", .nodes = 7, .size = 0 }, 0 },
  /* half of the all-reduce: 6(7 us + 2.385e7/7/3.1e9) */
  { "all-gather", { PLAIN, .algorithm = "ring", .op = OP_ALL_GATHER, .nodes = 7, .size = 2.385e7, .latency = 7e-6,
                    .nic_bandwidth = 3.1e9 }, 6 * 7e-6 + 2.385e7 * 6 / 7 / 3.1e9 },
  { "reduce-scatter", { PLAIN, .algorithm = "ring", .op = OP_REDUCE_SCATTER, .nodes = 7, .size = 2.385e7, .latency = 7e-6,
                        .nic_bandwidth = 3.1e9 }, 6 * 7e-6 + 2.385e7 * 6 / 7 / 3.1e9 },
  /* a chain: all of it over every line, 6 hops */
  { "broadcast", { PLAIN, .algorithm = "ring", .op = OP_BROADCAST, .nodes = 7, .size = 2.385e7, .latency = 7e-6,
                   .nic_bandwidth = 3.1e9 }, 6 * 7e-6 + 2.385e7 / 3.1e9 },
  /* one GPU a node: one level */
  { "hierarchical", { PLAIN, .algorithm = "hierarchical", .nodes = 8, .size = 1e8, .latency = 5e-6 }, 7.07e-3 },
  /* no chunks, no copies on plain: a ring whose every step is a message */
  { "grpc-ring", { PLAIN, .algorithm = "grpc-ring", .nodes = 8, .size = 1e8, .latency = 5e-6 }, 7.07e-3 },
  /* max (S/B, nS/(kB)) + 2 messages, all lines 4 GB/s: BytePS docs/rationale.md */
  { "servers-5-of-5", { PLAIN, .algorithm = "reduction-server", .nodes = 5, .servers = 5, .size = 2.385e7, .latency = 7e-6,
                        .nic_bandwidth = 4e9 }, 2.385e7 / 4e9 + 14e-6 },
  { "servers-3-of-5", { PLAIN, .algorithm = "reduction-server", .nodes = 5, .servers = 3, .size = 2.385e7, .latency = 7e-6,
                        .nic_bandwidth = 4e9 }, 5. / 3 * 2.385e7 / 4e9 + 14e-6 },
  { "servers-9-of-5", { PLAIN, .algorithm = "reduction-server", .nodes = 5, .servers = 9, .size = 2.385e7, .latency = 7e-6,
                        .nic_bandwidth = 4e9 }, 2.385e7 / 4e9 + 14e-6 },
  { "servers-push-pull", { PLAIN, .algorithm = "parameter-server", .nodes = 5, .servers = 3, .size = 2.385e7, .latency = 7e-6,
                           .nic_bandwidth = 4e9 }, 5. / 3 * 2.385e7 / 4e9 + 14e-6 },
  /* the busiest of 5 servers holds a tensor of half the bytes: 5 x 0.5 S */
  { "servers-hot", { PLAIN, .algorithm = "parameter-server", .nodes = 5, .servers = 5, .size = 2.385e7, .largest = 1.1925e7,
                     .latency = 7e-6, .nic_bandwidth = 4e9 }, 2.5 * 2.385e7 / 4e9 + 14e-6 },
  /* summing at 1.3 GB/s each is what limits: n S/(R rho) */
  { "servers-slow-sum", { PLAIN, .algorithm = "reduction-server", .nodes = 5, .servers = 5, .size = 2.385e7, .latency = 7e-6,
                          .nic_bandwidth = 4e9, .sum_rate = 1.3e9 }, 2.385e7 / 1.3e9 + 14e-6 },
  /* on all workers: 2(n-1)/n S a line, as a ring (BytePS, k = 0) */
  { "servers-colocated", { PLAIN, .algorithm = "parameter-server", .nodes = 5, .servers = 5, .colocated = TRUE, .size = 2.385e7,
                           .latency = 7e-6, .nic_bandwidth = 4e9 }, 1.6 * 2.385e7 / 4e9 + 14e-6 },
  /* on one of 5: it takes in 4 S and sends 4 S */
  { "servers-colocated-1", { PLAIN, .algorithm = "parameter-server", .nodes = 5, .servers = 1, .colocated = TRUE, .size = 2.385e7,
                             .latency = 7e-6, .nic_bandwidth = 4e9 }, 4 * 2.385e7 / 4e9 + 14e-6 },
  /* leaves of 2 nodes, uplink 8/7 GB/s: one edge of the ring each way, 1.75 S without a gap behind its first hop */
  { "fat-tree", { PLAIN, .algorithm = "ring", .nodes = 8, .nodes_per_leaf = 2, .oversubscription = 7, .size = 1e8, .latency = 5e-6,
                  .nic_bandwidth = 4e9 }, 5e-6 + 1.75e8 / (8e9 / 7) },
};

static void
test_case (gconstpointer data)
{
  const Case *c = data;

  g_assert_cmpfloat_with_epsilon (seconds_of (&c->setup), c->seconds, 1e-9 * c->seconds + 1e-15);
}

#define V100 .machine = "n1-highmem-96-8xv100", .gpus = 8, .nodes = 5, .size = 2.385e8, .protocol = PROTOCOL_SIMPLE

/* 2 x 39/40, 2 x 4/5, 1; 2 x 15/16 */
static void
test_nic_bytes (void)
{
  g_assert_cmpfloat_with_epsilon (nic_bytes_of (&(Setup) { V100, .algorithm = "ring" }), 1.95, 1e-12);
  g_assert_cmpfloat_with_epsilon (nic_bytes_of (&(Setup) { V100, .algorithm = "hierarchical" }), 1.6, 1e-12);
  g_assert_cmpfloat_with_epsilon (nic_bytes_of (&(Setup) { V100, .algorithm = "reduction-server", .servers = 16 }), 1, 1e-12);
  g_assert_cmpfloat_with_epsilon (nic_bytes_of (&(Setup) { V100, .algorithm = "parameter-server", .servers = 16 }), 8, 1e-12);
  g_assert_cmpfloat_with_epsilon (nic_bytes_of (&(Setup) { .machine = "n1-standard-32-4xt4", .gpus = 4, .nodes = 4, .size = 1e8,
                                                           .algorithm = "grpc-ring" }), 1.875, 1e-12);
}

static void
test_loads (void)
{
  Priced p = price (&(Setup) { .machine = "dgx-a100", .gpus = 8, .nodes = 2, .size = 1e9, .protocol = PROTOCOL_SIMPLE, .algorithm = "ring" });
  double nic = 0;

  /* 8 rails share what a node sends: 1.875/8 each */
  for (guint i = 0; i < p.flow.n_loads; i++)
    if (p.flow.load[i].link == p.paths.between.out)
      nic += p.flow.load[i].bytes;
  g_assert_cmpfloat_with_epsilon (nic, 1.875 / 8, 1e-12);
  cluster_free (p.cluster);
}

static void
test_server_loads (void)
{
  Priced p = price (&(Setup) { V100, .algorithm = "reduction-server", .servers = 16 });
  double out = 0, in = 0, reducers = 0;

  for (guint i = 0; i < p.flow.n_loads; i++)
    {
      out += p.flow.load[i].link == p.paths.between.out ? p.flow.load[i].bytes : 0;
      in += p.flow.load[i].link == p.paths.between.in ? p.flow.load[i].bytes : 0;
      reducers += p.flow.load[i].link == p.paths.server_in ? p.flow.load[i].bytes * 16 : 0;
    }
  g_assert_cmpfloat_with_epsilon (out, 1, 1e-12);
  g_assert_cmpfloat_with_epsilon (in, 1, 1e-12);
  g_assert_cmpfloat_with_epsilon (reducers, 5, 1e-12);   /* what five nodes send arrives */
  cluster_free (p.cluster);
}

static guint64
reducers_needed (const Priced *p)
{
  return path_servers_needed (p->group.n_nodes, p->paths.between.links * p->paths.between.capacity, p->paths.server_capacity);
}

/* Sizing, as in Google Cloud's guide. */
static void
test_reducers_needed (void)
{
  Priced five = price (&(Setup) { V100, .algorithm = "reduction-server", .servers = 1 });
  Priced eight = price (&(Setup) { .machine = "a2-megagpu-16g", .gpus = 16, .nodes = 8, .size = 1e8, .algorithm = "reduction-server", .servers = 1 });

  g_assert_cmpuint (reducers_needed (&five), ==, 16);
  g_assert_cmpuint (reducers_needed (&eight), ==, 25);
  cluster_free (five.cluster);
  cluster_free (eight.cluster);
}

/* Half the workers' bandwidth in reducers is no gain over 2(n-1)/n of a ring. */
static void
test_pool_size (void)
{
  const double ring = seconds_of (&(Setup) { PLAIN, .algorithm = "ring", .nodes = 20, .size = 1e9, .latency = 1e-6, .nic_bandwidth = 4e9 });

  g_assert_cmpfloat (seconds_of (&(Setup) { PLAIN, .algorithm = "reduction-server", .nodes = 20, .servers = 9, .size = 1e9,
                                            .latency = 1e-6, .nic_bandwidth = 4e9 }), >, ring);
  g_assert_cmpfloat (seconds_of (&(Setup) { PLAIN, .algorithm = "reduction-server", .nodes = 20, .servers = 20, .size = 1e9,
                                            .latency = 1e-6, .nic_bandwidth = 4e9 }) * 1.85, <, ring);
}

static void
test_5x8 (void)
{
  const double ring = seconds_of (&(Setup) { V100, .algorithm = "ring" });
  const double matched = seconds_of (&(Setup) { V100, .algorithm = "reduction-server", .servers = 16 });
  const double half = seconds_of (&(Setup) { V100, .algorithm = "reduction-server", .servers = 8 });
  const double more = seconds_of (&(Setup) { V100, .algorithm = "reduction-server", .servers = 20 });
  const double byteps = seconds_of (&(Setup) { V100, .algorithm = "parameter-server", .servers = 16, .local_reduction = TRUE });
  const double none = seconds_of (&(Setup) { V100, .algorithm = "reduction-server", .servers = 0 });

  /* 1.95 S over 0.56 of 12.5 GB/s, hops hidden behind the bytes */
  g_assert_cmpfloat_with_epsilon (ring, 1.95 * 2.385e8 / 7e9, 0.01 * ring);
  g_assert_cmpfloat (ring / matched, >, 1.7);
  g_assert_cmpfloat (ring / matched, <, 1.95);
  g_assert_cmpfloat_with_epsilon (half, ring, 0.06 * ring);
  g_assert_cmpfloat_with_epsilon (more, matched, 1e-12);
  g_assert_cmpfloat_with_epsilon (byteps, matched, 1e-12);
  g_assert_cmpfloat_with_epsilon (none, ring, 1e-12);
  g_assert_cmpfloat (seconds_of (&(Setup) { V100, .algorithm = "parameter-server", .servers = 16 }), >, 3 * ring);
  g_assert_cmpfloat (seconds_of (&(Setup) { V100, .algorithm = "hierarchical" }), <, ring);
}

/* One node: servers change nothing. */
static void
test_one_node (void)
{
  Setup setup = { .machine = "n1-highmem-96-8xv100", .gpus = 8, .nodes = 1, .size = 2.385e8, .automatic = TRUE, .algorithm = "ring" };
  const double ring = seconds_of (&setup);
  Priced p;

  setup.algorithm = "reduction-server";
  setup.servers = 16;
  p = price (&setup);
  g_assert_cmpfloat_with_epsilon (p.seconds, ring, 1e-15);
  g_assert_cmpstr (p.flow.algorithm->name, ==, "ring");
  cluster_free (p.cluster);
}

/* Measured plateaus and floors of nccl-tests, within 30 %. */
static void
test_measured_boxes (void)
{
  const double large = 512 * 1048576., busbw_a100 = 1.75 * large / 222e9, busbw_v100 = 1.75 * large / 129e9;
  Setup setup = { .machine = "dgx-a100", .gpus = 8, .nodes = 1, .size = large, .automatic = TRUE, .algorithm = "auto" };

  g_assert_cmpfloat_with_epsilon (seconds_of (&setup), busbw_a100, 0.1 * busbw_a100);
  setup.size = 8;
  g_assert_cmpfloat_with_epsilon (seconds_of (&setup), 21.3e-6, 0.3 * 21.3e-6);
  setup.size = large;
  setup.nodes = 2;   /* 187-189 GB/s of bus bandwidth */
  g_assert_cmpfloat_with_epsilon (seconds_of (&setup), 1.875 * large / 188e9, 0.3 * 1.875 * large / 188e9);
  setup.nodes = 1;
  setup.machine = "n1-highmem-96-8xv100";
  g_assert_cmpfloat_with_epsilon (seconds_of (&setup), busbw_v100, 0.1 * busbw_v100);
}

/* NCCL 2.27 on 8 A100: LL128 from 4, Simple from 16 MiB for all-gather. */
static void
test_protocols (void)
{
  static const struct { double size; Protocol protocol; } rows[] = {
    { 65536, PROTOCOL_LL }, { 8 * 1048576., PROTOCOL_LL128 }, { 64 * 1048576., PROTOCOL_SIMPLE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      Priced p = price (&(Setup) { .machine = "dgx-a100", .gpus = 8, .nodes = 1, .op = OP_ALL_GATHER, .size = rows[i].size, .automatic = TRUE, .algorithm = "auto" });

      g_assert_cmpint (p.flow.protocol, ==, rows[i].protocol);
      cluster_free (p.cluster);
    }
}

/* 8 rings of one GPU a node over one NIC take 8 times one; over 8 NICs once. */
static void
test_twins (void)
{
  Setup setup = { .machine = "n1-highmem-96-8xv100", .transport = "plain", .gpus = 1, .nodes = 5, .size = 2.385e8, .latency = 1e-15,
                  .protocol = PROTOCOL_SIMPLE, .algorithm = "ring" };
  double one = seconds_of (&setup);

  setup.twins = 8;
  g_assert_cmpfloat_with_epsilon (seconds_of (&setup), 8 * one, 1e-9);
  setup.machine = "dgx-a100";
  setup.twins = 1;
  one = seconds_of (&setup);
  setup.twins = 8;
  g_assert_cmpfloat_with_epsilon (seconds_of (&setup), one, 1e-12);
}

/* 4 x 4 T4: 1.875 S at 12 Gbit/s a node and 30 messages of 250 us; copies hide behind the wire. */
static void
test_grpc (void)
{
  const Setup setup = { .machine = "n1-standard-32-4xt4", .gpus = 4, .nodes = 4, .size = 1.022e8, .algorithm = "grpc-ring" };
  const double by_hand = 1.875 * 1.022e8 / 1.5e9 + 30 * 250e-6;

  g_assert_cmpfloat_with_epsilon (seconds_of (&setup), by_hand, 1e-6 * by_hand);
}

static const char *const names[] = { "ring", "hierarchical", "grpc-ring", "reduction-server", "parameter-server" };

/* Each node must send its bytes and get the sum: S/line.  Peers alone need 2(n-1)/n. */
static void
test_no_algorithm_beats_the_wire (void)
{
  static const double sizes[] = { 8, 3.3e3, 7.1e5, 2.385e7, 4.4e9 };

  for (gsize a = 0; a < G_N_ELEMENTS (names); a++)
    for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
      for (int protocol = 0; protocol < N_PROTOCOLS; protocol++)
        {
          Setup setup = { V100, .algorithm = names[a], .servers = 16 };

          setup.size = sizes[i];
          setup.protocol = (Protocol) protocol;
          g_assert_cmpfloat (seconds_of (&setup), >=, sizes[i] / 12.5e9);
        }
}

static void
test_more_bandwidth_is_never_slower (void)
{
  static const double sizes[] = { 8, 3.3e3, 7.1e5, 2.385e7, 4.4e9 };
  static const char *const machines[] = { "n1-highmem-96-8xv100", "dgx-a100", "n1-standard-32-4xt4" };

  for (gsize a = 0; a < G_N_ELEMENTS (names); a++)
    for (gsize m = 0; m < G_N_ELEMENTS (machines); m++)
      for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
        {
          double before_nic = INFINITY, before_node = INFINITY;

          for (double factor = 1; factor < 1000; factor *= 3.7)
            {
              Setup nic = { .machine = machines[m], .gpus = 4, .nodes = 5, .servers = 16, .size = sizes[i], .automatic = TRUE,
                            .algorithm = names[a], .nic_bandwidth = 0.3e9 * factor };
              Setup node = { .machine = machines[m], .gpus = 4, .nodes = 5, .servers = 16, .size = sizes[i], .automatic = TRUE,
                             .algorithm = names[a], .node_bandwidth = 0.3e9 * factor };
              const double by_nic = seconds_of (&nic), by_node = seconds_of (&node);

              g_assert_cmpfloat (by_nic, <=, before_nic * (1 + 1e-12));
              g_assert_cmpfloat (by_node, <=, before_node * (1 + 1e-12));
              before_nic = by_nic;
              before_node = by_node;
            }
        }
}

/* The flow's own latency and rate are what it took on idle links; nothing is negative. */
static void
test_flows_are_sane (void)
{
  for (gsize a = 0; a < G_N_ELEMENTS (names); a++)
    for (double size = 5; size < 1e11; size *= 7.3)
      {
        Setup setup = { V100, .algorithm = names[a], .servers = 16, .twins = 1, .automatic = TRUE };
        Priced p;

        setup.size = size;
        p = price (&setup);
        g_assert_cmpfloat (p.flow.latency, >=, 0);
        g_assert_true (isfinite (p.seconds) && p.flow.cap > 0);
        for (guint i = 0; i < p.flow.n_loads; i++)
          g_assert_true (p.flow.load[i].bytes > 0 && p.flow.load[i].efficiency > 0 && p.flow.load[i].efficiency <= 1);
        cluster_free (p.cluster);
      }
}

static void
test_names (void)
{
  const CollectiveAlgorithm *algorithm;
  CollectiveOp op;
  g_autoptr (GError) error = NULL, unknown = NULL;

  g_assert_true (collective_find ("auto", &algorithm, NULL));
  g_assert_null (algorithm);
  g_assert_false (collective_find ("hierarchic", &algorithm, &error));
  g_assert_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNKNOWN);
  g_assert_nonnull (strstr (error->message, "'hierarchical'"));
  g_assert_true (collective_op_find ("all-gather", &op, NULL) && op == OP_ALL_GATHER);
  g_assert_false (collective_op_find ("allreduce", &op, &unknown));
  g_assert_cmpfloat_with_epsilon (collective_bus_factor (OP_ALL_REDUCE, 40), 1.95, 1e-15);
}

static void
test_unsupported (void)
{
  const Setup setup = { V100, .algorithm = "reduction-server" };
  g_autoptr (Cluster) c = make (&setup);
  const RankGroup group = { .n_ranks = 40, .n_nodes = 5, .per_node = 8, .twins_per_node = 1 };
  CollectiveCall call = { .op = OP_BROADCAST, .size = 1e6, .protocol = PROTOCOL_AUTO };
  g_autoptr (GError) error = NULL, none = NULL;
  CollectiveFlow flow;
  Paths paths;

  g_assert_true (collective_find ("reduction-server", &call.algorithm, NULL));
  g_assert_true (cluster_paths (c, "nccl", &group, &paths, NULL));
  g_assert_false (collective_flow (&call, &group, &paths, cluster_network (c), &flow, &error));
  g_assert_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED);
  g_assert_true (collective_find ("parameter-server", &call.algorithm, NULL));
  call.op = OP_ALL_REDUCE;
  g_assert_false (collective_flow (&call, &group, &paths, cluster_network (c), &flow, &none));
  g_assert_true (g_str_has_prefix (none->message, "[parameter-server] count:"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/collective/hand/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/collective/nic-bytes", test_nic_bytes);
  g_test_add_func ("/collective/rails", test_loads);
  g_test_add_func ("/collective/server-loads", test_server_loads);
  g_test_add_func ("/collective/reducers-needed", test_reducers_needed);
  g_test_add_func ("/collective/pool-size", test_pool_size);
  g_test_add_func ("/collective/5x8", test_5x8);
  g_test_add_func ("/collective/one-node", test_one_node);
  g_test_add_func ("/collective/measured-boxes", test_measured_boxes);
  g_test_add_func ("/collective/protocols", test_protocols);
  g_test_add_func ("/collective/twins", test_twins);
  g_test_add_func ("/collective/grpc", test_grpc);
  g_test_add_func ("/collective/no-algorithm-beats-the-wire", test_no_algorithm_beats_the_wire);
  g_test_add_func ("/collective/more-bandwidth-is-never-slower", test_more_bandwidth_is_never_slower);
  g_test_add_func ("/collective/flows-are-sane", test_flows_are_sane);
  g_test_add_func ("/collective/names", test_names);
  g_test_add_func ("/collective/unsupported", test_unsupported);
  return g_test_run ();
}
