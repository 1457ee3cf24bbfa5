/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/fabric-private.h"

/* Links of a kind, side by side. */

Id
fabric_add_bundle (Fabric *f, const char *name, guint bundle, Id class, uint32_t n, double capacity)
{
  Kind *kind = &f->kind[f->n_kinds];

  g_return_val_if_fail (f->n_kinds < FABRIC_KINDS, 0);
  kind->first = world_links (f->world, name, bundle, class, n, capacity, &kind->share);
  kind->n = n;
  /* Nearly always all of it: a route need not look. */
  f->n_kinds += kind->share < 1;
  return kind->first;
}

Id
fabric_add (Fabric *f, const char *name, Id class, uint32_t n, double capacity)
{
  Id first = 0;

  if (f->world != NULL)
    return n > 0 && capacity > 0 ? fabric_add_bundle (f, name, 0, class, n, capacity) : 0;
  for (uint32_t i = 0; i < n && capacity > 0; i++)
    {
      const Id id = network_add (f->network, name, capacity, 0, 1, FALSE);

      first = first != 0 ? first : id;
    }
  return first;
}

Id
fabric_nic_out (const Fabric *f, uint32_t node)
{
  return f->nic_out != 0 ? f->nic_out + (f->folded ? 0 : node * f->apart) : 0;
}

Id
fabric_nic_in (const Fabric *f, uint32_t node)
{
  return f->nic_in != 0 ? f->nic_in + (f->folded ? 0 : node * f->apart) : 0;
}
