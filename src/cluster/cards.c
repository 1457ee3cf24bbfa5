/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cluster/internal.h"

guint64
cluster_cards (const Cluster *c, guint64 gpu)
{
  const MachineSpec *spec = &c->machine->spec;

  if (spec->nics > 64)
    return 0;
  if (spec->gpus == 0 || gpu >= spec->gpus)
    return 1;
  if (spec->nic_of_gpu == NULL && spec->nics > spec->gpus)   /* several cards a GPU */
    {
      guint64 cards = 0;

      for (guint64 i = gpu * spec->nics / spec->gpus; i < (gpu + 1) * spec->nics / spec->gpus; i++)
        cards |= (guint64) 1 << i;
      return cards;
    }
  return (guint64) 1 << c->machine->nic_of_gpu[gpu];
}
