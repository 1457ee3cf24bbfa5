/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"

/* All-to-all: 1/n to each of the others, all at once.  Send/recv: all of it to the
 * next rank.  Nobody waits. */
static gboolean
plan (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  (void) group;
  (void) paths;
  (void) error;
  s->lanes = s->steps = 1;
  s->tracks = s->op == OP_ALL_TO_ALL ? s->ranks - 1 : 1;
  s->blocks = (s->op == OP_ALL_TO_ALL ? s->ranks * s->ranks : s->ranks) * s->chunks;
  s->one_peer = s->alike = s->point = TRUE;
  return TRUE;
}

static gboolean
message (const Schedule *s, uint32_t rank, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  const gboolean all = s->op == OP_ALL_TO_ALL;

  (void) step;
  out->peer = (uint32_t) (((uint64_t) rank + track + 1) % s->ranks);
  out->block = (all ? rank * s->ranks + out->peer : rank) * s->chunks + chunk;
  out->n_blocks = 1;
  out->bytes = (all ? s->size / s->ranks : s->size) / s->chunks;
  return TRUE;
}

const CollectiveSteps point_to_point_steps = { plan, message };
