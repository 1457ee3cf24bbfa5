/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "cluster/internal.h"

#define U64 G_GUINT64_FORMAT

G_GNUC_PRINTF (4, 5)
static gboolean
wrong (GError **error, const char *group, const char *key, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[%s] %s: %s", group, key, what);
  return FALSE;
}

/* Puts the key in front of what a part's reader says. */
static gboolean
wrong_part (GError **error, GError *cause, const char *group, const char *key)
{
  wrong (error, group, key, "%s", cause->message);
  g_error_free (cause);
  return FALSE;
}

/* What a shelf does to load each part; `what` is its name. */
static gpointer load_machine_part   (gconstpointer what, GError **error) { return machine_load (what, error); }
static gpointer load_gpu_part       (gconstpointer what, GError **error) { return gpu_load (what, error); }
static gpointer load_transport_part (gconstpointer what, GError **error) { return transport_load (what, error); }
static void     free_machine_part   (gpointer part) { machine_free (part); }
static void     free_gpu_part       (gpointer part) { gpu_free (part); }
static void     free_transport_part (gpointer part) { transport_free (part); }
static const ShelfKind machines = { "machine", load_machine_part, free_machine_part };
static const ShelfKind gpus = { "gpu", load_gpu_part, free_gpu_part };
static const ShelfKind transports = { "transport", load_transport_part, free_transport_part };

static gboolean
load_machine (const Cluster *c, const Machine **out, const char *name, const char *group, GError **error)
{
  GError *cause = NULL;

  if (name == NULL)
    return wrong (error, group, "machine", "not given; 'lockstep list machines' shows what there is");
  *out = shelf_get (c->parts, &machines, name, name, &cause);
  return *out != NULL || wrong_part (error, cause, group, "machine");
}

static gboolean
load_transport (const Cluster *c, const Transport **out, const char *name, int place, const char *key, GError **error)
{
  GError *cause = NULL;

  *out = shelf_get (c->parts, &transports, name, name, &cause);
  if (*out == NULL)
    return wrong_part (error, cause, "network", key);
  if ((*out)->place == place || (*out)->place == TRANSPORT_BOTH)
    return TRUE;
  return place == TRANSPORT_IN_NODE
           ? wrong (error, "network", key, "'%s' works between nodes, not inside one; give nvlink, pcie-p2p or pcie-host", name)
           : wrong (error, "network", key, "'%s' works inside a node, not between nodes; give tcp, ib, roce, grpc or plain", name);
}

static gboolean
load_workers (Cluster *c, const ClusterSpec *spec, GError **error)
{
  const MachineSpec *machine;
  const char *gpu;
  GError *cause = NULL;

  if (cluster_is_own (spec) && spec->gpu == NULL)
    return wrong (error, "cluster", "machine", "not given; 'lockstep list machines' shows what there is, or describe one with "
                  "gpu, gpus-per-node, gpu-link, nics and nic-bandwidth");
  if (!cluster_has_own_keys (spec))
    {
      if (!load_machine (c, &c->machine, spec->machine, "cluster", error))
        return FALSE;
    }
  else if ((c->machine = c->own_machine = machine_for_cluster (spec, &cause)) == NULL)
    return wrong_part (error, cause, "cluster", "machine");
  machine = &c->machine->spec;
  if (machine->gpus == 0)
    return wrong (error, "cluster", "machine", "'%s' has no GPU; give a machine with GPUs for the workers", machine->name);
  gpu = spec->gpu != NULL ? spec->gpu : machine->gpu;
  c->gpu = shelf_get (c->parts, &gpus, gpu, gpu, &cause);
  if (c->gpu == NULL)
    return wrong_part (error, cause, "cluster", spec->gpu != NULL ? "gpu" : "machine");
  if (spec->nodes < 1 || (double) spec->nodes > CLUSTER_MAX_NODES)
    return wrong (error, "cluster", "nodes", "%" U64 " is out of range; give 1 to %.0f", spec->nodes, CLUSTER_MAX_NODES);
  if (spec->gpus_per_node > machine->gpus)
    return wrong (error, "cluster", "gpus-per-node", "%" U64 " asked for, but '%s' has %" U64 " GPU%s a node; give 1 to %" U64,
                  spec->gpus_per_node, machine->name, machine->gpus, machine->gpus == 1 ? "" : "s", machine->gpus);
  c->nodes = spec->nodes;
  c->gpus_per_node = spec->gpus_per_node != 0 ? spec->gpus_per_node : machine->gpus;
  return TRUE;
}

