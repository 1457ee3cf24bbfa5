/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network/network-private.h"
#include <math.h>

/* Many transfers joined by links that each share with a few: a change reaches some of
 * them.  Rates are max-min fair, and there is only one such set, if each transfer has a
 * link that is full and on which nobody has more, or has its cap (Bertsekas and
 * Gallager, Data Networks, 6.5.2).  So those on changed links are rated anew while all
 * others keep what they have; then who lost that link joins them, until nobody has. */

/* Rounds after which it is cheaper to take everyone. */
#define ROUNDS 16
/* What is left of a full link by rounding, of its capacity. */
#define ROUNDING 0x1p-32

static void
take (NetworkRun *run, Id id)
{
  Transfer *transfer = TRANSFER (run, id);

  if (!component_take_transfer (run, id))
    return;
  for (guint k = 0; k < transfer->n_uses; k++)
    component_take_link (run, USE (run, transfer->uses + k)->link);
}

static void
take_crowd (NetworkRun *run, Id link)
{
  CrowdWalk walk = crowd_walk (&run->link[link]);

  for (Id transfer; (transfer = crowd_next (run, &walk)) != 0;)
    take (run, transfer);
}

static void
take_changed (NetworkRun *run)
{
  for (guint i = 0; i < run->dirty->len; i++)
    {
      const Id seed = g_array_index (run->dirty, Id, i);
      LinkState *link = &run->link[seed & ~DIRTY_TRANSFER];

      if (seed & DIRTY_TRANSFER)
        {
          if (TRANSFER (run, seed & ~DIRTY_TRANSFER)->activity != 0)
            take (run, seed & ~DIRTY_TRANSFER);
          continue;
        }
      link->dirty = FALSE;
      component_take_link (run, seed);
      if (isfinite (link->capacity))
        take_crowd (run, seed);
      else
        run->ledger[seed].load = 0;
    }
}

static gboolean
is_taken (const NetworkRun *run, Id transfer)
{
  return STAMP (run, transfer) == run->epoch;
}

/* Those whom the new rates on a link take theirs. */
static void
take_robbed (NetworkRun *run, Id id)
{
  const LinkState *link = &run->link[id];
  const gboolean full = link->left >> 127 || (double) link->left <= link->capacity * CAPACITY_ONE * ROUNDING;
  double limit = INFINITY, most = 0;   /* of those it limits; of all that were rated anew */
  CrowdWalk walk = crowd_walk (link);
  Id other;

  while ((other = crowd_next (run, &walk)) != 0)
    {
      const Transfer *transfer = TRANSFER (run, other);

      if (!is_taken (run, other))
        continue;
      most = MAX (most, transfer->rate);
      if (transfer->bottleneck == id)
        limit = MIN (limit, transfer->rate);
    }
  for (walk = crowd_walk (link); (other = crowd_next (run, &walk)) != 0;)
    {
      const Transfer *transfer = TRANSFER (run, other);

      if (!is_taken (run, other)
          && (transfer->rate > limit * TIE || (transfer->bottleneck == id && (!full || most > transfer->rate * TIE))))
        take (run, other);
    }
}

static gboolean
take_all_robbed (NetworkRun *run)
{
  const guint n = run->component->len, links = run->component_links->len;

  for (guint i = 0; i < links; i++)
    take_robbed (run, g_array_index (run->component_links, Id, i));
  return run->component->len > n;
}

static void
take_component (NetworkRun *run)
{
  for (guint i = 0; i < run->component_links->len; i++)
    take_crowd (run, g_array_index (run->component_links, Id, i));
}

/* Nothing limits it. */
static gboolean
is_free (const NetworkRun *run, const Transfer *transfer)
{
  for (guint k = 0; k < transfer->n_uses; k++)
    if (isfinite (run->link[USE (run, transfer->uses + k)->link].capacity))
      return FALSE;
  return !isfinite (transfer->cap);
}

void
network_local (NetworkRun *run)
{
  guint rounds = 0;

  g_array_set_size (run->component, 0);
  g_array_set_size (run->component_links, 0);
  take_changed (run);
  do
    {
      network_fill (run, TRUE);
      run->solves++;
      run->rated += run->component->len;
      if (++rounds == ROUNDS)
        take_component (run);
    }
  while (rounds == ROUNDS || take_all_robbed (run));
  for (guint i = 0; i < run->component->len; i++)
    {
      Transfer *transfer = TRANSFER (run, g_array_index (run->component, Id, i));

      if (is_free (run, transfer))
        transfer->rate = INFINITY;
      engine_set_rate (run->engine, transfer->activity, transfer->rate / run->ticks_per_s);
    }
}
