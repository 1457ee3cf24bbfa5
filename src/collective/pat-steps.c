/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"

/* Parallel aggregated trees (Jeaugey 2025), all ranks' trees of one shape: of the
 * tree that gathers block b the rank b + o sends to b + o + d, d the powers of two
 * from the largest down, o all multiples of 2d with o + d < n.  So far steps carry
 * one block, near ones many, and every rank gets each block once, whatever n.  A
 * reduce-scatter runs the same trees from the leaves. */
static gboolean
plan (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  (void) group;
  (void) paths;
  (void) error;
  s->tracks = 1;
  s->lanes = s->steps = g_bit_storage (s->ranks - 1);   /* ceil (log2 n) */
  s->chunks = 1;
  s->blocks = s->ranks;
  s->alike = TRUE;
  s->priced = PRICED_PAT;
  return TRUE;
}

static gboolean
message (const Schedule *s, uint32_t rank, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  const uint32_t n = s->ranks, d = 1u << (s->op == OP_ALL_GATHER ? s->steps - 1 - step : step);

  (void) track;
  (void) chunk;
  out->peer = s->op == OP_ALL_GATHER ? (rank + d) % n : (rank + n - d) % n;
  out->lane = step;
  out->after[0].lane = step - (step > 0);
  out->after[0].count = step > 0;
  out->block = s->op == OP_ALL_GATHER ? rank : out->peer;
  out->stride = 2 * (uint64_t) d % n == 0 ? 0 : n - (uint32_t) (2 * (uint64_t) d % n);
  out->n_blocks = (n - d - 1) / d / 2 + 1;
  out->bytes = s->size / n * out->n_blocks;
  out->reduces = s->op == OP_REDUCE_SCATTER;
  return TRUE;
}

const CollectiveSteps pat_steps = { plan, message };