void
cluster_fold_group (const Cluster *c, const char *which, RankGroup *group)
{
  const guint64 box = g_str_equal (which, "nccl") ? cluster_box_nodes (c) : 1;
  const guint64 boxes = (group->n_nodes + box - 1) / box;

  if (box < 2 || group->n_nodes < 2)
    return;
  group->per_node = group->n_ranks / boxes;
  group->n_nodes = boxes;
  group->node_stride = 0;
}

/* The slots of GPUs that NVLink joins only in pairs. */
static gboolean
load_slots (Cluster *c, GError **error)
{
  const MachineSpec *machine = &c->machine->spec;

  if (!cluster_transport_is_nvlink (c) || machine->nvlink_domain == 0 || c->gpus_per_node <= machine->nvlink_domain)
    return TRUE;
  if (!load_transport (c, &c->slot, machine->slot_transport, TRANSPORT_IN_NODE, "node-transport", error))
    return FALSE;
  c->slot_rate = c->gpu->pcie;
  return c->slot_rate > 0
         || wrong (error, "cluster", "gpu", "the rate of the slot of '%s' is not known, and NVLink joins only %" U64 " of the %" U64
                   " GPUs of a node", c->gpu->name, machine->nvlink_domain, c->gpus_per_node);
}

/* The link of a GPU that the transport inside the node takes. */
static gboolean
load_node_link (Cluster *c, const NetworkSpec *network, const ClusterSpec *spec, GError **error)
{
  const char *name = network->node_transport != NULL ? network->node_transport : c->machine->spec.node_transport;

  const MachineSpec *machine = &c->machine->spec;

  if (network->node_transport == NULL && c->gpus_per_node == 1 && machine->nvlink_domain <= machine->gpus)
    return TRUE;
  if (name == NULL)
    return TRUE;
  if (!load_transport (c, &c->in_node, name, TRANSPORT_IN_NODE, "node-transport", error))
    return FALSE;
  if (c->in_node->link == TRANSPORT_LINK_NVLINK && !machine_has_nvlink (c->machine))
    return wrong (error, "network", "node-transport", "'%s' needs NVLink, which '%s' has not; give pcie-p2p or pcie-host",
                  name, c->machine->spec.name);
  if (c->in_node->link == TRANSPORT_LINK_NVLINK && c->gpu->nvlink <= 0)
    return wrong (error, spec->gpu != NULL ? "cluster" : "network", spec->gpu != NULL ? "gpu" : "node-transport",
                  "'%s' has no NVLink for the transport '%s'; set [network] node-transport to pcie-p2p or pcie-host",
                  c->gpu->name, name);
  c->gpu_link_rate = cluster_transport_is_nvlink (c) ? c->gpu->nvlink : c->gpu->pcie;
  if (!(c->gpu_link_rate > 0))
    return wrong (error, "cluster", "gpu", "the rate of the slot of '%s' is not known, so its ring in a node has no price", c->gpu->name);
  return load_slots (c, error);
}

static gboolean
check_server (const Servers *servers, const char *group, GError **error)
{
  return !isnan (servers->machine->spec.nic_bandwidth)
         || wrong (error, group, "machine", "the rate of the network card of '%s' is not known; give another machine",
                   servers->machine->spec.name);
}

static gboolean
load_servers (Cluster *c, Servers *servers, const ServerSpec *spec, const char *group, GError **error)
{
  if (spec == NULL || spec->count == 0)
    return TRUE;
  servers->spec = *spec;
  if ((double) spec->count > CLUSTER_MAX_NODES)
    return wrong (error, group, "count", "%" U64 " is out of range; give 0 to %.0f", spec->count, CLUSTER_MAX_NODES);
  if (spec->colocated == COLOCATED_BOTH && !spec->local_reduction)
    return wrong (error, group, "colocated", "both goes with local-reduction = true (BytePS)");
  if (spec->colocated == COLOCATED_TRUE)
    return spec->count <= c->nodes
             || wrong (error, group, "count", "%" U64 " servers on the workers, but there are %" U64 " nodes; give at most one a node",
                       spec->count, c->nodes);
  if (!load_machine (c, &servers->machine, spec->machine, group, error))
    return FALSE;
  if (servers->machine->spec.gpus > 0)
    return wrong (error, group, "machine", "'%s' has %" U64 " GPU%s that a server would not use; give a machine without, as n1-highcpu-16",
                  spec->machine, servers->machine->spec.gpus, servers->machine->spec.gpus == 1 ? "" : "s");
  return check_server (servers, group, error);
}

