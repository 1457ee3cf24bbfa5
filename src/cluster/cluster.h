/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/spec.h"
#include "compute/gpu.h"
#include "base/origin.h"
#include "base/shelf.h"
#include "network/path.h"
#include "network/spec.h"

/* A machine part: models/machine/NAME.ini. */
typedef struct Machine Machine;
typedef struct
{
  const char *name, *summary, *gpu;      /* gpu NULL: none */
  guint64     gpus, nics, vcpus;
  double      nic_bandwidth;             /* bytes/s of one NIC, one way */
  double      price_per_hour;            /* USD; NAN: not known */
  const char *price_date;                /* NULL: not known */
  const char *transport, *node_transport;
  const char *cloud;                     /* NULL: a machine of one's own */
  const char *gpu_link;                  /* "nvswitch"; "none" */
} MachineInfo;
Machine           *machine_load (const char *name, GError **error);
void               machine_free (Machine *machine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Machine, machine_free)
const MachineInfo *machine_info (const Machine *machine);

/* The resolved cluster: nodes, their links as one Network, transports. */
typedef struct Cluster Cluster;
/* `reducers` and `servers` may be NULL or of count 0.  Errors: unknown parts with
 * near names, gpus-per-node that the machine has not, reducers with GPUs, absurd
 * sizes.  They are GErrors of KEYS_ERROR whose message starts with "[group] key: ";
 * the scenario reader puts file:line in front. */
Cluster       *cluster_new  (const ClusterSpec *cluster, const NetworkSpec *network,
                             const ServerSpec *reducers, const ServerSpec *servers, GError **error);
/* The same with the parts of a shelf, which must outlive the cluster. */
Cluster       *cluster_new_from (Shelf *parts, const ClusterSpec *cluster, const NetworkSpec *network,
                                 const ServerSpec *reducers, const ServerSpec *servers, GError **error);
/* A measured installation's values over those of the transports; NULL: none. */
gboolean       cluster_use_system (Cluster *cluster, const CalibrationSpec *calibration, GError **error);
/* Some nodes' cards have this share of their line left.  What runs over all nodes
 * goes at the pace of those: a ring, a tree and an exchange of all with all put the
 * same bytes on each node's cards.  Groups that leave these nodes out are slowed
 * too (an upper bound there). */
void           cluster_degrade_nics (Cluster *cluster, double left);
void           cluster_free (Cluster *cluster);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Cluster, cluster_free)
const Network *cluster_network (const Cluster *cluster);
const Gpu     *cluster_gpu     (const Cluster *cluster);
const MachineInfo *cluster_machine (const Cluster *cluster);
guint64        cluster_nodes         (const Cluster *cluster);
guint64        cluster_gpus_per_node (const Cluster *cluster);
double         cluster_price_per_hour (const Cluster *cluster);   /* USD, servers counted; NAN: not known */
/* The paths of a group.  `which` (collective_paths () of the algorithm): "nccl" (the
 * transports of the scenario), "grpc" (TensorFlow's ring over gRPC; plain stays
 * plain), "parameter-server".  Server fields: with "nccl" of the reducers where there
 * are some, else of the parameter servers. */
gboolean       cluster_paths   (const Cluster *cluster, const char *which, const RankGroup *group,
                                Paths *out, GError **error);
/* What NVLink joins over several nodes (a rack of 72 GPUs) counts as one node for
 * NCCL: ranks a node and nodes of `group` become those of such boxes, evenly
 * filled.  Elsewhere the group stays.  Call it before cluster_paths. */
void           cluster_fold_group (const Cluster *cluster, const char *which, RankGroup *group);
/* The network cards behind a GPU of a node, as bits; 0: more than 64 in all. */
guint64        cluster_cards   (const Cluster *cluster, guint64 gpu);
/* Edges of the ring of all nodes, in order of their ranks, from one leaf (dragonfly:
 * group) to another, and how few would do.  TRUE: there are more than needed. */
gboolean       cluster_crossings (const Cluster *cluster, guint64 *made, guint64 *needed);
const char    *cluster_leaf_word (const Cluster *cluster);   /* "leaf", "group" */
/* A warning for people, or NULL: reducers too few for the workers, with the number that
 * would do; part of a cloud's machine. */
char          *cluster_warning (const Cluster *cluster);
/* Values with their origins, for `show`: calls back in a fixed order. */
typedef void (*ClusterValue) (gpointer user, const char *group, const char *key, const char *text, const Origin *origin);
void           cluster_values  (const Cluster *cluster, ClusterValue value, gpointer user);
