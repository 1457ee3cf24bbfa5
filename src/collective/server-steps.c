/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"
#include <math.h>

/* Ranks that share a copy (a node; one GPU where every GPU is for itself) reduce-
 * scatter among themselves, send each shard in R parts to R servers, get the sums
 * back and gather, chunk after chunk.  A server sends a chunk back once every node's
 * came: BytePS (OSDI'20).  Switches that add are one server in the network; their
 * ranks send each shard straight to its owner (NCCL's CollNetDirect), else in a ring. */
enum { SCATTERS, GATHERS, TO_SERVERS };   /* a worker's tracks */
static gboolean
plan (Schedule *s, uint32_t shards, uint32_t servers, ActorsMore more)
{
  const uint32_t copies = s->ranks / shards;

  s->more = more;
  s->shards = shards;
  s->servers = servers;
  s->actors = s->ranks + servers;
  s->tracks = MAX (TO_SERVERS + servers, copies * shards);
  s->steps = MAX (1, shards - 1);
  s->lanes = MAX (3, shards) * s->chunks;
  s->blocks = shards * servers * s->chunks;
  s->one_peer = more != ACTORS_SWITCH || shards < 2;
  s->chunks_first = TRUE;
  return TRUE;
}

/* BytePS with k servers and one on each of the n workers (OSDI'20; byteps/common/
 * global.cc, Hash_Mixed_Mode): workers hold x of the bytes each, servers y, n x + k y
 * = 1.  A worker's cards carry 1 + (n - 2) x each way, a server's n y; x makes both
 * take as long. */
double
server_worker_share (const Paths *paths, double nodes)
{
  const double worker = paths->server_nic_efficiency * paths->between.links * paths->between.capacity;
  const double server = (double) paths->servers * paths->server_efficiency * paths->server_capacity;

  return fmax (0, (nodes * worker - server) / (nodes * nodes * worker + (nodes - 2) * server));
}

static double
share_of (const Schedule *s, uint32_t server)
{
  if (server < s->n_first)
    return s->first_share;
  return (1 - s->n_first * s->first_share) / (s->servers - s->n_first);
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
  const uint32_t servers = (uint32_t) paths->servers, shards = paths->server_local_reduction ? s->per_node : 1;
  const double of_worker = paths->server_on_both ? server_worker_share (paths, s->nodes) : 0;

  (void) group;
  if (no_servers (paths, "parameter-server", error))
    return FALSE;
  if (of_worker > 0)
    {
      s->hosted = s->n_first = s->nodes;
      s->first_share = of_worker;
    }
  else if (paths->server_colocated)
    s->hosted = servers;
  /* whole tensors: the largest sits on one server */
  if (!paths->server_local_reduction && s->first_share > 1. / servers)
    s->n_first = 1;
  return plan (s, shards, servers + s->n_first * (of_worker > 0), ACTORS_SERVERS);
}

static gboolean
plan_switch (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  (void) group;
  (void) paths;
  (void) error;
  return plan (s, s->per_node, 1, ACTORS_SWITCH);
}

/* A worker's lanes, of each chunk one: what came of it from servers, of the reduce-
 * scatter and of the gather. */
static uint32_t
lane_summed (uint32_t chunk)
{
  return chunk;
}

static uint32_t
lane_among (const Schedule *s, gboolean scatter, uint32_t chunk)
{
  return (scatter ? 1 : 2) * s->chunks + chunk;
}

static gboolean
among_shards (const Schedule *s, uint32_t rank, gboolean scatter, uint32_t step, uint32_t chunk, Message *out)
{
  const uint32_t p = s->shards, local = rank % p;
  const gboolean direct = s->more == ACTORS_SWITCH, first = step == 0 || direct;
  const uint32_t to = (local + (direct ? step + 1 : 1)) % p;
  /* in a ring rank l ends the reduce-scatter with shard l: it starts with l - 1 */
  const uint32_t shard = direct ? (scatter ? to : local) : (local + 2 * p - step - (scatter ? 1 : 0)) % p;

  if (p < 2 || step + 1 >= p)
    return FALSE;
  out->peer = rank - local + to;
  out->lane = lane_among (s, scatter, chunk);
  out->reduces = scatter;
  out->after[0].lane = first ? lane_summed (chunk) : out->lane;
  out->after[0].count = !first ? step : scatter ? 0 : s->servers;
  out->block = shard * s->servers * s->chunks + chunk;
  out->n_blocks = s->servers;
  out->stride = s->chunks;
  out->bytes = s->size / p / s->chunks;
  return TRUE;
}

static gboolean
message (const Schedule *s, uint32_t actor, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  const uint32_t p = s->shards, k = s->chunks;
  const gboolean server = actor >= s->ranks;
  const uint32_t worker = server ? track : actor, at = server ? actor - s->ranks : track - TO_SERVERS;

  if (!server && track < TO_SERVERS)
    return among_shards (s, actor, track == SCATTERS, step, chunk, out);
  if (step > 0 || (server ? track >= s->ranks : at >= s->servers) || !(share_of (s, at) > 0))
    return FALSE;
  out->peer = server ? worker : s->ranks + at;
  out->lane = server ? lane_summed (chunk) : worker % p * k + chunk;
  out->after[0].lane = server ? worker % p * k + chunk : lane_among (s, TRUE, chunk);
  out->after[0].count = server ? s->ranks / p : p - 1;
  out->block = (worker % p * s->servers + at) * k + chunk;
  out->n_blocks = 1;
  out->bytes = s->size / p * share_of (s, at) / k;
  out->reduces = !server;
  return TRUE;
}

const CollectiveSteps server_steps = { plan_reducers, message };
const CollectiveSteps parameter_server_steps = { plan_parameter, message };
const CollectiveSteps switch_steps = { plan_switch, message };
