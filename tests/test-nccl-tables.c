/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "cluster/cluster.h"
#include "collective/collective.h"

/* Tables of nccl-tests predicted from the shipped parts alone, against the floors
 * and plateaus that were measured.  Sources: ai-dynamo/aiconfigurator systems/data
 * (1 x 2, 4, 8), NVIDIA/deepops and Azure/aks-rdma-infiniband (2 x 8 A100), argonne-
 * lcf/alcf-nccl-tests (Slingshot, InfiniBand), aws-samples (EFA), GoogleCloudPlatform/
 * cluster-toolkit (TCPX, TCPXO, RoCE), xxrjun/nccl-tests-cluster (H100), nccl-tests of
 * single boxes. */
typedef struct
{
  const char  *name, *machine, *transport;
  CollectiveOp op;
  guint64      nodes, gpus;
  double       floor, floor_size;   /* s; bytes of the smallest message of the table; 0: not measured */
  double       peak, peak_size;     /* bytes/s of bus bandwidth, best of the table up to so many bytes; 0: not measured */
  double       factor;              /* within it */
} Row;
#define MIB 1048576.0
#define US * 1e-6
#define GB * 1e9
#define SUM OP_ALL_REDUCE
static const Row rows[] = {
  { "a100-2", "dgx-a100", NULL, SUM, 1, 2, 10.0 US, 8, 193 GB, 512 * MIB, 1.3 },
  { "a100-4", "dgx-a100", NULL, SUM, 1, 4, 13.9 US, 8, 217 GB, 512 * MIB, 1.3 },
  { "a100-8", "dgx-a100", NULL, SUM, 1, 8, 21.3 US, 8, 222 GB, 512 * MIB, 1.3 },
  { "h100-2", "dgx-h100", NULL, SUM, 1, 2, 5.9 US, 8, 318 GB, 512 * MIB, 1.3 },
  { "h100-4", "dgx-h100", NULL, SUM, 1, 4, 9.3 US, 8, 350 GB, 512 * MIB, 1.3 },
  { "h100-8", "dgx-h100", NULL, SUM, 1, 8, 15.6 US, 8, 445 GB, 512 * MIB, 1.3 },
  { "h100-8-16g", "dgx-h100", NULL, SUM, 1, 8, 13 US, 8, 480 GB, 16384 * MIB, 1.3 },
  { "h100-8-scatter", "dgx-h100", NULL, OP_REDUCE_SCATTER, 1, 8, 0, 0, 365 GB, 16384 * MIB, 1.3 },
  { "b200-2", "dgx-b200", NULL, SUM, 1, 2, 10.2 US, 8, 534 GB, 512 * MIB, 1.3 },
  { "b200-4", "dgx-b200", NULL, SUM, 1, 4, 15.0 US, 8, 634 GB, 512 * MIB, 1.3 },
  { "b200-8", "dgx-b200", NULL, SUM, 1, 8, 25.1 US, 8, 704 GB, 512 * MIB, 1.3 },
  { "gb200-72", "gb200-nvl72", NULL, SUM, 18, 4, 0, 0, 839 GB, 32768 * MIB, 1.3 },
  { "l40s-2", "l40s-8x", NULL, SUM, 1, 2, 6.0 US, 8, 20.1 GB, 512 * MIB, 1.3 },
  { "l40s-4", "l40s-8x", NULL, SUM, 1, 4, 11.9 US, 8, 5.9 GB, 512 * MIB, 1.3 },
  { "l40s-8", "l40s-8x", NULL, SUM, 1, 8, 22.4 US, 8, 2.1 GB, 512 * MIB, 1.3 },
  { "slingshot-2", "polaris-a100", NULL, SUM, 2, 4, 22 US, 8, 36 GB, 512 * MIB, 1.3 },
  { "slingshot-8", "polaris-a100", NULL, SUM, 8, 4, 46 US, 8, 36 GB, 512 * MIB, 1.3 },
  { "slingshot-256", "polaris-a100", NULL, SUM, 256, 4, 98 US, 8, 30 GB, 512 * MIB, 1.3 },
  { "slingshot-tcp-2", "polaris-a100", "slingshot-tcp", SUM, 2, 4, 45 US, 8, 9.5 GB, 512 * MIB, 1.3 },
  { "slingshot-tcp-8", "polaris-a100", "slingshot-tcp", SUM, 8, 4, 117 US, 8, 7.5 GB, 512 * MIB, 1.3 },
  { "a100-2x8", "dgx-a100", NULL, SUM, 2, 8, 37.5 US, 8, 188 GB, 8192 * MIB, 1.3 },
  { "ipoib-2x8", "dgx-a100", "ipoib", SUM, 2, 8, 77 US, 8, 3.2 GB, 2048 * MIB, 1.3 },
  { "p4de-2x8", "p4de-24xlarge", NULL, SUM, 2, 8, 161 US, 8, 78 GB, 2048 * MIB, 1.3 },
  { "sophia-alltoall", "sophia-a100", NULL, OP_ALL_TO_ALL, 2, 8, 56 US, 64, 39.7 GB, 1024 * MIB, 1.3 },
  { "h100-10x1", "h100-10-cluster", NULL, SUM, 10, 1, 0, 0, 48.9 GB, 8192 * MIB, 1.3 },
  { "h100-10x8", "h100-10-cluster", NULL, SUM, 10, 8, 0, 0, 345 GB, 8192 * MIB, 1.3 },
  { "h100-10x1-send", "h100-10-cluster", NULL, OP_SEND_RECV, 10, 1, 0, 0, 24.9 GB, 8192 * MIB, 1.5 },
  { "h100-10x8-send", "h100-10-cluster", NULL, OP_SEND_RECV, 10, 8, 0, 0, 15.2 GB, 8192 * MIB, 1.5 },
  { "h100-10x4-alltoall", "h100-10-cluster", NULL, OP_ALL_TO_ALL, 10, 4, 0, 0, 49.5 GB, 8192 * MIB, 1.3 },
  { "h100-8-alltoall", "dgx-h100", NULL, OP_ALL_TO_ALL, 1, 8, 0, 0, 348 GB, 16384 * MIB, 1.3 },
  { "h100-8-send", "dgx-h100", NULL, OP_SEND_RECV, 1, 8, 0, 0, 367 GB, 16384 * MIB, 1.3 },
  { "tcpx-2x8", "a3-highgpu-8g", NULL, OP_ALL_GATHER, 2, 8, 943 US, 1 * MIB, 71 GB, 512 * MIB, 1.3 },
  { "tcpxo-2x8", "a3-megagpu-8g", NULL, OP_ALL_GATHER, 2, 8, 85 US, 1024, 189 GB, 8192 * MIB, 1.3 },
  { "a3-ultra-2x8", "a3-ultragpu-8g", NULL, OP_ALL_GATHER, 2, 8, 54 US, 1024, 329 GB, 8192 * MIB, 1.3 },
};

