/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "cluster/internal.h"

static double
given (double value, double otherwise)
{
  return isnan (value) ? otherwise : value;
}

NodeLink
cluster_node_link (const Cluster *c, guint64 span)
{
  if (c->in_node == NULL || c->gpu_link_rate <= 0)
    return (NodeLink) { 0 };
  if (c->slot != NULL && span > c->machine->spec.nvlink_domain)
    return (NodeLink) { c->slot, c->gpu_slot, c->slot_rate, FALSE };
  return (NodeLink) { c->in_node, c->gpu_link, c->gpu_link_rate, cluster_transport_is_nvlink (c) };
}

/* NVLink does not pass the host. */
static gboolean
crosses (const Cluster *c, guint64 span, guint64 behind)
{
  const NodeLink link = cluster_node_link (c, span);

  return link.transport != NULL && !link.nvlink && behind > 0 && span > behind;
}

gboolean
cluster_crosses_socket (const Cluster *c, guint64 span)
{
  return crosses (c, span, c->machine->spec.gpus_per_socket);
}

gboolean
cluster_crosses_bridge (const Cluster *c, guint64 span)
{
  const MachineSpec *machine = &c->machine->spec;

  return machine->gpus_per_socket > machine->gpus_per_switch && crosses (c, span, machine->gpus_per_switch);
}

/* Cards of the ring whose figure holds: one that leaves a switch or a CPU has its
 * slowest edge there, however many take part. */
static guint64
ring_of_figure (const Cluster *c, const NodeLink *link, guint64 gpus, guint64 span)
{
  const MachineSpec *machine = &c->machine->spec;

  if (link->nvlink || machine->gpus_per_switch == 0)
    return gpus;
  if (span <= machine->gpus_per_switch)
    return span;
  return span <= machine->gpus_per_socket ? machine->gpus_per_socket : machine->gpus;
}

double
cluster_plateau (const Cluster *c, const NodeLink *link, guint64 gpus, guint64 span, const char **key)
{
  static const char *const ring_keys[] = { "ring-bandwidth-2", "ring-bandwidth-4", "ring-bandwidth-8", "ring-bandwidth-16" };
  static const char *const share_keys[] = { "ring-share-2", "ring-share-4", "ring-share-8", "ring-share-16" };
  const MachineSpec *machine = &c->machine->spec;
  const guint64 n = ring_of_figure (c, link, gpus, span);
  const gboolean own = link->nvlink || g_strcmp0 (machine->node_transport, link->transport->name) == 0
                       || g_strcmp0 (machine->slot_transport, link->transport->name) == 0;
  const double of_machine = own ? machine_at (machine->ring_bandwidth, n) : NAN;
  const double of_link = own ? machine_at (machine->ring_share, n) : NAN;
  const double of_slot = machine_at (link->transport->ring_share, n);
  const int i = n <= 2 ? 0 : n <= 4 ? 1 : n <= 8 ? 2 : 3;

  *key = isnan (of_machine) ? share_keys[i] : ring_keys[i];
  if (!isnan (c->spec.node_bandwidth))
    return c->spec.node_bandwidth;
  return given (of_machine, given (of_link, given (of_slot, 1)) * link->rate);
}

double
cluster_ring_rate (const Cluster *c, const NodeLink *link, guint64 gpus, guint64 span)
{
  const char *key;

  return fmin (link->rate, transport_asymptote (link->transport, cluster_plateau (c, link, gpus, span, &key), (double) gpus));
}

/* NCCL's own figure of the links, else what they show. */
static double
nccl_bus (const NodeLink *link, double rate, double plateau)
{
  return isnan (link->transport->nccl_bus) ? plateau : fmin (link->transport->nccl_bus * link->rate, rate);
}

static void
add_bridge (const Cluster *c, PathLeg *leg, Id link, guint64 twins)
{
  const double capacity = network_link (c->network, link)->capacity;

  leg->bridge[leg->n_bridges++] = (PathBridge) { .link = link, .capacity = capacity, .edges = 2 * (double) twins };
  leg->rate = fmin (leg->rate, capacity / 2);
}

