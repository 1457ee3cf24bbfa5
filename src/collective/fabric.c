/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/fabric-private.h"
#include <math.h>

/* The links of a fabric, and what software makes of each. */

/* Of a world bundle by bundle; cards 0: all of a node as one, the only bundle. */
static void
add_cards (Fabric *f, const PathLeg *between, uint32_t n, guint64 cards)
{
  const double one = cards != 0 ? between->capacity : between->links * between->capacity;
  const guint64 own = cards != 0 ? cards : 1;

  if (f->world == NULL)
    {
      f->nic_out = fabric_add (f, "nic-out", between->out, n * f->apart, between->links * between->capacity / f->apart);
      f->nic_in = fabric_add (f, "nic-in", between->in, n * f->apart, between->links * between->capacity / f->apart);
      return;
    }
  for (guint i = 0; i < world_bundles (f->world); i++)
    {
      const guint64 bundle = world_bundle (f->world, i);
      const double width = __builtin_popcountll (bundle);
      Cards *at = &f->cards[f->n_cards];

      if ((bundle & own) == 0)
        continue;
      at->out = fabric_add_bundle (f, "nic-out", i, between->out, n, width * one);
      at->in = fabric_add_bundle (f, "nic-in", i, between->in, n, width * one);
      at->part = f->rail[f->n_cards].part = width / __builtin_popcountll (own);
      f->n_cards++;
    }
  f->nic_out = f->cards[0].out;
  f->nic_in = f->cards[0].in;
}

/* Of point to point a share of its own (NCCL opens few channels to one peer). */
static double
point_share (const Schedule *s, const Paths *paths, Protocol protocol)
{
  const double peers = s->priced == PRICED_POINT ? s->ranks - s->per_node : 1;

  return fmin (paths->p2p_share, peers * path_pair_share (paths, s->ranks)) * (protocol == PROTOCOL_LL ? paths->p2p_ll : 1);
}

static double
tree_share (const Paths *paths, Protocol protocol)
{
  return paths->between.share[protocol] * (protocol == PROTOCOL_SIMPLE ? paths->tree_share : paths->tree_share_ll);
}

static double
nic_share (const Schedule *s, const Paths *paths, Protocol protocol)
{
  double share = paths->between.share[protocol];

  switch (s->priced)
    {
    case PRICED_POINT:
    case PRICED_PAIR:
      share = point_share (s, paths, protocol);
      break;
    case PRICED_TREE:
      share = tree_share (paths, protocol);
      break;
    case PRICED_PAT:
      share = paths->pat_share;
      break;
    case PRICED_GRPC:
    case PRICED_HOST:
      share = 1;
      break;
    case PRICED_RING:
      break;
    }
  return fmin (1, (s->more == ACTORS_SWITCH ? paths->switch_share : share) * paths->between_efficiency);
}

/* Of NVSwitch's bus bandwidth: a GPU sends (p + 1)/p of the bytes each way for 2(p - 1)/p. */
static double
gpu_share (const Schedule *s, const Paths *paths, Protocol protocol)
{
  const double p = s->per_node;

  if (s->more == ACTORS_NVSWITCHES)
    return fmin (1, (p + 1) / (2 * (p - 1)) * paths->nvls_rate / paths->in_node.rate);
  if (s->priced == PRICED_POINT || s->priced == PRICED_PAIR)
    return fmin (1, paths->p2p_node_share * (protocol == PROTOCOL_LL ? paths->p2p_ll : 1));
  if (s->priced == PRICED_TREE && s->nodes > 1)
    return fmin (1, tree_share (paths, protocol));
  return s->priced == PRICED_GRPC || s->priced == PRICED_HOST ? 1 : fmin (1, paths->in_node.share[protocol]);
}

