/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network/network-private.h"
#include <math.h>

/* Progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2): all rates
 * rise together; the link that fills first fixes those that cross it.  A link's
 * share only rises while others are fixed, so a heap of old shares, looked at
 * again when one comes up, finds the next bottleneck. */

/* Loops over records that lie anywhere ask for those that come this much later. */
#define AHEAD 8

#define BOUND(run, i) (&(run)->bounds[HEAP_FIRST + (i)])

/* 1 or 0, without a branch to guess wrong: bits of doubles that are not negative
 * compare as the numbers do. */
static inline guint
bound_less (const Bound *a, const Bound *b)
{
  uint64_t x, y;

  memcpy (&x, &a->key, sizeof x);
  memcpy (&y, &b->key, sizeof y);
  return (guint) (x < y) | ((guint) (x == y) & (guint) (a->item < b->item));
}

/* The least of those below `at`, of which there is at least one. */
static inline guint
least_child (const NetworkRun *run, guint at)
{
  guint child = 4 * at + 1;

  if (G_LIKELY (child + 4 <= run->n_bounds))
    {
      const guint left = child + bound_less (BOUND (run, child + 1), BOUND (run, child));
      const guint right = child + 2 + bound_less (BOUND (run, child + 3), BOUND (run, child + 2));

      return left + (right - left) * bound_less (BOUND (run, right), BOUND (run, left));
    }
  for (guint other = child + 1; other < run->n_bounds; other++)
    child = bound_less (BOUND (run, other), BOUND (run, child)) ? other : child;
  return child;
}

/* A link near the top is looked at soon. */
#define NEAR 20

static void
sift_down (NetworkRun *run, guint at)
{
  const Bound moved = *BOUND (run, at);

  for (guint child; 4 * at + 1 < run->n_bounds; at = child)
    {
      child = least_child (run, at);
      if (!bound_less (BOUND (run, child), &moved))
        break;
      *BOUND (run, at) = *BOUND (run, child);
      if (at <= NEAR && !(BOUND (run, at)->item & BOUND_CAP))
        PREFETCH (&run->link[BOUND (run, at)->item]);
    }
  *BOUND (run, at) = moved;
}

static void
pop (NetworkRun *run)
{
  *BOUND (run, 0) = *BOUND (run, --run->n_bounds);
  if (run->n_bounds > 0)
    sift_down (run, 0);
}

/* Bytes/s of message for each open transfer if they divided what is left. */
static double
share (const LinkState *link)
{
  const Fixed left = link->left >> 127 ? 0 : link->left;

  return (double) left / CAPACITY_ONE / ((double) link->open / DEMAND_ONE);
}

static void
empty_heap (NetworkRun *run, guint room)
{
  run->n_bounds = 0;
  if (run->bounds_room >= room)
    return;
  run->bounds_room = MAX (room, 2 * run->bounds_room);
  g_aligned_free (run->bounds);
  run->bounds = g_aligned_alloc (HEAP_FIRST + run->bounds_room, sizeof (Bound), 64);
}

static void
prepare (NetworkRun *run)
{
  empty_heap (run, run->component_links->len + run->component->len);
  for (guint i = 0; i < run->component_links->len; i++)
    {
      const Id id = g_array_index (run->component_links, Id, i);
      LinkState *link = &run->link[id];

      if (i + AHEAD < run->component_links->len)
        {
          PREFETCH (&run->link[g_array_index (run->component_links, Id, i + AHEAD)]);
          PREFETCH (&run->ledger[g_array_index (run->component_links, Id, i + AHEAD)]);
        }
      link->open = run->ledger[id].demand;
      link->n_open = link->n_uses;
      link->left = fixed_floor (link->capacity * CAPACITY_ONE);
      if (link->open > 0)
        *BOUND (run, run->n_bounds++) = (Bound) { share (link), id };
    }
  for (guint i = 0; i < run->component->len; i++)
    {
      const Id id = g_array_index (run->component, Id, i);
      Transfer *transfer = TRANSFER (run, id);
      const Bound bound = { transfer->cap, id | BOUND_CAP };

      transfer->rate = INFINITY;
      if (i + AHEAD < run->component->len)
        PREFETCH (TRANSFER (run, g_array_index (run->component, Id, i + AHEAD)));
      FIXED (run, id) &= ~FIXED_BIT (id);
      if (isfinite (bound.key))
        *BOUND (run, run->n_bounds++) = bound;
    }
}

/* What the others on these links have is not given away again: `left` of a link counts
 * all that there are. */
