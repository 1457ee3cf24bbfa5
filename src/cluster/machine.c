/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stddef.h>

#include "cluster/machine.h"

#define AT(field) offsetof (MachineSpec, field)
#define RING(n, i) \
  { "ring-bandwidth-" n, KEY_QUANTITY, UNIT_RATE, AT (ring_bandwidth[i]), NULL, "Typical bus bandwidth of a large ring of " n " GPUs in the node." }
#define SHARE(n, i) \
  { "ring-share-" n, KEY_QUANTITY, UNIT_SHARE, AT (ring_share[i]), NULL, "The same over the link's nominal rate, for any GPU.", 0.001, 1 }
#define LIMIT(n, i) \
  { "nic-limit-" n, KEY_QUANTITY, UNIT_RATE, AT (nic_limit[i]), NULL, "Rate of the node at most with up to " n " GPUs." }

static const Key machine_keys[] = {
  { "name", KEY_STRING, UNIT_NONE, AT (name), NULL, "Name.", .required = TRUE },
  { "aliases", KEY_STRING, UNIT_NONE, AT (aliases), NULL, "Other names, a comma list." },
  { "summary", KEY_STRING, UNIT_NONE, AT (summary), NULL, "One line for lists.", .required = TRUE },
  { "cloud", KEY_STRING, UNIT_NONE, AT (cloud), NULL, "Whose cloud rents it, as one type; without it a machine of one's own." },
  { "gpu", KEY_STRING, UNIT_NONE, AT (gpu), NULL, "GPU part." },
  { "gpus", KEY_COUNT, UNIT_NONE, AT (gpus), NULL, "GPUs in the node.", 0, MACHINE_MAX_GPUS, .required = TRUE },
  { "vcpus", KEY_COUNT, UNIT_NONE, AT (vcpus), NULL, "Virtual cores; without it not known.", 1, 1e5 },
  { "gpu-link", KEY_CHOICE, UNIT_NONE, AT (gpu_link), "none", "What joins the GPUs.", .choices = gpu_link_names },
  { "nvlink-domain", KEY_COUNT, UNIT_NONE, AT (nvlink_domain), NULL,
    "GPUs that NVLink joins: pairs, or those of several nodes; without it all of a node.", 2, MACHINE_MAX_GPUS },
  { "mesh", KEY_STRING, UNIT_NONE, AT (mesh), NULL, "NVLinks of each pair of GPUs, as in 0-1, 0-3 x2; without it as if all were joined alike." },
  { "gpus-per-switch", KEY_COUNT, UNIT_NONE, AT (gpus_per_switch), NULL, "Cards behind one PCIe switch.", 1, MACHINE_MAX_GPUS },
  { "gpus-per-socket", KEY_COUNT, UNIT_NONE, AT (gpus_per_socket), NULL, "Cards behind one CPU.", 1, MACHINE_MAX_GPUS },
  { "bridge-bandwidth", KEY_QUANTITY, UNIT_RATE, AT (bridge_bandwidth), NULL,
    "Between the switches of a CPU, one way, typical; without it what the ring of that many cards shows." },
  { "socket-bandwidth", KEY_QUANTITY, UNIT_RATE, AT (socket_bandwidth), NULL,
    "Between the CPUs, one way, typical; without it what the ring of all cards shows." },
  { "node-transport", KEY_STRING, UNIT_NONE, AT (node_transport), NULL, "Transport inside the node." },
  { "slot-transport", KEY_STRING, UNIT_NONE, AT (slot_transport), NULL, "Transport between cards that NVLink does not join." },
  { "transport", KEY_STRING, UNIT_NONE, AT (transport), NULL, "Transport between nodes.", .required = TRUE },
  { "nics", KEY_COUNT, UNIT_NONE, AT (nics), "1", "Network cards for the GPUs' traffic.", 1, MACHINE_MAX_GPUS },
  { "nic-bandwidth", KEY_QUANTITY, UNIT_RATE, AT (nic_bandwidth), NULL, "Nominal, of one card, one way; without it not known." },
  { "vcpu-bandwidth", KEY_QUANTITY, UNIT_RATE, AT (vcpu_bandwidth), NULL, "Rate that each vCPU brings, up to nic-limit of the GPUs in use." },
  LIMIT ("2", 0), LIMIT ("4", 1), LIMIT ("8", 2), LIMIT ("16", 3),
  { "nic-of-gpu", KEY_STRING, UNIT_NONE, AT (nic_of_gpu), NULL, "Card of each GPU, a comma list from 0; without it in even blocks." },
  RING ("2", 0), RING ("4", 1), RING ("8", 2), RING ("16", 3),
  SHARE ("2", 0), SHARE ("4", 1), SHARE ("8", 2), SHARE ("16", 3),
  { "price", KEY_QUANTITY, UNIT_MONEY_RATE, AT (price), NULL, "List price." },
  { "price-date", KEY_STRING, UNIT_NONE, AT (price_date), NULL, "When that was the price." },
  { NULL }
};
static const KeyGroup machine_groups[] = {
  { "machine", "A type of node.", machine_keys, sizeof (MachineSpec) },
  { "origin", "Where the values come from.", NULL, 0 },
  { NULL }
};

