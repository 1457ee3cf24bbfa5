/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/fabric.h"
#include <math.h>

struct Fabric
{
  Network *network;
  gboolean folded;
  uint32_t ranks, per_node, nodes, nodes_per_leaf;
  guint    n_bridges;
  Id       gpu_out, gpu_in, nic_out, nic_in, leaf_up, leaf_down, server_out, server_in, server_sum;   /* first of each; 0: none */
  Id       bridge[PATH_MAX_BRIDGES];
  double   gpu_share, bridge_share, nic_share, server_nic_share, server_share;
  double   in_hop, hop;
};

static Id
add (Fabric *f, const char *name, uint32_t n, double capacity)
{
  Id first = 0;

  for (uint32_t i = 0; i < n && capacity > 0; i++)
    {
      const Id id = network_add (f->network, name, capacity, 0, 1, FALSE);

      first = first != 0 ? first : id;
    }
  return first;
}

static void
add_both (Fabric *f, const char *out_name, const char *in_name, Id *out, Id *in, uint32_t n, double capacity)
{
  *out = add (f, out_name, n, capacity);
  *in = add (f, in_name, n, capacity);
}

/* Of point to point a share of its own (NCCL opens few channels to one peer). */
static double
nic_share (const Schedule *s, const Paths *paths, Protocol protocol)
{
  double share = paths->between.share[protocol];

  if (s->point)
    {
      const double peers = s->op == OP_ALL_TO_ALL ? s->ranks - s->per_node : 1;

      share = fmin (paths->p2p_share, peers * paths->p2p_pair_share) * (protocol == PROTOCOL_LL ? paths->p2p_ll : 1);
    }
  return fmin (1, share * paths->between_efficiency);
}

static double
gpu_share (const Schedule *s, const Paths *paths, Protocol protocol)
{
  if (s->point)
    return fmin (1, paths->p2p_node_share * (protocol == PROTOCOL_LL ? paths->p2p_ll : 1));
  return fmin (1, paths->in_node.share[protocol]);
}

static void
add_servers (Fabric *f, const Schedule *s, const Paths *paths)
{
  const uint32_t servers = s->actors - s->ranks;

  if (s->more != ACTORS_SERVERS)
    return;
  add_both (f, "server-out", "server-in", &f->server_out, &f->server_in, servers, paths->server_capacity);
  f->server_share = fmin (1, paths->server_efficiency);
  f->server_nic_share = fmin (1, paths->server_nic_efficiency);
  if (isfinite (paths->server_sum))
    f->server_sum = add (f, "server-sum", servers, paths->server_sum);
  /* the software of both ends, half of it on the way there; the wire's own message is LL's */
  f->hop = paths->between.hop[PROTOCOL_LL] + paths->server_latency / 2;
}

Fabric *
fabric_new (const Schedule *s, const Paths *paths, const Network *network, Protocol protocol, gboolean folded)
{
  Fabric *f = g_new0 (Fabric, 1);
  const uint32_t nodes = folded ? 1 : s->nodes;

  f->network = network_new ();
  f->folded = folded;
  f->ranks = s->ranks;
  f->per_node = s->per_node;
  f->nodes = s->nodes;
  f->in_hop = paths->in_node.hop[protocol];
  f->hop = paths->between.hop[protocol];
  if (s->per_node > 1)
    {
      add_both (f, "gpu-out", "gpu-in", &f->gpu_out, &f->gpu_in, folded ? 1 : s->ranks, paths->in_node.rate);
      f->gpu_share = gpu_share (s, paths, protocol);
      f->bridge_share = fmin (1, paths->in_node.share[protocol]);
      f->n_bridges = paths->in_node.n_bridges;
      for (guint i = 0; i < f->n_bridges; i++)
        f->bridge[i] = add (f, "bridge", nodes, paths->in_node.bridge[i].capacity);
    }
  if (s->nodes > 1 || s->more == ACTORS_SERVERS)
    {
      add_both (f, "nic-out", "nic-in", &f->nic_out, &f->nic_in, nodes, paths->between.links * paths->between.capacity);
      f->nic_share = s->more == ACTORS_SWITCH ? fmin (1, paths->switch_share * paths->between_efficiency)
                                              : nic_share (s, paths, protocol);
    }
  if (s->nodes > 1 && paths->leaf_up != 0 && paths->nodes_per_leaf > 0 && s->nodes > paths->nodes_per_leaf)
    {
      f->nodes_per_leaf = (uint32_t) paths->nodes_per_leaf;
      add_both (f, "leaf-up", "leaf-down", &f->leaf_up, &f->leaf_down, (nodes - 1) / f->nodes_per_leaf + 1,
                network_link (network, paths->leaf_up)->capacity);
    }
  add_servers (f, s, paths);
  return f;
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
  return fabric->network;
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
load (Route *out, Id link, double share)
{
  if (link != 0)
    out->load[out->n++] = (LinkLoad) { .link = link, .bytes = 1, .efficiency = share };
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
  load (out, f->gpu_out + (f->folded ? 0 : from), f->gpu_share);
  load (out, f->gpu_in + (f->folded ? 0 : to), f->gpu_share);
  for (guint i = 0; i < f->n_bridges && crosses_bridge (f, from, to); i++)
    load (out, f->bridge[i] + from / f->per_node, f->bridge_share);
  out->latency = f->in_hop;
}

/* To and from servers: their own share of the line, and what they sum of what comes. */
static void
with_server (const Fabric *f, uint32_t from, uint32_t to, Route *out)
{
  const gboolean up = to >= f->ranks;
  const uint32_t worker = up ? from : to, server = (up ? to : from) - f->ranks, node = worker / f->per_node;

  load (out, up ? fabric_nic_out (f, node) : fabric_nic_in (f, node), f->server_out != 0 ? f->server_nic_share : f->nic_share);
  if (f->server_out != 0)
    {
      load (out, (up ? f->server_in : f->server_out) + server, f->server_share);
      load (out, up && f->server_sum != 0 ? f->server_sum + server : 0, 1);
    }
  out->latency = f->hop;
}

void
fabric_route (const Fabric *f, uint32_t from, uint32_t to, Route *out)
{
  const uint32_t a = from / f->per_node, b = to / f->per_node;

  out->n = 0;
  if (from >= f->ranks || to >= f->ranks)
    {
      with_server (f, from, to, out);
      return;
    }
  if (a == b)
    {
      in_node (f, from, to, out);
      return;
    }
  load (out, fabric_nic_out (f, a), f->nic_share);
  load (out, fabric_nic_in (f, b), f->nic_share);
  if (f->nodes_per_leaf > 0 && a / f->nodes_per_leaf != b / f->nodes_per_leaf)
    {
      load (out, f->leaf_up + a / f->nodes_per_leaf, 1);
      load (out, f->leaf_down + b / f->nodes_per_leaf, 1);
    }
  out->latency = f->hop;
}
