/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/fabric-private.h"

/* Which links a message takes, and what share of each. */

/* One link more of the route (0: none): `share` of it is the message's at most, `part`
 * of the message's bytes take it. */
static void
load_part (const Fabric *f, Route *out, Id link, double share, double part)
{
  if (link == 0)
    return;
  for (guint i = 0; i < f->n_kinds; i++)
    if (link >= f->kind[i].first && link - f->kind[i].first < f->kind[i].n)
      share *= f->kind[i].share;
  link = f->world != NULL ? world_stands (f->world, link) : link;
  out->load[out->n++] = (LinkLoad) { .link = link, .bytes = part, .efficiency = share };
}

static void
load_link (const Fabric *f, Route *out, Id link, double share)
{
  load_part (f, out, link, share, 1);
}

/* Servers are dealt over the leaves in turn. */
static uint32_t
domain_of (const Fabric *f, guint level, uint32_t node)
{
  const guint64 domains = placement_domains (f->placement, level);

  return (uint32_t) (node >= f->nodes ? (node - f->nodes) % domains
                                      : placement_map (f->placement, level)[node * f->box % placement_nodes (f->placement)]);
}

static void
load_level (const Fabric *f, const Level *level, uint32_t from, uint32_t to, double part, Route *out)
{
  load_part (f, out, level->up + from, level->share, part);
  load_part (f, out, level->down + to, level->share, part);
}

/* Up from node a to the lowest level where it meets node b, and down; servers are behind
 * the nodes. */
static void
climb (const Fabric *f, uint32_t a, uint32_t b, uint32_t rail_a, uint32_t rail_b, Route *out)
{
  for (guint i = 0; i < f->n_levels; i++)
    {
      const Level *level = &f->level[i];
      const uint32_t from = domain_of (f, i, a), to = domain_of (f, i, b), rails = i == 0 ? f->rails : 1;

      const double part = from != to || (i == 0 && rail_a != rail_b) ? 1 : i == 0 ? f->crossed : 0;

      if (!(part > 0))
        return;
      if (level->pairs)
        load_link (f, out, level->up + from * (uint32_t) placement_domains (f->placement, i) + to, 1);
      else if (level->up != 0)
        load_level (f, level, from * rails + (i == 0 ? rail_a : 0), to * rails + (i == 0 ? rail_b : 0), part, out);
      else
        for (guint k = 0; k < f->n_cards; k++)
          {
            load_part (f, out, f->rail[k].out + from, level->share, part * f->rail[k].part);
            load_part (f, out, f->rail[k].in + to, level->share, part * f->rail[k].part);
          }
      out->latency += f->level_latency;
    }
}

/* All of a group's cards alike: the channels spread over them; or one by itself. */
static void
load_cards_part (const Fabric *f, Route *out, gboolean leaves, uint32_t node, uint32_t card, double share, double part)
{
  if (f->world == NULL)
    load_part (f, out, (leaves ? fabric_nic_out (f, node) : fabric_nic_in (f, node)) + card, share, part);
  for (guint i = 0; i < f->n_cards; i++)
    load_part (f, out, (leaves ? f->cards[i].out : f->cards[i].in) + (f->folded ? 0 : node), share, part * f->cards[i].part);
}

static void
load_cards (const Fabric *f, Route *out, gboolean leaves, uint32_t node, uint32_t card, double share)
{
  load_cards_part (f, out, leaves, node, card, share, 1);
}

/* Half of a node's GPUs on either side of the bridge. */
static gboolean
crosses_bridge (const Fabric *f, uint32_t from, uint32_t to)
{
  const uint32_t half = f->per_node / 2;

  return (from % f->per_node < half) != (to % f->per_node < half);
}

static void
in_mesh (const Fabric *f, uint32_t from, uint32_t to, Route *out)
{
  const guint p = mesh_gpus (f->mesh), stride = f->mesh_stride;
  MeshHop hops[MESH_MOST_HOPS];
  const guint n = mesh_way (f->mesh, f->per_node, stride, from % f->per_node * stride, to % f->per_node * stride, hops);

  for (guint i = 0; i < n; i++)
    load_part (f, out, f->mesh_first + from / f->per_node * p * p + hops[i].from * p + hops[i].to,
                      f->gpu_share * mesh_links (f->mesh, hops[i].from, hops[i].to) / mesh_widest (f->mesh), hops[i].part);
}

static void
in_node (const Fabric *f, uint32_t from, uint32_t to, Route *out)
{
  out->latency = f->in_hop;
  if (f->gpu_out == 0)
    return;
  if (f->mesh != NULL)
    {
      in_mesh (f, from, to, out);
      return;
    }
  load_link (f, out, f->gpu_out + (f->folded ? 0 : from), f->gpu_share);
  load_link (f, out, f->gpu_in + (f->folded ? 0 : to), f->gpu_share);
  for (guint i = 0; i < f->n_bridges && crosses_bridge (f, from, to); i++)
    load_link (f, out, f->bridge[i] + from / f->per_node, f->bridge_share);
}

