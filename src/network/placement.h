/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* Where the nodes of a job sit: under which leaf switch, pod or group of nodes each
 * of them is, in the order of the ranks.  Positions of a hall are counted leaf by
 * leaf: position p is below leaf p/(nodes of a leaf). */
#define PLACEMENT_MAX_LEVELS 2
typedef struct Placement Placement;

typedef struct
{
  const char *text;        /* "packed" (NULL too), "scattered" or positions: "0, 2, 4..7" */
  gboolean    by_leaf;     /* ranks are numbered leaf by leaf, whatever the order of the nodes */
  guint64     nodes;
  guint64     unit;        /* nodes that stay together (one NVLink domain); 1: none */
  guint       n_levels;
  guint64     below[PLACEMENT_MAX_LEVELS];   /* nodes below one switch of each level, each a multiple of the one before */
} PlacementSpec;

/* Errors, without a group and key in front: no such word, wrong length, a position
 * twice, units torn apart. */
Placement *placement_new  (const PlacementSpec *spec, GError **error);
void       placement_free (Placement *placement);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Placement, placement_free)

guint64    placement_nodes   (const Placement *placement);
/* Switches of a level that have nodes of the job below them. */
guint64    placement_domains (const Placement *placement, guint level);
/* Which of them each node is below, from 0. */
const guint32 *placement_map (const Placement *placement, guint level);
/* Nodes fill leaf after leaf, in order. */
gboolean   placement_packed  (const Placement *placement);
/* Of a ring of every `unit`-th node: edges from one leaf to another, one way. */
guint64    placement_crossings (const Placement *placement, guint level, guint64 unit);
