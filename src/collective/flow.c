/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "collective/flow.h"

Flow
flow_begin (const CollectiveCall *call, const RankGroup *group, const Paths *paths, CollectiveFlow *out)
{
  memset (out, 0, sizeof *out);
  out->cap = INFINITY;
  out->protocol = call->protocol;
  return (Flow) { .group = group, .paths = paths, .out = out, .size = call->size, .rate = INFINITY,
                  .n = (double) group->n_ranks, .nodes = (double) group->n_nodes, .per_node = (double) group->per_node,
                  .twins = (double) MAX (group->twins_per_node, 1) };
}

void
flow_load (Flow *flow, Id link, double bytes, double efficiency)
{
  if (link == 0 || bytes <= 0)
    return;
  g_assert (flow->out->n_loads < COLLECTIVE_MAX_LOADS);
  flow->out->load[flow->out->n_loads++] = (LinkLoad) { .link = link, .bytes = bytes, .efficiency = fmin (efficiency, 1) };
}

static void
add_both (Flow *flow, Id out, Id in, double bytes, double efficiency, double capacity)
{
  if (bytes <= 0)
    return;
  flow_load (flow, out, bytes, efficiency);
  if (in != out)
    flow_load (flow, in, bytes, efficiency);
  flow->rate = fmin (flow->rate, capacity * fmin (efficiency, 1) / bytes);
}

void
flow_gpus (Flow *flow, double bytes, double share)
{
  const PathLeg *leg = &flow->paths->in_node;

  if (flow->per_node <= 1)
    return;
  add_both (flow, leg->out, leg->in, bytes, share * leg->rate / leg->capacity, leg->capacity);
  for (guint i = 0; i < leg->n_bridges; i++)
    {
      const PathBridge *bridge = &leg->bridge[i];

      flow_load (flow, bridge->link, bytes * bridge->edges, share);
      flow->rate = fmin (flow->rate, bridge->capacity * fmin (share, 1) / (bytes * bridge->edges));
    }
}

void
flow_nics (Flow *flow, double bytes, double share)
{
  const PathLeg *leg = &flow->paths->between;

  add_both (flow, leg->out, leg->in, bytes * flow->twins / leg->links, share, leg->capacity);
  flow->out->nic_bytes += bytes;
  flow->out->software = flow->paths->between_capped;
}

void
flow_servers (Flow *flow, double bytes, double share)
{
  const Paths *paths = flow->paths;

  add_both (flow, paths->server_out, paths->server_in, bytes * flow->twins, share, paths->server_capacity);
}

/* Servers and workers fill the leaves evenly: 1 - 1/leaves of the bytes leave
 * theirs, out of its workers and out of its servers. */
void
flow_server_leaves (Flow *flow, double bytes)
{
  const Paths *paths = flow->paths;
  const double servers = paths->server_colocated ? 0 : (double) paths->servers, rails = paths->rails ? paths->between.links : 1;

  for (guint i = 0; i < paths->n_levels; i++)
    {
      const PathLevel *level = &paths->level[i];
      const double leaves = ceil ((flow->nodes + servers) / level->below);
      const double load = 2 * bytes * flow->nodes / leaves * (1 - 1 / leaves) * flow->twins / (i == 0 ? rails : 1);

      if (leaves < 2)
        continue;
      flow_load (flow, level->up, load, level->uniform);
      flow_load (flow, level->down, load, level->uniform);
    }
}

void
flow_end (Flow *flow, double cap, double seconds)
{
  flow->out->cap = cap;
  flow->out->latency = fmax (0, seconds - flow->size / fmin (flow->rate, cap));
}

double
flow_norm (double a, double b, double x)
{
  const double large = fmax (a, b), small = fmin (a, b);

  if (x <= 1)
    return a + b;
  return large > 0 ? large * pow (1 + pow (small / large, x), 1 / x) : 0;
}

double
flow_blend (double a, double b, double x)
{
  return isinf (x) ? fmin (a, b) : 1 / flow_norm (1 / a, 1 / b, x);
}

double
flow_ramp (const Flow *flow, Protocol protocol)
{
  const double ratio = flow->paths->ramp_size / flow->size;

  return protocol == PROTOCOL_LL ? flow->paths->ramp / (1 + ratio * ratio) : 0;
}

double
flow_fill (const Flow *flow, double hops, double bytes)
{
  return flow->paths->fill * 2 * sqrt (hops * bytes);
}

double
flow_between_rate (const Flow *flow)
{
  return flow->paths->between.rate / flow->twins;
}
