/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/keys.h"

/* No machine hall holds more; keeps every product of counts exact in a double. */
#define CLUSTER_MAX_NODES 10000000.0

/* What joins the GPUs of a node.  As a key of [cluster], GPU_LINK_AS_MACHINE is the default. */
typedef enum
{
  GPU_LINK_AS_MACHINE, GPU_LINK_NONE, GPU_LINK_PCIE, GPU_LINK_PCIE_HOST, GPU_LINK_NVLINK_MESH, GPU_LINK_NVLINK_BRIDGE,
  GPU_LINK_NVSWITCH, GPU_LINK_INFINITY_FABRIC,
} GpuLink;
extern const char *const gpu_link_names[];

enum { RANK_ORDER_AS_PLACED, RANK_ORDER_BY_LEAF };

/* [cluster].  The keys from `gpu` to `vcpus` replace the machine's values, or make a machine
 * where none is named; 0 (quantities: not above 0) is not given. */
typedef struct
{
  char   *machine;          /* models/machine/NAME.ini; NULL or "custom": the keys below */
  guint64 nodes;
  guint64 gpus_per_node;    /* 0: all of the machine */
  char   *gpu;              /* NULL: the machine's */
  int     gpu_link;         /* GpuLink */
  double  ring_bandwidth;   /* bytes/s of bus bandwidth a large ring keeps in the node */
  guint64 nics, vcpus;
  double  nic_bandwidth;    /* bytes/s of one NIC, one way, nominal */
  char   *placement;        /* of the nodes, in order of the ranks: network/placement.h; NULL: packed */
  int     rank_order;       /* RANK_ORDER_* */
} ClusterSpec;
/* [calibration] */
typedef struct { char *system; } CalibrationSpec;   /* a measured installation, models/system; NULL: none */
extern const Key calibration_keys[];
extern const Key cluster_keys[];

enum { COLOCATED_FALSE, COLOCATED_TRUE, COLOCATED_BOTH };   /* not on the workers, on them alone, there too */
/* [reduction-server] and [parameter-server] */
typedef struct
{
  char    *machine;         /* GPU-less */
  guint64  count;           /* 0: none */
  double   efficiency;      /* share of the line on the server path, both ends; NAN: min(transport's, 0.72) */
  double   latency;         /* s a call; NAN: the transport's */
  double   sum_rate;        /* bytes/s a server sums per 16 vCPU; NAN: the transport's */
  int      colocated;       /* parameter-server: COLOCATED_* */
  gboolean local_reduction; /* parameter-server: reduce in the node first (BytePS) */
} ServerSpec;
extern const Key reduction_server_keys[];
extern const Key parameter_server_keys[];
