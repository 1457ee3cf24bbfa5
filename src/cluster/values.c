/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "cluster/internal.h"

typedef struct { ClusterValue value; gpointer user; } Sink;

static void
say (const Sink *sink, const char *group, const char *key, double number, Unit unit, Origin origin)
{
  g_autofree char *text = NULL;

  if (isnan (number))
    return;
  text = unit == UNIT_NONE || unit == UNIT_SHARE ? NULL : quantity_format (number, unit);
  if (text == NULL)
    {
      text = g_malloc (G_ASCII_DTOSTR_BUF_SIZE);
      g_ascii_formatd (text, G_ASCII_DTOSTR_BUF_SIZE, "%.6g", number);
    }
  sink->value (sink->user, group, key, text, &origin);
}

static Origin
or_user (double by_user, Origin otherwise)
{
  return isnan (by_user) ? otherwise : (Origin) { ORIGIN_USER, "scenario" };
}

static void
say_shared (const Cluster *c, const Sink *sink, Id link, double given, const char *key)
{
  static const Origin ring = { ORIGIN_DERIVED, "what the ring that crosses it keeps, both ways together" };

  if (link != 0)
    say (sink, "machine", network_link (c->network, link)->name, network_link (c->network, link)->capacity, UNIT_RATE,
         isnan (given) ? ring : machine_origin (c->machine, key));
}

/* The links of the whole node's ring, and those that its cards share. */
static void
say_node_link (const Cluster *c, const Sink *sink)
{
  const Machine *m = c->machine;
  const NodeLink link = cluster_node_link (c, c->gpus_per_node);
  const char *key = NULL;
  const double plateau = cluster_plateau (c, &link, c->gpus_per_node, c->gpus_per_node, &key);
  const gboolean slot = g_str_has_prefix (key, "ring-share") && isnan (machine_at (m->spec.ring_share, c->gpus_per_node));

  say (sink, "machine", "gpu-link", link.rate, UNIT_RATE, c->gpu->origin);
  say (sink, "machine", "ring-bandwidth", plateau, UNIT_RATE,
       or_user (c->spec.node_bandwidth, slot ? transport_origin (link.transport, key) : machine_origin (m, key)));
  say_shared (c, sink, c->host_bridge, m->spec.bridge_bandwidth, "bridge-bandwidth");
  say_shared (c, sink, c->socket_link, m->spec.socket_bandwidth, "socket-bandwidth");
}

static void
say_machine (const Cluster *c, const Sink *sink)
{
  const Machine *m = c->machine;

  sink->value (sink->user, "machine", "gpu", c->gpu->name, &c->gpu->origin);
  say (sink, "machine", "gpus", (double) m->spec.gpus, UNIT_NONE, machine_origin (m, "gpus"));
  if (m->spec.vcpus > 0)
    say (sink, "machine", "vcpus", (double) m->spec.vcpus, UNIT_NONE, machine_origin (m, "vcpus"));
  say (sink, "machine", "nics", (double) m->spec.nics, UNIT_NONE, machine_origin (m, "nics"));
  say (sink, "machine", "nic-bandwidth", c->nic_bandwidth, UNIT_RATE,
       or_user (c->spec.nic_bandwidth, machine_origin (m, "nic-bandwidth")));
  if (c->gpu_link_rate > 0 && c->gpus_per_node > 1)
    say_node_link (c, sink);
  if (cluster_box_nodes (c) > 1)
    say (sink, "machine", "nvlink-domain", (double) m->spec.nvlink_domain, UNIT_NONE, machine_origin (m, "nvlink-domain"));
  say (sink, "machine", "price", m->spec.price, UNIT_MONEY_RATE, machine_origin (m, "price"));
}

static void
say_transport (const Transport *t, const char *group, const Cluster *c, const Sink *sink)
{
  const double latency = g_str_equal (group, "transport") ? c->spec.latency : NAN;
  const Generation generation = generation_find (c->gpu->generation);
  const Origin name = { ORIGIN_DERIVED, t->summary };

  sink->value (sink->user, group, "name", t->name, &name);
  for (int p = 0; p < N_PROTOCOLS; p++)
    {
      const Protocol protocol = (Protocol) p;
      g_autofree char *launch = g_strconcat ("launch-", protocol_names[p], NULL), *hop = g_strconcat ("hop-", protocol_names[p], NULL);

      say (sink, group, launch, transport_launch (t, generation, protocol), UNIT_TIME,
           transport_origin_of (t, launch, generation));
      say (sink, group, hop, isnan (latency) ? transport_hop (t, generation, protocol) : latency, UNIT_TIME,
           or_user (latency, transport_origin_of (t, hop, generation)));
    }
  say (sink, group, "share-ll", t->share[PROTOCOL_LL], UNIT_SHARE, transport_origin (t, "share-ll"));
  say (sink, group, "share-ll128", t->share[PROTOCOL_LL128], UNIT_SHARE, transport_origin (t, "share-ll128"));
  say (sink, group, "fill", t->fill, UNIT_NONE, transport_origin (t, "fill"));
  if (g_str_equal (group, "transport"))
    say (sink, group, "tree-share", t->tree_share, UNIT_SHARE, transport_origin (t, "tree-share"));
  say (sink, group, "spread", t->spread, UNIT_NONE, transport_origin (t, "spread"));
}

