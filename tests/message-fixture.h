/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/cluster.h"
#include "collective/play.h"
#include <math.h>
#include <string.h>

/* Schedules on networks of round numbers. */

typedef struct
{
  const char  *algorithm;
  CollectiveOp op;             /* 0: all-reduce */
  guint64      nodes, gpus, servers, leaf;
  double       size;
  guint        chunks;
  double       over;           /* oversubscription of the leaves; 0: none */
  int          colocated;      /* servers on workers: COLOCATED_* */
  gboolean     local;          /* BytePS: reduce in the node first */
  double       largest;        /* bytes of the largest tensor */
  gboolean     one_way;        /* send/recv: only from the first to the second */
} Setup;

typedef struct { Cluster *cluster; Paths paths; RankGroup group; Schedule schedule; CollectiveCall call; } Made;

/* What `plain` leaves out and some algorithms have: NVSwitch fills a GPU's 25 GB/s, 18 us;
 * gRPC and CPUs take 50 us a message in the node, copy 10 GB/s, sum 7 GB/s of message
 * and cut messages at 1 MB. */
static void
add_software (Paths *paths, guint64 gpus)
{
  const double p = (double) gpus;

  paths->nvls_rate = gpus > 1 ? 2 * (p - 1) / (p + 1) * 25e9 : 0;
  paths->nvls_latency = 18e-6;
  paths->chunk = 1e6;
  paths->local_message = 50e-6;
  paths->host_copy = 10e9;
  paths->host_reduce = 7e9;
}

/* 25 GB/s NICs, 5 us; in a node 25 GB/s and 5 us too where there are several GPUs. */
static Made
make (const Setup *s)
{
  const char *machine = s->gpus > 1 ? "generic-nvswitch" : "generic-1gpu";
  const ClusterSpec cluster = { .machine = (char *) machine, .nodes = s->nodes, .gpus_per_node = s->gpus };
  const NetworkSpec network = { .transport = (char *) "plain", .nic_bandwidth = 25e9, .latency = 5e-6, .efficiency = NAN,
                                .node_bandwidth = s->gpus > 1 ? 25e9 : NAN, .oversubscription = MAX (s->over, 1),
                                .topology = s->leaf > 0 ? TOPOLOGY_FAT_TREE : TOPOLOGY_SWITCH, .nodes_per_leaf = MAX (s->leaf, 1),
                                .ecmp_share = 1, .switch_reduction = g_str_equal (s->algorithm, "switch-reduction") };
  const ServerSpec servers = { .machine = (char *) "n1-highcpu-16", .count = s->servers, .efficiency = NAN, .latency = 0, .sum_rate = 1e15,
                               .colocated = s->colocated, .local_reduction = s->local };
  const gboolean parameter = g_str_equal (s->algorithm, "parameter-server");
  Made m = { .call = { .op = s->op != 0 ? s->op : OP_ALL_REDUCE, .size = s->size, .largest = s->largest,
                       .protocol = PROTOCOL_SIMPLE, .one_way = s->one_way } };
  GError *error = NULL;

  m.cluster = cluster_new (&cluster, &network, parameter ? NULL : &servers, parameter ? &servers : NULL, &error);
  g_assert_no_error (error);
  g_assert_true (collective_find (s->algorithm, &m.call.algorithm, &error));
  m.group = (RankGroup) { .n_ranks = s->nodes * s->gpus, .n_nodes = s->nodes, .per_node = s->gpus, .twins_per_node = 1 };
  g_assert_true (cluster_paths (m.cluster, collective_paths (m.call.algorithm), &m.group, &m.paths, &error));
  add_software (&m.paths, s->gpus);
  schedule_init (&m.schedule, &m.call, &m.group, &m.paths, s->chunks, &error);
  g_assert_no_error (error);
  return m;
}

static Fabric *
fabric_of (const Made *m, gboolean folded)
{
  return fabric_new (&m->schedule, &m->paths, cluster_network (m->cluster), PROTOCOL_SIMPLE, folded);
}

static Tick
play_once (const Made *m, gboolean folded, guint64 *shared)
{
  g_autoptr (Fabric) fabric = fabric_of (m, folded);
  g_autoptr (Play) play = play_new (fabric, FALSE);
  const PlayJob job = { .schedule = &m->schedule };
  GError *error = NULL;

  play_add (play, &job);
  play_run (play, &error);
  g_assert_no_error (error);
  if (shared != NULL)
    *shared = play_shared (play);
  return play_end (play, 0);
}