static void
add_server_links (Cluster *c, Servers *servers, const char *out, const char *in)
{
  const MachineSpec *spec = servers->machine != NULL ? &servers->machine->spec : NULL;

  if (spec == NULL)
    return;
  servers->out = network_add (c->network, out, spec->nic_bandwidth * (double) spec->nics, 0, servers->spec.count, FALSE);
  servers->in = network_add (c->network, in, spec->nic_bandwidth * (double) spec->nics, 0, servers->spec.count, FALSE);
}

/* Both ways together: as given one way, else twice the ring that needs it most. */
static double
shared_capacity (const Cluster *c, double given, guint64 cards)
{
  const NodeLink link = cluster_node_link (c, cards);

  return 2 * (isnan (given) ? cluster_ring_rate (c, &link, cards, cards) : given);
}

/* Host bridges and links between CPUs, where the GPUs in use need them. */
static void
add_bridges (Cluster *c)
{
  const MachineSpec *spec = &c->machine->spec;
  const guint64 per_socket = spec->gpus_per_socket;

  if (cluster_crosses_bridge (c, c->gpus_per_node))
    c->host_bridge = network_add (c->network, "host-bridge", shared_capacity (c, spec->bridge_bandwidth, MIN (per_socket, spec->gpus)), 0,
                                  c->nodes * ((c->gpus_per_node + per_socket - 1) / per_socket), TRUE);
  if (cluster_crosses_socket (c, c->gpus_per_node))
    c->socket_link = network_add (c->network, "socket-link", shared_capacity (c, spec->socket_bandwidth, spec->gpus), 0, c->nodes, TRUE);
}

static void
add_links (Cluster *c)
{
  c->network = network_new ();
  if (c->gpu_link_rate > 0)
    c->gpu_link = network_add (c->network, cluster_transport_is_nvlink (c) ? "nvlink" : "pcie", c->gpu_link_rate, 0,
                               c->nodes * c->gpus_per_node, FALSE);
  if (c->slot != NULL)
    c->gpu_slot = network_add (c->network, "pcie", c->slot_rate, 0, c->nodes * c->gpus_per_node, FALSE);
  add_bridges (c);
  if (isnan (c->nic_bandwidth))
    return;
  c->nic_out = network_add (c->network, "nic-out", c->nic_bandwidth, 0, c->nodes * c->machine->spec.nics, FALSE);
  c->nic_in = network_add (c->network, "nic-in", c->nic_bandwidth, 0, c->nodes * c->machine->spec.nics, FALSE);
  add_server_links (c, &c->reducers, "reducer-nic-out", "reducer-nic-in");
  add_server_links (c, &c->parameter, "server-nic-out", "server-nic-in");
  cluster_add_levels (c);
}

static gboolean
load_nics (Cluster *c, const NetworkSpec *network, GError **error)
{
  c->nic_bandwidth = isnan (network->nic_bandwidth) ? machine_nic_bandwidth (c->machine, c->gpus_per_node) : network->nic_bandwidth;
  if (isnan (c->nic_bandwidth) && c->nodes > 1)
    return wrong (error, "cluster", "nic-bandwidth", "the rate of the network card of '%s' is not known; give it, as in 25 Gbit/s",
                  c->machine->spec.name);
  return TRUE;
}

static void
forget_strings (Cluster *c)
{
  c->spec.transport = c->spec.node_transport = NULL;
  c->reducers.spec.machine = c->parameter.spec.machine = NULL;
}

Cluster *
cluster_new (const ClusterSpec *spec, const NetworkSpec *network, const ServerSpec *reducers,
             const ServerSpec *servers, GError **error)
{
  g_autoptr (Shelf) parts = shelf_new ();
  Cluster *c = cluster_new_from (parts, spec, network, reducers, servers, error);

  if (c != NULL)
    c->own_parts = g_steal_pointer (&parts);
  return c;
}

Cluster *
cluster_new_from (Shelf *parts, const ClusterSpec *spec, const NetworkSpec *network, const ServerSpec *reducers,
                  const ServerSpec *servers, GError **error)
{
  g_autoptr (Cluster) c = g_new0 (Cluster, 1);
  const char *transport;

  c->parts = parts;
  c->spec = *network;
  c->nic_left = 1;
  if (!load_workers (c, spec, error) || !load_node_link (c, network, spec, error)
      || !load_servers (c, &c->reducers, reducers, "reduction-server", error)
      || !load_servers (c, &c->parameter, servers, "parameter-server", error))
    return NULL;
  transport = network->transport != NULL ? network->transport : c->machine->spec.transport;
  if (!load_transport (c, &c->between, transport, TRANSPORT_BETWEEN, "transport", error)
      || !load_transport (c, &c->grpc, c->between->place == TRANSPORT_BOTH ? transport : "grpc", TRANSPORT_BETWEEN, "transport", error))
    return NULL;
  c->nccl = shelf_get (c->parts, &nccl_kind, "nccl", "nccl", error);
  if (c->nccl == NULL)
    return NULL;
  forget_strings (c);
  if (!load_nics (c, network, error) || !cluster_read_placement (c, spec, error))
    return NULL;
  add_links (c);
  return g_steal_pointer (&c);
}

