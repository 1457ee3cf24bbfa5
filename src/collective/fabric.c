/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/fabric.h"
#include <math.h>

/* A group's cards that are one link: the first node's, and what part of its bytes
 * goes over them. */
typedef struct { Id out, in; double part; } Cards;
/* What share of links of one kind the group's own capacity is. */
typedef struct { Id first; uint32_t n; double share; } Kind;
#define FABRIC_KINDS (16 + 2 * WORLD_BUNDLES)

struct Fabric
{
  Network *network;
  gboolean folded;
  ActorsMore more;
  uint32_t ranks, per_node, nodes, nodes_per_leaf, hosted;
  guint    n_bridges;
  Id       gpu_out, gpu_in, nic_out, nic_in, leaf_up, leaf_down, server_out, server_in, server_sum, host;   /* first of each; 0: none */
  Id       bridge[PATH_MAX_BRIDGES];
  double   gpu_share, bridge_share, nic_share, server_nic_share, server_share;
  double   in_hop, hop, switch_hop, copy;
  /* over a world: */
  FabricWorld *world;
  Cards    cards[WORLD_BUNDLES];
  guint    n_cards;
  Kind     kind[FABRIC_KINDS];
  guint    n_kinds;
};

/* `class`: of the cluster's network, that they are of. */
static Id
add_of_world (Fabric *f, const char *name, guint bundle, Id class, uint32_t n, double capacity)
{
  Kind *kind = &f->kind[f->n_kinds];

  g_return_val_if_fail (f->n_kinds < FABRIC_KINDS, 0);
  kind->first = world_links (f->world, name, bundle, class, n, capacity, &kind->share);
  kind->n = n;
  /* Nearly always all of it: load_part () need not look. */
  f->n_kinds += kind->share < 1;
  return kind->first;
}

static Id
add (Fabric *f, const char *name, Id class, uint32_t n, double capacity)
{
  Id first = 0;

  if (f->world != NULL)
    return n > 0 && capacity > 0 ? add_of_world (f, name, 0, class, n, capacity) : 0;
  for (uint32_t i = 0; i < n && capacity > 0; i++)
    {
      const Id id = network_add (f->network, name, capacity, 0, 1, FALSE);

      first = first != 0 ? first : id;
    }
  return first;
}

/* Of a world bundle by bundle; cards 0: all of a node as one, the only bundle. */
static void
add_cards (Fabric *f, const PathLeg *between, uint32_t n, guint64 cards)
{
  const double one = cards != 0 ? between->capacity : between->links * between->capacity;
  const guint64 own = cards != 0 ? cards : 1;

  if (f->world == NULL)
    {
      f->nic_out = add (f, "nic-out", between->out, n, between->links * between->capacity);
      f->nic_in = add (f, "nic-in", between->in, n, between->links * between->capacity);
      return;
    }
  for (guint i = 0; i < world_bundles (f->world); i++)
    {
      const guint64 bundle = world_bundle (f->world, i);
      const double width = __builtin_popcountll (bundle);
      Cards *at = &f->cards[f->n_cards];

      if ((bundle & own) == 0)
        continue;
      at->out = add_of_world (f, "nic-out", i, between->out, n, width * one);
      at->in = add_of_world (f, "nic-in", i, between->in, n, width * one);
      at->part = width / __builtin_popcountll (own);
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
    f->hop = between->hop[PROTOCOL_LL] + paths->server_latency / 2;
}

static void
add_servers (Fabric *f, const Schedule *s, const Paths *paths)
{
  if (s->more != ACTORS_SERVERS)
    return;
  f->hosted = s->hosted;
  f->server_out = add (f, "server-out", paths->server_out, s->servers - s->hosted, paths->server_capacity);
  f->server_in = add (f, "server-in", paths->server_in, s->servers - s->hosted, paths->server_capacity);
  f->server_share = fmin (1, paths->server_efficiency);
  f->server_nic_share = fmin (1, paths->server_nic_efficiency);
  if (isfinite (paths->server_sum))
    f->server_sum = add (f, "server-sum", 0, s->servers, paths->server_sum);
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
      f->host = add (f, "host", 0, ranks, paths->host_reduce * 2 * (n - 1) / n);
      return;
    }
  if (s->per_node < 2)
    return;
  f->gpu_out = add (f, "gpu-out", paths->in_node.out, ranks, paths->in_node.rate);
  f->gpu_in = add (f, "gpu-in", paths->in_node.in, ranks, paths->in_node.rate);
  f->gpu_share = gpu_share (s, paths, protocol);
  f->bridge_share = fmin (1, paths->in_node.share[protocol]);
  f->n_bridges = paths->in_node.n_bridges;
  for (guint i = 0; i < f->n_bridges; i++)
    f->bridge[i] = add (f, "bridge", paths->in_node.bridge[i].link, nodes, paths->in_node.bridge[i].capacity);
}

static void
add_leaves (Fabric *f, const Schedule *s, const Paths *paths, const Network *network)
{
  const double per_leaf = paths->nodes_per_leaf;
  uint32_t n;

  if (s->nodes < 2 || paths->leaf_up == 0 || per_leaf <= 0 || f->nodes <= per_leaf)
    return;
  f->nodes_per_leaf = (uint32_t) per_leaf;
  n = (f->nodes - 1) / f->nodes_per_leaf + 1;
  f->leaf_up = add (f, "leaf-up", paths->leaf_up, n, network_link (network, paths->leaf_up)->capacity);
  f->leaf_down = add (f, "leaf-down", paths->leaf_down, n, network_link (network, paths->leaf_down)->capacity);
}

