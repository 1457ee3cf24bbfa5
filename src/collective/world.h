/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "collective/schedule.h"

/* The links of all GPUs, nodes and servers, once, under the groups of a step: each
 * group sees them through a fabric of its own (fabric_view ()), with the rates and
 * hops that its software makes of them.
 *
 * First every view says what it needs (fabric_expect ()), then the links are made. */
typedef struct FabricWorld FabricWorld;
#define WORLD_BUNDLES 16u

/* `folded`: one rank stands for all. */
FabricWorld   *world_new     (uint32_t ranks, uint32_t per_node, gboolean folded);
void           world_free    (FabricWorld *world);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabricWorld, world_free)
/* Before all views: the cards (bits) of a node that some group uses, 1 where all of a
 * node count as one.  Cards that no group tells apart are one link.  FALSE: more than
 * WORLD_BUNDLES. */
gboolean       world_cards   (FabricWorld *world, guint64 cards);
void           world_close   (FabricWorld *world);     /* makes the links */
/* Then: of every `block` ranks the first `period` stand for all, and their links for
 * those of all; before any message.  FALSE: some links are not so dealt out. */
gboolean       world_fold    (FabricWorld *world, uint32_t block, uint32_t period);
const Network *world_network (const FabricWorld *world);
/* The class of the cluster's network that a link is one of; 0: none.  *number: which of
 * them, from 0: the node's, rank's or server's. */
Id             world_class   (const FabricWorld *world, Id link, uint32_t *number);

/* For fabric.c. */
uint32_t world_ranks    (const FabricWorld *world);
uint32_t world_per_node (const FabricWorld *world);
gboolean world_folded   (const FabricWorld *world);
/* Links of a kind: before the links are made its capacity is the largest asked for.
 * Then the first of them, and what share of one `capacity` is. */
Id       world_links    (FabricWorld *world, const char *name, guint bundle, Id class, uint32_t n, double capacity, double *share);
/* Bundles of cards; those of a group, and how many cards are in one. */
guint    world_bundles  (const FabricWorld *world);
guint64  world_bundle   (const FabricWorld *world, guint bundle);
/* Whose place a link's traffic is counted in: its own, but in a world folded so. */
Id       world_stands   (const FabricWorld *world, Id link);
