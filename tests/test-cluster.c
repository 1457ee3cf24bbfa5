/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "cluster/cluster.h"

#define NETWORK \
  { .nic_bandwidth = NAN, .latency = NAN, .efficiency = NAN, .node_bandwidth = NAN, .oversubscription = 1, \
    .nodes_per_leaf = 16, .ecmp_share = 0.85 }

static Cluster *
make (const char *machine, guint64 nodes, guint64 gpus, const NetworkSpec *network, GError **error)
{
  const ClusterSpec spec = { .machine = (char *) machine, .nodes = nodes, .gpus_per_node = gpus };
  const NetworkSpec standard = NETWORK;

  return cluster_new (&spec, network != NULL ? network : &standard, NULL, NULL, error);
}

static Paths
paths_of (const Cluster *c, guint64 per_node, guint64 twins)
{
  const RankGroup group = { .n_ranks = cluster_nodes (c) * per_node, .n_nodes = cluster_nodes (c), .per_node = per_node,
                            .twins_per_node = twins };
  Paths paths;
  GError *error = NULL;

  g_assert_true (cluster_paths (c, "nccl", &group, &paths, &error));
  g_assert_no_error (error);
  return paths;
}

/* GPUs, cards and the line of each machine: data of the clouds' own tables. */
typedef struct { const char *name, *gpu; guint64 gpus, nics; double gbit; } MachineRow;
static const MachineRow machine_rows[] = {
  { "n1-highmem-96-8xv100", "V100-SXM2-16GB", 8, 1, 100 },
  { "n1-standard-32-4xt4", "T4", 4, 1, 50 },
  { "n1-standard-32-4xv100", "V100-SXM2-16GB", 4, 1, 50 },
  { "n1-highcpu-16", NULL, 0, 1, 32 },
  { "a2-highgpu-8g", "A100-SXM-40GB", 8, 1, 100 },
  { "a2-megagpu-16g", "A100-SXM-40GB", 16, 1, 100 },
  { "dgx-a100", "A100-SXM-80GB", 8, 8, 1600 },
  { "generic-1gpu", "V100-SXM2-16GB", 1, 1, 200 },
};

static void
test_machines (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (machine_rows); i++)
    {
      const MachineRow *row = &machine_rows[i];
      g_autoptr (GError) error = NULL;
      g_autoptr (Machine) machine = machine_load (row->name, &error);
      const MachineInfo *info;

      g_assert_no_error (error);
      info = machine_info (machine);
      g_assert_cmpstr (info->name, ==, row->name);
      g_assert_cmpstr (info->gpu, ==, row->gpu);
      g_assert_cmpuint (info->gpus, ==, row->gpus);
      g_assert_cmpuint (info->nics, ==, row->nics);
      g_assert_cmpfloat_with_epsilon (info->nic_bandwidth * (double) info->nics * 8e-9, row->gbit, 1e-9);
    }
}

static void
test_all_machines_make_clusters (void)
{
  g_auto (GStrv) names = part_list ("machine");

  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Machine) machine = machine_load (names[i], &error);
      g_autoptr (Cluster) c = NULL;
      NetworkSpec network = NETWORK;

      g_assert_no_error (error);
      if (machine_info (machine)->gpus == 0)
        continue;
      if (isnan (machine_info (machine)->nic_bandwidth))
        network.nic_bandwidth = 3.1e9;
      c = make (names[i], 3, 0, &network, &error);
      g_assert_no_error (error);
      g_assert_cmpfloat (paths_of (c, cluster_gpus_per_node (c), 1).between.rate, >, 0);
    }
}

