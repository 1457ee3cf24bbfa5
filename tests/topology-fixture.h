/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/cluster.h"
#include "collective/play.h"
#include <math.h>
#include <string.h>

/* Clusters of leaves, pods, rails and groups: 25 GB/s a card, 5 us, transport plain, all
 * of the uplinks usable, unless said. */

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

static inline Cluster *
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

static inline Made
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

static inline double
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

/* 2(n-1) steps of 5 us and S/n at `bytes_per_s`; all-to-all: 5 us and `bytes`. */
#define RING(n, bytes_per_s) (2e3 * ((n) - 1) * (5e-6 + 1e8 / (n) / (bytes_per_s)))
#define ONCE(bytes, bytes_per_s) (1e3 * (5e-6 + (bytes) / (bytes_per_s)))
#define ALL "point-to-point", OP_ALL_TO_ALL
