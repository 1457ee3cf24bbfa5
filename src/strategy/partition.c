/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/partition.h"

static guint
partition_of (const Partition *partition, guint64 rank)
{
  if (partition->part != NULL)
    return partition->part[rank];
  return partition->n == 1 ? 0 : (guint) rank;
}

/* The k-th rank of the group that `rank` is in. */
static guint64
member (const PipelineGroup *group, guint64 rank, guint64 k)
{
  const guint64 block = group->stride * group->size;

  return rank / block * block + rank % group->stride + k * group->stride;
}

/* Steele, Lea and Flood 2014, the finalizer of SplitMix64. */
static guint64
mix (guint64 x)
{
  x = (x ^ x >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* What a rank sees: its own part and, of each kind of group, the parts in it in
 * any order. */
static guint64
signature (const Partition *p, const guint64 *sums, guint64 rank, guint n_groups)
{
  guint64 sight = mix (p->part[rank] + 1);

  for (guint g = 0; g < n_groups; g++)
    sight = mix (sight ^ sums[g * p->ranks + rank]);
  return sight;
}

/* For each rank the sum over its group; a group is added up at its first rank. */
static void
add_up (const Partition *p, const PipelineGroup *group, guint64 *sums)
{
  for (guint64 rank = 0; rank < p->ranks; rank++)
    {
      if (member (group, rank, 0) == rank)
        {
          sums[rank] = 0;
          for (guint64 k = 0; k < group->size; k++)
            sums[rank] += mix (p->part[member (group, rank, k)] + G_GUINT64_CONSTANT (0x9e3779b97f4a7c15));
        }
      else
        sums[rank] = sums[member (group, rank, 0)];
    }
}

/* Parts numbered by their first ranks; TRUE if there are more than before. */
static gboolean
renumber (Partition *p, const guint64 *sights)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_int64_hash, g_int64_equal);
  const guint before = p->n;

  p->n = 0;
  for (guint64 rank = 0; rank < p->ranks; rank++)
    {
      gpointer part;

      if (!g_hash_table_lookup_extended (seen, &sights[rank], NULL, &part))
        {
          part = GUINT_TO_POINTER (p->n);
          g_hash_table_insert (seen, (gpointer) &sights[rank], part);
          p->n++;
        }
      p->part[rank] = GPOINTER_TO_UINT (part);
    }
  return p->n > before;
}

static void
refine (Partition *p, guint64 special, const PipelineGroup *groups, guint n_groups)
{
  g_autofree guint64 *sights = g_new (guint64, p->ranks);
  g_autofree guint64 *sums = g_new (guint64, p->ranks * MAX (n_groups, 1));

  p->part = g_new (guint, p->ranks);
  for (guint64 rank = 0; rank < p->ranks; rank++)
    sights[rank] = rank < special;
  while (renumber (p, sights))
    {
      for (guint g = 0; g < n_groups; g++)
        add_up (p, &groups[g], sums + g * p->ranks);
      for (guint64 rank = 0; rank < p->ranks; rank++)
        sights[rank] = signature (p, sums, rank, n_groups);
    }
}

static void
count_parts (Partition *p)
{
  p->first = g_new (guint64, p->n);
  p->size = g_new0 (guint64, p->n);
  for (guint64 rank = p->ranks; rank-- > 0;)
    {
      const guint part = partition_of (p, rank);

      p->first[part] = rank;
      p->size[part]++;
    }
}

Partition *
partition_periodic (guint64 ranks, guint64 period)
{
  Partition *p = g_new0 (Partition, 1);

  p->ranks = ranks;
  p->n = (guint) period;
  p->part = g_new (guint, ranks);
  for (guint64 rank = 0; rank < ranks; rank++)
    p->part[rank] = (guint) (rank % period);
  count_parts (p);
  return p;
}

Partition *
partition_new (guint64 ranks, guint64 special, gboolean each, const PipelineGroup *groups, guint n_groups)
{
  Partition *p = g_new0 (Partition, 1);

  p->ranks = ranks;
  if (!each && special > 0 && special < ranks)
    refine (p, special, groups, n_groups);
  else
    p->n = each ? (guint) ranks : 1;
  count_parts (p);
  return p;
}

void
partition_free (Partition *partition)
{
  if (partition == NULL)
    return;
  g_free (partition->part);
  g_free (partition->first);
  g_free (partition->size);
  g_free (partition);
}

/* Parts that meet know each other by the first of them: every rank of a part sees
 * the same parts. */
guint *
partition_meetings (const Partition *partition, const PipelineGroup *group, guint *meetings)
{
  guint *meeting = g_new (guint, partition->n);

  *meetings = 0;
  for (guint i = 0; i < partition->n; i++)
    {
      guint least = i;

      for (guint64 k = 0; k < group->size && partition->n > 1; k++)
        least = MIN (least, partition_of (partition, member (group, partition->first[i], k)));
      meeting[i] = least == i ? (*meetings)++ : meeting[least];
    }
  return meeting;
}
