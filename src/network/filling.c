/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network/network-private.h"
#include <math.h>

/* Progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2): all rates
 * rise together; the link that fills first fixes those that cross it.  A link's
 * share only rises while others are fixed, so a heap of old shares, looked at
 * again when one comes up, finds the next bottleneck. */

/* Loops over records that lie anywhere ask for those that come this much later. */
#define AHEAD 8

/* What comes up is a link, or with this bit a transfer's cap. */
#define BOUND_CAP ((uint32_t) 1 << 31)

/* Shares only rise, and bits of doubles that are not negative compare as the numbers
 * do: the engine's heap of times serves. */
static void
push (NetworkRun *run, double share, uint32_t item)
{
  Event bound = { .target = item };

  memcpy (&bound.time, &share, sizeof share);
  radix_push (&run->bounds, bound);
}

/* FALSE: there is none left. */
static gboolean
pop (NetworkRun *run, double *share, uint32_t *item)
{
  if (radix_now_empty (&run->bounds) && !radix_heap_refill (&run->bounds))
    return FALSE;

  const Event bound = radix_pop_now (&run->bounds);

  memcpy (share, &bound.time, sizeof *share);
  *item = bound.target;
  return TRUE;
}

/* Bytes/s of message for each open transfer if they divided what is left. */
static double
share (const LinkState *link)
{
  const Fixed left = link->left >> 127 ? 0 : link->left;

  return (double) left / CAPACITY_ONE / ((double) link->open / DEMAND_ONE);
}

static void
prepare (NetworkRun *run)
{
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
        push (run, share (link), id);
    }
  for (guint i = 0; i < run->component->len; i++)
    {
      const Id id = g_array_index (run->component, Id, i);
      Transfer *transfer = TRANSFER (run, id);

      transfer->rate = INFINITY;
      if (i + AHEAD < run->component->len)
        PREFETCH (TRANSFER (run, g_array_index (run->component, Id, i + AHEAD)));
      FIXED (run, id) &= ~FIXED_BIT (id);
      if (isfinite (transfer->cap))
        push (run, transfer->cap, id | BOUND_CAP);
    }
}

/* What the others on these links have is not given away again: `left` of a link counts
 * all that there are. */
static void
prepare_part (NetworkRun *run)
{
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
        push (run, transfer->cap, id | BOUND_CAP);
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
        push (run, share (&run->link[id]), id);
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
  double level = 0, was;
  uint32_t item;

  radix_heap_clear (&run->bounds);
  (partly ? prepare_part : prepare) (run);
  for (guint open = run->component->len; open > 0 && pop (run, &was, &item);)
    {
      const Id id = item & ~BOUND_CAP;

      if (item & BOUND_CAP)
        {
          if (FIXED (run, id) & FIXED_BIT (id))
            continue;
          level = was > level * TIE ? was : level;
          fix (run, id, level, 0);
          open--;
          continue;
        }

      const LinkState *link = &run->link[id];
      const double key = link->n_open > 0 ? share (link) : 0;

      if (link->n_open > 0 && key > was && key > level * TIE)
        {
          push (run, key, id);
          continue;
        }
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