static void
prepare_part (NetworkRun *run)
{
  empty_heap (run, run->component_links->len + run->component->len);
  for (guint i = 0; i < run->component_links->len; i++)
    {
      LinkState *link = &run->link[g_array_index (run->component_links, Id, i)];

      link->open = 0;
      link->n_open = 0;
    }
  for (guint i = 0; i < run->component->len; i++)
    {
      const Id id = g_array_index (run->component, Id, i);
      const Transfer *transfer = TRANSFER (run, id);

      FIXED (run, id) &= ~FIXED_BIT (id);
      if (isfinite (transfer->cap))
        *BOUND (run, run->n_bounds++) = (Bound) { transfer->cap, id | BOUND_CAP };
      for (const Use *use = USE (run, transfer->uses), *end = use + transfer->n_uses; use < end; use++)
        {
          LinkState *link = &run->link[use->link];

          if (!isfinite (link->capacity))
            continue;
          link->open += demand_fixed (use->demand);
          link->left += part_of (use->demand, transfer->rate);
          link->n_open++;
        }
    }
  for (guint i = 0; i < run->component_links->len; i++)
    {
      const Id id = g_array_index (run->component_links, Id, i);

      if (run->link[id].open > 0)
        *BOUND (run, run->n_bounds++) = (Bound) { share (&run->link[id]), id };
    }
}

static void
fix (NetworkRun *run, Id id, double rate, Id bottleneck)
{
  Transfer *transfer = TRANSFER (run, id);
  const Use *use = USE (run, transfer->uses);

  FIXED (run, id) |= FIXED_BIT (id);
  transfer->rate = MIN (rate, transfer->cap);
  transfer->bottleneck = bottleneck;
  for (guint i = 0; i < transfer->n_uses; i++, use++)
    {
      LinkState *link = &run->link[use->link];

      if (!isfinite (link->capacity))
        continue;
      link->open -= demand_fixed (use->demand);
      link->left -= part_of (use->demand, transfer->rate);
      link->n_open--;
    }
}

/* Fixes the open transfers of a link, a batch at a time: what they touch lies
 * anywhere, so it is all asked for before the first is done.  Returns how many. */
static guint
fix_link (NetworkRun *run, Id id, double rate)
{
  const LinkState *link = &run->link[id];
  enum { BATCH = 32 };
  CrowdWalk walk = crowd_walk (link);
  guint fixed = 0;

  while (link->n_open > 0)
    {
      Id batch[BATCH];
      guint n = 0;

      while (n < MIN (link->n_open, BATCH) && (batch[n] = crowd_next (run, &walk)) != 0)
        if (!(FIXED (run, batch[n]) & FIXED_BIT (batch[n])))
          {
            PREFETCH (TRANSFER (run, batch[n]));
            n++;
          }
      if (n == 0)
        break;
      for (guint i = 0; i < n; i++)
        PREFETCH (USE (run, TRANSFER (run, batch[i])->uses));
      for (guint i = 0; i < n; i++)
        for (guint k = 0; k < TRANSFER (run, batch[i])->n_uses; k++)
          PREFETCH (&run->link[USE (run, TRANSFER (run, batch[i])->uses + k)->link]);
      for (guint i = 0; i < n; i++)
        fix (run, batch[i], rate, id);
      fixed += n;
    }
  return fixed;
}

/* What others on the link have, if that is as much but for a rounding: roundings do not
 * add up over the many that follow each other. */
static double
as_others (const NetworkRun *run, const LinkState *link, double rate)
{
  CrowdWalk walk = crowd_walk (link);

  for (Id id; (id = crowd_next (run, &walk)) != 0;)
    if (FIXED (run, id) & FIXED_BIT (id))
      {
        const double other = TRANSFER (run, id)->rate;

        if (other <= rate * TIE && rate <= other * TIE)
          return other;
      }
  return rate;
}

void
network_fill (NetworkRun *run, gboolean partly)
{
  double level = 0;

  (partly ? prepare_part : prepare) (run);
  for (guint i = (run->n_bounds + 2) / 4; i-- > 0;)   /* those with one below */
    sift_down (run, i);
  for (guint open = run->component->len; open > 0 && run->n_bounds > 0;)
    {
      Bound *first = BOUND (run, 0);
      const Id id = first->item & ~BOUND_CAP;

      if (first->item & BOUND_CAP)
        {
          const double cap = first->key;

          pop (run);
          if (FIXED (run, id) & FIXED_BIT (id))
            continue;
          level = cap > level * TIE ? cap : level;
          fix (run, id, level, 0);
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
      if (partly && link->n_open < link->n_uses)
        level = as_others (run, link, level);
      open -= fix_link (run, id, level);
    }
  for (guint i = 0; i < run->component_links->len; i++)
    {
      const Id id = g_array_index (run->component_links, Id, i);
      const LinkState *link = &run->link[id];
      const Fixed used = fixed_floor (link->capacity * CAPACITY_ONE) - link->left;

      if (i + AHEAD < run->component_links->len)
        {
          PREFETCH (&run->link[g_array_index (run->component_links, Id, i + AHEAD)]);
          PREFETCH (&run->ledger[g_array_index (run->component_links, Id, i + AHEAD)]);
        }
      run->ledger[id].load = (double) used / CAPACITY_ONE / link->capacity;
    }
}
