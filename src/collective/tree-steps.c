/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"

/* The double binary tree over nodes (NCCL src/graph/trees.cc; Sanders, Speck, Traeff
 * 2009), a chain in each node up to its first rank; half of the bytes each.  Tree 2
 * is tree 1 mirrored (even number of nodes) or moved by one (odd). */
enum { FROM_FIRST, FROM_SECOND, FROM_BELOW, FROM_ABOVE, TREE_LANES };   /* lanes, and tracks the other way */
#define NOBODY TREE_NOBODY

static TreeNode
plain_tree (uint32_t node, uint32_t n)
{
  TreeNode t = { NOBODY, { NOBODY, NOBODY } };
  uint32_t bit = 1, low;

  while (bit < n && !(node & bit))
    bit <<= 1;
  low = bit >> 1;
  if (node == 0)
    {
      t.down[1] = n > 1 ? low : NOBODY;
      return t;
    }
  t.up = (node ^ bit) | bit << 1;
  if (t.up >= n)
    t.up = node ^ bit;
  if (low == 0)
    return t;
  t.down[0] = node - low;
  while (low > 0 && node + low >= n)
    low >>= 1;
  t.down[1] = low > 0 ? node + low : NOBODY;
  return t;
}

static uint32_t
turn (uint32_t node, uint32_t n, uint32_t tree, gboolean back)
{
  if (tree == 0 || node == NOBODY)
    return node;
  if (n % 2 == 0)
    return n - 1 - node;
  return (node + (back ? 1 : n - 1)) % n;
}

TreeNode
tree_node (uint32_t node, uint32_t n, uint32_t tree)
{
  const TreeNode t = plain_tree (turn (node, n, tree, FALSE), n);

  return (TreeNode) { turn (t.up, n, tree, TRUE), { turn (t.down[0], n, tree, TRUE), turn (t.down[1], n, tree, TRUE) } };
}

static gboolean
plan (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  (void) group;
  (void) paths;
  (void) error;
  s->tracks = s->lanes = 2 * TREE_LANES;
  s->steps = 1;
  s->blocks = 2 * s->chunks;
  s->one_peer = TRUE;
  s->priced = PRICED_TREE;
  return TRUE;
}

static void
wait_for (Message *out, uint32_t tree, uint32_t lane, uint32_t chunk, guint *n)
{
  out->after[*n].lane = tree * TREE_LANES + lane;
  out->after[(*n)++].count = chunk + 1;
}

/* What a rank must have heard before its sum is whole. */
static void
wait_for_sum (const Schedule *s, uint32_t local, const TreeNode *t, uint32_t tree, uint32_t chunk, guint *n, Message *out)
{
  for (uint32_t i = 0; local == 0 && i < 2; i++)
    if (t->down[i] != NOBODY)
      wait_for (out, tree, FROM_FIRST + i, chunk, n);
  if (local + 1 < s->per_node)
    wait_for (out, tree, FROM_BELOW, chunk, n);
}

/* Which of its two children a node is. */
static uint32_t
child_lane (const Schedule *s, uint32_t node, uint32_t parent, uint32_t tree)
{
  return tree_node (parent, s->nodes, tree).down[0] == node ? FROM_FIRST : FROM_SECOND;
}

static gboolean
message (const Schedule *s, uint32_t rank, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  const uint32_t tree = track / TREE_LANES, way = track % TREE_LANES, p = s->per_node, local = rank % p, node = rank / p;
  const TreeNode t = tree_node (node, s->nodes, tree);
  const gboolean root = local == 0 && t.up == NOBODY;
  guint waits = 0;

  (void) step;
  if (way == FROM_ABOVE)   /* up */
    {
      if (root)
        return FALSE;
      out->peer = local > 0 ? rank - 1 : t.up * p;
      out->lane = tree * TREE_LANES + (local > 0 ? FROM_BELOW : child_lane (s, node, t.up, tree));
      out->reduces = TRUE;
      wait_for_sum (s, local, &t, tree, chunk, &waits, out);
    }
  else
    {
      if (way == FROM_BELOW ? local + 1 >= p : local > 0 || t.down[way] == NOBODY)
        return FALSE;
      out->peer = way == FROM_BELOW ? rank + 1 : t.down[way] * p;
      out->lane = tree * TREE_LANES + FROM_ABOVE;
      if (root)
        wait_for_sum (s, local, &t, tree, chunk, &waits, out);
      else
        wait_for (out, tree, FROM_ABOVE, chunk, &waits);
    }
  out->block = tree * s->chunks + chunk;
  out->n_blocks = 1;
  out->bytes = s->size / 2 / s->chunks;
  return TRUE;
}

const CollectiveSteps tree_steps = { plan, message };
