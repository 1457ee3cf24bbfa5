/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/fsdp-units.h"
#include "strategy/blocks.h"
#include "strategy/sharded.h"

static double
layer_elements (const Workload *workload, guint first, guint last)
{
  double elements = 0;

  for (guint i = first; i <= last; i++)
    elements += workload->layers[i].params;
  return elements;
}

static void
add_unit (GArray *units, guint *unit_of, const Workload *workload, guint first, guint last)
{
  const ShardUnit unit = { .first = first, .last = last, .elements = layer_elements (workload, first, last), .gathered = NO_ROW,
                           .label = workload->layers[first].name };

  for (guint i = first; i <= last; i++)
    unit_of[i] = units->len;
  g_array_append_val (units, unit);
}

/* A unit for each block with weights; the root keeps the rest. */
static void
wrap_layers (GArray *units, guint *unit_of, const Workload *workload)
{
  g_autofree guint *blocks = blocks_find (workload);

  for (guint i = 0; i < workload->n_layers; i++)
    {
      guint last = i;

      if (blocks[i] == NO_BLOCK)
        continue;
      while (last + 1 < workload->n_layers && blocks[last + 1] == blocks[i])
        last++;
      if (layer_elements (workload, i, last) > 0)
        add_unit (units, unit_of, workload, i, last);
      i = last;
    }
}

/* size_based_auto_wrap_policy: a unit closes once it holds so many parameters;
 * the root keeps what is left over. */
static void
wrap_sizes (GArray *units, guint *unit_of, const Workload *workload, double least)
{
  double elements = 0;

  for (guint i = 0, first = 0; i < workload->n_layers; i++)
    {
      elements += workload->layers[i].params;
      if (elements < least)
        continue;
      add_unit (units, unit_of, workload, first, i);
      first = i + 1;
      elements = 0;
    }
}

GArray *
fsdp_units (const StepInput *in, guint **unit_of, double *root)
{
  GArray *units = g_array_new (FALSE, FALSE, sizeof (ShardUnit));
  const Workload *workload = in->workload;

  *unit_of = g_new (guint, MAX (workload->n_layers, 1));
  for (guint i = 0; i < workload->n_layers; i++)
    (*unit_of)[i] = NO_UNIT;
  if (in->spec->wrap == WRAP_SIZE)
    wrap_sizes (units, *unit_of, workload, in->spec->min_wrap);
  else
    wrap_layers (units, *unit_of, workload);
  *root = 0;
  for (guint i = 0; i < workload->n_layers; i++)
    *root += (*unit_of)[i] == NO_UNIT ? workload->layers[i].params : 0;
  return units;
}
