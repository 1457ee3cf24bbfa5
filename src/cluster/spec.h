/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/keys.h"

/* No machine hall holds more; keeps every product of counts exact in a double. */
#define CLUSTER_MAX_NODES 10000000.0

/* [cluster] */
typedef struct
{
  char   *machine;          /* models/machine/NAME.ini */
  guint64 nodes;
  guint64 gpus_per_node;    /* 0: all of the machine */
  char   *gpu;              /* NULL: the machine's */
} ClusterSpec;
extern const Key cluster_keys[];

/* [reduction-server] and [parameter-server] */
typedef struct
{
  char    *machine;         /* GPU-less */
  guint64  count;           /* 0: none */
  double   efficiency;      /* share of the line on the server path, both ends; NAN: min(transport's, 0.72) */
  double   latency;         /* s a call; NAN: the transport's */
  double   sum_rate;        /* bytes/s a server sums per 16 vCPU; NAN: the transport's */
  gboolean colocated;       /* parameter-server: on the workers themselves */
  gboolean local_reduction; /* parameter-server: reduce in the node first (BytePS) */
} ServerSpec;
extern const Key reduction_server_keys[];
extern const Key parameter_server_keys[];
