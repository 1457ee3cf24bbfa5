/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/keys.h"

enum { TOPOLOGY_SWITCH, TOPOLOGY_FAT_TREE };

/* [network] */
typedef struct
{
  int     topology;
  char   *transport;         /* between nodes; NULL: the machine's */
  char   *node_transport;    /* inside a node; NULL: the machine's */
  double  nic_bandwidth;     /* bytes/s of one NIC, one way; NAN: the machine's */
  double  latency;           /* s a message between nodes; NAN: the transport's */
  double  efficiency;        /* share of the line rate; NAN: the transport's, by GPUs per node */
  double  node_bandwidth;    /* bytes/s of a ring inside the node per GPU; NAN: the machine's */
  double  oversubscription;  /* of the leaf uplinks, >= 1 */
  guint64 nodes_per_leaf;    /* fat tree */
  gboolean switch_reduction;  /* the switches add (SHARP) */
  double  ecmp_share;        /* of the uplinks that hashing leaves usable */
} NetworkSpec;
extern const Key network_keys[];
