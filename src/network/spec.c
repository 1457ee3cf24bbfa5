/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include "network/spec.h"

static const char *const topology_names[] = { "switch", "fat-tree", NULL };

const Key network_keys[] = {
  { "topology", KEY_CHOICE, UNIT_NONE, offsetof (NetworkSpec, topology), "switch",
    "Between nodes: one ideal switch, or leaf switches under a spine.", .choices = topology_names },
  { "transport", KEY_STRING, UNIT_NONE, offsetof (NetworkSpec, transport), NULL,
    "Software between nodes (tcp, ib, grpc, plain, ...); without it the machine's." },
  { "node-transport", KEY_STRING, UNIT_NONE, offsetof (NetworkSpec, node_transport), NULL,
    "Software inside a node (nvlink, pcie-p2p, pcie-host); without it the machine's." },
  { "nic-bandwidth", KEY_QUANTITY, UNIT_RATE, offsetof (NetworkSpec, nic_bandwidth), NULL,
    "Bandwidth of one NIC, one way; without it the machine's." },
  { "latency", KEY_QUANTITY, UNIT_TIME, offsetof (NetworkSpec, latency), NULL,
    "Time of an empty message between two nodes, in every protocol; without it the transport's.", 0, 10 },
  { "efficiency", KEY_QUANTITY, UNIT_SHARE, offsetof (NetworkSpec, efficiency), NULL,
    "Share of the NICs' line rate that is reached; without it the transport's.", 1e-4, 1 },
  { "node-bandwidth", KEY_QUANTITY, UNIT_RATE, offsetof (NetworkSpec, node_bandwidth), NULL,
    "Bus bandwidth that a large ring keeps inside a node; without it the machine's." },
  { "oversubscription", KEY_NUMBER, UNIT_NONE, offsetof (NetworkSpec, oversubscription), "1",
    "Fat tree: what the nodes of a leaf could send over what its uplinks carry.", 1, 1000 },
  { "nodes-per-leaf", KEY_COUNT, UNIT_NONE, offsetof (NetworkSpec, nodes_per_leaf), "16",
    "Fat tree: nodes on one leaf switch." , 1, 1e6 },
  { "ecmp-share", KEY_QUANTITY, UNIT_SHARE, offsetof (NetworkSpec, ecmp_share), "0.85",
    "Fat tree: share of the uplinks that hashing of flows leaves usable (0.5 untuned, 0.85 tuned).", 0.01, 1 },
  { "switch-reduction", KEY_BOOLEAN, UNIT_NONE, offsetof (NetworkSpec, switch_reduction), "false",
    "The switches between nodes add (SHARP): auto may take switch-reduction." },
  { NULL }
};
