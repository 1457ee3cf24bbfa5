/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "cluster/internal.h"

static double
given (double value, double otherwise)
{
  return isnan (value) ? otherwise : value;
}

double
cluster_plateau (const Cluster *c, guint64 gpus, const char **key)
{
  static const char *const ring_keys[] = { "ring-bandwidth-2", "ring-bandwidth-4", "ring-bandwidth-8", "ring-bandwidth-16" };
  const MachineSpec *machine = &c->machine->spec;
  const gboolean own = cluster_transport_is_nvlink (c) || g_strcmp0 (machine->node_transport, c->in_node->name) == 0;
  const double of_machine = own ? machine_at (machine->ring_bandwidth, gpus) : NAN;
  const double of_slot = machine_at (c->in_node->ring_share, gpus) * c->gpu_link_rate;
  const int i = gpus <= 2 ? 0 : gpus <= 4 ? 1 : gpus <= 8 ? 2 : 3;

  *key = ring_keys[i];
  if (!isnan (c->spec.node_bandwidth))
    return c->spec.node_bandwidth;
  return given (of_machine, given (of_slot, c->gpu_link_rate));
}

/* Row of NCCL's tables by compute capability (NCCL 2.30 src/graph/tuning.cc). */
static guint
generation_row (const char *generation)
{
  static const struct { const char *name; guint row; } rows[] = {
    { "Ampere", 1 }, { "Ada", 1 }, { "Hopper", 2 }, { "Blackwell", 3 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows) && generation != NULL; i++)
    if (g_str_has_prefix (generation, rows[i].name))
      return rows[i].row;
  return 0;
}

static void
fill_nccl_table (const Cluster *c, double rate, double plateau, NcclTable *table)
{
  const Transport *t = c->in_node;
  const double bus = isnan (t->nccl_bus) ? plateau : fmin (t->nccl_bus * c->gpu_link_rate, rate);

  memcpy (table->launch, t->nccl_launch, sizeof table->launch);
  memcpy (table->hop, t->nccl_hop, sizeof table->hop);
  for (int p = 0; p < N_PROTOCOLS; p++)
    table->rate[p] = bus * t->nccl_share[p];
  table->rate[PROTOCOL_LL] = fmin (table->rate[PROTOCOL_LL],
                                   given (t->nccl_ll_max[generation_row (c->gpu->generation)], INFINITY));
  if (!t->ll128)
    table->rate[PROTOCOL_LL128] = 0;
}

static void
fill_in_node (const Cluster *c, const RankGroup *group, Paths *out)
{
  const Transport *t = c->in_node;
  PathLeg *leg = &out->in_node;
  const char *key;
  double plateau;

  if (t == NULL || c->gpu_link == 0 || group->per_node < 2)
    return;
  plateau = cluster_plateau (c, group->per_node, &key);
  *leg = (PathLeg) { .out = c->gpu_link, .in = c->gpu_link, .links = 1, .capacity = c->gpu_link_rate };
  leg->rate = fmin (leg->capacity, transport_asymptote (t, plateau, (double) group->per_node));
  memcpy (leg->hop, t->hop, sizeof leg->hop);
  memcpy (leg->share, t->share, sizeof leg->share);
  fill_nccl_table (c, leg->rate, plateau, &out->nccl);
}

/* `t`: the scenario's transport, or that of a framework with its own. */
static void
fill_between (const Cluster *c, const Transport *t, const RankGroup *group, Paths *out)
{
  const gboolean own = g_str_equal (t->name, c->between->name);
  const guint64 gpus = MIN (group->per_node * MAX (group->twins_per_node, 1), c->gpus_per_node);
  const double one = machine_gpus_per_nic (c->machine, gpus) <= 1 ? t->efficiency_one : t->efficiency_several;
  const double efficiency = own ? given (c->spec.efficiency, one) : one;
  PathLeg *leg = &out->between;

  *leg = (PathLeg) { .out = c->nic_out, .in = c->nic_in, .capacity = c->nic_bandwidth,
                     .links = machine_nics (c->machine, gpus, group->per_node > 1) };
  leg->rate = fmin (efficiency * leg->links * leg->capacity, given (t->cap, INFINITY));
  out->between_efficiency = leg->rate / (leg->links * leg->capacity);
  memcpy (leg->share, t->share, sizeof leg->share);
  for (int p = 0; p < N_PROTOCOLS; p++)
    leg->hop[p] = own ? given (c->spec.latency, t->hop[p]) : t->hop[p];
}

static void
fill_software (const Cluster *c, const Transport *between, const RankGroup *group, Paths *out)
{
  const Transport *t = group->n_nodes > 1 || c->in_node == NULL ? between : c->in_node;

  memcpy (out->launch, t->launch, sizeof out->launch);
  out->fill = t->fill;
  out->ramp = t->ramp;
  out->ramp_size = given (t->ramp_size, 1);
  out->norm = t->norm;
  out->blend = given (t->blend, INFINITY);
  out->local = isnan (t->local_ratio) || out->in_node.rate <= 0 ? INFINITY : t->local_ratio * out->in_node.rate;
  out->host_copy = given (between->host_copy, INFINITY);
  out->chunk = given (between->chunk, 0);
  out->local_message = between->local_message;
  out->ll128 = t->ll128 && (c->in_node == NULL || group->per_node < 2 || c->in_node->ll128);
}

static void
fill_servers (const Cluster *c, const Transport *t, const Servers *servers, Paths *out)
{
  const ServerSpec *spec = &servers->spec;
  const MachineSpec *machine = servers->machine != NULL ? &servers->machine->spec : &c->machine->spec;
  const double limit = fmin (out->between_efficiency, given (t->server_efficiency, 1));

  if (spec->count == 0)
    return;
  out->servers = spec->count;
  out->server_out = servers->out;
  out->server_in = servers->in;
  out->server_capacity = servers->machine != NULL ? machine->nic_bandwidth * (double) machine->nics
                                                  : c->nic_bandwidth * (double) machine->nics;
  out->server_efficiency = given (spec->efficiency, limit);
  out->server_latency = given (spec->latency, given (t->server_latency, 0));
  out->server_sum = given (spec->sum_rate, given (t->server_sum_rate, INFINITY)) * (double) machine->vcpus / 16;
  out->server_local_reduction = spec->local_reduction;
  out->server_colocated = spec->colocated;
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
  fill_servers (c, t, parameter || c->reducers.spec.count == 0 ? &c->parameter : &c->reducers, out);
  out->leaf_up = c->leaf_up;
  out->leaf_down = c->leaf_down;
  out->nodes_per_leaf = c->leaf_up != 0 ? (double) c->spec.nodes_per_leaf : 0;
  return TRUE;
}
