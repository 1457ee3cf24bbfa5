/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include "network/spec.h"

static const char *const topology_names[] = { "switch", "fat-tree", "rail", "dragonfly", NULL };
static const char *const routing_names[] = { "adaptive", "minimal", NULL };

const Key network_keys[] = {
  { "topology", KEY_CHOICE, UNIT_NONE, offsetof (NetworkSpec, topology), "switch",
    "Between nodes: one ideal switch, leaf switches under a spine, a leaf for the cards of each number, or groups with links to each other.", .choices = topology_names },
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
    "What the nodes of a leaf (dragonfly: of a group) could send over what its links to others carry.", 1, 1000 },
  { "nodes-per-leaf", KEY_COUNT, UNIT_NONE, offsetof (NetworkSpec, nodes_per_leaf), "16",
    "Fat tree, rail: nodes on one leaf switch (rail: on each of a set, one for every card)." , 1, 1e6 },
  { "leaves-per-pod", KEY_COUNT, UNIT_NONE, offsetof (NetworkSpec, leaves_per_pod), NULL,
    "Fat tree, rail: leaves (sets) of a pod, with a third level of switches above the pods; without it two levels.", 1, 1e6 },
  { "pod-oversubscription", KEY_NUMBER, UNIT_NONE, offsetof (NetworkSpec, pod_oversubscription), "1",
    "What the leaves of a pod could send up over what its own uplinks carry.", 1, 1000 },
  { "nodes-per-group", KEY_COUNT, UNIT_NONE, offsetof (NetworkSpec, nodes_per_group), "128",
    "Dragonfly: nodes of one group, among which no link is short." , 1, 1e6 },
  { "groups", KEY_COUNT, UNIT_NONE, offsetof (NetworkSpec, groups), NULL,
    "Dragonfly: groups of the machine, to which a group's links go evenly; without it those that the job fills.", 2, 1e6 },
  { "routing", KEY_CHOICE, UNIT_NONE, offsetof (NetworkSpec, routing), "adaptive",
    "Dragonfly: over other groups too where the links between two are full (at its best), or never.", .choices = routing_names },
  { "ecmp-share", KEY_QUANTITY, UNIT_SHARE, offsetof (NetworkSpec, ecmp_share), "0.85",
    "Share of the links above the leaves that hashing of flows leaves usable (0.5 untuned, 0.85 tuned).", 0.01, 1 },
  { "pxn", KEY_BOOLEAN, UNIT_NONE, offsetof (NetworkSpec, pxn), "true",
    "Rail: bytes for a GPU of another number go over NVLink to the GPU beside that card's rail first." },
  { "level-latency", KEY_QUANTITY, UNIT_TIME, offsetof (NetworkSpec, level_latency), "0 s",
    "What a message needs more for each level of switches above the first that it climbs.", 0, 1 },
  { "switch-reduction", KEY_BOOLEAN, UNIT_NONE, offsetof (NetworkSpec, switch_reduction), "false",
    "The switches between nodes add (SHARP): auto may take switch-reduction." },
  { NULL }
};
