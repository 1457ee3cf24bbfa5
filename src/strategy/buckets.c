/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/buckets.h"
#include <math.h>

typedef gboolean (*Full) (double bytes, double cap);

static gboolean
reaches (double bytes, double cap)
{
  return bytes >= cap;
}

static gboolean
exceeds (double bytes, double cap)
{
  return bytes > cap;
}

/* Walks the tensors in the order of the backward pass: last layer first, in a
 * layer the last registered first. */
static GArray *
assign (const Workload *workload, double element, double first_cap, double cap, Full full)
{
  GArray *buckets = g_array_new (FALSE, FALSE, sizeof (Bucket));
  Bucket open = { 0 };

  for (guint i = workload->n_layers; i-- > 0;)
    {
      const Layer *layer = &workload->layers[i];

      for (guint t = layer->n_tensors; t-- > 0;)
        {
          if (open.elements <= 0)
            open.first = i;
          open.elements += layer->tensors[t];
          open.largest = MAX (open.largest, layer->tensors[t]);
          open.last = i;
          if (!full (open.elements * element, buckets->len == 0 ? first_cap : cap))
            continue;
          g_array_append_val (buckets, open);
          open = (Bucket) { 0 };
        }
    }
  if (open.elements > 0)
    g_array_append_val (buckets, open);
  return buckets;
}

GArray *
buckets_by_size (const Workload *workload, double element, double first_cap, double cap)
{
  return assign (workload, element, first_cap, cap, reaches);
}

GArray *
buckets_by_pack (const Workload *workload, double element, double cap)
{
  return assign (workload, element, cap > 0 ? cap : INFINITY, cap > 0 ? cap : INFINITY, exceeds);
}
