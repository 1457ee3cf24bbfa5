/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/fabric-private.h"
#include <math.h>

/* The links above the switches that nodes hang on. */

/* More would cost more links than they tell apart; then a group's count as one. */
#define MOST_PAIRED 256u

gboolean
fabric_has_level (const Schedule *s, const Paths *paths, guint level)
{
  return s->nodes > 1 && level < paths->n_levels && placement_domains (paths->placement, level) > 1;
}

/* On rails the leaves of a set side by side: all as one, one for each card, or in a
 * world one for each bundle. */
static void
add_level (Fabric *f, const Paths *paths, const Network *network, guint number, guint64 cards)
{
  static const char *const names[][2] = { { "leaf-up", "leaf-down" }, { "pod-up", "pod-down" } };
  const PathLevel *of = &paths->level[number];
  const gboolean rails = paths->rails && number == 0;
  const uint32_t domains = (uint32_t) placement_domains (paths->placement, number), n = domains * (number == 0 ? f->rails : 1);
  const double sets = rails ? fmax (paths->between.links / (double) paths->box / f->rails, 1) : 1;
  const double capacity = network_link (network, of->up)->capacity;
  Level *level = &f->level[number];

  level->pairs = paths->minimal && domains <= MOST_PAIRED;
  if (level->pairs)
    level->up = fabric_add (f, "global", of->up, domains * domains, capacity * of->neighbour);
  else if (rails && f->world != NULL && cards != 0)
    for (guint i = 0, k = 0; i < world_bundles (f->world); i++)
      {
        const double width = __builtin_popcountll (world_bundle (f->world, i));

        if ((world_bundle (f->world, i) & cards) == 0)
          continue;
        f->rail[k].out = fabric_add_bundle (f, names[0][0], i, of->up, n, width * capacity);
        f->rail[k++].in = fabric_add_bundle (f, names[0][1], i, of->down, n, width * capacity);
      }
  else
    {
      level->up = fabric_add (f, names[number][0], of->up, n, capacity * sets);
      level->down = fabric_add (f, names[number][1], of->down, n, capacity * sets);
    }
}

static gboolean
crosses_rails (const Fabric *f)
{
  return (f->rails > 1 && !f->pxn) || f->crossed > 0;
}

void
fabric_add_levels (Fabric *f, const Schedule *s, const Paths *paths, const Network *network, guint64 cards)
{
  const gboolean spread = s->priced == PRICED_POINT || s->more == ACTORS_SERVERS;
  const gboolean single = s->priced == PRICED_POINT || s->priced == PRICED_PAIR;

  f->placement = paths->placement;
  f->box = f->world != NULL && f->placement != NULL ? MAX (placement_nodes (f->placement) / f->nodes, 1) : paths->box;
  f->level_latency = paths->level_latency;
  f->rails = paths->rails ? (uint32_t) MAX (f->apart / paths->box, 1) : 1;
  f->pxn = f->rails > 1 && paths->pxn;
  f->crossed = f->world != NULL && paths->rails && !paths->pxn && single && s->per_node > 1 && cards != 0
                 ? 1 - 1. / __builtin_popcountll (cards) : 0;
  for (guint i = 0; fabric_has_level (s, paths, i) || (i == 0 && crosses_rails (f) && paths->n_levels > 0); i++)
    {
      f->n_levels = i + 1;
      f->level[i].share = spread ? paths->level[i].uniform : paths->level[i].neighbour;
      add_level (f, paths, network, i, cards);
    }
}