static void
test_rails (void)
{
  g_autoptr (Cluster) dgx = make ("dgx-a100", 2, 0, NULL, NULL), one = make ("n1-highmem-96-8xv100", 2, 0, NULL, NULL);
  const Paths all = paths_of (dgx, 8, 1), rail = paths_of (dgx, 1, 1), twins = paths_of (dgx, 1, 8);

  g_assert_cmpfloat_with_epsilon (all.between.links, 8, 1e-12);
  g_assert_cmpfloat_with_epsilon (all.between.rate, 0.95 * 8 * 25e9, 1);
  g_assert_cmpfloat_with_epsilon (rail.between.links, 1, 1e-12);
  g_assert_cmpfloat_with_epsilon (twins.between.links, 8, 1e-12);
  /* one NIC for all: half of TCP's line with 8 GPUs behind it, nearly all with one */
  g_assert_cmpfloat_with_epsilon (paths_of (one, 8, 1).between.rate, 0.56 * 12.5e9, 1);
  g_assert_cmpfloat_with_epsilon (paths_of (one, 1, 1).between.rate, 0.95 * 12.5e9, 1);
  g_assert_cmpfloat_with_epsilon (paths_of (one, 1, 8).between.rate, 0.56 * 12.5e9, 1);
}

static void
test_in_node (void)
{
  g_autoptr (Cluster) v100 = make ("n1-highmem-96-8xv100", 1, 0, NULL, NULL), t4 = make ("n1-standard-32-4xt4", 1, 0, NULL, NULL);
  const Paths mesh = paths_of (v100, 8, 1), host = paths_of (t4, 4, 1);

  /* nominal 6 NVLinks of 25 GB/s; nccl-tests fit of this mesh: 150 GB/s before slot and fill */
  g_assert_cmpfloat_with_epsilon (mesh.in_node.capacity, 150e9, 1);
  g_assert_cmpfloat_with_epsilon (mesh.in_node.rate, 147e9, 5e9);
  g_assert_true (mesh.ll128);
  g_assert_cmpfloat_with_epsilon (host.in_node.rate, 6.4e9, 0.3e9);
  g_assert_false (host.ll128);
  /* NCCL on Volta: LL at most 39 GB/s in one node */
  g_assert_cmpfloat_with_epsilon (mesh.nccl.ring.rate[PROTOCOL_LL], 39e9, 1);
}

static void
test_overrides (void)
{
  NetworkSpec network = NETWORK;
  g_autoptr (Cluster) c = NULL;
  Paths paths;

  network.transport = (char *) "plain";
  network.latency = 7e-6;
  network.nic_bandwidth = 3.1e9;
  network.efficiency = 0.83;
  network.node_bandwidth = 30e9;
  c = make ("n1-highmem-96-8xv100", 5, 4, &network, NULL);
  paths = paths_of (c, 4, 1);
  g_assert_cmpuint (cluster_gpus_per_node (c), ==, 4);
  for (int p = 0; p < N_PROTOCOLS; p++)
    g_assert_cmpfloat_with_epsilon (paths.between.hop[p], 7e-6, 1e-15);
  g_assert_cmpfloat_with_epsilon (paths.between.rate, 0.83 * 3.1e9, 1);
  g_assert_cmpfloat_with_epsilon (paths.launch[PROTOCOL_SIMPLE], 0, 1e-15);
  g_assert_cmpfloat (paths.in_node.rate, <, 40e9);
}

static void
test_fat_tree (void)
{
  NetworkSpec network = NETWORK;
  g_autoptr (Cluster) c = NULL;
  const LinkClass *leaf;

  network.topology = TOPOLOGY_FAT_TREE;
  network.nodes_per_leaf = 4;
  network.oversubscription = 3;
  network.ecmp_share = 0.5;
  c = make ("dgx-a100", 9, 0, &network, NULL);
  leaf = network_link (cluster_network (c), paths_of (c, 8, 1).level[0].up);
  g_assert_cmpstr (leaf->name, ==, "leaf-up");
  g_assert_cmpuint (leaf->multiplicity, ==, 3);
  g_assert_cmpfloat_with_epsilon (leaf->capacity, 4 * 200e9 / 3 * 0.5, 1);
}