static void
say_between (const Cluster *c, const Sink *sink)
{
  const RankGroup group = { .n_ranks = c->nodes * c->gpus_per_node, .n_nodes = c->nodes, .per_node = c->gpus_per_node,
                            .twins_per_node = 1 };
  const gboolean one = machine_gpus_per_nic (c->machine, c->gpus_per_node) <= 1;
  Paths paths;

  say_transport (c->between, "transport", c, sink);
  if (cluster_paths (c, "nccl", &group, &paths, NULL))
    say (sink, "transport", "efficiency", paths.between_efficiency, UNIT_SHARE,
         or_user (c->spec.efficiency, transport_origin (c->between, one ? "efficiency-one-gpu" : "efficiency-several-gpus")));
}

/* Switches above the nodes, and how often the ring of the nodes goes from one to another. */
static void
say_topology (const Cluster *c, const Sink *sink)
{
  static const Origin counted = { ORIGIN_DERIVED, "placement and rank-order" }, uplinks = { ORIGIN_DERIVED, "nodes below, oversubscription, ecmp-share" };
  g_autofree char *key = g_strconcat (cluster_leaf_word (c), "-crossings", NULL), *least = g_strconcat ("least-", key, NULL);
  guint64 made, needed;

  cluster_crossings (c, &made, &needed);
  for (guint i = 0; i < c->n_levels; i++)
    say (sink, "topology", network_link (c->network, c->level[i].up)->name, c->level[i].capacity, UNIT_RATE, uplinks);
  if (c->n_levels == 0)
    return;
  if (c->level[0].neighbour < 1)
    say (sink, "topology", "neighbour-share", c->level[0].neighbour, UNIT_SHARE, uplinks);
  say (sink, "topology", key, (double) made, UNIT_NONE, counted);
  say (sink, "topology", least, (double) needed, UNIT_NONE, counted);
}

static void
say_servers (const Cluster *c, const char *which, const char *group_name, const Servers *servers, const Sink *sink)
{
  const RankGroup group = { .n_ranks = c->nodes * c->gpus_per_node, .n_nodes = c->nodes, .per_node = c->gpus_per_node,
                            .twins_per_node = 1 };
  const Transport *t = c->between;
  const Machine *m = servers->machine != NULL ? servers->machine : c->machine;
  Paths paths;

  if (servers->spec.count == 0 || !cluster_paths (c, which, &group, &paths, NULL))
    return;
  say (sink, group_name, "nic-bandwidth", paths.server_capacity, UNIT_RATE, machine_origin (m, "nic-bandwidth"));
  say (sink, group_name, "efficiency", paths.server_efficiency, UNIT_SHARE,
       or_user (servers->spec.efficiency, transport_origin (t, "server-efficiency")));
  say (sink, group_name, "latency", paths.server_latency, UNIT_TIME,
       or_user (servers->spec.latency, transport_origin (t, "server-latency")));
  if (isfinite (paths.server_sum))
    say (sink, group_name, "sum-rate", paths.server_sum, UNIT_RATE,
         or_user (servers->spec.sum_rate, transport_origin (t, "server-sum-rate")));
}

static void
say_system (const System *system, const Sink *sink)
{
  const Origin name = { ORIGIN_MEASURED, system->files };

  sink->value (sink->user, "system", "name", system->name, &name);
  for (int i = 0; i < N_SYSTEM; i++)
    if (!isnan (system->value[i]))
      say (sink, "system", system_parameters[i].name, system->value[i], system_parameters[i].unit,
           system_origin (system, (SystemParameter) i));
}

void
cluster_values (const Cluster *c, ClusterValue value, gpointer user)
{
  const Sink sink = { value, user };

  say_machine (c, &sink);
  if (c->in_node != NULL)
    say_transport (c->in_node, "node-transport", c, &sink);
  say_between (c, &sink);
  say_topology (c, &sink);
  if (c->system != NULL)
    say_system (c->system, &sink);
  say_servers (c, "nccl", "reduction-server", &c->reducers, &sink);
  say_servers (c, "parameter-server", "parameter-server", &c->parameter, &sink);
}