/* From the first GPU of the group in a node to its last. */
static guint64
span_of (const Cluster *c, const RankGroup *group)
{
  const guint64 span = group->per_node < 1 ? 0 : (group->per_node - 1) * MAX (group->stride, 1) + 1;

  return MIN (span, MAX (c->gpus_per_node, group->per_node));
}

static void
fill_in_node (const Cluster *c, const RankGroup *group, Paths *out)
{
  const guint64 span = span_of (c, group), twins = MIN (MAX (group->stride, 1), MAX (group->twins_per_node, 1));
  const NodeLink link = cluster_node_link (c, span);
  const Generation generation = generation_find (c->gpu->generation);
  PathLeg *leg = &out->in_node;
  const char *key;
  double plateau;

  if (link.transport == NULL || link.link == 0 || group->per_node < 2)
    return;
  plateau = cluster_plateau (c, &link, group->per_node, span, &key);
  *leg = (PathLeg) { .out = link.link, .in = link.link, .links = 1, .capacity = link.rate };
  leg->rate = cluster_ring_rate (c, &link, group->per_node, span);
  if (c->host_bridge != 0 && cluster_crosses_bridge (c, span))
    add_bridge (c, leg, c->host_bridge, twins);
  if (c->socket_link != 0 && cluster_crosses_socket (c, span))
    add_bridge (c, leg, c->socket_link, twins);
  if (c->machine->mesh != NULL && link.nvlink && (group->per_node - 1) * MAX (group->stride, 1) < mesh_gpus (c->machine->mesh))
    {
      const guint64 all = c->machine->spec.gpus;

      out->mesh = c->machine->mesh;
      out->mesh_link = cluster_ring_rate (c, &link, all, all) / mesh_degree (out->mesh);
      out->mesh_stride = (guint) MAX (group->stride, 1);
    }
  transport_fill_node (link.transport, generation, link.nvlink && c->machine->spec.gpu_link == GPU_LINK_NVSWITCH, out);
  nccl_table (c->nccl, link.transport, generation, nccl_bus (&link, leg->rate, plateau), out->nvls_rate > 0, group->per_node, &out->nccl);
}

/* `t`: the scenario's transport, or that of a framework with its own.  Each node
 * of an NVLink domain brings its NICs. */
static void
fill_between (const Cluster *c, const Transport *t, const RankGroup *group, Paths *out)
{
  const gboolean own = g_str_equal (t->name, c->between->name);
  const guint64 box = cluster_nodes_of_box (c, group);
  const guint64 gpus = MIN (MAX (group->per_node / box, 1) * MAX (group->twins_per_node, 1), c->gpus_per_node);
  const double one = machine_gpus_per_nic (c->machine, gpus) <= 1 ? t->efficiency_one : t->efficiency_several;
  const double efficiency = own ? given (c->spec.efficiency, one) : one;
  PathLeg *leg = &out->between;

  if (isnan (c->nic_bandwidth))
    return;
  *leg = (PathLeg) { .out = c->nic_out, .in = c->nic_in, .capacity = c->nic_bandwidth,
                     .links = (double) box * machine_nics (c->machine, gpus, group->per_node > 1) };
  leg->rate = fmin (efficiency * leg->links * leg->capacity, given (t->cap, INFINITY) * (double) box);
  out->line_share = efficiency;
  out->between_efficiency = leg->rate / (leg->links * leg->capacity);
  out->between_capped = leg->rate < efficiency * leg->links * leg->capacity;
  memcpy (leg->share, t->share, sizeof leg->share);
  for (int p = 0; p < N_PROTOCOLS; p++)
    leg->hop[p] = own ? given (c->spec.latency, t->hop[p]) : t->hop[p];
}

static void
fill_software (const Cluster *c, const Transport *between, const RankGroup *group, Paths *out)
{
  const NodeLink link = cluster_node_link (c, span_of (c, group));
  const Transport *t = group->n_nodes > 1 || link.transport == NULL ? between : link.transport;

  transport_fill (t, between, generation_find (c->gpu->generation), out);
  out->switch_reduction = c->spec.switch_reduction;
  out->ll128 = t->ll128 && (link.transport == NULL || group->per_node < 2 || link.transport->ll128);
}

