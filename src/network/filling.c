/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network/network-private.h"
#include <math.h>

/* Progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2): all rates
 * rise together; the link that fills first fixes those that cross it.  A link's
 * share only rises while others are fixed, so a heap of old shares, looked at
 * again when one comes up, finds the next bottleneck. */

/* Shares this near are one: what is equal on paper is equal in bits. */
#define TIE (1 + 0x1p-40)

#define BOUND(run, i) (&g_array_index ((run)->bounds, Bound, (i)))

static gboolean
bound_less (const Bound *a, const Bound *b)
{
  return a->key < b->key || (!(b->key < a->key) && a->item < b->item);
}

static void
sift_down (NetworkRun *run, guint at)
{
  const guint n = run->bounds->len;
  const Bound moved = *BOUND (run, at);

  for (guint child; (child = 2 * at + 1) < n; at = child)
    {
      if (child + 1 < n && bound_less (BOUND (run, child + 1), BOUND (run, child)))
        child++;
      if (!bound_less (BOUND (run, child), &moved))
        break;
      *BOUND (run, at) = *BOUND (run, child);
    }
  *BOUND (run, at) = moved;
}

static void
pop (NetworkRun *run)
{
  *BOUND (run, 0) = *BOUND (run, run->bounds->len - 1);
  g_array_set_size (run->bounds, run->bounds->len - 1);
  if (run->bounds->len > 0)
    sift_down (run, 0);
}

/* Bytes/s of message for each open transfer if they divided what is left. */
static double
share (const LinkState *link)
{
  const Fixed capacity = (Fixed) (link->capacity * CAPACITY_ONE);
  const Fixed left = capacity > link->used ? capacity - link->used : 0;

  return (double) left / CAPACITY_ONE / ((double) link->open / DEMAND_ONE);
}

static void
prepare (NetworkRun *run)
{
  g_array_set_size (run->bounds, 0);
  for (guint i = 0; i < run->component_links->len; i++)
    {
      const Id id = g_array_index (run->component_links, Id, i);
      LinkState *link = &run->link[id];

      link->open = link->used = 0;
      link->n_open = 0;
      for (Id use = link->first; use != 0; use = USE (run, use)->after)
        {
          link->open += USE (run, use)->demand_fixed;
          link->n_open++;
        }
      if (link->open > 0)
        {
          const Bound bound = { share (link), id };

          g_array_append_val (run->bounds, bound);
        }
    }
  for (guint i = 0; i < run->component->len; i++)
    {
      const Id id = g_array_index (run->component, Id, i);
      Transfer *transfer = TRANSFER (run, id);
      const Bound bound = { transfer->cap, id | BOUND_CAP };

      transfer->fixed = FALSE;
      transfer->rate = INFINITY;
      if (isfinite (transfer->cap))
        g_array_append_val (run->bounds, bound);
    }
  for (guint i = run->bounds->len / 2; i-- > 0;)
    sift_down (run, i);
}

static void
fix (NetworkRun *run, Id id, double rate)
{
  Transfer *transfer = TRANSFER (run, id);

  transfer->fixed = TRUE;
  transfer->rate = MIN (rate, transfer->cap);
  for (Id use = transfer->uses; use != 0; use = USE (run, use)->next)
    {
      const Use *u = USE (run, use);
      LinkState *link = &run->link[u->link];

      if (!isfinite (link->capacity))
        continue;
      link->open -= u->demand_fixed;
      link->used += (Fixed) (u->demand * transfer->rate * CAPACITY_ONE);
      link->n_open--;
    }
}

void
network_fill (NetworkRun *run)
{
  double level = 0;

  prepare (run);
  for (guint open = run->component->len; open > 0 && run->bounds->len > 0;)
    {
      Bound *first = BOUND (run, 0);
      const Id id = first->item & ~BOUND_CAP;

      if (first->item & BOUND_CAP)
        {
          const double cap = first->key;

          pop (run);
          if (TRANSFER (run, id)->fixed)
            continue;
          level = cap > level * TIE ? cap : level;
          fix (run, id, level);
          open--;
          continue;
        }

      const LinkState *link = &run->link[id];
      const double key = link->n_open > 0 ? share (link) : 0;

      if (link->n_open > 0 && key > first->key && key > level * TIE)
        {
          first->key = key;
          sift_down (run, 0);
          continue;
        }
      pop (run);
      level = key > level * TIE ? key : level;
      for (Id use = link->first; use != 0 && link->n_open > 0; use = USE (run, use)->after)
        if (!TRANSFER (run, USE (run, use)->transfer)->fixed)
          {
            fix (run, USE (run, use)->transfer, level);
            open--;
          }
    }
}
