/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "collective/world.h"

/* The links that messages take, one for each end: every GPU's, every node's NICs
 * (all of a node as one: the channels spread over them; for messages of single GPUs
 * each by itself), leaves, pods and groups, bridges, servers,
 * and, where CPUs sum, the memory of each rank's process.
 * Made of a group's paths: rates and hops of the transports, none of view 1. */
typedef struct Fabric Fabric;
#define ROUTE_LINKS (10 + 4 * WORLD_BUNDLES)
typedef struct
{
  guint    n;
  LinkLoad load[ROUTE_LINKS];   /* bytes a byte of message */
  double   latency;             /* s */
  double   copy;                /* s a byte before the bytes flow: copies that end first */
} Route;

/* `network`: where the paths' classes are.  `folded`: one rank's links stand for
 * all; for a schedule that is alike on ranks alike. */
Fabric        *fabric_new     (const Schedule *schedule, const Paths *paths, const Network *network, Protocol protocol, gboolean folded);
/* The same over the links of a world, whose ranks are the ends then, servers behind
 * them: of a group on these cards (bits; 0: all as one) of its nodes.  fabric_expect (): the links that
 * this will take. */
void           fabric_expect  (FabricWorld *world, const Schedule *schedule, const Paths *paths, const Network *network, Protocol protocol,
                               guint64 cards);
Fabric        *fabric_view    (FabricWorld *world, const Schedule *schedule, const Paths *paths, const Network *network, Protocol protocol,
                               guint64 cards);
void           fabric_free    (Fabric *fabric);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Fabric, fabric_free)
const Network *fabric_network (const Fabric *fabric);
gboolean       fabric_folded  (const Fabric *fabric);
/* Whether one rank may stand for all. */
gboolean       fabric_may_fold (const Schedule *schedule, const Paths *paths);
void           fabric_route   (const Fabric *fabric, uint32_t from, uint32_t to, Route *out);
/* Until its bytes flow; `hops`: of the latency. */
static inline double
route_delay (const Route *route, double bytes, double hops)
{
  return route->latency * hops + route->copy * bytes;
}
/* For reports and tests: the (first) links of a node's NICs, out and in; 0: there are none. */
Id             fabric_nic_out (const Fabric *fabric, uint32_t node);
Id             fabric_nic_in  (const Fabric *fabric, uint32_t node);
