/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/levels.h"
#include "collective/schedule.h"

/* Who of a group's nodes sends what to whom. */

void
pattern_ring (guint64 n, const PatternData *data, NodeEdge edge, gpointer user)
{
  for (guint64 i = 0; i < n; i++)
    edge (user, i, i + 1 < n ? i + 1 : 0, data->bytes);
}

/* Half of the bytes up and down each edge of both trees. */
void
pattern_tree (guint64 n, const PatternData *data, NodeEdge edge, gpointer user)
{
  for (uint32_t tree = 0; tree < 2; tree++)
    for (uint32_t node = 0; node < n; node++)
      {
        const uint32_t up = tree_node (node, (uint32_t) n, tree).up;

        if (up == TREE_NOBODY)
          continue;
        edge (user, node, up, data->bytes / 2);
        edge (user, up, node, data->bytes / 2);
      }
}

static guint
log2_part (guint64 n)
{
  return g_bit_storage (n) - 1;
}

guint
rounds_halving (guint64 n)
{
  return 2 * log2_part (n) + 2;
}

guint
rounds_pat (guint64 n)
{
  return g_bit_storage (n - 1);
}

/* Near partners first: 1/2, 1/4, ..., and back.  Those above a power of two hand all of
 * their bytes to a partner before and get the sums after. */
void
pattern_halving (guint64 n, const PatternData *data, NodeEdge edge, gpointer user)
{
  const guint k = log2_part (n), last = 2 * k + 1;
  const guint64 part = (guint64) 1 << k;
  guint64 d;

  if (data->round == 0 || data->round == last)
    {
      for (guint64 i = part; i < n; i++)
        edge (user, data->round == 0 ? i : i - part, data->round == 0 ? i - part : i, data->bytes);
      return;
    }
  d = (guint64) 1 << (data->round > k ? last - data->round - 1 : data->round - 1);
  for (guint64 i = 0; i < part; i++)
    edge (user, i, i ^ d, data->bytes / 2 / (double) d);
}

/* Each rank to the one a power of two on, as many blocks as in pat-steps.c. */
void
pattern_pat (guint64 n, const PatternData *data, NodeEdge edge, gpointer user)
{
  const guint64 d = (guint64) 1 << data->round;

  for (guint64 i = 0; i < n; i++)
    edge (user, i, (i + d) % n, data->bytes / (double) n * (double) ((n - d - 1) / d / 2 + 1));
}

/* One partner node after the other, as in point-to-point-steps.c. */
void
pattern_pairs (guint64 n, const PatternData *data, NodeEdge edge, gpointer user)
{
  const guint64 d = data->round + 1;

  for (guint64 i = 0; i < n; i++)
    edge (user, i, (n & (n - 1)) == 0 ? i ^ d : (i + d) % n, data->bytes / (double) (n - 1));
}
