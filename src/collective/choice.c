/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "collective/flow.h"

/* Which algorithm runs, in which protocol: as named, else as the library chooses. */

static const CollectiveAlgorithm *const algorithms[] = {
  &collective_ring, &collective_tree, &collective_nvls, &collective_nvls_tree, &collective_pat, &collective_switch_reduction,
  &collective_point_to_point, &collective_pairwise, &collective_hierarchical, &collective_halving_doubling, &collective_grpc_ring,
  &collective_reduction_server, &collective_parameter_server, &collective_host_mpi, &collective_gloo, NULL
};

const CollectiveAlgorithm *const *
collective_algorithms (void)
{
  return algorithms;
}

gboolean
collective_find (const char *name, const CollectiveAlgorithm **out, GError **error)
{
  const char *names[G_N_ELEMENTS (algorithms) + 1] = { "auto" };

  *out = NULL;
  if (g_str_equal (name, "auto"))
    return TRUE;
  for (gsize i = 0; algorithms[i] != NULL; i++)
    {
      names[i + 1] = algorithms[i]->name;
      if (g_str_equal (algorithms[i]->name, name))
        {
          *out = algorithms[i];
          return TRUE;
        }
    }
  collective_unknown (error, "algorithm", name, names);
  return FALSE;
}

static gboolean
can_do (const CollectiveAlgorithm *algorithm, const CollectiveCall *call, const RankGroup *group, const Paths *paths, GError **error)
{
  if ((algorithm->ops & call->op) == 0)
    {
      g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED, "the algorithm %s cannot do %s", algorithm->name,
                   collective_op_name (call->op));
      return FALSE;
    }
  if (group->per_node > 1 && paths->in_node.rate <= 0)
    {
      g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED,
                   "several ranks a node, but no link between the GPUs of a node is known");
      return FALSE;
    }
  return TRUE;
}

static gboolean
flow_of (const CollectiveAlgorithm *algorithm, const CollectiveCall *call, Protocol protocol, const RankGroup *group,
         const Paths *paths, CollectiveFlow *out, GError **error)
{
  CollectiveCall settled = *call;

  settled.algorithm = algorithm;
  settled.protocol = protocol;
  if (!algorithm->flow (&settled, group, paths, out, error))
    return FALSE;
  out->algorithm = algorithm;
  return TRUE;
}

/* The least estimate so far. */
typedef struct { CollectiveFlow flow; double seconds; gboolean found; } Cheapest;

/* Between nodes NCCL leaves LL and LL128 at a size of its own, before or after
 * Simple is cheaper.  A gather has half of the hops: half of the size. */
static gboolean
is_left_out (const CollectiveCall *call, const RankGroup *group, const Paths *paths, const CollectiveAlgorithm *algorithm,
             Protocol protocol)
{
  const double from = call->op == OP_ALL_REDUCE ? paths->simple_from : paths->simple_from / 2;

  if (group->n_nodes < 2 || (call->op & collective_point_to_point.ops) != 0)
    return FALSE;
  return (from > 0 && (protocol == PROTOCOL_SIMPLE) != (call->size >= from))
         || (protocol == PROTOCOL_SIMPLE && paths->simple_ring && algorithm != &collective_ring);
}

/* Of one algorithm, in the call's protocol or, where that is open, in the best. */
static gboolean
try_algorithm (const CollectiveAlgorithm *algorithm, const CollectiveCall *call, const RankGroup *group, const Paths *paths,
               const Network *network, Cheapest *best, GError **error)
{
  static const Protocol order[] = { PROTOCOL_SIMPLE, PROTOCOL_LL128, PROTOCOL_LL };

  for (gsize i = 0; i < G_N_ELEMENTS (order); i++)
    {
      CollectiveFlow flow;
      double seconds;

      if ((call->protocol != PROTOCOL_AUTO && order[i] != call->protocol)
          || (call->protocol == PROTOCOL_AUTO && order[i] == PROTOCOL_LL128 && !paths->ll128)
          || (call->protocol == PROTOCOL_AUTO && algorithm->protocols && is_left_out (call, group, paths, algorithm, order[i]))
          || (!algorithm->protocols && order[i] != PROTOCOL_SIMPLE))
        continue;
      if (!flow_of (algorithm, call, order[i], group, paths, &flow, error))
        return FALSE;
      seconds = collective_estimate (&flow, network, call->size);
      if (best->found && !(seconds < best->seconds))
        continue;
      *best = (Cheapest) { flow, seconds, TRUE };
    }
  return TRUE;
}