static Cluster *
cluster_of (const Row *row)
{
  const ClusterSpec spec = { .machine = (char *) row->machine, .nodes = row->nodes, .gpus_per_node = row->gpus };
  const NetworkSpec network = { .transport = (char *) row->transport, .nic_bandwidth = NAN, .latency = NAN, .efficiency = NAN,
                                .node_bandwidth = NAN, .oversubscription = 1, .nodes_per_leaf = 1, .ecmp_share = 1 };
  g_autoptr (GError) error = NULL;
  Cluster *cluster = cluster_new (&spec, &network, NULL, NULL, &error);

  g_assert_no_error (error);
  return cluster;
}

static double
seconds (const Cluster *cluster, const Row *row, double size, CollectiveFlow *flow)
{
  const CollectiveCall call = { .op = row->op, .size = size, .protocol = PROTOCOL_AUTO };
  RankGroup group = { .n_ranks = row->nodes * row->gpus, .n_nodes = row->nodes, .per_node = row->gpus, .twins_per_node = 1 };
  g_autoptr (GError) error = NULL;
  Paths paths;

  cluster_fold_group (cluster, "nccl", &group);
  g_assert_true (cluster_paths (cluster, "nccl", &group, &paths, &error));
  g_assert_true (collective_flow (&call, &group, &paths, cluster_network (cluster), flow, &error));
  g_assert_no_error (error);
  return collective_estimate (flow, cluster_network (cluster), size);
}

static void
check (const Row *row, const char *what, double predicted, double measured)
{
  g_test_message ("%s: %s %.4g, measured %.4g: %+.0f %%", row->name, what, predicted, measured, 100 * (predicted / measured - 1));
  if (predicted > measured * row->factor || predicted < measured / row->factor)
    {
      g_test_fail_printf ("%s: %s %.4g, measured %.4g", row->name, what, predicted, measured);
    }
}

static void
test_row (gconstpointer data)
{
  const Row *row = data;
  g_autoptr (Cluster) cluster = cluster_of (row);
  CollectiveFlow flow;
  double peak = 0;

  if (row->floor > 0)
    check (row, "floor us", 1e6 * seconds (cluster, row, row->floor_size, &flow), 1e6 * row->floor);
  for (double size = MIB; size <= row->peak_size; size *= 2)
    peak = fmax (peak, size / seconds (cluster, row, size, &flow) * collective_bus_factor (row->op, row->nodes * row->gpus));
  check (row, "peak GB/s", peak / 1e9, row->peak / 1e9);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strdup_printf ("/nccl-tables/%s", rows[i].name);

      g_test_add_data_func (path, &rows[i], test_row);
    }
  return g_test_run ();
}