static void
fill_servers (const Cluster *c, const Transport *t, const Servers *servers, Paths *out)
{
  const ServerSpec *spec = &servers->spec;
  const MachineSpec *machine = servers->machine != NULL ? &servers->machine->spec : &c->machine->spec;
  const double limit = fmin (out->line_share, given (t->server_efficiency, 1));

  if (spec->count == 0)
    return;
  out->servers = spec->count;
  out->server_out = servers->out;
  out->server_in = servers->in;
  out->server_capacity = servers->machine != NULL ? machine->nic_bandwidth * (double) machine->nics
                                                  : c->nic_bandwidth * c->nic_left * (double) machine->nics;
  out->server_efficiency = given (spec->efficiency, limit);
  out->server_nic_efficiency = given (spec->efficiency, fmin (limit, out->between_efficiency));
  out->server_latency = given (spec->latency, given (t->server_latency, 0));
  out->server_sum = machine->vcpus == 0 ? INFINITY
                      : given (spec->sum_rate, given (t->server_sum_rate, INFINITY)) * (double) machine->vcpus / 16;
  out->server_local_reduction = spec->local_reduction;
  out->server_colocated = spec->colocated == COLOCATED_TRUE;
  out->server_on_both = spec->colocated == COLOCATED_BOTH;
}

/* What was measured beats what its kind of link and software usually gives. */
static void
apply_system (const Cluster *c, const RankGroup *group, Paths *out)
{
  const System *system = c->system;
  const double rate = out->in_node.rate;

  system_apply (system->value, group, machine_nics (c->machine, c->gpus_per_node, c->gpus_per_node > 1), out);
  out->mesh_link *= rate > 0 ? out->in_node.rate / rate : 1;
  if (!isnan (system->value[SYSTEM_FP]))   /* measured as it is */
    out->mesh = NULL;
  system_onset (system->onset, system->n_onsets, group->n_nodes, out);
  if (!system->table)
    {
      const double nvls = out->nccl.nvls_rate;

      memset (&out->nccl, 0, sizeof out->nccl);
      out->nccl.nvls_rate = nvls;
    }
  out->spread = system_spread (system, group);
}

/* A ring over all nodes goes at the pace of the most degraded cards: what was
 * measured, or the line's share, by what they have left; a limit of the software
 * stays. */
static void
degrade (const Cluster *c, gboolean measured, Paths *out)
{
  PathLeg *leg = &out->between;

  if (!(c->nic_left < 1) || !(leg->capacity > 0))
    return;
  leg->rate = fmin (leg->rate, c->nic_left * (measured ? leg->rate : out->line_share * leg->links * leg->capacity));
  leg->capacity *= c->nic_left;
  out->between_efficiency = leg->rate / (leg->links * leg->capacity);
  out->between_capped = out->between_capped && out->between_efficiency < out->line_share;
}

gboolean
cluster_paths (const Cluster *c, const char *which, const RankGroup *group, Paths *out, GError **error)
{
  const gboolean grpc = g_str_equal (which, "grpc"), parameter = g_str_equal (which, "parameter-server");
  const Transport *t = grpc ? c->grpc : c->between;

  if (!grpc && !parameter && !g_str_equal (which, "nccl"))
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_UNKNOWN,
                   "[network] transport: no paths of '%s'; there are: nccl, grpc, parameter-server", which);
      return FALSE;
    }
  memset (out, 0, sizeof *out);
  fill_in_node (c, group, out);
  fill_between (c, t, group, out);
  fill_software (c, t, group, out);
  if (c->system != NULL && !grpc)
    apply_system (c, group, out);
  degrade (c, c->system != NULL && !grpc, out);
  fill_servers (c, t, parameter || grpc || c->reducers.spec.count == 0 ? &c->parameter : &c->reducers, out);
  cluster_fill_levels (c, group, out);
  return TRUE;
}
