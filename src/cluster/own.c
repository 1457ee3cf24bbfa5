/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "cluster/machine.h"

/* A cluster of the user's own keys: a part, or the generic part of its kind of
 * link, with those keys over it. */
gboolean
cluster_is_own (const ClusterSpec *spec)
{
  return spec->machine == NULL || g_str_equal (spec->machine, "custom");
}

gboolean
cluster_has_own_keys (const ClusterSpec *spec)
{
  return cluster_is_own (spec) || spec->gpu_link != GPU_LINK_AS_MACHINE || spec->ring_bandwidth > 0 || spec->nics > 0
         || spec->nic_bandwidth > 0 || spec->vcpus > 0;
}

static Machine *
load_generic (int link, GError **error)
{
  g_autofree char *name = g_strconcat ("generic-", gpu_link_names[link], NULL);

  return machine_load (name, error);
}

static void
own (Machine *machine, const char *key)
{
  gsize i = 0;

  while (machine->own[i] != NULL)
    i++;
  g_assert (i + 1 < G_N_ELEMENTS (machine->own));
  machine->own[i] = key;
}

/* The links between the GPUs as in the generic part of the kind. */
static gboolean
change_link (Machine *machine, int link, GError **error)
{
  g_autoptr (Machine) generic = load_generic (link, error);
  MachineSpec *spec = &machine->spec, *from;

  if (generic == NULL)
    return FALSE;
  from = &generic->spec;
  spec->gpu_link = from->gpu_link;
  g_free (spec->node_transport);
  spec->node_transport = g_steal_pointer (&from->node_transport);
  g_free (spec->slot_transport);
  spec->slot_transport = g_steal_pointer (&from->slot_transport);
  memcpy (spec->ring_bandwidth, from->ring_bandwidth, sizeof spec->ring_bandwidth);
  memcpy (spec->ring_share, from->ring_share, sizeof spec->ring_share);
  spec->nvlink_domain = from->nvlink_domain;
  g_clear_pointer (&machine->mesh, mesh_free);
  spec->gpus_per_switch = from->gpus_per_switch;
  spec->gpus_per_socket = from->gpus_per_socket;
  spec->bridge_bandwidth = from->bridge_bandwidth;
  spec->socket_bandwidth = from->socket_bandwidth;
  machine->link_part = g_steal_pointer (&generic->part);
  own (machine, "gpu-link");
  return TRUE;
}

static void
set_ring (Machine *machine, double rate)
{
  MachineSpec *spec = &machine->spec;

  for (int i = 0; i < 4; i++)
    spec->ring_bandwidth[i] = spec->ring_share[i] = NAN;
  spec->ring_bandwidth[0] = rate;
  spec->gpus_per_switch = spec->gpus_per_socket = 0;
  own (machine, "ring-bandwidth");
}

static void
set_cards (Machine *machine, const ClusterSpec *spec)
{
  if (spec->nics > 0)
    {
      machine->spec.nics = spec->nics;
      g_clear_pointer (&machine->spec.nic_of_gpu, g_free);
      own (machine, "nics");
    }
  if (spec->nic_bandwidth > 0)
    {
      machine->spec.nic_bandwidth = spec->nic_bandwidth;
      machine->spec.vcpu_bandwidth = NAN;
      own (machine, "nic-bandwidth");
    }
  if (spec->vcpus > 0)
    {
      machine->spec.vcpus = spec->vcpus;
      own (machine, "vcpus");
    }
}

static Machine *
load_own (const ClusterSpec *spec, GError **error)
{
  const int usual = spec->gpus_per_node > 1 ? GPU_LINK_PCIE : GPU_LINK_NONE;
  g_autoptr (Machine) machine = load_generic (spec->gpu_link != GPU_LINK_AS_MACHINE ? spec->gpu_link : usual, error);

  if (machine == NULL)
    return NULL;
  g_free (machine->spec.name);
  machine->spec.name = g_strdup ("custom");
  machine->spec.gpus = MAX (spec->gpus_per_node, 1);
  own (machine, "gpus");
  if (spec->gpu_link != GPU_LINK_AS_MACHINE)
    own (machine, "gpu-link");
  return g_steal_pointer (&machine);
}

Machine *
machine_for_cluster (const ClusterSpec *spec, GError **error)
{
  g_autoptr (Machine) machine = cluster_is_own (spec) ? load_own (spec, error) : machine_load (spec->machine, error);

  if (machine == NULL)
    return NULL;
  if (spec->gpu_link != GPU_LINK_AS_MACHINE && !cluster_is_own (spec) && !change_link (machine, spec->gpu_link, error))
    return NULL;
  if (spec->ring_bandwidth > 0)
    set_ring (machine, spec->ring_bandwidth);
  set_cards (machine, spec);
  if (!machine_spread_nics (machine, error))
    return NULL;
  machine_fill_info (machine);
  return g_steal_pointer (&machine);
}
