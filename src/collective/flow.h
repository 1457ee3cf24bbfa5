/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "collective/collective.h"

/* What the algorithms share; nobody outside this folder includes it. */
extern const CollectiveAlgorithm collective_ring, collective_tree, collective_nvls, collective_nvls_tree, collective_pat,
  collective_switch_reduction, collective_point_to_point, collective_pairwise, collective_hierarchical, collective_halving_doubling,
  collective_grpc_ring, collective_reduction_server, collective_parameter_server, collective_host_mpi, collective_gloo;

/* No such name: the error lists those that there are (NULL-terminated). */
void collective_unknown (GError **error, const char *kind, const char *typed, const char *const *names);

/* What the library would choose: only for stands_for. */
extern const CollectiveAlgorithm collective_automatic;

/* View 1 in the making. */
typedef struct
{
  const RankGroup *group;
  const Paths     *paths;
  CollectiveFlow  *out;
  double           size;     /* bytes */
  double           rate;     /* bytes of message/s that the links so far allow when idle */
  double           n, nodes, per_node, twins;
  double           climbed[PLACEMENT_MAX_LEVELS];   /* of flow_levels: the share of edges that go over each level */
} Flow;

Flow   flow_begin   (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out);
/* `bytes` a byte of message, each way: of every GPU on its links in the node; of
 * every node on its NICs, one of the twins.
 * `share`: of the typical rate; flow_nics: of the line. */
void   flow_gpus    (Flow *flow, double bytes, double share);
void   flow_nics    (Flow *flow, double bytes, double share);
void   flow_servers (Flow *flow, double bytes, double share);
/* One load, twins counted; what leaves leaves: collective/levels.h. */
void   flow_load    (Flow *flow, Id link, double bytes, double efficiency);
/* Uplinks where every node sends `bytes` to servers and gets them back. */
void   flow_server_leaves (Flow *flow, double bytes);
/* The cap, and the latency with which `seconds` pass in all on idle links. */
void   flow_end     (Flow *flow, double cap, double seconds);

/* (a^x + b^x)^(1/x) without overflow; x 1 is the sum. */
double flow_norm  (double a, double b, double x);
/* Rate of two stages in series that overlap: (a^-x + b^-x)^(-1/x). */
double flow_blend (double a, double b, double x);
/* What LL's latency rises by between small and medium sizes. */
double flow_ramp  (const Flow *flow, Protocol protocol);
/* Time by which a pipeline of `hops` s for `bytes` s is not full: phi 2 sqrt. */
double flow_fill  (const Flow *flow, double hops, double bytes);
/* Bytes/s between nodes of one of the twins, by all NICs of the node. */
double flow_between_rate (const Flow *flow);

/* Hops over ranks - 1 [k], wire bytes of a rank a byte of message [w]. */
double ring_hops  (CollectiveOp op);
double ring_wire  (CollectiveOp op, double n);

/* Reduce in the node, to the servers and back: reduction servers and BytePS. */
void   servers_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out);

/* A ring or chain in one node. */
void   ring_box   (Flow *flow, const CollectiveCall *call, Protocol protocol);

/* Trees between nodes: of the bytes what the busiest node sends each way [m], the
 * hops up and down [D], and the load of NICs and leaves. */
double tree_busiest (double nodes);
double tree_depth   (double nodes);
void   tree_nics    (Flow *flow, double share);

/* Algorithm and protocol inside a box by NCCL's own table, of what `call` leaves open. */
void nccl_box_choice (const CollectiveCall *call, const RankGroup *group, const Paths *paths,
                      const CollectiveAlgorithm **algorithm, Protocol *protocol);
