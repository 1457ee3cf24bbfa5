/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network/network-private.h"
#include <math.h>

/* Many transfers joined by links that each share with a few: a change reaches some of
 * them.  Rates are max-min fair, and there is only one such set, if each transfer has a
 * link that is full and on which nobody has more, or has its cap (Bertsekas and
 * Gallager, Data Networks, 6.5.2).  So new ones first divide what the others leave, for
 * most take the place of one that has just ended; then who lost its link joins them,
 * until nobody has. */

/* Rounds after which it is cheaper to take everyone. */
#define ROUNDS 16
/* What is left of a full link by rounding, of its capacity. */
#define ROUNDING 0x1p-32

/* FALSE: it was. */
static gboolean
take (NetworkRun *run, Id id)
{
  Transfer *transfer = TRANSFER (run, id);

  if (!component_take_transfer (run, id))
    return FALSE;
  for (guint k = 0; k < transfer->n_uses; k++)
    component_take_link (run, USE (run, transfer->uses + k)->link);
  return TRUE;
}

static void
take_changed (NetworkRun *run)
{
  for (guint i = 0; i < run->dirty->len; i++)
    {
      const Id seed = g_array_index (run->dirty, Id, i), transfer = seed & ~DIRTY_TRANSFER;

      if (!(seed & DIRTY_TRANSFER))
        {
          run->link[seed].dirty = FALSE;
          component_take_link (run, seed);
          if (!isfinite (run->link[seed].capacity))
            run->ledger[seed].load = 0;
        }
      else if (TRANSFER (run, transfer)->activity != 0)
        take (run, transfer);
    }
}

static gboolean
is_full (const LinkState *link)
{
  return link->left >> 127 || (double) link->left <= link->capacity * CAPACITY_ONE * ROUNDING;
}

/* What the quickest on a link has; `least`: the slowest of those it limits. */
static double
most_on (const NetworkRun *run, Id id, double *least)
{
  CrowdWalk walk = crowd_walk (&run->link[id]);
  double most = 0;

  *least = INFINITY;
  for (Id other; (other = crowd_next (run, &walk)) != 0;)
    {
      const Transfer *transfer = TRANSFER (run, other);

      most = MAX (most, transfer->rate);
      if (transfer->bottleneck == id)
        *least = MIN (*least, transfer->rate);
    }
  return most;
}

/* Whether another of its links limits it. */
static gboolean
find_other (const NetworkRun *run, Transfer *transfer)
{
  double least;

  for (guint k = 0; k < transfer->n_uses; k++)
    {
      const Id id = USE (run, transfer->uses + k)->link;
      const LinkState *link = &run->link[id];

      if (id == transfer->bottleneck || !isfinite (link->capacity) || !is_full (link)
          || most_on (run, id, &least) > transfer->rate * TIE)
        continue;
      transfer->bottleneck = id;
      return TRUE;
    }
  return FALSE;
}

/* Those on a link whom nothing limits any more, and those who have more than one that
 * was rated anew and could have it. */
static void
take_robbed (NetworkRun *run, Id id)
{
  const LinkState *link = &run->link[id];
  const gboolean full = is_full (link);
  double least, limit = INFINITY;
  const double most = most_on (run, id, &least);
  CrowdWalk walk = crowd_walk (link);
  Id other;

  if (!(least < INFINITY) || (full && most <= least * TIE))
    return;
  while ((other = crowd_next (run, &walk)) != 0)
    {
      Transfer *transfer = TRANSFER (run, other);

      if (transfer->bottleneck == id && (!full || most > transfer->rate * TIE)
          && !find_other (run, transfer) && !take (run, other))
        limit = MIN (limit, transfer->rate);
    }
  for (walk = crowd_walk (link); limit < most && (other = crowd_next (run, &walk)) != 0;)
    if (TRANSFER (run, other)->rate > limit * TIE)
      take (run, other);
}

/* Asks for who is on a link that comes up some steps later. */
static void
ask_ahead (const NetworkRun *run, guint at)
{
  enum { CROWDS = 8, TRANSFERS = 3 };
  const Id *links = (const Id *) run->component_links->data;

  if (at + CROWDS < run->component_links->len)
    PREFETCH (CROWD_AT (run, run->link[links[at + CROWDS]].first));
  if (at + TRANSFERS < run->component_links->len)
    {
      CrowdWalk walk = crowd_walk (&run->link[links[at + TRANSFERS]]);

      for (Id transfer; (transfer = crowd_next (run, &walk)) != 0;)
        PREFETCH (TRANSFER (run, transfer));
    }
}

static gboolean
take_all_robbed (NetworkRun *run)
{
  const guint n = run->component->len, links = run->component_links->len;

  for (guint i = 0; i < links; i++)
    {
      ask_ahead (run, i);
      take_robbed (run, g_array_index (run->component_links, Id, i));
    }
  return run->component->len > n;
}

static void
take_component (NetworkRun *run)
{
  for (guint i = 0; i < run->component_links->len; i++)
    {
      CrowdWalk walk = crowd_walk (&run->link[g_array_index (run->component_links, Id, i)]);

      for (Id transfer; (transfer = crowd_next (run, &walk)) != 0;)
        take (run, transfer);
    }
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
