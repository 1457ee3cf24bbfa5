/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/cluster.h"
#include "network/transport.h"

/* What cluster.c and paths.c share; nobody else includes it. */
typedef enum { GPU_LINK_NONE, GPU_LINK_PCIE, GPU_LINK_NVLINK_MESH, GPU_LINK_NVSWITCH } GpuLink;
#define MACHINE_MAX_GPUS 1024u

typedef struct
{
  char    *name, *aliases, *summary, *gpu, *node_transport, *transport, *price_date, *nic_of_gpu;
  guint64  gpus, nics, vcpus;
  int      gpu_link;
  double   nic_bandwidth, price;
  double   ring_bandwidth[4];    /* bytes/s of bus bandwidth for 2, 4, 8, 16 GPUs; NAN: not given */
} MachineSpec;

struct Machine
{
  MachineSpec spec;
  MachineInfo info;
  guint      *nic_of_gpu;        /* spec.gpus entries */
  KeyFile    *part;
};

/* NICs that the first `gpus` GPUs of a node can use: the node's bytes over those
 * of its busiest NIC.  `spread`: one transfer uses all of them alike (a ring over
 * the node); else each GPU uses its own (rails). */
double  machine_nics (const Machine *machine, guint64 gpus, gboolean spread);
/* GPUs behind the busiest NIC among the first `gpus`. */
double  machine_gpus_per_nic (const Machine *machine, guint64 gpus);
/* figures[] for 2, 4, 8, 16 GPUs at n, straight lines over log2 n, flat outside.  NAN: none. */
double  machine_at (const double figures[4], guint64 n);
/* The last two count as one: links of the NVLink family. */
gboolean machine_has_nvlink (const Machine *machine);
Origin  machine_origin (const Machine *machine, const char *key);
