/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cluster/cluster.h"
#include "collective/levels.h"
#include "collective/max-plus.h"
#include <math.h>
#include <stdlib.h>

/* This program has no view 1 and no estimate: whoever asks ends it.  The message and
 * max-plus tiers must give the closed forms all the same. */

#define ABSENT(type, name, ...) \
  type name (__VA_ARGS__) { g_error ("%s was asked", #name); }
double
collective_estimate (G_GNUC_UNUSED const CollectiveFlow *flow, G_GNUC_UNUSED const Network *network, G_GNUC_UNUSED double size)
{
  g_error ("collective_estimate was asked");
}
ABSENT (Flow, flow_begin, G_GNUC_UNUSED const CollectiveCall *call, G_GNUC_UNUSED const RankGroup *group,
        G_GNUC_UNUSED const Paths *paths, G_GNUC_UNUSED CollectiveFlow *out)
ABSENT (void, flow_gpus, G_GNUC_UNUSED Flow *flow, G_GNUC_UNUSED double bytes, G_GNUC_UNUSED double share)
ABSENT (void, flow_nics, G_GNUC_UNUSED Flow *flow, G_GNUC_UNUSED double bytes, G_GNUC_UNUSED double share)
ABSENT (void, flow_servers, G_GNUC_UNUSED Flow *flow, G_GNUC_UNUSED double bytes, G_GNUC_UNUSED double share)
ABSENT (void, flow_load, G_GNUC_UNUSED Flow *flow, G_GNUC_UNUSED Id link, G_GNUC_UNUSED double bytes, G_GNUC_UNUSED double efficiency)
ABSENT (double, flow_levels, G_GNUC_UNUSED Flow *flow, G_GNUC_UNUSED NodePattern pattern, G_GNUC_UNUSED const PatternData *data)
ABSENT (double, flow_levels_rounds, G_GNUC_UNUSED Flow *flow, G_GNUC_UNUSED NodePattern pattern, G_GNUC_UNUSED double bytes,
        G_GNUC_UNUSED guint rounds, G_GNUC_UNUSED double node_rate, G_GNUC_UNUSED double seconds)
ABSENT (double, flow_levels_all, G_GNUC_UNUSED Flow *flow, G_GNUC_UNUSED double bytes, G_GNUC_UNUSED double other_rails)
ABSENT (void, flow_levels_each, G_GNUC_UNUSED Flow *flow, G_GNUC_UNUSED double bytes)
ABSENT (double, flow_tree_climb, G_GNUC_UNUSED const Flow *flow)
ABSENT (void, flow_server_leaves, G_GNUC_UNUSED Flow *flow, G_GNUC_UNUSED double bytes)
ABSENT (void, flow_end, G_GNUC_UNUSED Flow *flow, G_GNUC_UNUSED double cap, G_GNUC_UNUSED double seconds)
ABSENT (double, flow_norm, G_GNUC_UNUSED double a, G_GNUC_UNUSED double b, G_GNUC_UNUSED double x)
ABSENT (double, flow_blend, G_GNUC_UNUSED double a, G_GNUC_UNUSED double b, G_GNUC_UNUSED double x)
ABSENT (double, flow_ramp, G_GNUC_UNUSED const Flow *flow, G_GNUC_UNUSED Protocol protocol)
ABSENT (double, flow_fill, G_GNUC_UNUSED const Flow *flow, G_GNUC_UNUSED double hops, G_GNUC_UNUSED double bytes)
ABSENT (double, flow_between_rate, G_GNUC_UNUSED const Flow *flow)

typedef struct { const char *name, *algorithm; CollectiveOp op; guint64 nodes; gboolean max_plus; double ms; } Case;
static const Case cases[] = {
  /* 2(n-1)(5 us + 100 MB/(n 25 GB/s)) */
  { "ring", "ring", OP_ALL_REDUCE, 64, TRUE, 8.505 },
  /* half of it */
  { "gather", "ring", OP_ALL_GATHER, 64, TRUE, 4.2525 },
  /* 5 us + 63/64 of 4 ms */
  { "all-to-all", "point-to-point", OP_ALL_TO_ALL, 64, FALSE, 3.9425 },
};

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  const ClusterSpec spec = { .machine = (char *) "generic-1gpu", .nodes = c->nodes, .gpus_per_node = 1 };
  const NetworkSpec network = { .transport = (char *) "plain", .nic_bandwidth = 25e9, .latency = 5e-6, .efficiency = NAN,
                                .node_bandwidth = NAN, .oversubscription = 1, .nodes_per_leaf = 1, .ecmp_share = 1 };
  const RankGroup group = { .n_ranks = c->nodes, .n_nodes = c->nodes, .per_node = 1, .twins_per_node = 1 };
  CollectiveCall call = { .op = c->op, .size = 1e8, .protocol = PROTOCOL_SIMPLE };
  g_autoptr (GError) error = NULL;
  g_autoptr (Cluster) cluster = cluster_new (&spec, &network, NULL, NULL, &error);
  Schedule schedule;
  Paths paths;
  Tick end;

  g_assert_no_error (error);
  g_assert_true (collective_find (c->algorithm, &call.algorithm, NULL));
  g_assert_true (cluster_paths (cluster, "nccl", &group, &paths, NULL));
  g_assert_true (schedule_init (&schedule, &call, &group, &paths, 0, NULL));

  g_autoptr (Fabric) fabric = fabric_new (&schedule, &paths, cluster_network (cluster), PROTOCOL_SIMPLE, FALSE);
  g_autoptr (Play) play = play_new (fabric, FALSE);
  const PlayJob job = { .schedule = &schedule };

  play_add (play, &job);
  g_assert_true (play_run (play, &error));
  g_assert_cmpfloat_with_epsilon ((double) play_end (play, 0) * 1e-9, c->ms, 1e-6 * c->ms);
  if (!c->max_plus)
    return;
  g_assert_true (max_plus_run (fabric, FALSE, &job, &end, &error));
  g_assert_cmpuint (end, ==, play_end (play, 0));
}

/* They are really gone. */
static void
test_gone (void)
{
  if (g_test_subprocess ())
    {
      collective_estimate (NULL, NULL, 1);
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_failed ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/message-blind/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/message-blind/gone", test_gone);
  return g_test_run ();
}
