/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "collective/fabric.h"

/* Between fabric.c and fabric-levels.c (what links there are), fabric-links.c (one of
 * them) and fabric-route.c (which a message takes). */

/* A group's cards that are one link: the first node's, and what part of its bytes
 * goes over them. */
typedef struct { Id out, in; double part; } Cards;
/* What share of links of one kind the group's own capacity is. */
typedef struct { Id first; uint32_t n; double share; } Kind;
#define FABRIC_KINDS (16 + 4 * WORLD_BUNDLES)

/* Links above leaves, pods, groups: the first of each; of minimal routing one between
 * each two, up. */
typedef struct { Id up, down; gboolean pairs; double share; } Level;

struct Fabric
{
  Network *network;
  gboolean folded;
  ActorsMore more;
  uint32_t ranks, per_node, nodes, hosted;
  uint32_t apart, rails;   /* cards of a node with links of their own; leaves side by side that they hang on */
  gboolean pxn;
  double   crossed;        /* in a world, what share of messages between GPUs changes its rail over the spine */
  guint    n_bridges, n_levels;
  Level    level[PLACEMENT_MAX_LEVELS];
  const Placement *placement;
  guint64  box;            /* nodes of the placement in one */
  double   level_latency;
  Id       gpu_out, gpu_in, nic_out, nic_in, server_out, server_in, server_sum, host;   /* first of each; 0: none */
  Id       bridge[PATH_MAX_BRIDGES];
  const Mesh *mesh;        /* of single messages; its links node by node from the first on */
  Id       mesh_first;
  guint    mesh_stride;
  double   gpu_share, bridge_share, nic_share, server_nic_share, server_share;
  const Variables *variables;
  Id       endpoint;       /* of the first of them */
  double   in_hop, hop, switch_hop, copy;
  /* over a world: */
  FabricWorld *world;
  Cards    cards[WORLD_BUNDLES], rail[WORLD_BUNDLES];   /* rail: above the leaves of those cards */
  guint    n_cards;
  Kind     kind[FABRIC_KINDS];
  guint    n_kinds;
};

/* `n` links of a kind; the first.  `class`: of the cluster's network, that they are of. */
Id       fabric_add        (Fabric *fabric, const char *name, Id class, uint32_t n, double capacity);
Id       fabric_add_bundle (Fabric *fabric, const char *name, guint bundle, Id class, uint32_t n, double capacity);

/* Whether nodes of the schedule lie below several switches of a level. */
gboolean fabric_has_level  (const Schedule *schedule, const Paths *paths, guint level);
void     fabric_add_levels (Fabric *fabric, const Schedule *schedule, const Paths *paths, const Network *network, guint64 cards);
