/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"

/* Ranks that share a copy (a node; one GPU where every GPU is for itself) reduce-
 * scatter among themselves, send each shard in R parts to R servers, get the sums
 * back and gather.  A server sends a chunk back once every node's came: BytePS
 * (OSDI'20).  Switches that add are one server in the network. */
static gboolean
plan (Schedule *s, uint32_t shards, uint32_t servers, ActorsMore more)
{
  const uint32_t copies = s->ranks / shards;

  s->more = more;
  s->shards = shards;
  s->servers = servers;
  s->actors = s->ranks + servers;
  s->tracks = MAX (1 + servers, copies * shards);
  s->steps = MAX (1, 2 * (shards - 1));
  s->lanes = MAX (3, shards * s->chunks);
  s->blocks = shards * servers * s->chunks;
  s->one_peer = TRUE;
  return TRUE;
}

static gboolean
no_servers (const Paths *paths, const char *group, GError **error)
{
  if (paths->servers > 0)
    return FALSE;
  g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED, "[%s] count: 0, but messages to servers need some; give 1 or more",
               group);
  return TRUE;
}

static gboolean
plan_reducers (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  (void) group;
  return !no_servers (paths, "reduction-server", error) && plan (s, s->per_node, (uint32_t) paths->servers, ACTORS_SERVERS);
}

static gboolean
plan_parameter (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  (void) group;
  if (no_servers (paths, "parameter-server", error))
    return FALSE;
  if (paths->server_colocated || paths->server_on_both)
    {
      g_set_error_literal (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED,
                           "[parameter-server] colocated: of servers on the workers no messages are known; give false");
      return FALSE;
    }
  return plan (s, paths->server_local_reduction ? s->per_node : 1, (uint32_t) paths->servers, ACTORS_SERVERS);
}

static gboolean
plan_switch (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  (void) group;
  (void) paths;
  (void) error;
  return plan (s, s->per_node, 1, ACTORS_SWITCH);
}

/* Worker's lanes: what came in the reduce-scatter, in the gather, from servers. */
enum { SCATTERED, GATHERED, SUMMED };

static gboolean
among_shards (const Schedule *s, uint32_t rank, uint32_t step, Message *out)
{
  const uint32_t p = s->shards, local = rank % p, whole = s->servers * s->chunks;
  const gboolean scatter = step < p - 1;
  const uint32_t in = scatter ? step : step - (p - 1);

  if (p < 2)
    return FALSE;
  out->peer = rank - local + (local + 1) % p;
  out->lane = scatter ? SCATTERED : GATHERED;
  out->reduces = scatter;
  out->after[0].lane = in > 0 ? out->lane : SUMMED;
  out->after[0].count = in > 0 ? in : scatter ? 0 : whole;
  /* rank l ends the first ring with shard l: it starts with l - 1 */
  out->block = (local + 2 * p - in - (scatter ? 1 : 0)) % p * whole;
  out->n_blocks = whole;
  out->bytes = s->size / p;
  return TRUE;
}

static gboolean
message (const Schedule *s, uint32_t actor, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  const uint32_t p = s->shards, k = s->chunks;
  const gboolean server = actor >= s->ranks;
  const uint32_t worker = server ? track : actor, at = server ? actor - s->ranks : track - 1;

  if (!server && track == 0)
    return chunk == 0 && among_shards (s, actor, step, out);
  if (step > 0 || (server ? track >= s->ranks : track > s->servers))
    return FALSE;
  out->peer = server ? worker : s->ranks + at;
  out->lane = server ? SUMMED : worker % p * k + chunk;
  out->after[0].lane = server ? worker % p * k + chunk : SCATTERED;
  out->after[0].count = server ? s->ranks / p : p - 1;
  out->block = (worker % p * s->servers + at) * k + chunk;
  out->n_blocks = 1;
  out->bytes = s->size / p / s->servers / k;
  out->reduces = !server;
  return TRUE;
}

const CollectiveSteps server_steps = { plan_reducers, message };
const CollectiveSteps parameter_server_steps = { plan_parameter, message };
const CollectiveSteps switch_steps = { plan_switch, message };
