/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "cluster/internal.h"

#define U64 G_GUINT64_FORMAT

gboolean
cluster_transport_is_nvlink (const Cluster *c)
{
  return c->in_node != NULL && c->in_node->link != TRANSPORT_LINK_PCIE && machine_has_nvlink (c->machine) && c->gpu->nvlink > 0;
}

guint64
cluster_box_nodes (const Cluster *c)
{
  const MachineSpec *machine = &c->machine->spec;
  const gboolean domain = cluster_transport_is_nvlink (c) && machine->nvlink_domain > machine->gpus;

  return domain ? MIN (machine->nvlink_domain / machine->gpus, c->nodes) : 1;
}

guint64
cluster_nodes_of_box (const Cluster *c, const RankGroup *group)
{
  return group->per_node > c->gpus_per_node ? MAX (c->nodes / group->n_nodes, 1) : 1;
}

/* Nodes below one switch of each level; 0: there is none. */
static guint
levels_of (const NetworkSpec *spec, guint64 below[PLACEMENT_MAX_LEVELS])
{
  const gboolean group = spec->topology == TOPOLOGY_DRAGONFLY;

  below[0] = MAX (group ? spec->nodes_per_group : spec->nodes_per_leaf, 1);
  below[1] = below[0] * spec->leaves_per_pod;
  if (spec->topology == TOPOLOGY_SWITCH)
    return 0;
  return group || spec->leaves_per_pod == 0 ? 1 : 2;
}

static gboolean
wrong_placement (GError **error, GError *cause, const char *group, const char *key)
{
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[%s] %s: %s", group, key, cause->message);
  g_error_free (cause);
  return FALSE;
}

gboolean
cluster_read_placement (Cluster *c, const ClusterSpec *spec, GError **error)
{
  PlacementSpec placement = { .text = spec->placement, .by_leaf = spec->rank_order == RANK_ORDER_BY_LEAF, .nodes = c->nodes,
                              .unit = cluster_box_nodes (c) };
  GError *cause = NULL;

  placement.n_levels = levels_of (&c->spec, placement.below);
  c->placement = placement_new (&placement, &cause);
  if (c->placement == NULL)
    return wrong_placement (error, cause, "cluster", "placement");
  if (placement.n_levels == 0)
    g_clear_pointer (&c->placement, placement_free);
  if (c->spec.topology != TOPOLOGY_DRAGONFLY || c->spec.groups == 0 || c->spec.groups >= placement_domains (c->placement, 0))
    return TRUE;
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[network] groups: %" U64 ", but the job's nodes lie in %" U64
               " groups; give so many or more", c->spec.groups, placement_domains (c->placement, 0));
  return FALSE;
}

/* Links between two groups are 1/(groups - 1) of a group's.  Minimal routing takes no
 * other.  Adaptive routing, at its best (Kim, Dally, Scott and Abts, ISCA 2008): besides
 * them all that lead to groups outside the job, and half of those to groups of the job,
 * since others' detours cross them too. */
static void
share_groups (const NetworkSpec *spec, guint64 used, PathLevel *level)
{
  const double mine = (double) used, all = spec->groups > 0 ? (double) spec->groups : mine, outside = all - mine;
  const gboolean minimal = spec->routing == ROUTING_MINIMAL;

  level->neighbour = level->uniform = 1;
  if (spec->topology != TOPOLOGY_DRAGONFLY || used < 2)
    return;
  level->neighbour = minimal ? 1 / (all - 1) : (1 + outside + (mine - 2) / 2) / (all - 1);
  level->uniform = minimal ? (mine - 1) / (all - 1) : 1;
}

static guint64
n_servers (const Cluster *c)
{
  return (c->reducers.machine != NULL ? c->reducers.spec.count : 0) + (c->parameter.machine != NULL ? c->parameter.spec.count : 0);
}

/* Workers and servers fill the leaves evenly.  What hashing of flows leaves of
 * the uplinks counts as their capacity. */
void
cluster_add_levels (Cluster *c)
{
  static const char *const names[][2] = { { "leaf-up", "leaf-down" }, { "pod-up", "pod-down" } };
  const NetworkSpec *spec = &c->spec;
  const guint64 nics = c->machine->spec.nics;
  guint64 below[PLACEMENT_MAX_LEVELS];
  const guint n = levels_of (spec, below);

  for (guint i = 0; i < n; i++)
    {
      const guint64 rails = spec->topology == TOPOLOGY_RAIL && i == 0 ? nics : 1;
      const guint64 switches = placement_packed (c->placement) ? (c->nodes + n_servers (c) + below[i] - 1) / below[i]
                                                               : placement_domains (c->placement, i);
      const double taper = spec->oversubscription * (i > 0 ? fmax (spec->pod_oversubscription, 1) : 1);
      const double capacity = (double) (below[i] * (nics / rails)) * c->nic_bandwidth / taper * spec->ecmp_share;
      PathLevel *level = &c->level[i];

      if (switches * rails < 2)
        return;
      level->capacity = capacity;
      level->below = (double) below[i];
      share_groups (spec, switches, level);
      level->up = network_add (c->network, spec->topology == TOPOLOGY_DRAGONFLY ? "global-out" : names[i][0], capacity, 0,
                               switches * rails, FALSE);
      level->down = network_add (c->network, spec->topology == TOPOLOGY_DRAGONFLY ? "global-in" : names[i][1], capacity, 0,
                                 switches * rails, FALSE);
      c->n_levels = i + 1;
    }
}

void
cluster_fill_levels (const Cluster *c, const RankGroup *group, Paths *out)
{
  out->n_levels = c->n_levels;
  for (guint i = 0; i < c->n_levels; i++)
    out->level[i] = c->level[i];
  out->placement = c->n_levels > 0 ? c->placement : NULL;
  out->box = cluster_nodes_of_box (c, group);
  out->level_latency = c->spec.level_latency;
  out->rails = c->spec.topology == TOPOLOGY_RAIL;
  out->pxn = out->rails && c->spec.pxn && cluster_transport_is_nvlink (c);
  out->minimal = c->spec.topology == TOPOLOGY_DRAGONFLY && c->spec.routing == ROUTING_MINIMAL;
}

gboolean
cluster_crossings (const Cluster *c, guint64 *made, guint64 *needed)
{
  const guint64 domains = c->n_levels > 0 ? placement_domains (c->placement, 0) : 1;

  *made = domains > 1 ? placement_crossings (c->placement, 0, cluster_box_nodes (c)) : 0;
  *needed = domains > 1 ? domains : 0;
  return *made > *needed;
}

const char *
cluster_leaf_word (const Cluster *c)
{
  return c->spec.topology == TOPOLOGY_DRAGONFLY ? "group" : "leaf";
}
