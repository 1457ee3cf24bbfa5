/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"

/* Patarasuk and Yuan 2009: n blocks go round, in the first n - 1 steps added to, in
 * the last copied.  A rank sends a block once the step before brought it. */
static gboolean
plan (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  const uint32_t n = s->ranks;

  (void) group;
  (void) paths;
  (void) error;
  s->tracks = s->lanes = 1;
  s->one_peer = TRUE;
  s->alike = s->stream = s->op != OP_BROADCAST;
  s->steps = s->op == OP_ALL_REDUCE ? 2 * (n - 1) : s->op == OP_BROADCAST ? 1 : n - 1;
  s->blocks = (s->op == OP_BROADCAST ? 1 : n) * s->chunks;
  s->own = s->op == OP_BROADCAST ? 0 : s->size / n;
  return TRUE;
}

/* A pipelined chain from rank 0 to the last. */
static gboolean
chain (const Schedule *s, uint32_t rank, uint32_t chunk, Message *out)
{
  if (rank + 1 >= s->ranks)
    return FALSE;
  out->peer = rank + 1;
  out->after[0].count = rank > 0 ? chunk + 1 : 0;
  out->block = chunk;
  out->n_blocks = 1;
  out->bytes = s->size / s->chunks;
  return TRUE;
}

static gboolean
message (const Schedule *s, uint32_t rank, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  const uint32_t n = s->ranks;
  uint32_t block;

  (void) track;
  if (s->op == OP_BROADCAST)
    return chain (s, rank, chunk, out);
  /* a gather goes on where the reduction ended: rank r holds block r + 1, or its own */
  block = rank + 2 * n - step;
  while (block >= n)
    block -= n;
  out->peer = rank + 1 < n ? rank + 1 : 0;
  out->after[0].count = step > 0 ? (step - 1) * s->chunks + chunk + 1 : 0;
  out->block = block * s->chunks + chunk;
  out->n_blocks = 1;
  out->bytes = s->size / n / s->chunks;
  out->reduces = s->op != OP_ALL_GATHER && step + 1 < n;
  return TRUE;
}

const CollectiveSteps ring_steps = { plan, message };
