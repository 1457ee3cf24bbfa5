/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/machine.h"
#include "network/nccl.h"
#include "network/system.h"

/* What cluster.c builds and paths.c reads. */
typedef struct
{
  ServerSpec spec;         /* machine: not kept */
  const Machine *machine;  /* NULL: none, or on the workers */
  Id         out, in;
} Servers;

struct Cluster
{
  Shelf     *parts, *own_parts;          /* own_parts NULL: the caller's */
  const Machine *machine;
  Machine   *own_machine;                /* machine, where the scenario has keys over the part; else NULL */
  const Gpu *gpu;
  guint64    nodes, gpus_per_node;
  const Transport *between, *in_node, *grpc;   /* in_node NULL: one GPU a node */
  const Transport *slot;                 /* between GPUs of a node that NVLink does not join; NULL: it joins all */
  const Nccl *nccl;
  const System *system;                  /* NULL: none */
  NetworkSpec spec;        /* transport names: not kept */
  Servers    reducers, parameter;
  Network   *network;
  Id         gpu_link, gpu_slot, nic_out, nic_in;   /* 0: none */
  Id         host_bridge, socket_link;
  Placement *placement;                  /* NULL: one switch joins all nodes */
  guint      n_levels;
  PathLevel  level[PLACEMENT_MAX_LEVELS];
  double     gpu_link_rate;              /* bytes/s, nominal, of one GPU; 0: one GPU a node */
  double     slot_rate;                  /* the same, of its slot */
  double     nic_bandwidth;              /* NAN: not known, and one node */
  double     nic_left;                   /* of it, on the most degraded node */
};

/* What joins the GPUs of a group inside a node, `span` GPUs from its first to its
 * last: NVLink, or the slots where it does not reach so far. */
typedef struct
{
  const Transport *transport;            /* NULL: one GPU a node, or nothing joins them */
  Id               link;
  double           rate;                 /* bytes/s, nominal */
  gboolean         nvlink;
} NodeLink;
NodeLink cluster_node_link (const Cluster *cluster, guint64 span);
gboolean cluster_transport_is_nvlink (const Cluster *cluster);
/* Bus bandwidth that a large ring of `gpus` over `span` keeps in the node, bytes/s,
 * and the key that gives it: ring-bandwidth-N of the machine, or ring-share-N. */
double   cluster_plateau (const Cluster *cluster, const NodeLink *link, guint64 gpus, guint64 span, const char **key);
/* The rate of that ring before local slot and fill are taken off. */
double   cluster_ring_rate (const Cluster *cluster, const NodeLink *link, guint64 gpus, guint64 span);
/* The levels above the nodes' switches, and where the nodes sit; after the NICs' rate is known. */
gboolean cluster_read_placement (Cluster *cluster, const ClusterSpec *spec, GError **error);
void     cluster_add_levels     (Cluster *cluster);
void     cluster_fill_levels    (const Cluster *cluster, const RankGroup *group, Paths *out);
/* Nodes that a "node" of a folded group stands for. */
guint64  cluster_nodes_of_box   (const Cluster *cluster, const RankGroup *group);
/* Nodes of one NVLink domain, 1 where NVLink ends with the node. */
guint64  cluster_box_nodes (const Cluster *cluster);
/* Does a ring over so many cards cross a host bridge, a link between CPUs? */
gboolean cluster_crosses_bridge (const Cluster *cluster, guint64 span);
gboolean cluster_crosses_socket (const Cluster *cluster, guint64 span);
