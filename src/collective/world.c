/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/world.h"

typedef struct
{
  const char *name;
  guint       bundle;
  Id          class, first;
  uint32_t    n;
  double      capacity;
} Kind;

struct FabricWorld
{
  Network *network;        /* NULL: not made yet */
  uint32_t ranks, per_node;
  gboolean folded;
  Id      *stands;         /* by link; NULL: each for itself */
  GArray  *kinds;          /* of Kind */
  GArray  *bundles;        /* of guint64: cards */
};

FabricWorld *
world_new (uint32_t ranks, uint32_t per_node, gboolean folded)
{
  FabricWorld *world = g_new0 (FabricWorld, 1);

  world->ranks = ranks;
  world->per_node = per_node;
  world->folded = folded;
  world->kinds = g_array_new (FALSE, FALSE, sizeof (Kind));
  world->bundles = g_array_new (FALSE, FALSE, sizeof (guint64));
  return world;
}

void
world_free (FabricWorld *world)
{
  if (world == NULL)
    return;
  network_free (world->network);
  g_free (world->stands);
  g_array_unref (world->kinds);
  g_array_unref (world->bundles);
  g_free (world);
}

/* Each bundle splits into what is in the group and what is not. */
gboolean
world_cards (FabricWorld *world, guint64 cards)
{
  const guint n = world->bundles->len;

  for (guint i = 0; i < n; i++)
    {
      const guint64 bundle = g_array_index (world->bundles, guint64, i), both = bundle & cards, rest = bundle & ~cards;

      cards &= ~bundle;
      if (both == 0 || rest == 0)
        continue;
      g_array_index (world->bundles, guint64, i) = both;
      g_array_append_val (world->bundles, rest);
    }
  if (cards != 0)
    g_array_append_val (world->bundles, cards);
  return world->bundles->len <= WORLD_BUNDLES;
}

void
world_close (FabricWorld *world)
{
  world->network = network_new ();
  for (guint i = 0; i < world->kinds->len; i++)
    {
      Kind *kind = &g_array_index (world->kinds, Kind, i);

      for (uint32_t k = 0; k < kind->n; k++)
        {
          const Id id = network_add (world->network, kind->name, kind->capacity, 0, 1, FALSE);

          kind->first = k == 0 ? id : kind->first;
        }
    }
}

/* Links of a kind lie as the ranks do, so many for each, or one for so many. */
gboolean
world_fold (FabricWorld *world, uint32_t block, uint32_t period)
{
  const uint64_t blocks = world->ranks / block;

  world->stands = g_new0 (Id, network_n_links (world->network) + 1);
  for (guint i = 0; i < world->kinds->len; i++)
    {
      const Kind *kind = &g_array_index (world->kinds, Kind, i);
      const uint64_t each = kind->n / blocks, first = each * period / block;

      if (kind->n % blocks != 0 || each * period % block != 0 || g_str_equal (kind->name, "global"))
        return FALSE;
      for (uint32_t k = 0; k < kind->n; k++)
        world->stands[kind->first + k] = kind->first + (Id) (k / each * each + k % each % first);
    }
  return TRUE;
}

Id
world_stands (const FabricWorld *world, Id link)
{
  return world->stands != NULL ? world->stands[link] : link;
}

const Network *
world_network (const FabricWorld *world)
{
  return world->network;
}

Id
world_class (const FabricWorld *world, Id link, uint32_t *number)
{
  for (guint i = 0; i < world->kinds->len; i++)
    {
      const Kind *kind = &g_array_index (world->kinds, Kind, i);

      if (link >= kind->first && link - kind->first < kind->n)
        {
          *number = link - kind->first;
          return kind->class;
        }
    }
  return 0;
}

uint32_t
world_ranks (const FabricWorld *world)
{
  return world->ranks;
}

uint32_t
world_per_node (const FabricWorld *world)
{
  return world->per_node;
}

gboolean
world_folded (const FabricWorld *world)
{
  return world->folded;
}

static gboolean
is_closed (const FabricWorld *world)
{
  return world->network != NULL;
}

Id
world_links (FabricWorld *world, const char *name, guint bundle, Id class, uint32_t n, double capacity, double *share)
{
  Kind *kind = NULL;

  for (guint i = 0; i < world->kinds->len && kind == NULL; i++)
    {
      Kind *known = &g_array_index (world->kinds, Kind, i);

      if (g_str_equal (known->name, name) && known->bundle == bundle && known->class == class)
        kind = known;
    }
  if (kind == NULL)
    {
      const Kind new = { .name = name, .bundle = bundle, .class = class };

      g_return_val_if_fail (!is_closed (world), 0);
      g_array_append_val (world->kinds, new);
      kind = &g_array_index (world->kinds, Kind, world->kinds->len - 1);
    }
  if (!is_closed (world))
    {
      kind->n = MAX (kind->n, n);
      kind->capacity = MAX (kind->capacity, capacity);
    }
  *share = capacity / kind->capacity;
  return kind->first;
}

guint
world_bundles (const FabricWorld *world)
{
  return world->bundles->len;
}

guint64
world_bundle (const FabricWorld *world, guint bundle)
{
  return g_array_index (world->bundles, guint64, bundle);
}
