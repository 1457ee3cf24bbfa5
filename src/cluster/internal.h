/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/machine.h"

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
  const Gpu *gpu;
  guint64    nodes, gpus_per_node;
  const Transport *between, *in_node, *grpc;   /* in_node NULL: one GPU a node */
  NetworkSpec spec;        /* transport names: not kept */
  Servers    reducers, parameter;
  Network   *network;
  Id         gpu_link, nic_out, nic_in, leaf_up, leaf_down;
  double     gpu_link_rate;              /* bytes/s, nominal, of one GPU; 0: one GPU a node */
  double     nic_bandwidth;
};

gboolean cluster_transport_is_nvlink (const Cluster *cluster);
/* Bus bandwidth that a large ring of `gpus` keeps in the node, bytes/s, and the key that gives it. */
double   cluster_plateau (const Cluster *cluster, guint64 gpus, const char **key);
