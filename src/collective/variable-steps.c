/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"

/* TensorFlow 1's variables on servers: every worker pushes the gradient of each to its
 * server, all at once; and, once all are applied, pulls each from there.  A variable is
 * an actor of its own; what its server's cards carry they share. */
static gboolean
plan (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  (void) group;
  (void) paths;
  (void) error;
  s->more = ACTORS_SERVERS;
  s->servers = s->variables->n;
  s->actors = s->ranks + s->servers;
  s->tracks = MAX (s->servers, s->ranks);
  s->steps = s->lanes = 1;
  s->blocks = s->servers;
  s->one_peer = TRUE;
  return TRUE;
}

/* With gradients added up in the node one of its ranks speaks for all. */
static gboolean
speaks (const Schedule *s, uint32_t rank)
{
  return !s->variables->one_a_node || rank % s->per_node == 0;
}

static gboolean
send (const Schedule *s, uint32_t variable, uint32_t peer, Message *out)
{
  out->peer = peer;
  out->block = variable;
  out->n_blocks = 1;
  out->bytes = s->variables->bytes[variable];
  return TRUE;
}

static gboolean
push (const Schedule *s, uint32_t actor, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  (void) step;
  (void) chunk;
  out->reduces = TRUE;
  return actor < s->ranks && track < s->servers && speaks (s, actor) && send (s, track, s->ranks + track, out);
}

static gboolean
pull (const Schedule *s, uint32_t actor, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  (void) step;
  (void) chunk;
  return actor >= s->ranks && track < s->ranks && speaks (s, track) && send (s, actor - s->ranks, track, out);
}

static const CollectiveSteps push_steps = { plan, push }, pull_steps = { plan, pull };

/* Parts of a step, not algorithms to choose. */
const CollectiveAlgorithm collective_push = { .name = "push", .ops = OP_ALL_REDUCE, .paths = "grpc", .steps = &push_steps };
const CollectiveAlgorithm collective_pull = { .name = "pull", .ops = OP_ALL_REDUCE, .paths = "grpc", .steps = &pull_steps };
