/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "cluster/cluster.h"
#include "collective/collective.h"

/* One priced call on a cluster made for it. */
typedef struct
{
  const char  *machine, *transport, *algorithm;
  CollectiveOp op;            /* 0: all-reduce */
  guint64      nodes, gpus, twins;
  double       size, latency, nic_bandwidth;   /* 0: the parts' */
  Protocol     protocol;      /* PROTOCOL_LL is 0 */
  gboolean     automatic, switch_reduction;
} Setup;
typedef struct { Cluster *cluster; RankGroup group; Paths paths; CollectiveFlow flow; double seconds; } Priced;

static double
or_nan (double value)
{
  return value > 0 ? value : NAN;
}

static gboolean
try_price (const Setup *s, Priced *out, GError **error)
{
  const ClusterSpec cluster = { .machine = (char *) s->machine, .nodes = s->nodes, .gpus_per_node = s->gpus * MAX (s->twins, 1) };
  const NetworkSpec network = { .transport = (char *) s->transport, .nic_bandwidth = or_nan (s->nic_bandwidth),
                                .latency = or_nan (s->latency), .efficiency = NAN, .node_bandwidth = NAN, .oversubscription = 1,
                                .nodes_per_leaf = 1, .ecmp_share = 1, .switch_reduction = s->switch_reduction };
  CollectiveCall call = { .op = s->op != 0 ? s->op : OP_ALL_REDUCE, .size = s->size,
                          .protocol = s->automatic ? PROTOCOL_AUTO : s->protocol };

  out->cluster = cluster_new (&cluster, &network, NULL, NULL, error);
  out->group = (RankGroup) { .n_ranks = s->nodes * s->gpus, .n_nodes = s->nodes, .per_node = s->gpus, .twins_per_node = MAX (s->twins, 1) };
  if (out->cluster == NULL || !collective_find (s->algorithm, &call.algorithm, error)
      || !cluster_paths (out->cluster, collective_paths (call.algorithm), &out->group, &out->paths, error)
      || !collective_flow (&call, &out->group, &out->paths, cluster_network (out->cluster), &out->flow, error))
    return FALSE;
  out->seconds = collective_estimate (&out->flow, cluster_network (out->cluster), s->size);
  return TRUE;
}