/* What software makes of a hop. */
static void
fill_hops (Fabric *f, const Schedule *s, const Paths *paths, Protocol protocol)
{
  const PathLeg *between = &paths->between;

  f->in_hop = paths->in_node.hop[protocol];
  f->hop = between->hop[protocol];
  f->switch_hop = paths->nvls_latency / 4;   /* four on a chunk's way: read, sum, write, multicast */
  if (s->steps_of == &point_to_point_steps)
    f->in_hop = path_point_hop (paths, protocol);
  if (schedule_one_message (s))
    f->hop = between->hop[PROTOCOL_LL];
  if (s->priced == PRICED_PAT)
    f->hop = between->hop[PROTOCOL_SIMPLE] * paths->pat_hop;
  if (s->priced == PRICED_GRPC || s->priced == PRICED_HOST)
    f->in_hop = paths->local_message;
  if (s->priced == PRICED_GRPC)   /* to the host, over the wire, and back, one after the other */
    {
      f->hop = fmax (paths->local_message, between->hop[PROTOCOL_SIMPLE]);
      f->copy = isfinite (paths->host_copy) ? 2 / paths->host_copy : 0;
    }
  if (s->priced == PRICED_HOST)
    f->hop = between->hop[PROTOCOL_LL];
  /* the software of both ends, half of it on the way there; the wire's own message is LL's */
  if (s->more == ACTORS_SERVERS)
    f->hop = between->hop[s->variables != NULL ? PROTOCOL_SIMPLE : PROTOCOL_LL] + paths->server_latency / 2;
}

/* Cards and sums are shared by all variables of a server; an endpoint is each one's own. */
static void
add_variables (Fabric *f, const Variables *v, const Paths *paths)
{
  f->variables = v;
  f->server_share = f->server_nic_share = fmin (1, v->efficiency);
  f->endpoint = fabric_add (f, "endpoint", 0, v->n, v->endpoint);
  if (v->on_workers)
    return;
  f->server_out = fabric_add (f, "server-out", paths->server_out, v->homes, paths->server_capacity);
  f->server_in = fabric_add (f, "server-in", paths->server_in, v->homes, paths->server_capacity);
  if (isfinite (paths->server_sum))
    f->server_sum = fabric_add (f, "server-sum", 0, v->homes, paths->server_sum);
}

static void
add_servers (Fabric *f, const Schedule *s, const Paths *paths)
{
  if (s->more != ACTORS_SERVERS)
    return;
  if (s->variables != NULL)
    {
      add_variables (f, s->variables, paths);
      return;
    }
  f->hosted = s->hosted;
  f->server_out = fabric_add (f, "server-out", paths->server_out, s->servers - s->hosted, paths->server_capacity);
  f->server_in = fabric_add (f, "server-in", paths->server_in, s->servers - s->hosted, paths->server_capacity);
  f->server_share = fmin (1, paths->server_efficiency);
  f->server_nic_share = fmin (1, paths->server_nic_efficiency);
  if (isfinite (paths->server_sum))
    f->server_sum = fabric_add (f, "server-sum", 0, s->servers, paths->server_sum);
}

static gboolean
is_single (const Schedule *s)
{
  return s->priced == PRICED_POINT || s->priced == PRICED_PAIR;
}

/* A link for each two GPUs of a node and way, as wide as the widest; rings' channels
 * use all links alike. */
static void
add_mesh (Fabric *f, const Schedule *s, const Paths *paths, uint32_t nodes)
{
  const guint p = paths->mesh != NULL ? mesh_gpus (paths->mesh) : 0;

  if (p == 0 || !is_single (s))
    return;
  f->mesh = paths->mesh;
  f->mesh_stride = f->world != NULL ? 1 : paths->mesh_stride;
  f->mesh_first = fabric_add (f, "nvlink-pair", paths->in_node.out, nodes * p * p, mesh_widest (f->mesh) * paths->mesh_link);
}

/* CPUs that reduce: `host_reduce` bytes of message a second are a rank's copies, sums
 * and copies back, whatever the ranks; a rank gets 2(n - 1)/n of them.  No such limit
 * known: the GPUs' links. */