static void
test_servers (void)
{
  const ClusterSpec workers = { .machine = (char *) "n1-highmem-96-8xv100", .nodes = 5 };
  const NetworkSpec network = NETWORK;
  ServerSpec reducers = { .machine = (char *) "n1-highcpu-16", .count = 8, .efficiency = NAN, .latency = NAN, .sum_rate = NAN };
  g_autoptr (Cluster) small = cluster_new (&workers, &network, &reducers, NULL, NULL);
  g_autofree char *warning = cluster_warning (small), *none = NULL;
  g_autoptr (Cluster) matched = NULL;
  const Paths paths = paths_of (small, 8, 1);

  g_assert_cmpuint (paths.servers, ==, 8);
  g_assert_cmpfloat_with_epsilon (paths.server_capacity, 4e9, 1);
  g_assert_cmpfloat_with_epsilon (paths.server_efficiency, 0.56, 1e-12);   /* TCP's, below 0.72 */
  g_assert_cmpfloat_with_epsilon (paths.server_sum, 10e9, 1);              /* 16 vCPU */
  g_assert_nonnull (strstr (warning, "16 would match"));
  /* 5 x 25.5185 + 8 x 0.5668 */
  g_assert_cmpfloat_with_epsilon (cluster_price_per_hour (small), 132.1269, 1e-9);
  reducers.count = 16;
  matched = cluster_new (&workers, &network, &reducers, NULL, NULL);
  none = cluster_warning (matched);
  g_assert_null (none);
}

/* Cards on PCIe: pairs behind a switch, four behind a CPU.  What L40S keep in rings
 * of 2, 4, 8 (nccl-tests: 20.1, 5.9, 2.1 GB/s) is what their slots, the host bridge
 * and the link between the CPUs carry. */
static Paths
strided (const Cluster *c, guint64 per_node, guint64 stride)
{
  const RankGroup group = { .n_ranks = per_node, .n_nodes = 1, .per_node = per_node, .stride = stride, .twins_per_node = 8 / per_node };
  Paths paths;

  g_assert_true (cluster_paths (c, "nccl", &group, &paths, NULL));
  return paths;
}

static void
test_bridges (void)
{
  g_autoptr (Cluster) c = make ("l40s-8x", 1, 0, NULL, NULL), dgx = make ("dgx-a100", 1, 0, NULL, NULL);
  const Paths pair = strided (c, 2, 1), four = strided (c, 4, 1), all = strided (c, 8, 1);
  const Paths split = strided (c, 2, 4), three = strided (c, 3, 1), nvlink = strided (dgx, 8, 1);
  const LinkClass *socket;

  /* asymptote of 2 cards: 20.1 (1 + 0.5/1.8) 1.01; of 4: 5.9 (1 + 0.25/1.5/1.8) 1.01; of 8: 2.1 (1 + 0.125/1.75/1.8) 1.01 */
  g_assert_cmpfloat_with_epsilon (pair.in_node.rate, 25.94e9, 0.01e9);
  g_assert_cmpuint (pair.in_node.n_bridges, ==, 0);
  g_assert_cmpfloat_with_epsilon (four.in_node.rate, 6.511e9, 0.002e9);
  g_assert_cmpuint (four.in_node.n_bridges, ==, 1);
  g_assert_cmpfloat_with_epsilon (all.in_node.rate, 2.205e9, 0.001e9);
  g_assert_cmpuint (all.in_node.n_bridges, ==, 2);
  g_assert_cmpuint (nvlink.in_node.n_bridges, ==, 0);
  /* a third card has to leave the switch as a fourth does */
  g_assert_cmpfloat_with_epsilon (three.in_node.rate, 5.9e9, 0.8e9);
  g_assert_cmpuint (three.in_node.n_bridges, ==, 1);
  /* cards 0 and 4, 1 and 5, ...: four rings over the one link between the CPUs, each a quarter of it, there and back */
  socket = network_link (cluster_network (c), split.in_node.bridge[1].link);
  g_assert_cmpstr (socket->name, ==, "socket-link");
  g_assert_true (socket->shared);
  g_assert_cmpfloat_with_epsilon (socket->capacity, 2 * all.in_node.rate, 1);
  g_assert_cmpfloat_with_epsilon (split.in_node.bridge[1].edges, 8, 1e-12);
  g_assert_cmpfloat_with_epsilon (all.in_node.bridge[1].edges, 2, 1e-12);
}