static Priced
price (const Setup *s)
{
  Priced out = { 0 };
  GError *error = NULL;

  g_assert_true (try_price (s, &out, &error));
  g_assert_no_error (error);
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
busbw_of (const Setup *s)
{
  const CollectiveOp op = s->op != 0 ? s->op : OP_ALL_REDUCE;

  return s->size / seconds_of (s) * collective_bus_factor (op, s->nodes * s->gpus);
}

/* Closed forms by hand: 7 us a message, 3.1 GB/s, 23.85 MB. */
#define PLAIN .machine = "generic-1gpu", .gpus = 1, .transport = "plain", .latency = 7e-6, .nic_bandwidth = 3.1e9, .size = 2.385e7
#define WIRE (2.385e7 / 3.1e9)
typedef struct { const char *name; Setup setup; double seconds; } Case;
static const Case cases[] = {
  /* two trees, half of the bytes each: with two nodes S each way, with more 2 S at the busiest; up and down */
  { "tree-2", { PLAIN, .algorithm = "tree", .nodes = 2 }, 2 * 7e-6 + WIRE },
  { "tree-4", { PLAIN, .algorithm = "tree", .nodes = 4 }, 4 * 7e-6 + 2 * WIRE },
  { "tree-64", { PLAIN, .algorithm = "tree", .nodes = 64 }, 12 * 7e-6 + 2 * WIRE },
  /* Thakur, Rabenseifner, Gropp 2005: 2 log2 n latencies, 2(n-1)/n of the bytes; others than a power of two: S before and S after */
  { "halving-doubling-8", { PLAIN, .algorithm = "halving-doubling", .nodes = 8 }, 6 * 7e-6 + 1.75 * WIRE },
  { "halving-doubling-6", { PLAIN, .algorithm = "halving-doubling", .nodes = 6 }, 6 * 7e-6 + 3.5 * WIRE },
  { "switch-reduction", { PLAIN, .algorithm = "switch-reduction", .nodes = 24 }, 2 * 7e-6 + WIRE },
  { "pat-8", { PLAIN, .algorithm = "pat", .op = OP_ALL_GATHER, .nodes = 8 }, 3 * 7e-6 + 7. / 8 * WIRE },
  { "pat-16", { PLAIN, .algorithm = "pat", .op = OP_REDUCE_SCATTER, .nodes = 16 }, 4 * 7e-6 + 15. / 16 * WIRE },
  { "all-to-all", { PLAIN, .algorithm = "auto", .op = OP_ALL_TO_ALL, .nodes = 7 }, 7e-6 + 6. / 7 * WIRE },
  { "send-recv", { PLAIN, .algorithm = "auto", .op = OP_SEND_RECV, .nodes = 7, .automatic = TRUE }, 7e-6 + WIRE },
  { "host-mpi", { PLAIN, .algorithm = "host-mpi", .nodes = 8 }, 6 * 7e-6 + 1.75 * WIRE },
  { "gloo", { PLAIN, .algorithm = "gloo", .nodes = 8 }, 14 * 7e-6 + 1.75 * WIRE },
  { "pat-auto", { PLAIN, .algorithm = "auto", .op = OP_ALL_GATHER, .nodes = 1024, .automatic = TRUE }, 10 * 7e-6 + 1023. / 1024 * WIRE },
};

static void
test_case (gconstpointer data)
{
  const Case *c = data;

  g_assert_cmpfloat_with_epsilon (seconds_of (&c->setup), c->seconds, 1e-9 * c->seconds);
}

/* NCCL src/graph/trees.cc, ncclGetBtree: the parent of a rank. */
static int
parent_of (int ranks, int rank)
{
  int bit = 1, up;

  while (bit < ranks && (bit & rank) == 0)
    bit <<= 1;
  if (rank == 0)
    return -1;
  up = (rank ^ bit) | (bit << 1);
  return up >= ranks ? rank ^ bit : up;
}

/* Bytes that each node sends, S = 1: half up and half down each edge of both trees;
 * the second is the first mirrored (even) or shifted by one (odd). */
static void
double_tree_out (int nodes, double *out)
{
  for (int i = 0; i < nodes; i++)
    out[i] = 0;
  for (int tree = 0; tree < 2; tree++)
    for (int rank = 1; rank < nodes; rank++)
      {
        const int up = parent_of (nodes, rank);
        const int child_node = tree == 0 ? rank : nodes % 2 == 0 ? nodes - 1 - rank : (rank + 1) % nodes;
        const int parent_node = tree == 0 ? up : nodes % 2 == 0 ? nodes - 1 - up : (up + 1) % nodes;

        out[child_node] += 0.5;
        out[parent_node] += 0.5;
      }
}

static void
test_tree_bytes (void)
{
  static const int counts[] = { 2, 3, 4, 5, 7, 8, 16, 33, 100 };

  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      const int nodes = counts[i];
      double out[100], sum = 0, busiest = 0;
      Priced p = price (&(Setup) { .machine = "dgx-a100", .gpus = 8, .algorithm = "tree", .nodes = (guint64) nodes, .size = 1e8, .protocol = PROTOCOL_SIMPLE });

      double_tree_out (nodes, out);
      for (int j = 0; j < nodes; j++)
        {
          sum += out[j];
          busiest = fmax (busiest, out[j]);
        }
      g_assert_cmpfloat_with_epsilon (p.flow.nic_bytes, sum / nodes, 1e-12);
      if (nodes != 3)   /* 1.5: three are a chain */
        g_assert_cmpfloat_with_epsilon (busiest, nodes > 2 ? 2 : 1, 1e-12);
      cluster_free (p.cluster);
    }
}

static double
load_of (const Priced *p, Id link)
{
  double bytes = 0;

  for (guint i = 0; i < p->flow.n_loads; i++)
    bytes += p->flow.load[i].link == link ? p->flow.load[i].bytes : 0;
  return bytes;
}

