/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"

/* All-to-all: 1/n to each of the others, all at once.  Send/recv: all of it to the
 * next rank, or (one way) from the first to the second alone.  Nobody waits. */
static gboolean
plan (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  (void) group;
  (void) paths;
  (void) error;
  s->lanes = s->steps = 1;
  s->tracks = s->op == OP_ALL_TO_ALL ? s->ranks - 1 : 1;
  s->blocks = (s->op == OP_ALL_TO_ALL ? s->ranks * s->ranks : s->ranks) * s->chunks;
  s->one_peer = TRUE;
  s->alike = !s->one_way;
  s->priced = s->op == OP_ALL_TO_ALL ? PRICED_POINT : PRICED_PAIR;
  return TRUE;
}

static gboolean
message (const Schedule *s, uint32_t rank, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  const gboolean all = s->op == OP_ALL_TO_ALL;

  (void) step;
  if (s->one_way && rank > 0)
    return FALSE;
  out->peer = (uint32_t) (((uint64_t) rank + track + 1) % s->ranks);
  out->block = (all ? rank * s->ranks + out->peer : rank) * s->chunks + chunk;
  out->n_blocks = 1;
  out->bytes = (all ? s->size / s->ranks : s->size) / s->chunks;
  return TRUE;
}

const CollectiveSteps point_to_point_steps = { plan, message };

/* One partner after the other, in as many rounds as there are others: of a power of
 * two ranks those whose numbers differ by an exclusive or, else the next but so many
 * (Thakur, Rabenseifner, Gropp 2005, long messages).  Who is through with a round
 * goes on to the next. */
static gboolean
plan_pairs (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  (void) group;
  (void) paths;
  (void) error;
  s->tracks = 1;
  s->lanes = s->steps = s->ranks - 1;
  s->blocks = s->ranks * s->ranks * s->chunks;
  s->alike = TRUE;
  s->priced = PRICED_PAIR;
  return TRUE;
}

static gboolean
pair_message (const Schedule *s, uint32_t rank, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  const uint32_t n = s->ranks;

  (void) track;
  out->peer = (n & (n - 1)) == 0 ? rank ^ (step + 1) : (uint32_t) (((uint64_t) rank + step + 1) % n);
  out->lane = step;
  out->after[0].lane = step - (step > 0);
  out->after[0].count = step > 0 ? s->chunks : 0;
  out->block = (rank * n + out->peer) * s->chunks + chunk;
  out->n_blocks = 1;
  out->bytes = s->size / n / s->chunks;
  return TRUE;
}

const CollectiveSteps pairwise_steps = { plan_pairs, pair_message };