/* NVLink in pairs: a ring of four leaves it for the slots. */
static void
test_pairs (void)
{
  g_autoptr (Cluster) c = make ("Standard_NC96ads_A100_v4", 1, 0, NULL, NULL);
  const Paths pair = strided (c, 2, 1), four = strided (c, 4, 1), split = strided (c, 2, 2);

  g_assert_cmpfloat_with_epsilon (pair.in_node.capacity, 300e9, 1);
  g_assert_cmpfloat_with_epsilon (four.in_node.capacity, 31.5e9, 1);
  g_assert_cmpfloat_with_epsilon (four.in_node.rate, 15e9, 1e9);
  g_assert_true (pair.ll128 && !four.ll128);
  g_assert_cmpfloat_with_epsilon (split.in_node.capacity, 31.5e9, 1);
  g_assert_cmpuint (split.in_node.n_bridges, ==, 1);
}

typedef struct { const char *name, *machine, *which; guint64 nodes, box_nodes, box_ranks; double links; } FoldRow;
static const FoldRow fold_rows[] = {
  /* 18 trays of 4 in a rack; the ring between racks takes all their cards */
  { "in-the-rack", "gb200-nvl72", "nccl", 18, 1, 72, 0 },
  { "two-racks", "gb200-nvl72", "nccl", 36, 2, 72, 72 },
  { "two-part-racks", "gb200-nvl72", "nccl", 20, 2, 40, 40 },
  { "one-tray", "gb200-nvl72", "nccl", 1, 1, 4, 0 },
  { "not-grpc", "gb200-nvl72", "grpc", 18, 18, 4, 4 },
  { "not-a-rack", "dgx-h100", "nccl", 18, 18, 8, 8 },
};

static void
test_fold (gconstpointer data)
{
  const FoldRow *row = data;
  g_autoptr (Cluster) c = make (row->machine, row->nodes, 0, NULL, NULL);
  const guint64 per_node = cluster_gpus_per_node (c);
  RankGroup group = { .n_ranks = row->nodes * per_node, .n_nodes = row->nodes, .per_node = per_node, .twins_per_node = 1 };
  Paths paths;

  cluster_fold_group (c, row->which, &group);
  g_assert_cmpuint (group.n_nodes, ==, row->box_nodes);
  g_assert_cmpuint (group.per_node, ==, row->box_ranks);
  g_assert_cmpuint (group.n_ranks, ==, row->nodes * per_node);
  g_assert_true (cluster_paths (c, row->which, &group, &paths, NULL));
  if (row->links > 0)
    g_assert_cmpfloat_with_epsilon (paths.between.links, row->links, 1e-12);
  g_assert_cmpfloat (paths.in_node.rate, >, 300e9);
}

/* A machine of its own keys: its links as the generic part of the kind, the rest as given. */
static void
test_own (void)
{
  const ClusterSpec spec = { .gpu = (char *) "A100-SXM-80GB", .nodes = 3, .gpus_per_node = 6, .gpu_link = GPU_LINK_NVSWITCH,
                             .nics = 3, .nic_bandwidth = 2.3e9, .vcpus = 60 };
  const NetworkSpec network = NETWORK;
  g_autoptr (GError) error = NULL;
  g_autoptr (Cluster) c = cluster_new (&spec, &network, NULL, NULL, &error);
  Paths paths;

  g_assert_no_error (error);
  g_assert_cmpstr (cluster_machine (c)->name, ==, "custom");
  g_assert_cmpuint (cluster_gpus_per_node (c), ==, 6);
  g_assert_cmpuint (cluster_machine (c)->vcpus, ==, 60);
  paths = paths_of (c, 6, 1);
  g_assert_cmpfloat_with_epsilon (paths.between.links, 3, 1e-12);
  g_assert_cmpfloat_with_epsilon (paths.between.capacity, 2.3e9, 1);
  g_assert_cmpfloat_with_epsilon (paths.in_node.capacity, 300e9, 1);
  g_assert_cmpfloat (paths.in_node.rate, >, 200e9);
  g_assert_true (isnan (cluster_price_per_hour (c)));
}