/* Messages counted one by one: what leaves the nodes is what the links carry. */
static void
test_all_to_all_bytes (void)
{
  const guint64 nodes = 3, gpus = 4, n = 12;
  Priced p = price (&(Setup) { .machine = "dgx-a100", .gpus = gpus, .nodes = nodes, .op = OP_ALL_TO_ALL, .algorithm = "auto", .size = 1e8, .automatic = TRUE });
  double across = 0, inside = 0;

  for (guint64 from = 0; from < n; from++)
    for (guint64 to = 0; to < n; to++)
      {
        across += from / gpus != to / gpus ? 1. / (double) n : 0;
        inside += from != to && from / gpus == to / gpus ? 1. / (double) n : 0;
      }
  g_assert_cmpfloat_with_epsilon (p.flow.nic_bytes * (double) nodes, across, 1e-12);
  g_assert_cmpfloat_with_epsilon (load_of (&p, p.paths.between.out) * p.paths.between.links * (double) nodes, across, 1e-12);
  g_assert_cmpfloat_with_epsilon (load_of (&p, p.paths.in_node.out) * (double) n, inside, 1e-12);
  cluster_free (p.cluster);
}

/* Recursive halving over all of a power of two, near partners first. */
static void
test_halving_doubling_bytes (void)
{
  const guint64 nodes = 4, gpus = 8, n = 32;
  Priced p = price (&(Setup) { .machine = "dgx-a100", .gpus = gpus, .nodes = nodes, .algorithm = "halving-doubling", .size = 1e8, .protocol = PROTOCOL_SIMPLE });
  double across = 0, inside = 0, part = 0.5;

  for (guint64 distance = 1; distance < n; distance *= 2, part /= 2)
    for (guint64 from = 0; from < n; from++)
      *(from / gpus != (from ^ distance) / gpus ? &across : &inside) += 2 * part;   /* halving and doubling */
  g_assert_cmpfloat_with_epsilon (p.flow.nic_bytes * (double) nodes, across, 1e-12);
  g_assert_cmpfloat_with_epsilon (load_of (&p, p.paths.in_node.out) * (double) n, inside, 1e-12);
  cluster_free (p.cluster);
}

/* (p+1)/p in the switch, on the NICs as a tree. */
static void
test_nvls_bytes (void)
{
  Priced one = price (&(Setup) { .machine = "dgx-h100", .gpus = 8, .nodes = 1, .algorithm = "nvls", .size = 1e9, .automatic = TRUE });
  Priced two = price (&(Setup) { .machine = "dgx-h100", .gpus = 8, .nodes = 2, .algorithm = "nvls", .size = 1e9, .automatic = TRUE });

  g_assert_cmpfloat_with_epsilon (load_of (&one, one.paths.in_node.out), 9. / 8, 1e-12);
  g_assert_cmpstr (two.flow.algorithm->name, ==, "nvls-tree");
  g_assert_cmpfloat_with_epsilon (load_of (&two, two.paths.in_node.out), 9. / 8, 1e-12);
  g_assert_cmpfloat_with_epsilon (two.flow.nic_bytes, 1, 1e-12);
  cluster_free (one.cluster);
  cluster_free (two.cluster);
}

