/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/keys.h"

enum { TOPOLOGY_SWITCH, TOPOLOGY_FAT_TREE, TOPOLOGY_RAIL, TOPOLOGY_DRAGONFLY };
enum { ROUTING_ADAPTIVE, ROUTING_MINIMAL };

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
  double  oversubscription;  /* of the uplinks of leaves or groups, >= 1 */
  guint64 nodes_per_leaf;    /* fat tree, rails */
  gboolean switch_reduction;  /* the switches add (SHARP) */
  double  ecmp_share;        /* of the uplinks that hashing leaves usable */
  guint64 leaves_per_pod;    /* a third level above so many leaves; 0: none */
  double  pod_oversubscription;
  guint64 nodes_per_group, groups;   /* dragonfly; groups 0: those that the job fills */
  int     routing;           /* dragonfly: ROUTING_* */
  gboolean pxn;              /* rails */
  double  level_latency;     /* s for each level of switches that a message climbs */
} NetworkSpec;
extern const Key network_keys[];