/* Own keys over a part: only what they name changes. */
static void
test_own_over_part (void)
{
  const ClusterSpec spec = { .machine = (char *) "dgx-a100", .nodes = 2, .gpu_link = GPU_LINK_PCIE_HOST, .nics = 2, .ring_bandwidth = 4.7e9 };
  const NetworkSpec network = NETWORK;
  g_autoptr (Cluster) c = cluster_new (&spec, &network, NULL, NULL, NULL);
  const Paths paths = paths_of (c, 8, 1);

  g_assert_cmpstr (cluster_machine (c)->name, ==, "dgx-a100");
  g_assert_cmpuint (cluster_gpus_per_node (c), ==, 8);
  g_assert_cmpfloat_with_epsilon (paths.between.links, 2, 1e-12);
  g_assert_cmpfloat_with_epsilon (paths.between.capacity, 25e9, 1);
  g_assert_cmpfloat_with_epsilon (paths.in_node.capacity, 31.5e9, 1);
  /* 4.7 (1 + 0.125/1.75/1.8) 1.01 */
  g_assert_cmpfloat_with_epsilon (paths.in_node.rate, 4.935e9, 0.002e9);
}

typedef struct { const char *machine; guint64 gpus, vcpus; double gbit; } RuleRow;
static const RuleRow rule_rows[] = {
  /* Google Cloud N1: min (2 Gbit/s x vCPU, 32 for one or two V100, 50 for four, 100 for eight) */
  { "n1-custom-v100", 1, 8, 16 }, { "n1-custom-v100", 2, 40, 32 }, { "n1-custom-v100", 4, 24, 48 }, { "n1-custom-v100", 4, 96, 50 },
  { "n1-custom-v100", 8, 32, 64 }, { "n1-custom-v100", 8, 0, 100 }, { "n1-custom-t4", 2, 64, 32 }, { "n1-custom-t4", 4, 64, 50 },
  { "n1-custom-p100", 4, 64, 32 }, { "n1-custom-p4", 1, 12, 24 }, { "a2-highgpu-8g", 4, 12, 100 },
};

static void
test_rule (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (rule_rows); i++)
    {
      const RuleRow *row = &rule_rows[i];
      const ClusterSpec spec = { .machine = (char *) row->machine, .nodes = 2, .gpus_per_node = row->gpus, .vcpus = row->vcpus };
      const NetworkSpec network = NETWORK;
      g_autoptr (Cluster) c = cluster_new (&spec, &network, NULL, NULL, NULL);

      g_assert_cmpfloat_with_epsilon (paths_of (c, row->gpus, 1).between.capacity * 8e-9, row->gbit, 1e-9);
    }
}