/* Where measured curves jump: nccl-tests, NCCL 2.27 on A100, 2.29 on H100 and B200. */
static void
test_choice (void)
{
  static const struct { const char *machine; CollectiveOp op; guint64 gpus; double mib; const char *algorithm; Protocol protocol; } rows[] = {
    { "dgx-a100", OP_ALL_REDUCE, 2, 0.5, "ring", PROTOCOL_LL }, { "dgx-a100", OP_ALL_REDUCE, 2, 1, "ring", PROTOCOL_SIMPLE },
    { "dgx-a100", OP_ALL_GATHER, 4, 1, "ring", PROTOCOL_LL }, { "dgx-a100", OP_ALL_GATHER, 4, 2, "ring", PROTOCOL_SIMPLE },
    { "dgx-a100", OP_ALL_GATHER, 8, 2, "ring", PROTOCOL_LL }, { "dgx-a100", OP_ALL_GATHER, 8, 4, "ring", PROTOCOL_LL128 },
    { "dgx-a100", OP_ALL_GATHER, 8, 16, "ring", PROTOCOL_SIMPLE },
    { "dgx-h100", OP_ALL_REDUCE, 2, 2, "ring", PROTOCOL_SIMPLE }, { "dgx-h100", OP_ALL_REDUCE, 8, 1, "ring", PROTOCOL_LL },
    { "dgx-h100", OP_ALL_REDUCE, 8, 2, "nvls", PROTOCOL_SIMPLE }, { "dgx-h100", OP_ALL_REDUCE, 4, 512, "ring", PROTOCOL_SIMPLE },
    { "dgx-h100", OP_ALL_GATHER, 8, 8, "ring", PROTOCOL_LL128 }, { "dgx-h100", OP_ALL_GATHER, 8, 32, "ring", PROTOCOL_SIMPLE },
    { "dgx-b200", OP_ALL_REDUCE, 8, 4, "nvls", PROTOCOL_SIMPLE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      Priced p = price (&(Setup) { .machine = rows[i].machine, .gpus = rows[i].gpus, .nodes = 1, .op = rows[i].op, .algorithm = "auto",
                                   .size = rows[i].mib * 1048576, .automatic = TRUE });

      if (g_strcmp0 (p.flow.algorithm->name, rows[i].algorithm) != 0 || p.flow.protocol != rows[i].protocol)
        g_error ("%s, %" G_GUINT64_FORMAT " GPUs, %g MiB: %s %s", rows[i].machine, rows[i].gpus, rows[i].mib, p.flow.algorithm->name,
                 protocol_names[p.flow.protocol]);
      cluster_free (p.cluster);
    }
}

/* Trees for latency and between two nodes, rings for bytes between many; SHARP
 * only where there is one; PAT only with one GPU a node. */
static void
test_between (void)
{
  static const struct { Setup setup; const char *algorithm; } rows[] = {
    { { .machine = "dgx-a100", .gpus = 8, .nodes = 64, .size = 1024 }, "tree" },
    { { .machine = "dgx-a100", .gpus = 8, .nodes = 8, .size = 4e9 }, "ring" },
    { { .machine = "n1-highmem-96-8xv100", .gpus = 8, .nodes = 2, .size = 1e8 }, "tree" },
    { { .machine = "n1-highmem-96-8xv100", .gpus = 8, .nodes = 5, .size = 1e8 }, "ring" },
    { { .machine = "dgx-a100", .gpus = 8, .nodes = 8, .size = 4e9, .switch_reduction = TRUE }, "switch-reduction" },
    { { .machine = "dgx-h100", .gpus = 8, .nodes = 2, .size = 1e9 }, "nvls-tree" },
    { { .machine = "dgx-h100", .gpus = 1, .nodes = 64, .size = 1e6, .op = OP_REDUCE_SCATTER }, "pat" },
    { { .machine = "dgx-h100", .gpus = 8, .nodes = 8, .size = 1e6, .op = OP_REDUCE_SCATTER }, "ring" },
    { { .machine = "dgx-h100", .gpus = 8, .nodes = 8, .size = 1e6, .op = OP_BROADCAST }, "ring" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      Setup setup = rows[i].setup;
      Priced p;

      setup.algorithm = "auto";
      setup.automatic = TRUE;
      p = price (&setup);
      g_assert_cmpstr (p.flow.algorithm->name, ==, rows[i].algorithm);
      cluster_free (p.cluster);
    }
}

/* Bus bandwidth counts a ring's bytes: on two nodes a tree may show more than the
 * NICs carry (78 of 50 GB/s measured on p4de), in NVSwitch more than NVLink. */
static void
test_more_than_the_wire (void)
{
  const Setup tree = { .machine = "p4de-24xlarge", .gpus = 8, .nodes = 2, .algorithm = "tree", .size = 4e9, .protocol = PROTOCOL_SIMPLE };
  const Setup nvls = { .machine = "dgx-h100", .gpus = 8, .nodes = 1, .algorithm = "nvls", .size = 16e9, .automatic = TRUE };
  Priced p = price (&tree), q = price (&nvls);

  g_assert_cmpfloat (busbw_of (&tree), >, 50e9);
  g_assert_cmpfloat (p.flow.nic_bytes * tree.size / p.seconds, <, 50e9);
  g_assert_cmpfloat (busbw_of (&nvls), >, 450e9);
  g_assert_cmpfloat (load_of (&q, q.paths.in_node.out) * nvls.size / q.seconds, <, 450e9);
  cluster_free (p.cluster);
  cluster_free (q.cluster);
}

/* A box of PCIe cards loses bus bandwidth as cards are added, NVSwitch does not. */
static void
test_boxes (void)
{
  double before_pcie = INFINITY, before_switch = 0;

  for (guint64 gpus = 2; gpus <= 8; gpus *= 2)
    {
      const double pcie = busbw_of (&(Setup) { .machine = "l40s-8x", .gpus = gpus, .nodes = 1, .algorithm = "auto", .size = 5e8, .automatic = TRUE });
      const double nvswitch = busbw_of (&(Setup) { .machine = "dgx-a100", .gpus = gpus, .nodes = 1, .algorithm = "auto", .size = 5e8, .automatic = TRUE });

      g_assert_cmpfloat (pcie, <, 0.5 * before_pcie);
      g_assert_cmpfloat (nvswitch, >, before_switch);
      before_pcie = pcie;
      before_switch = nvswitch;
    }
}

/* NVIDIA/nccl issue 209, 32 Gbit/s: 30.4-31.4 Gbit/s with one GPU a node, 14.5-22.9 with eight. */
static void
test_tcp (void)
{
  Setup setup = { .machine = "n1-highmem-96-8xv100", .nodes = 4, .algorithm = "ring", .size = 1e9, .nic_bandwidth = 4e9, .automatic = TRUE };
  double one, eight;

  setup.gpus = 1;
  one = busbw_of (&setup);
  setup.gpus = 8;
  eight = busbw_of (&setup);
  g_assert_cmpfloat (one, >, 0.9 * 4e9);
  g_assert_cmpfloat (eight, <, 0.72 * 4e9);
  g_assert_cmpfloat (eight, >, 0.45 * 4e9);
}

/* 2.6 ns a byte through host memory, whatever the wire. */
static void
test_host (void)
{
  const Setup mpi = { .machine = "n1-standard-16-4xp100", .gpus = 4, .nodes = 4, .algorithm = "host-mpi", .size = 5.53e8, .nic_bandwidth = 3.125e9 };
  Setup slow = mpi, gloo = mpi;
  Priced p = price (&mpi);

  slow.nic_bandwidth = 0.125e9;   /* 1 Gbit/s: now the wire */
  gloo.algorithm = "gloo";
  g_assert_cmpfloat_with_epsilon (p.seconds, 2.6e-9 * 5.53e8, 0.01 * p.seconds);
  g_assert_cmpfloat (seconds_of (&slow), >=, 1.875 * 5.53e8 / 0.125e9);
  g_assert_cmpfloat (seconds_of (&gloo), >, p.seconds);
  g_assert_false (p.flow.algorithm->on_gpu);
  cluster_free (p.cluster);
}

/* One pair gets less of a rail than a ring; rails of twins are their own. */
static void
test_pairs (void)
{
  Setup send = { .machine = "dgx-h100", .gpus = 1, .nodes = 2, .op = OP_SEND_RECV, .algorithm = "auto", .size = 1e9, .automatic = TRUE };
  const double one = seconds_of (&send);
  Setup ring = send;

  ring.op = OP_ALL_REDUCE;
  ring.algorithm = "ring";
  g_assert_cmpfloat (busbw_of (&send), <, 0.6 * busbw_of (&ring));
  send.twins = 8;
  g_assert_cmpfloat_with_epsilon (seconds_of (&send), one, 1e-9 * one);
  send.machine = "a2-highgpu-8g";   /* one NIC for all: 8 pairs fill it */
  g_assert_cmpfloat (seconds_of (&send), >, 1e9 * 8 / 12.5e9);
}

static void
test_refusals (void)
{
  static const struct { Setup setup; const char *says; } rows[] = {
    { { .machine = "dgx-a100", .gpus = 8, .nodes = 1, .algorithm = "nvls", .size = 1e6 }, "Hopper" },
    { { .machine = "dgx-a100", .gpus = 8, .nodes = 2, .algorithm = "nvls-tree", .size = 1e6 }, "Hopper" },
    { { .machine = "dgx-h100", .gpus = 8, .nodes = 2, .algorithm = "pat", .op = OP_ALL_GATHER, .size = 1e6 }, "one GPU a node" },
    { { .machine = "dgx-h100", .gpus = 8, .nodes = 2, .algorithm = "tree", .op = OP_ALL_GATHER, .size = 1e6 }, "cannot do all-gather" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      Priced p = { 0 };

      g_assert_false (try_price (&rows[i].setup, &p, &error));
      g_assert_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED);
      g_assert_nonnull (g_strstr_len (error->message, -1, rows[i].says));
      cluster_free (p.cluster);
    }
}

/* Every algorithm on every kind of box, any size: sane flows, and never faster than
 * each node's own bytes, S, allow. */
static void
test_sane (void)
{
  static const char *const machines[] = { "n1-highmem-96-8xv100", "dgx-a100", "dgx-h100", "l40s-8x", "polaris-a100" };
  const CollectiveAlgorithm *const *all = collective_algorithms ();

  for (gsize a = 0; all[a] != NULL; a++)
    for (gsize m = 0; m < G_N_ELEMENTS (machines); m++)
      for (guint64 nodes = 1; nodes < 10; nodes += 2)
        for (double size = 5; size < 1e11; size *= 29.3)
          {
            Setup setup = { .machine = machines[m], .gpus = 4, .nodes = nodes, .algorithm = all[a]->name, .size = size, .automatic = TRUE };
            g_autoptr (GError) error = NULL;
            Priced p = { 0 };

            setup.op = (all[a]->ops & OP_ALL_REDUCE) != 0 ? OP_ALL_REDUCE : (all[a]->ops & OP_ALL_GATHER) != 0 ? OP_ALL_GATHER : OP_ALL_TO_ALL;
            if (try_price (&setup, &p, &error))
              {
                g_assert_true (isfinite (p.seconds) && p.seconds > 0 && p.flow.cap > 0 && p.flow.latency >= 0 && p.flow.spread >= 1);
                for (guint i = 0; i < p.flow.n_loads; i++)
                  g_assert_true (p.flow.load[i].bytes > 0 && p.flow.load[i].efficiency > 0 && p.flow.load[i].efficiency <= 1);
                if (nodes > 1 && setup.op == OP_ALL_REDUCE)
                  g_assert_cmpfloat (p.seconds, >=, size / (p.paths.between.links * p.paths.between.capacity));
              }
            cluster_free (p.cluster);
          }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/algorithms/hand/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/algorithms/tree-bytes", test_tree_bytes);
  g_test_add_func ("/algorithms/all-to-all-bytes", test_all_to_all_bytes);
  g_test_add_func ("/algorithms/halving-doubling-bytes", test_halving_doubling_bytes);
  g_test_add_func ("/algorithms/nvls-bytes", test_nvls_bytes);
  g_test_add_func ("/algorithms/choice", test_choice);
  g_test_add_func ("/algorithms/between", test_between);
  g_test_add_func ("/algorithms/more-than-the-wire", test_more_than_the_wire);
  g_test_add_func ("/algorithms/boxes", test_boxes);
  g_test_add_func ("/algorithms/tcp", test_tcp);
  g_test_add_func ("/algorithms/host", test_host);
  g_test_add_func ("/algorithms/pairs", test_pairs);
  g_test_add_func ("/algorithms/refusals", test_refusals);
  g_test_add_func ("/algorithms/sane", test_sane);
  return g_test_run ();
}