gboolean
machine_spread_nics (Machine *machine, GError **error)
{
  const MachineSpec *spec = &machine->spec;
  g_auto (GStrv) list = spec->nic_of_gpu != NULL ? g_strsplit (spec->nic_of_gpu, ",", MACHINE_MAX_GPUS + 1) : NULL;

  g_free (machine->nic_of_gpu);
  machine->nic_of_gpu = g_new0 (guint, MAX (spec->gpus, 1));
  for (guint64 i = 0; i < spec->gpus && list == NULL; i++)
    machine->nic_of_gpu[i] = (guint) (i * spec->nics / spec->gpus);
  if (list == NULL)
    return TRUE;
  for (guint64 i = 0; i < spec->gpus; i++)
    {
      guint64 nic;

      if (g_strv_length (list) != spec->gpus
          || !g_ascii_string_to_unsigned (g_strstrip (list[i]), 10, 0, spec->nics - 1, &nic, NULL))
        {
          key_file_error (machine->part, "machine", "nic-of-gpu", error,
                          "'%s' is wrong; give %" G_GUINT64_FORMAT " card numbers from 0 to %" G_GUINT64_FORMAT,
                          spec->nic_of_gpu, spec->gpus, spec->nics - 1);
          return FALSE;
        }
      machine->nic_of_gpu[i] = (guint) nic;
    }
  return TRUE;
}

static gboolean
read_mesh (Machine *machine, GError **error)
{
  const MachineSpec *spec = &machine->spec;
  g_autoptr (GError) wrong = NULL;

  if (spec->mesh == NULL)
    return TRUE;
  machine->mesh = mesh_new (spec->mesh, (guint) spec->gpus, &wrong);
  if (machine->mesh == NULL)
    key_file_error (machine->part, "machine", "mesh", error, "%s", wrong->message);
  return machine->mesh != NULL;
}

/* Keys that make sense only together. */
static gboolean
check_machine (const Machine *machine, GError **error)
{
  const MachineSpec *spec = &machine->spec;
  const char *key = NULL, *what = NULL;

  if ((spec->gpu == NULL) != (spec->gpus == 0) || (spec->gpus > 1 && spec->node_transport == NULL && spec->gpu_link != GPU_LINK_NONE))
    {
      key = "gpus";
      what = "gpu, gpus and (from two GPUs on) node-transport go together";
    }
  else if (spec->gpus_per_switch > 0 && spec->gpus_per_socket > 0 && spec->gpus_per_switch > spec->gpus_per_socket)
    {
      key = "gpus-per-switch";
      what = "more cards behind a switch than behind its CPU; give at most gpus-per-socket";
    }
  else if (spec->nvlink_domain > 0 && spec->nvlink_domain < spec->gpus && spec->slot_transport == NULL)
    {
      key = "nvlink-domain";
      what = "NVLink does not join all GPUs; give slot-transport for the others";
    }
  if (what != NULL)
    key_file_error (machine->part, "machine", key, error, "%s", what);
  return what == NULL;
}

void
machine_fill_info (Machine *machine)
{
  const MachineSpec *spec = &machine->spec;

  machine->info = (MachineInfo) {
    .name = spec->name, .summary = spec->summary, .gpu = spec->gpu, .gpus = spec->gpus, .nics = spec->nics,
    .vcpus = spec->vcpus, .nic_bandwidth = spec->nic_bandwidth, .price_per_hour = spec->price,
    .price_date = spec->price_date, .transport = spec->transport, .node_transport = spec->node_transport,
    .cloud = spec->cloud, .gpu_link = gpu_link_names[spec->gpu_link],
  };
}

