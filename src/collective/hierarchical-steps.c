/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"

/* Three rings one after the other: reduce-scatter in the node, all-reduce of each
 * shard between nodes, all-gather in the node.  A lane each: a faster neighbour of
 * the next ring is not taken for one of this. */
static gboolean
plan (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  (void) group;
  (void) paths;
  (void) error;
  s->tracks = 1;
  s->lanes = 3;
  s->steps = 2 * (s->per_node - 1) + 2 * (s->nodes - 1);
  s->blocks = s->per_node * s->nodes * s->chunks;
  s->own = s->size * (2. / s->per_node + 1. / s->ranks);   /* of each ring one block */
  return TRUE;
}

static uint32_t
turned (uint32_t from, uint32_t by, uint32_t n)
{
  return (uint32_t) (((uint64_t) from + 2 * (uint64_t) n - by) % n);
}

static void
wait_for (Message *out, uint32_t lane, uint64_t count)
{
  out->after[0].lane = lane;
  out->after[0].count = (uint32_t) count;
}

static gboolean
message (const Schedule *s, uint32_t rank, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  const uint32_t p = s->per_node, nodes = s->nodes, k = s->chunks, local = rank % p, node = rank / p;
  const uint32_t between = 2 * (nodes - 1), mine = (local + 1) % p;   /* the shard after the first ring */
  const uint32_t whole = nodes * k;                                   /* blocks of a shard */

  (void) track;
  out->bytes = s->size / p;
  out->n_blocks = whole;
  if (step < p - 1)
    {
      out->lane = 0;
      wait_for (out, 0, step > 0 ? (step - 1) * (uint64_t) k + chunk + 1 : 0);
      out->block = turned (local, step, p) * whole;
    }
  else if (step < p - 1 + between)
    {
      const uint32_t in = step - (p - 1);

      out->lane = 1;
      out->peer = (node + 1) % nodes * p + local;
      wait_for (out, in > 0 ? 1 : 0, in > 0 ? (in - 1) * (uint64_t) k + chunk + 1 : (p - 1) * (uint64_t) k);
      out->block = mine * whole + turned (node, in, nodes) * k + chunk;
      out->n_blocks = 1;
      out->bytes = s->size / p / nodes / k;
      out->reduces = in < nodes - 1;
      return TRUE;
    }
  else
    {
      const uint32_t in = step - (p - 1) - between;

      out->lane = 2;
      if (in > 0)
        wait_for (out, 2, (in - 1) * (uint64_t) k + chunk + 1);
      else
        wait_for (out, nodes > 1 ? 1 : 0, (nodes > 1 ? between : p - 1) * (uint64_t) k);
      out->block = turned (mine, in, p) * whole;
    }
  out->peer = node * p + (local + 1) % p;
  out->reduces = step < p - 1;
  out->bytes /= k;
  /* chunk c of each node's part of the shard */
  out->block += chunk;
  out->stride = k;
  out->n_blocks = nodes;
  return TRUE;
}

const CollectiveSteps hierarchical_steps = { plan, message };