/* Part of a cloud's machine is another type there; one's own box may be used in part. */
static void
test_type_warning (void)
{
  static const struct { const char *machine; guint64 nodes, gpus; gboolean warned; } rows[] = {
    { "a2-highgpu-8g", 2, 4, TRUE }, { "a2-highgpu-8g", 2, 8, FALSE }, { "a2-highgpu-8g", 1, 4, FALSE }, { "dgx-a100", 2, 4, FALSE },
    { "n1-custom-v100", 2, 4, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (Cluster) c = make (rows[i].machine, rows[i].nodes, rows[i].gpus, NULL, NULL);
      g_autofree char *warning = cluster_warning (c);

      g_assert_cmpint (warning != NULL, ==, rows[i].warned);
    }
}

typedef struct { const char *name; ClusterSpec cluster; const char *transport, *node_transport, *server; guint64 servers; gboolean colocated;
                 const char *message; } BadRow;
static const BadRow bad_rows[] = {
  { "machine", { .machine = (char *) "n1-highmem-96-8xv10", .nodes = 5 }, .message = "[cluster] machine: * did you mean 'n1-highmem-96-8xv100'*" },
  { "machine-missing", { .nodes = 5 }, .message = "[cluster] machine: *" },
  { "worker-without-gpu", { .machine = (char *) "n1-highcpu-16", .nodes = 5 }, .message = "[cluster] machine: *has no GPU*" },
  { "nodes", { .machine = (char *) "dgx-a100", .nodes = 1000000000000 }, .message = "[cluster] nodes: 1000000000000 *" },
  { "no-nodes", { .machine = (char *) "dgx-a100" }, .message = "[cluster] nodes: 0 *" },
  { "gpus-per-node", { .machine = (char *) "dgx-a100", .nodes = 5, .gpus_per_node = 9 }, .message = "[cluster] gpus-per-node: 9 *has 8 GPUs*" },
  { "gpu", { .machine = (char *) "dgx-a100", .nodes = 5, .gpu = (char *) "V100-SXM2-16G" }, .message = "[cluster] gpu: * did you mean *v100*" },
  { "gpu-without-nvlink", { .machine = (char *) "dgx-a100", .nodes = 5, .gpu = (char *) "T4" }, .message = "[cluster] gpu: 'T4' has no NVLink*" },
  { "transport", { .machine = (char *) "dgx-a100", .nodes = 5 }, .transport = "tpc", .message = "[network] transport: *" },
  { "transport-place", { .machine = (char *) "dgx-a100", .nodes = 5 }, .transport = "nvlink", .message = "[network] transport: *inside a node*" },
  { "node-transport", { .machine = (char *) "n1-standard-32-4xt4", .nodes = 5 }, .node_transport = "nvlink", .message = "[network] node-transport: *needs NVLink*" },
  { "reducers-with-gpus", { .machine = (char *) "dgx-a100", .nodes = 5 }, .server = "a2-highgpu-8g", .servers = 3, .message = "[reduction-server] machine: *has 8 GPUs*" },
  { "own-without-nic", { .gpu = (char *) "T4", .nodes = 5 }, .message = "[cluster] nic-bandwidth: *'custom' is not known*" },
  { "nic-not-known", { .machine = (char *) "Standard_NC6s_v3", .nodes = 5 }, .message = "[cluster] nic-bandwidth: *" },
  { "own-gpu", { .machine = (char *) "custom", .gpu = (char *) "T5", .nodes = 5 }, .message = "[cluster] gpu: *" },
  { "own-without-gpu", { .machine = (char *) "custom", .nodes = 5 }, .message = "[cluster] machine: not given*" },
  { "own-nvlink", { .gpu = (char *) "T4", .nodes = 1, .gpus_per_node = 4, .gpu_link = GPU_LINK_NVSWITCH }, .message = "[cluster] gpu: 'T4' has no NVLink*" },
  { "too-many-on-workers", { .machine = (char *) "dgx-a100", .nodes = 5 }, .servers = 6, .colocated = TRUE, .message = "[reduction-server] count: 6 *5 nodes*" },
};

static void
test_bad (gconstpointer data)
{
  const BadRow *row = data;
  NetworkSpec network = NETWORK;
  const ServerSpec servers = { .machine = (char *) row->server, .count = row->servers, .colocated = row->colocated };
  g_autoptr (GError) error = NULL;

  network.transport = (char *) row->transport;
  network.node_transport = (char *) row->node_transport;
  g_assert_null (cluster_new (&row->cluster, &network, &servers, NULL, &error));
  g_assert_error (error, KEYS_ERROR, KEYS_ERROR_VALUE);
  g_test_message ("%s", error->message);
  g_assert_true (g_pattern_match_simple (row->message, error->message));
  g_assert_null (strchr (error->message, '\n'));
}

static void
count_value (gpointer user, const char *group, const char *key, const char *text, const Origin *origin)
{
  guint *n = user;

  g_assert_true (*group != '\0' && *key != '\0' && *text != '\0' && origin->text != NULL && *origin->text != '\0');
  (*n)++;
}

static void
test_values (void)
{
  static const char *const machines[] = { "n1-highmem-96-8xv100", "l40s-8x", "gb200-nvl72", "workstation-2x3090", NULL };

  for (guint i = 0; machines[i] != NULL; i++)
    {
      g_autoptr (Cluster) c = make (machines[i], 5, 0, NULL, NULL);
      guint n = 0;

      cluster_values (c, count_value, &n);
      g_assert_cmpuint (n, >, 15);
    }
}

typedef struct { const char *key; OriginKind kind; char *text; } Wanted;

static void
find_value (gpointer user, const char *group, const char *key, const char *text, const Origin *origin)
{
  Wanted *wanted = user;

  if (!g_str_equal (group, "machine") || !g_str_equal (key, wanted->key))
    return;
  g_assert_null (wanted->text);
  wanted->text = g_strdup (text);
  wanted->kind = origin->kind;
}

static void
test_value_origins (void)
{
  const ClusterSpec own = { .gpu = (char *) "T4", .nodes = 2, .gpus_per_node = 8, .gpu_link = GPU_LINK_PCIE_HOST, .nic_bandwidth = 1.25e9 };
  const NetworkSpec network = NETWORK;
  g_autoptr (Cluster) l40s = make ("l40s-8x", 2, 0, NULL, NULL), dgx = make ("dgx-a100", 2, 0, NULL, NULL);
  g_autoptr (Cluster) custom = cluster_new (&own, &network, NULL, NULL, NULL);
  const struct { const Cluster *c; const char *key; OriginKind kind; const char *text; } rows[] = {
    { l40s, "ring-bandwidth", ORIGIN_MEASURED, "2.1 GB/s" }, { l40s, "socket-link", ORIGIN_DERIVED, "4.41 GB/s" },
    { dgx, "ring-bandwidth", ORIGIN_MEASURED, "228 GB/s" }, { dgx, "nic-bandwidth", ORIGIN_ASSUMED, "25 GB/s" },
    { custom, "nic-bandwidth", ORIGIN_USER, "1.25 GB/s" }, { custom, "gpus", ORIGIN_USER, "8" },
    { custom, "ring-bandwidth", ORIGIN_DERIVED, NULL }, { custom, "nics", ORIGIN_ASSUMED, "1" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      Wanted wanted = { .key = rows[i].key };

      cluster_values (rows[i].c, find_value, &wanted);
      g_assert_nonnull (wanted.text);
      g_assert_cmpint (wanted.kind, ==, rows[i].kind);
      if (rows[i].text != NULL)
        g_assert_cmpstr (wanted.text, ==, rows[i].text);
      g_free (wanted.text);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cluster/machines", test_machines);
  g_test_add_func ("/cluster/all-machines-make-clusters", test_all_machines_make_clusters);
  g_test_add_func ("/cluster/rails", test_rails);
  g_test_add_func ("/cluster/in-node", test_in_node);
  g_test_add_func ("/cluster/overrides", test_overrides);
  g_test_add_func ("/cluster/fat-tree", test_fat_tree);
  g_test_add_func ("/cluster/servers", test_servers);
  g_test_add_func ("/cluster/bridges", test_bridges);
  g_test_add_func ("/cluster/pairs", test_pairs);
  g_test_add_func ("/cluster/own", test_own);
  g_test_add_func ("/cluster/own-over-part", test_own_over_part);
  g_test_add_func ("/cluster/n1-rule", test_rule);
  g_test_add_func ("/cluster/type-warning", test_type_warning);
  for (gsize i = 0; i < G_N_ELEMENTS (fold_rows); i++)
    {
      g_autofree char *path = g_strdup_printf ("/cluster/fold/%s", fold_rows[i].name);

      g_test_add_data_func (path, &fold_rows[i], test_fold);
    }
  g_test_add_func ("/cluster/values", test_values);
  g_test_add_func ("/cluster/value-origins", test_value_origins);
  for (gsize i = 0; i < G_N_ELEMENTS (bad_rows); i++)
    {
      g_autofree char *path = g_strdup_printf ("/cluster/bad/%s", bad_rows[i].name);

      g_test_add_data_func (path, &bad_rows[i], test_bad);
    }
  return g_test_run ();
}