/* Real fabrics' hops are far from NCCL's constants; the least estimate describes
 * measured curves across nodes as well as its table does. */
static gboolean
cheapest (const CollectiveCall *call, const RankGroup *group, const Paths *paths, const Network *network,
          CollectiveFlow *out, GError **error)
{
  Cheapest best = { .found = FALSE };

  if (call->algorithm != NULL)
    {
      if (!try_algorithm (call->algorithm, call, group, paths, network, &best, error))
        return FALSE;
    }
  else
    for (gsize i = 0; algorithms[i] != NULL; i++)
      {
        const CollectiveAlgorithm *algorithm = algorithms[i];

        if (!algorithm->automatic || (algorithm->ops & call->op) == 0
            || (algorithm->exists != NULL && !algorithm->exists (group, paths)))
          continue;
        if (!try_algorithm (algorithm, call, group, paths, network, &best, error))
          return FALSE;
      }
  *out = best.flow;
  return TRUE;
}

/* What NCCL's own table settles, where it is known: rings, trees and NVLS in one node. */
static gboolean
in_table (const CollectiveCall *call, const RankGroup *group, const Paths *paths)
{
  const CollectiveAlgorithm *algorithm = call->algorithm;

  return group->n_nodes < 2 && (call->op & collective_point_to_point.ops) == 0 && paths->nccl.ring.rate[PROTOCOL_SIMPLE] > 0
         && (algorithm == NULL || algorithm == &collective_ring || algorithm == &collective_tree);
}

/* Everything open is settled, first of all by what stands in the algorithm's place. */
static gboolean
settle (const CollectiveCall *call, const RankGroup *group, const Paths *paths, const Network *network,
        CollectiveFlow *out, GError **error)
{
  const CollectiveAlgorithm *algorithm = call->algorithm;
  Protocol protocol = call->protocol;

  if (in_table (call, group, paths) && (algorithm == NULL || protocol == PROTOCOL_AUTO))
    nccl_box_choice (call, group, paths, &algorithm, &protocol);
  if (algorithm == NULL || (algorithm->protocols && protocol == PROTOCOL_AUTO))
    return cheapest (call, group, paths, network, out, error);
  return flow_of (algorithm, call, algorithm->protocols ? protocol : PROTOCOL_SIMPLE, group, paths, out, error);
}

gboolean
collective_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths, const Network *network,
                 CollectiveFlow *out, GError **error)
{
  CollectiveCall settled = *call;

  memset (out, 0, sizeof *out);
  out->cap = INFINITY;
  out->algorithm = call->algorithm != NULL ? call->algorithm
                   : (call->op & collective_point_to_point.ops) != 0 ? &collective_point_to_point : &collective_ring;
  out->protocol = call->protocol == PROTOCOL_AUTO ? PROTOCOL_SIMPLE : call->protocol;
  if (!can_do (out->algorithm, call, group, paths, error))
    return FALSE;
  if (group->n_ranks < 2 || call->size <= 0)
    return TRUE;
  for (const CollectiveAlgorithm *other = call->algorithm; other != NULL;)
    {
      settled.algorithm = other != &collective_automatic ? other : NULL;
      other = other->stands_for != NULL ? other->stands_for (call, group, paths) : NULL;
    }
  if (!settle (&settled, group, paths, network, out, error))
    return FALSE;
  out->spread = paths->spread;
  return TRUE;
}