/* A GPU's own link up to the switch or down from it. */
static void
with_nvswitch (const Fabric *f, uint32_t from, uint32_t to, Route *out)
{
  load_link (f, out, to >= f->ranks ? f->gpu_out + from : f->gpu_in + to, f->gpu_share);
  out->latency = f->switch_hop;
}

static Id
of_servers (Id first, uint32_t server)
{
  return first != 0 ? first + server : 0;
}

/* By NVLink to the GPU on the other's rail, where there is PXN. */
static void
load_way (const Fabric *f, uint32_t from, uint32_t to, Route *out)
{
  const uint32_t a = from / f->per_node, b = to / f->per_node, p = f->per_node;
  const uint32_t own = from % p * f->apart / p, card_b = to % p * f->apart / p;
  const gboolean proxy = f->pxn && own % f->rails != card_b % f->rails;
  const uint32_t card_a = proxy ? card_b : own;

  if (proxy)
    {
      load_link (f, out, f->gpu_out + from, f->gpu_share);
      load_link (f, out, f->gpu_in + a * p + to % p, f->gpu_share);
    }
  load_cards (f, out, TRUE, a, card_a, f->nic_share);
  load_cards (f, out, FALSE, b, card_b, f->nic_share);
  climb (f, a, b, card_a % f->rails, card_b % f->rails, out);
}

/* To and from servers: their own share of the line, and what they sum of what comes.
 * On its own node nothing leaves a worker. */
static void
with_server (const Fabric *f, uint32_t from, uint32_t to, Route *out)
{
  const gboolean up = to >= f->ranks;
  const uint32_t worker = up ? from : to, server = (up ? to : from) - f->ranks, node = worker / f->per_node;
  const gboolean hosted = server < f->hosted, same = hosted && server == node;
  const uint32_t far = hosted ? server : f->nodes + server;

  if (!same)
    load_cards (f, out, up, node, 0, f->more == ACTORS_SERVERS ? f->server_nic_share : f->nic_share);
  if (hosted && !same)
    load_cards (f, out, !up, server, 0, f->server_nic_share);
  else if (!hosted)
    load_link (f, out, of_servers (up ? f->server_in : f->server_out, server - f->hosted), f->server_share);
  load_link (f, out, up ? of_servers (f->server_sum, server) : 0, 1);
  out->latency = f->hop;
  if (f->more == ACTORS_SERVERS)   /* switches that add send up once what a leaf's nodes send them: not known here */
    climb (f, up ? node : far, up ? far : node, 0, 0, out);
}

/* A variable's gradient, or itself; in its own node it leaves nothing. */
static void
with_variable (const Fabric *f, uint32_t from, uint32_t to, Route *out)
{
  const Variables *v = f->variables;
  const gboolean up = to >= f->ranks;
  const uint32_t variable = (up ? to : from) - f->ranks, node = (up ? from : to) / f->per_node, home = v->home[variable];

  out->latency = f->hop;
  if (v->on_workers && home == node)
    return;
  load_cards_part (f, out, up, node, 0, f->server_nic_share, v->part);
  load_link (f, out, f->endpoint != 0 ? f->endpoint + variable : 0, 1);
  if (v->on_workers)
    load_cards_part (f, out, !up, home, 0, f->server_nic_share, v->part);
  else
    load_part (f, out, (up ? f->server_in : f->server_out) + home, f->server_share, v->part);
  load_part (f, out, up ? of_servers (f->server_sum, home) : 0, 1, v->part);
  climb (f, up ? node : v->on_workers ? home : f->nodes + home, up ? (v->on_workers ? home : f->nodes + home) : node, 0, 0, out);
}

void
fabric_route (const Fabric *f, uint32_t from, uint32_t to, Route *out)
{
  const uint32_t a = from / f->per_node, b = to / f->per_node;

  out->n = 0;
  out->copy = 0;
  if (f->variables != NULL)
    {
      with_variable (f, from, to, out);
      return;
    }
  if (from >= f->ranks || to >= f->ranks)
    {
      (f->more == ACTORS_NVSWITCHES ? with_nvswitch : with_server) (f, from, to, out);
      return;
    }
  load_link (f, out, f->host != 0 ? f->host + (f->folded ? 0 : to) : 0, 1);
  if (a == b)
    {
      in_node (f, from, to, out);
      return;
    }
  out->latency = f->hop;
  out->copy = f->copy;
  load_way (f, from, to, out);
}
