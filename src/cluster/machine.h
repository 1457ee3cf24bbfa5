/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/cluster.h"
#include "network/mesh.h"
#include "network/transport.h"

/* What cluster.c and paths.c share; nobody else includes it. */
#define MACHINE_MAX_GPUS 1024u

typedef struct
{
  char    *name, *aliases, *summary, *cloud, *gpu, *node_transport, *slot_transport, *transport, *price_date, *nic_of_gpu;
  guint64  gpus, nics, vcpus;    /* vcpus 0: not known */
  int      gpu_link;             /* GpuLink */
  double   nic_bandwidth, price; /* NAN: not known */
  double   ring_bandwidth[4];    /* bytes/s of bus bandwidth for 2, 4, 8, 16 GPUs; NAN: not given */
  guint64  nvlink_domain;        /* GPUs that NVLink joins: less than gpus, or those of several nodes; 0: all of a node */
  guint64  gpus_per_switch;      /* PCIe: behind one switch; 0: all */
  guint64  gpus_per_socket;      /* PCIe: behind one CPU; 0: all */
  double   bridge_bandwidth, socket_bandwidth;   /* bytes/s one way, typical; NAN: what the largest ring over it shows */
  double   ring_share[4];        /* of the link's nominal rate, where ring_bandwidth is not given; NAN: the transport's */
  double   vcpu_bandwidth;       /* bytes/s of the node a vCPU brings; NAN: nic_bandwidth stands */
  char    *mesh;                 /* network/mesh.h; NULL: not known, or none */
  double   nic_limit[4];         /* bytes/s of the node at most with up to 2, 4, 8, 16 GPUs */
} MachineSpec;

struct Machine
{
  MachineSpec spec;
  MachineInfo info;
  guint      *nic_of_gpu;        /* spec.gpus entries */
  Mesh       *mesh;              /* NULL: a switch, or not known */
  KeyFile    *part, *link_part;  /* link_part: of the links between the GPUs, where the user changed them; else NULL */
  const char *own[8];            /* keys of `part` that the scenario gives; NULL ends */
};

/* NICs that the first `gpus` GPUs of a node can use: the node's bytes over those
 * of its busiest NIC.  `spread`: one transfer uses all of them alike (a ring over
 * the node); else each GPU uses its own (rails). */
double  machine_nics (const Machine *machine, guint64 gpus, gboolean spread);
/* GPUs behind the busiest NIC among the first `gpus`. */
double  machine_gpus_per_nic (const Machine *machine, guint64 gpus);
/* figures[] for 2, 4, 8, 16 GPUs at n, straight lines over log2 n, flat outside.  NAN: none. */
double  machine_at (const double figures[4], guint64 n);
/* Links of the NVLink family: they have a rate of their own beside the slot's. */
gboolean machine_has_nvlink (const Machine *machine);
/* Of the user's own keys, else as the part says. */
Origin  machine_origin (const Machine *machine, const char *key);
void     machine_fill_info (Machine *machine);
/* Cards of the GPUs anew, after gpus or nics changed. */
gboolean machine_spread_nics (Machine *machine, GError **error);
/* Bytes/s of a node with so many GPUs in use: the machine's, or by the rule of its cloud.  NAN: not known. */
double  machine_nic_bandwidth (const Machine *machine, guint64 gpus);
/* The part that `cluster` names with its own keys over it, or the generic part of its kind of link. */
Machine *machine_for_cluster (const ClusterSpec *cluster, GError **error);
gboolean cluster_is_own (const ClusterSpec *cluster);        /* no part is named */
gboolean cluster_has_own_keys (const ClusterSpec *cluster);  /* keys that replace a part's, or is_own */
