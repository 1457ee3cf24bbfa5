/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"

/* NVSwitch as one more actor a node (NCCL src/device/all_reduce.h, NVLS and NVLSTree):
 * each GPU owns a shard.  The switch reads a shard from all GPUs of the node, adds,
 * and gives the owner the sum; the owners of the nodes add theirs up the double binary
 * tree and hand the whole down; each owner writes it to its switch, which writes it to
 * all GPUs.  In one node owners write the sum at once.  Sums on their way lie in
 * scratch: the switch adds the owner's own input like any other's. */
enum { FROM_SWITCH, FROM_FIRST, FROM_SECOND, FROM_ABOVE, WAYS };   /* lanes of an owner and tree; its tracks the other way */
#define READS 1u   /* a GPU's first track */

static gboolean
plan (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  const uint32_t p = s->per_node, trees = s->nodes > 1 ? 2 : 1, pieces = p * trees;

  (void) group;
  if (!(paths->nvls_rate > 0) || p < 2)
    {
      g_set_error_literal (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED,
                           "[collective] algorithm: messages through NVSwitch need several GPUs a node on it, Hopper or newer");
      return FALSE;
    }
  s->more = ACTORS_NVSWITCHES;
  s->actors = s->ranks + s->nodes;
  s->shards = p;
  s->tracks = MAX (READS + trees * WAYS, 2 * p);
  s->steps = pieces;
  s->chunks_first = s->one_peer = TRUE;
  s->lanes = MAX (pieces * (s->chunks + 1), trees * WAYS + 1);
  s->scratch = pieces * s->chunks;
  s->blocks = 2 * s->scratch;
  s->priced = PRICED_TREE;
  return TRUE;
}

/* A piece is a shard's part of one tree; the same number everywhere. */
static uint32_t
lane_read (const Schedule *s, uint32_t piece, uint32_t chunk)
{
  return chunk * s->steps + piece;
}

static uint32_t
lane_whole (const Schedule *s, uint32_t piece)
{
  return s->steps * s->chunks + piece;
}

static void
wait_for (Message *out, uint32_t lane, uint32_t count, guint *n)
{
  out->after[*n].lane = lane;
  out->after[(*n)++].count = count;
}

static void
carry (const Schedule *s, Message *out, uint32_t piece, uint32_t chunk, gboolean from_scratch, gboolean to_scratch)
{
  out->block = piece * s->chunks + chunk + (from_scratch ? s->scratch : 0);
  out->into = from_scratch != to_scratch ? s->scratch : 0;
  out->n_blocks = 1;
  out->bytes = s->size / s->scratch;
}

static gboolean
of_switch (const Schedule *s, uint32_t node, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  const uint32_t p = s->shards, trees = s->steps / p, local = track % p;
  const gboolean sum = track < p;
  const uint32_t piece = sum ? local * trees + step : step;
  guint waits = 0;

  if (track >= 2 * p || (sum && step >= trees))
    return FALSE;
  out->peer = node * p + local;
  out->lane = sum ? step * WAYS + FROM_SWITCH : trees * WAYS;
  out->reduces = sum;
  if (sum)
    wait_for (out, lane_read (s, piece, chunk), p, &waits);
  else
    wait_for (out, lane_whole (s, piece), chunk + 1, &waits);
  carry (s, out, piece, chunk, FALSE, sum);
  return TRUE;
}

/* Of its node and, by what came from below, of the nodes under it. */
static void
wait_for_sum (const TreeNode *t, uint32_t first_lane, uint32_t chunk, Message *out)
{
  guint waits = 0;

  wait_for (out, first_lane + FROM_SWITCH, chunk + 1, &waits);
  for (uint32_t i = 0; i < 2; i++)
    if (t->down[i] != TREE_NOBODY)
      wait_for (out, first_lane + FROM_FIRST + i, chunk + 1, &waits);
}

static gboolean
of_owner (const Schedule *s, uint32_t rank, uint32_t tree, uint32_t way, uint32_t chunk, Message *out)
{
  const uint32_t p = s->shards, trees = s->steps / p, local = rank % p, node = rank / p, first_lane = tree * WAYS;
  const uint32_t piece = local * trees + tree;
  const TreeNode t = s->nodes > 1 ? tree_node (node, s->nodes, tree) : (TreeNode) { TREE_NOBODY, { TREE_NOBODY, TREE_NOBODY } };
  const gboolean root = t.up == TREE_NOBODY;
  guint waits = 0;

  if (way == FROM_ABOVE)   /* up */
    {
      if (root)
        return FALSE;
      out->peer = t.up * p + local;
      out->lane = first_lane + (tree_node (t.up, s->nodes, tree).down[0] == node ? FROM_FIRST : FROM_SECOND);
      out->reduces = TRUE;
    }
  else if (way == FROM_SWITCH)
    {
      out->peer = s->ranks + node;
      out->lane = lane_whole (s, piece);
    }
  else
    {
      if (t.down[way - FROM_FIRST] == TREE_NOBODY)
        return FALSE;
      out->peer = t.down[way - FROM_FIRST] * p + local;
      out->lane = first_lane + FROM_ABOVE;
    }
  if (way == FROM_ABOVE || root)
    wait_for_sum (&t, first_lane, chunk, out);
  else
    wait_for (out, first_lane + FROM_ABOVE, chunk + 1, &waits);
  carry (s, out, piece, chunk, TRUE, way != FROM_SWITCH);
  return TRUE;
}

static gboolean
message (const Schedule *s, uint32_t actor, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  const uint32_t trees = s->steps / s->shards;

  if (actor >= s->ranks)
    return of_switch (s, actor - s->ranks, track, step, chunk, out);
  if (track >= READS)
    return step == 0 && track < READS + trees * WAYS
           && of_owner (s, actor, (track - READS) / WAYS, (track - READS) % WAYS, chunk, out);
  out->peer = s->ranks + actor / s->shards;
  out->lane = lane_read (s, step, chunk);
  out->reduces = TRUE;
  carry (s, out, step, chunk, FALSE, FALSE);
  return TRUE;
}

const CollectiveSteps nvls_steps = { plan, message };
