/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "cluster/cluster.h"
#include "collective/collective.h"

/* In place of the library's: a forced algorithm and protocol must not read it. */
static guint reads;
double
collective_estimate (const CollectiveFlow *flow, const Network *network, double size)
{
  (void) flow;
  (void) network;
  (void) size;
  reads++;
  return 1.75;
}

static void
test_forced_reads_no_estimate (void)
{
  const ClusterSpec spec = { .machine = (char *) "n1-highmem-96-8xv100", .nodes = 5 };
  const NetworkSpec network = { .nic_bandwidth = NAN, .latency = NAN, .efficiency = NAN, .node_bandwidth = NAN };
  const ServerSpec servers = { .machine = (char *) "n1-highcpu-16", .count = 16, .efficiency = NAN, .latency = NAN, .sum_rate = NAN };
  g_autoptr (Cluster) cluster = cluster_new (&spec, &network, &servers, &servers, NULL);
  const RankGroup group = { .n_ranks = 40, .n_nodes = 5, .per_node = 8, .twins_per_node = 1 };
  const CollectiveAlgorithm *const *all = collective_algorithms ();
  CollectiveCall call = { .op = OP_ALL_REDUCE, .size = 2.385e7, .protocol = PROTOCOL_SIMPLE };
  CollectiveFlow flow;
  Paths paths;

  for (gsize i = 0; all[i] != NULL; i++)
    {
      if ((all[i]->ops & OP_ALL_REDUCE) == 0 || g_str_has_prefix (all[i]->name, "nvls"))   /* no NVSwitch here */
        continue;
      call.algorithm = all[i];
      g_assert_true (cluster_paths (cluster, collective_paths (all[i]), &group, &paths, NULL));
      g_assert_true (collective_flow (&call, &group, &paths, cluster_network (cluster), &flow, NULL));
    }
  g_assert_cmpuint (reads, ==, 0);
  call.protocol = PROTOCOL_AUTO;
  call.algorithm = NULL;
  g_assert_true (collective_flow (&call, &group, &paths, cluster_network (cluster), &flow, NULL));
  g_assert_cmpuint (reads, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/collective/forced-reads-no-estimate", test_forced_reads_no_estimate);
  return g_test_run ();
}