static void
add_node_links (Fabric *f, const Schedule *s, const Paths *paths, Protocol protocol)
{
  const uint32_t ranks = f->folded ? 1 : f->ranks, nodes = f->folded ? 1 : f->nodes;
  const double n = s->ranks;

  if (s->priced == PRICED_HOST && isfinite (paths->host_reduce))
    {
      f->host = fabric_add (f, "host", 0, ranks, paths->host_reduce * 2 * (n - 1) / n);
      return;
    }
  if (s->per_node < 2)
    return;
  f->gpu_out = fabric_add (f, "gpu-out", paths->in_node.out, ranks, paths->in_node.rate);
  f->gpu_in = fabric_add (f, "gpu-in", paths->in_node.in, ranks, paths->in_node.rate);
  f->gpu_share = gpu_share (s, paths, protocol);
  add_mesh (f, s, paths, nodes);
  f->bridge_share = fmin (1, paths->in_node.share[protocol]);
  f->n_bridges = paths->in_node.n_bridges;
  for (guint i = 0; i < f->n_bridges; i++)
    f->bridge[i] = fabric_add (f, "bridge", paths->in_node.bridge[i].link, nodes, paths->in_node.bridge[i].capacity);
}

/* A message between single GPUs takes their cards: each is a link.  Else the channels
 * spread over all cards of the node, on rails over each alike. */
static uint32_t
cards_apart (const Schedule *s, const Paths *paths)
{
  return is_single (s) && s->per_node > 1 ? (uint32_t) fmax (fmin (paths->between.links, s->per_node), 1) : 1;
}

static void
add_links (Fabric *f, const Schedule *s, const Paths *paths, const Network *network, Protocol protocol, guint64 cards)
{
  f->more = s->more;
  f->apart = f->world == NULL ? cards_apart (s, paths) : 1;
  f->rails = 1;
  fill_hops (f, s, paths, protocol);
  add_node_links (f, s, paths, protocol);
  if (s->nodes > 1 || s->more == ACTORS_SERVERS)
    {
      add_cards (f, &paths->between, f->folded ? 1 : f->nodes, cards);
      f->nic_share = nic_share (s, paths, protocol);
    }
  fabric_add_levels (f, s, paths, network, cards);
  add_servers (f, s, paths);
}

Fabric *
fabric_new (const Schedule *s, const Paths *paths, const Network *network, Protocol protocol, gboolean folded)
{
  Fabric *f = g_new0 (Fabric, 1);

  f->network = network_new ();
  f->folded = folded;
  f->ranks = s->ranks;
  f->per_node = s->per_node;
  f->nodes = s->nodes;
  add_links (f, s, paths, network, protocol, 0);
  return f;
}

Fabric *
fabric_view (FabricWorld *world, const Schedule *s, const Paths *paths, const Network *network, Protocol protocol, guint64 cards)
{
  Fabric *f = g_new0 (Fabric, 1);

  f->world = world;
  f->folded = world_folded (world);
  f->ranks = world_ranks (world);
  f->per_node = world_per_node (world);
  f->nodes = f->ranks / f->per_node;
  add_links (f, s, paths, network, protocol, cards);
  return f;
}

void
fabric_expect (FabricWorld *world, const Schedule *s, const Paths *paths, const Network *network, Protocol protocol, guint64 cards)
{
  fabric_free (fabric_view (world, s, paths, network, protocol, cards));
}

void
fabric_free (Fabric *fabric)
{
  if (fabric == NULL)
    return;
  network_free (fabric->network);
  g_free (fabric);
}

const Network *
fabric_network (const Fabric *fabric)
{
  return fabric->world != NULL ? world_network (fabric->world) : fabric->network;
}

gboolean
fabric_folded (const Fabric *fabric)
{
  return fabric->folded;
}

/* Leaves and bridges are crossed by some, and in a node of several not every rank's
 * peers sit alike. */
gboolean
fabric_may_fold (const Schedule *s, const Paths *paths)
{
  if (!s->alike || (s->nodes > 1 && s->per_node > 1))
    return FALSE;
  if (s->nodes > 1)
    return !fabric_has_level (s, paths, 0);
  return paths->in_node.n_bridges == 0 && (paths->mesh == NULL || !is_single (s));
}