Machine *
machine_load (const char *name, GError **error)
{
  g_autofree char *path = part_find ("machine", name, error);
  g_autoptr (KeyFile) part = path != NULL ? key_file_load (path, error) : NULL;
  g_autoptr (Machine) machine = g_new0 (Machine, 1);

  if (part == NULL || !key_file_check (part, machine_groups, error)
      || !key_file_read (part, &machine_groups[0], &machine->spec, error))
    return NULL;
  machine->part = g_steal_pointer (&part);
  if (!machine_spread_nics (machine, error) || !check_machine (machine, error) || !read_mesh (machine, error))
    return NULL;
  machine_fill_info (machine);
  return g_steal_pointer (&machine);
}

void
machine_free (Machine *machine)
{
  if (machine == NULL)
    return;
  keys_clear (machine_keys, &machine->spec);
  g_clear_pointer (&machine->part, key_file_free);
  g_clear_pointer (&machine->link_part, key_file_free);
  g_free (machine->nic_of_gpu);
  mesh_free (machine->mesh);
  g_free (machine);
}

const MachineInfo *
machine_info (const Machine *machine)
{
  return &machine->info;
}

static guint
count_nics (const Machine *machine, guint64 gpus, guint *busiest)
{
  g_autofree guint *behind = g_new0 (guint, machine->spec.nics);
  guint used = 0;

  *busiest = 0;
  for (guint64 i = 0; i < MIN (gpus, machine->spec.gpus); i++)
    {
      guint *n = &behind[machine->nic_of_gpu[i]];

      used += *n == 0;
      *n += 1;
      *busiest = MAX (*busiest, *n);
    }
  return used;
}

double
machine_nics (const Machine *machine, guint64 gpus, gboolean spread)
{
  const MachineSpec *spec = &machine->spec;
  guint busiest, used = count_nics (machine, gpus, &busiest);

  if (spec->gpus == 0 || gpus == 0)
    return (double) spec->nics;
  if (spec->nic_of_gpu == NULL && spec->nics > spec->gpus)   /* several cards a GPU */
    return (double) (MIN (gpus, spec->gpus) * spec->nics) / (double) spec->gpus;
  return spread ? used : (double) MIN (gpus, spec->gpus) / busiest;
}

double
machine_gpus_per_nic (const Machine *machine, guint64 gpus)
{
  guint busiest;

  count_nics (machine, gpus, &busiest);
  return busiest;
}

double
machine_at (const double figures[4], guint64 n)
{
  double below = NAN, x_below = 0;
  const double x = log2 ((double) MAX (n, 2));

  for (int i = 0; i < 4; i++)
    {
      const double x_i = i + 1;

      if (isnan (figures[i]))
        continue;
      if (x_i >= x)
        return isnan (below) ? figures[i] : below + (figures[i] - below) * (x - x_below) / (x_i - x_below);
      below = figures[i];
      x_below = x_i;
    }
  return below;
}

gboolean
machine_has_nvlink (const Machine *machine)
{
  return machine->spec.gpu_link >= GPU_LINK_NVLINK_MESH;
}

/* Google Cloud N1: 2 Gbit/s a vCPU, at most so much by the number of GPUs. */
double
machine_nic_bandwidth (const Machine *machine, guint64 gpus)
{
  const MachineSpec *spec = &machine->spec;
  double limit = INFINITY;

  if (isnan (spec->vcpu_bandwidth))
    return spec->nic_bandwidth;
  for (int i = 0; i < 4; i++)
    if (!isnan (spec->nic_limit[i]))
      {
        limit = spec->nic_limit[i];
        if (gpus <= 2u << i)
          break;
      }
  return fmin (spec->vcpu_bandwidth * (double) spec->vcpus, limit) / (double) spec->nics;
}

Origin
machine_origin (const Machine *machine, const char *key)
{
  const gboolean link = g_str_has_prefix (key, "ring-") || g_str_equal (key, "gpu-link");
  Origin origin = { ORIGIN_ASSUMED, "the part does not say" };

  for (gsize i = 0; i < G_N_ELEMENTS (machine->own) && machine->own[i] != NULL; i++)
    if (g_str_has_prefix (key, machine->own[i]))
      return (Origin) { ORIGIN_USER, "scenario" };
  origin_read (link && machine->link_part != NULL ? machine->link_part : machine->part, key, &origin, NULL);
  return origin;
}
