/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stddef.h>

#include "cluster/machine.h"

static const char *const link_names[] = { "none", "pcie", "nvlink-mesh", "nvswitch", NULL };

#define AT(field) offsetof (MachineSpec, field)
#define RING(n, i) \
  { "ring-bandwidth-" n, KEY_QUANTITY, UNIT_RATE, AT (ring_bandwidth[i]), NULL, "Typical bus bandwidth of a large ring of " n " GPUs in the node." }

static const Key machine_keys[] = {
  { "name", KEY_STRING, UNIT_NONE, AT (name), NULL, "Name.", .required = TRUE },
  { "aliases", KEY_STRING, UNIT_NONE, AT (aliases), NULL, "Other names, a comma list." },
  { "summary", KEY_STRING, UNIT_NONE, AT (summary), NULL, "One line for lists.", .required = TRUE },
  { "gpu", KEY_STRING, UNIT_NONE, AT (gpu), NULL, "GPU part." },
  { "gpus", KEY_COUNT, UNIT_NONE, AT (gpus), NULL, "GPUs in the node.", 0, MACHINE_MAX_GPUS, .required = TRUE },
  { "vcpus", KEY_COUNT, UNIT_NONE, AT (vcpus), NULL, "Virtual cores.", 1, 1e5, .required = TRUE },
  { "gpu-link", KEY_CHOICE, UNIT_NONE, AT (gpu_link), "none", "What joins the GPUs.", .choices = link_names },
  { "node-transport", KEY_STRING, UNIT_NONE, AT (node_transport), NULL, "Transport inside the node." },
  { "transport", KEY_STRING, UNIT_NONE, AT (transport), NULL, "Transport between nodes.", .required = TRUE },
  { "nics", KEY_COUNT, UNIT_NONE, AT (nics), "1", "Network cards for the GPUs' traffic.", 1, MACHINE_MAX_GPUS },
  { "nic-bandwidth", KEY_QUANTITY, UNIT_RATE, AT (nic_bandwidth), NULL, "Nominal, of one card, one way.", .required = TRUE },
  { "nic-of-gpu", KEY_STRING, UNIT_NONE, AT (nic_of_gpu), NULL, "Card of each GPU, a comma list from 0; without it in even blocks." },
  RING ("2", 0), RING ("4", 1), RING ("8", 2), RING ("16", 3),
  { "price", KEY_QUANTITY, UNIT_MONEY_RATE, AT (price), NULL, "List price." },
  { "price-date", KEY_STRING, UNIT_NONE, AT (price_date), NULL, "When that was the price." },
  { NULL }
};
static const KeyGroup machine_groups[] = {
  { "machine", "A type of node.", machine_keys, sizeof (MachineSpec) },
  { "origin", "Where the values come from.", NULL, 0 },
  { NULL }
};

static gboolean
read_nics (Machine *machine, GError **error)
{
  const MachineSpec *spec = &machine->spec;
  g_auto (GStrv) list = spec->nic_of_gpu != NULL ? g_strsplit (spec->nic_of_gpu, ",", MACHINE_MAX_GPUS + 1) : NULL;

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

Machine *
machine_load (const char *name, GError **error)
{
  g_autofree char *path = part_find ("machine", name, error);
  g_autoptr (KeyFile) part = path != NULL ? key_file_load (path, error) : NULL;
  g_autoptr (Machine) machine = g_new0 (Machine, 1);
  const MachineSpec *spec = &machine->spec;

  if (part == NULL || !key_file_check (part, machine_groups, error)
      || !key_file_read (part, &machine_groups[0], &machine->spec, error))
    return NULL;
  machine->part = g_steal_pointer (&part);
  if (!read_nics (machine, error))
    return NULL;
  if ((spec->gpu == NULL) != (spec->gpus == 0) || (spec->gpus > 1 && spec->node_transport == NULL))
    {
      key_file_error (machine->part, "machine", "gpus", error,
                      "gpu, gpus and (from two GPUs on) node-transport go together");
      return NULL;
    }
  machine->info = (MachineInfo) { .name = spec->name, .summary = spec->summary, .gpu = spec->gpu, .gpus = spec->gpus,
                                  .nics = spec->nics, .vcpus = spec->vcpus, .nic_bandwidth = spec->nic_bandwidth,
                                  .price_per_hour = spec->price, .price_date = spec->price_date,
                                  .transport = spec->transport, .node_transport = spec->node_transport };
  return g_steal_pointer (&machine);
}

void
machine_free (Machine *machine)
{
  if (machine == NULL)
    return;
  keys_clear (machine_keys, &machine->spec);
  g_clear_pointer (&machine->part, key_file_free);
  g_free (machine->nic_of_gpu);
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
  return machine->spec.gpu_link == GPU_LINK_NVLINK_MESH || machine->spec.gpu_link == GPU_LINK_NVSWITCH;
}

Origin
machine_origin (const Machine *machine, const char *key)
{
  Origin origin = { ORIGIN_ASSUMED, "the part does not say" };

  origin_read (machine->part, key, &origin, NULL);
  return origin;
}
