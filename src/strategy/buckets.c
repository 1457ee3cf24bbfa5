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
          open.n_tensors++;
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

/* A tensor in the order of the backward pass. */
typedef struct { double elements; guint layer; } Gradient;

static GArray *
in_order (const Workload *workload)
{
  GArray *gradients = g_array_sized_new (FALSE, FALSE, sizeof (Gradient), workload->n_tensors);

  for (guint i = workload->n_layers; i-- > 0;)
    {
      for (guint t = workload->layers[i].n_tensors; t-- > 0;)
        {
          const Gradient gradient = { workload->layers[i].tensors[t], i };

          g_array_append_val (gradients, gradient);
        }
    }
  return gradients;
}

/* One fused group from `next` on, of gradients ready at `now`. */
static guint
fuse (const GArray *gradients, guint next, double now, const double *ready, double limit, Bucket *out)
{
  *out = (Bucket) { .first = g_array_index (gradients, Gradient, next).layer };
  for (; next < gradients->len; next++)
    {
      const Gradient *gradient = &g_array_index (gradients, Gradient, next);

      if (ready[gradient->layer] > now || (out->n_tensors > 0 && out->elements + gradient->elements > limit))
        break;
      out->elements += gradient->elements;
      out->largest = MAX (out->largest, gradient->elements);
      out->last = gradient->layer;
      out->n_tensors++;
    }
  return next;
}

GArray *
buckets_by_cycle (const Workload *workload, double element, double cap, double cycle, const double *ready,
                  BucketBusy busy, gpointer user)
{
  g_autoptr (GArray) gradients = in_order (workload);
  GArray *buckets = g_array_new (FALSE, FALSE, sizeof (Bucket));
  double idle = 0;

  for (guint next = 0; next < gradients->len;)
    {
      const double earliest = MAX (idle, ready[g_array_index (gradients, Gradient, next).layer]);
      const double now = cycle > 0 ? ceil (earliest / cycle) * cycle : earliest;
      gboolean first = TRUE;
      double end = now;

      while (next < gradients->len && ready[g_array_index (gradients, Gradient, next).layer] <= now)
        {
          Bucket bucket;

          next = fuse (gradients, next, now, ready, cap / element, &bucket);
          if (first)
            bucket.delay = now - MAX (ready[bucket.last], idle);
          first = FALSE;
          g_array_append_val (buckets, bucket);
          end += busy != NULL ? busy (user, bucket.elements * element) : 0;
        }
      idle = end;
    }
  return buckets;
}
