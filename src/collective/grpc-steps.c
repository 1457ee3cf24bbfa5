/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"
#include <math.h>

/* TensorFlow's RING (core/common_runtime/ring_alg.cc, ring_reducer.cc): the blocks are
 * cut into parts, at most two a device of a task, to keep a message under 4 MiB; each
 * part goes round in a ring of its own, in which the devices of a task stand in
 * another order, every other part's reversed. */
static gboolean
plan (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  const uint32_t n = s->ranks;
  double parts = 1;

  (void) group;
  (void) error;
  if (s->nodes > 1 && paths->chunk > 0)
    parts = CLAMP (ceil (s->size / n / paths->chunk), 1, 2 * (double) s->per_node);
  s->tracks = s->lanes = (uint32_t) parts;
  s->steps = (s->op == OP_ALL_REDUCE ? 2 : 1) * (n - 1);
  s->blocks = n * s->tracks * s->chunks;
  s->one_peer = s->alike = s->stream = TRUE;
  s->priced = PRICED_GRPC;
  return TRUE;
}

/* Where a device of a task stands in a part's ring, and back: either is the other. */
static uint32_t
turned (uint32_t local, uint32_t part, uint32_t per_node)
{
  const uint32_t by = part / 2 % per_node;

  return part % 2 == 0 ? (local + by) % per_node : (per_node - 1 - local + by) % per_node;
}

static uint32_t
turned_back (uint32_t place, uint32_t part, uint32_t per_node)
{
  const uint32_t from = (place + per_node - part / 2 % per_node) % per_node;

  return part % 2 == 0 ? from : per_node - 1 - from;
}

static uint32_t
rank_at (const Schedule *s, uint32_t place, uint32_t part)
{
  return place - place % s->per_node + turned_back (place % s->per_node, part, s->per_node);
}

static gboolean
message (const Schedule *s, uint32_t rank, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  const uint32_t n = s->ranks, p = s->per_node;
  const uint32_t place = rank - rank % p + turned (rank % p, track, p);
  const uint32_t of = (uint32_t) (((uint64_t) place + 2 * (uint64_t) n - step) % n);

  out->peer = rank_at (s, place + 1 < n ? place + 1 : 0, track);
  out->lane = track;
  out->after[0].lane = track;
  out->after[0].count = step > 0 ? (step - 1) * s->chunks + chunk + 1 : 0;
  out->block = (rank_at (s, of, track) * s->tracks + track) * s->chunks + chunk;
  out->n_blocks = 1;
  out->bytes = s->size / n / s->tracks / s->chunks;
  out->reduces = s->op != OP_ALL_GATHER && step + 1 < n;
  return TRUE;
}

const CollectiveSteps grpc_ring_steps = { plan, message };
