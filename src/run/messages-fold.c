/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/messages-private.h"
#include <stdlib.h>

/* Which ranks meet, and which of their meetings stand for all.
 *
 * Where every `block` of ranks does the same when each rank is renumbered by `period`
 * (nodes of a switch, leaves of a tree: an automorphism of the links), and the calls are
 * mapped on each other by it, all that happens to a rank happens to its images at the same
 * ticks.  Then those of one period are played, each message to the one that stands for
 * its peer, over the links that stand for its own.  One slow rank or card has no such
 * image; a tree's nodes and the owners of a halving exchange neither: these are played
 * rank by rank. */

static guint
position (const Family *f, guint twin, uint32_t actor)
{
  return (guint) (twin / f->spacing * f->spacing * f->size + actor * f->spacing + twin % f->spacing);
}

static void
locate (const Family *f, guint at, guint *twin, uint32_t *actor)
{
  const guint64 block = f->spacing * f->size;

  *twin = (guint) (at / block * f->spacing + at % f->spacing);
  *actor = (uint32_t) (at % block / f->spacing);
}

static int
by_number (gconstpointer a, gconstpointer b)
{
  const uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

  return (x > y) - (x < y);
}

static uint32_t
rank_of (const Messages *m, guint rank_class)
{
  return m->period > 0 ? rank_class / m->period * m->block + rank_class % m->period : rank_class;
}

/* Members and all that they stand for; in order, but of a message its senders first. */
static guint
list_ranks (const Messages *m, guint call, gboolean one_way)
{
  guint n = 0;

  for (guint i = m->first_member[call]; i < m->first_member[call + 1]; i++)
    for (uint32_t k = 0; k < m->block; k += m->period)
      m->list[n++] = rank_of (m, m->member[i]) + k;
  if (!one_way)
    qsort (m->list, n, sizeof *m->list, by_number);
  for (guint i = 0; i < n; i++)
    m->index[m->list[i]] = i;
  return n;
}

/* Every twin becomes one of them, all of its actors turned by as many. */
static gboolean
maps_on_itself (const Messages *m, const Family *f, const Schedule *schedule)
{
  for (guint at = 0; at < f->n; at++)
    {
      const uint32_t rank = f->ranks[at], start = rank / m->block * m->block;
      guint twin, to, first_to;
      uint32_t actor, as, first_as;

      locate (f, at, &twin, &actor);
      locate (f, m->index[start + (rank - start + m->period) % m->block], &to, &as);
      const uint32_t first = f->ranks[position (f, twin, 0)], its = first / m->block * m->block;
      locate (f, m->index[its + (first - its + m->period) % m->block], &first_to, &first_as);
      if (to != first_to || as != (first_as + actor) % f->size || (first_as > 0 && !schedule_turns (schedule)))
        return FALSE;
    }
  return TRUE;
}

/* The first `come` of a twin have classes, and stand for the others in turn. */
static gboolean
stands (const Messages *m, const Family *f, guint twin, uint32_t *come)
{
  *come = 0;
  while (*come < f->size && f->ranks[position (f, twin, *come)] % m->block < m->period)
    ++*come;
  for (uint32_t i = 0; i < f->size && *come > 0; i++)
    {
      const uint32_t rank = f->ranks[position (f, twin, i)], start = rank / m->block * m->block;

      if (start + (rank - start) % m->period != f->ranks[position (f, twin, i % *come)])
        return FALSE;
    }
  return TRUE;
}

static gboolean
fold (const Messages *m, const Schedule *schedule, Family *f)
{
  const guint all = (guint) (f->n / f->size);

  if (!maps_on_itself (m, f, schedule))
    return FALSE;
  for (guint twin = 0; twin < all; twin++)
    {
      uint32_t come;

      if (!stands (m, f, twin, &come))
        return FALSE;
      if (come == 0)
        continue;
      if (f->twins > 0 && come != f->come)
        return FALSE;
      f->come = come;
      m->number[twin] = f->twins;
      m->played[f->twins++] = twin;
    }
  f->twin = m->played;
  return f->twins > 0;
}

gboolean
messages_family (Messages *m, guint call, const RankGroup *group, const Schedule *schedule, gboolean one_way, Family *f)
{
  *f = (Family) { .ranks = m->member + m->first_member[call], .n = m->first_member[call + 1] - m->first_member[call], .size = group->n_ranks };
  if (m->period > 0)
    {
      f->n = list_ranks (m, call, one_way);
      f->ranks = m->list;
    }
  f->spacing = MIN (MAX (group->spacing, 1), MAX (f->n / f->size, 1));
  if (m->period > 0)
    return f->n % f->size == 0 && fold (m, schedule, f);
  f->twins = (guint) (f->n / f->size);
  f->come = (uint32_t) f->size;
  return TRUE;
}

uint32_t
family_rank (const Family *f, guint twin, uint32_t actor)
{
  return f->ranks[position (f, f->twin != NULL ? f->twin[twin] : twin, actor)];
}

void
family_members (Messages *m, guint call, const Family *f)
{
  for (guint i = m->first_member[call]; i < m->first_member[call + 1]; i++)
    {
      guint twin;

      locate (f, m->period > 0 ? m->index[rank_of (m, m->member[i])] : i - m->first_member[call], &twin, &m->actor[i]);
      m->twin[i] = m->period > 0 ? m->number[twin] : twin;
    }
}