void
cluster_degrade_nics (Cluster *c, double left)
{
  const Id links[] = { c->nic_out, c->nic_in };

  c->nic_left = left;
  for (guint i = 0; i < G_N_ELEMENTS (links); i++)
    if (links[i] != 0)
      network_set_capacity (c->network, links[i], c->nic_bandwidth * left);
}

void
cluster_free (Cluster *c)
{
  if (c == NULL)
    return;
  network_free (c->network);
  placement_free (c->placement);
  machine_free (c->own_machine);
  shelf_free (c->own_parts);
  g_free (c);
}

const Network *
cluster_network (const Cluster *c)
{
  return c->network;
}

const Gpu *
cluster_gpu (const Cluster *c)
{
  return c->gpu;
}

const MachineInfo *
cluster_machine (const Cluster *c)
{
  return machine_info (c->machine);
}

guint64
cluster_nodes (const Cluster *c)
{
  return c->nodes;
}

guint64
cluster_gpus_per_node (const Cluster *c)
{
  return c->gpus_per_node;
}

static double
servers_price (const Servers *servers)
{
  return servers->machine == NULL ? 0 : (double) servers->spec.count * servers->machine->spec.price;
}

double
cluster_price_per_hour (const Cluster *c)
{
  return (double) c->nodes * c->machine->spec.price + servers_price (&c->reducers) + servers_price (&c->parameter);
}

static char *
sizing_warning (const Cluster *c)
{
  const guint64 count = c->reducers.spec.count;
  const double node = c->nic_bandwidth * (double) c->machine->spec.nics;
  const double server = c->reducers.machine->spec.nic_bandwidth * (double) c->reducers.machine->spec.nics;
  const guint64 needed = path_servers_needed (c->nodes, node, server);

  if (count >= needed)
    return NULL;
  return g_strdup_printf ("%" U64 " reduction server%s of %.6g Gbit/s carry %.6g Gbit/s, the %" U64 " nodes %.6g Gbit/s; %" U64 " would match them",
                          count, count == 1 ? "" : "s", server * 8e-9, server * (double) count * 8e-9,
                          c->nodes, node * (double) c->nodes * 8e-9, needed);
}

/* A cloud rents a fixed number of GPUs as a type of its own, with its own network. */
static char *
type_warning (const Cluster *c)
{
  const MachineSpec *machine = &c->machine->spec;

  if (machine->cloud == NULL || c->nodes == 1 || c->gpus_per_node == machine->gpus || !isnan (machine->vcpu_bandwidth)
      || !isnan (c->spec.nic_bandwidth))
    return NULL;
  return g_strdup_printf ("%" U64 " of the %" U64 " GPUs of '%s' are used: the network stays %.4g Gbit/s and the price that of all; "
                          "the type that has so many GPUs may have less", c->gpus_per_node, machine->gpus, machine->name,
                          c->nic_bandwidth * (double) machine->nics * 8e-9);
}

static char *
server_warning (const Cluster *c)
{
  if (c->reducers.machine == NULL)
    return NULL;
  if (c->nodes == 1)
    return g_strdup ("reduction servers change nothing on one node");
  return sizing_warning (c);
}

char *
cluster_warning (const Cluster *c)
{
  g_autofree char *servers = server_warning (c);
  g_autofree char *type = type_warning (c);

  if (servers != NULL && type != NULL)
    return g_strconcat (servers, "; ", type, NULL);
  return servers != NULL ? g_steal_pointer (&servers) : g_steal_pointer (&type);
}

gboolean
cluster_use_system (Cluster *c, const CalibrationSpec *calibration, GError **error)
{
  if (calibration->system == NULL)
    return TRUE;
  c->system = shelf_get (c->parts, &system_kind, calibration->system, calibration->system, error);
  if (c->system == NULL && error != NULL && *error != NULL && strncmp ((*error)->message, "unknown", 7) == 0)
    g_prefix_error (error, "[calibration] system: ");
  return c->system != NULL;
}