static void
add_links (Fabric *f, const Schedule *s, const Paths *paths, const Network *network, Protocol protocol, guint64 cards)
{
  f->more = s->more;
  fill_hops (f, s, paths, protocol);
  add_node_links (f, s, paths, protocol);
  if (s->nodes > 1 || s->more == ACTORS_SERVERS)
    {
      add_cards (f, &paths->between, f->folded ? 1 : f->nodes, cards);
      f->nic_share = nic_share (s, paths, protocol);
    }
  add_leaves (f, s, paths, network);
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
    return paths->leaf_up == 0 || paths->nodes_per_leaf <= 0 || s->nodes <= paths->nodes_per_leaf;
  return paths->in_node.n_bridges == 0;
}

Id
fabric_nic_out (const Fabric *f, uint32_t node)
{
  return f->nic_out != 0 ? f->nic_out + (f->folded ? 0 : node) : 0;
}

Id
fabric_nic_in (const Fabric *f, uint32_t node)
{
  return f->nic_in != 0 ? f->nic_in + (f->folded ? 0 : node) : 0;
}

static void
load_part (const Fabric *f, Route *out, Id link, double share, double part)
{
  if (link == 0)
    return;
  for (guint i = 0; i < f->n_kinds; i++)
    if (link >= f->kind[i].first && link - f->kind[i].first < f->kind[i].n)
      share *= f->kind[i].share;
  out->load[out->n++] = (LinkLoad) { .link = link, .bytes = part, .efficiency = share };
}

static void
load (const Fabric *f, Route *out, Id link, double share)
{
  load_part (f, out, link, share, 1);
}

/* All of a group's cards alike: the channels spread over them. */
static void
load_cards (const Fabric *f, Route *out, gboolean leaves, uint32_t node, double share)
{
  if (f->world == NULL)
    load (f, out, leaves ? fabric_nic_out (f, node) : fabric_nic_in (f, node), share);
  for (guint i = 0; i < f->n_cards; i++)
    load_part (f, out, (leaves ? f->cards[i].out : f->cards[i].in) + (f->folded ? 0 : node), share, f->cards[i].part);
}

/* Half of a node's GPUs on either side of the bridge. */
static gboolean
crosses_bridge (const Fabric *f, uint32_t from, uint32_t to)
{
  const uint32_t half = f->per_node / 2;

  return (from % f->per_node < half) != (to % f->per_node < half);
}

static void
in_node (const Fabric *f, uint32_t from, uint32_t to, Route *out)
{
  out->latency = f->in_hop;
  if (f->gpu_out == 0)
    return;
  load (f, out, f->gpu_out + (f->folded ? 0 : from), f->gpu_share);
  load (f, out, f->gpu_in + (f->folded ? 0 : to), f->gpu_share);
  for (guint i = 0; i < f->n_bridges && crosses_bridge (f, from, to); i++)
    load (f, out, f->bridge[i] + from / f->per_node, f->bridge_share);
}

/* A GPU's own link up to the switch or down from it. */
static void
with_nvswitch (const Fabric *f, uint32_t from, uint32_t to, Route *out)
{
  load (f, out, to >= f->ranks ? f->gpu_out + from : f->gpu_in + to, f->gpu_share);
  out->latency = f->switch_hop;
}

static Id
of_servers (Id first, uint32_t server)
{
  return first != 0 ? first + server : 0;
}

/* To and from servers: their own share of the line, and what they sum of what comes.
 * On its own node nothing leaves a worker. */
static void
with_server (const Fabric *f, uint32_t from, uint32_t to, Route *out)
{
  const gboolean up = to >= f->ranks;
  const uint32_t worker = up ? from : to, server = (up ? to : from) - f->ranks, node = worker / f->per_node;
  const gboolean hosted = server < f->hosted, same = hosted && server == node;

  if (!same)
    load_cards (f, out, up, node, f->more == ACTORS_SERVERS ? f->server_nic_share : f->nic_share);
  if (hosted && !same)
    load_cards (f, out, !up, server, f->server_nic_share);
  else if (!hosted)
    load (f, out, of_servers (up ? f->server_in : f->server_out, server - f->hosted), f->server_share);
  load (f, out, up ? of_servers (f->server_sum, server) : 0, 1);
  out->latency = f->hop;
}

void
fabric_route (const Fabric *f, uint32_t from, uint32_t to, Route *out)
{
  const uint32_t a = from / f->per_node, b = to / f->per_node;

  out->n = 0;
  out->copy = 0;
  if (from >= f->ranks || to >= f->ranks)
    {
      (f->more == ACTORS_NVSWITCHES ? with_nvswitch : with_server) (f, from, to, out);
      return;
    }
  load (f, out, f->host != 0 ? f->host + (f->folded ? 0 : to) : 0, 1);
  if (a == b)
    {
      in_node (f, from, to, out);
      return;
    }
  load_cards (f, out, TRUE, a, f->nic_share);
  load_cards (f, out, FALSE, b, f->nic_share);
  if (f->nodes_per_leaf > 0 && a / f->nodes_per_leaf != b / f->nodes_per_leaf)
    {
      load (f, out, f->leaf_up + a / f->nodes_per_leaf, 1);
      load (f, out, f->leaf_down + b / f->nodes_per_leaf, 1);
    }
  out->latency = f->hop;
  out->copy = f->copy;
}
