/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"
#include <math.h>
#include <string.h>

/* What passes at once in NCCL's pipelines: a buffer of 8 steps of 4 MiB (Simple), of
 * 512 KiB, half of it flags (LL), of 4.7 MiB, 120 of 128 bytes data (LL128): NCCL
 * 2.30 src/include/device.h, comm.h. */
static const double slice_bytes[N_PROTOCOLS] = {
  [PROTOCOL_LL] = 512 * 1024 / 8 / 2, [PROTOCOL_LL128] = 120. * 640 * 8, [PROTOCOL_SIMPLE] = 4096 * 1024 / 8,
};
/* More do not shorten the fill by a hundredth. */
#define CHUNKS_MAX 256.0

static gboolean
unsupported (GError **error, const char *format, const char *name, const char *more)
{
  g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED, format, name, more);
  return FALSE;
}

/* Of NVLS, from which it falls for small messages: the same, src/enqueue.cc. */
#define NVLS_BYTES (128. * 1024)

static double
cut (double bytes, double slice, double most)
{
  return CLAMP (ceil (bytes / slice), 1, most);
}

/* Chunks that follow each other through what the call asks for. */
static uint32_t
chunks_of (const Schedule *s, Protocol protocol)
{
  const CollectiveSteps *steps = s->steps_of;

  if (steps == &nvls_steps)   /* of each owner's shard */
    return (uint32_t) cut (s->size / s->per_node, NVLS_BYTES, MAX (1, CHUNKS_MAX / s->per_node));
  if (steps == &gloo_steps)   /* two segments a process (gloo/allreduce.cc) */
    return 2;
  if (steps == &tree_steps || steps == &server_steps || steps == &parameter_server_steps || steps == &switch_steps
      || s->op == OP_BROADCAST)
    return (uint32_t) cut (s->size, slice_bytes[MIN (protocol, PROTOCOL_SIMPLE)], CHUNKS_MAX);
  return 1;
}

gboolean
schedule_init (Schedule *out, const CollectiveCall *call, const RankGroup *group, const Paths *paths, guint chunks, GError **error)
{
  const CollectiveAlgorithm *algorithm = call->algorithm;

  memset (out, 0, sizeof *out);
  if (algorithm->steps == NULL)
    return unsupported (error, "of the algorithm %s no messages are known; %s", algorithm->name,
                        "'lockstep list algorithms' names those that have them");
  if ((algorithm->ops & call->op) == 0)
    return unsupported (error, "the algorithm %s cannot do %s", algorithm->name, collective_op_name (call->op));
  if (group->n_ranks < 2 || group->n_ranks > G_MAXINT32 || !(call->size > 0))
    return unsupported (error, "%s as messages needs two ranks or more%s", algorithm->name, " and a size above 0");
  out->steps_of = algorithm->steps;
  out->op = call->op;
  out->size = call->size;
  out->ranks = out->actors = (uint32_t) group->n_ranks;
  out->nodes = (uint32_t) group->n_nodes;
  out->per_node = (uint32_t) group->per_node;
  out->one_way = call->one_way;
  out->variables = call->variables;
  out->first_share = call->largest / call->size;
  out->chunks = chunks > 0 ? chunks : chunks_of (out, call->protocol);
  if (!algorithm->steps->plan (out, group, paths, error))
    return FALSE;
  if ((double) out->steps * out->chunks < 0x1p32 && (double) out->actors * out->tracks < 0x1p32)
    return TRUE;
  return unsupported (error, "%s has more than 2^32 messages of one rank here%s", algorithm->name, "; give fewer ranks or chunks");
}

double
schedule_launch (const Schedule *s, const Paths *paths, Protocol p)
{
  const double in_node = s->per_node > 1 ? paths->in_node.rate * paths->in_node.share[p] : INFINITY;
  const double between = s->nodes > 1 ? paths->between.rate * paths->between.share[p] : INFINITY;
  const double calls = s->steps_of == &hierarchical_steps ? 3 : 1;   /* a kernel each */

  if (s->more == ACTORS_SERVERS || s->priced == PRICED_GRPC || s->priced == PRICED_HOST)
    return 0;   /* the software of both ends is in their hops */
  if (schedule_one_message (s))
    return p == PROTOCOL_LL ? paths->p2p_launch : paths->launch[PROTOCOL_LL];
  if (s->priced == PRICED_POINT || s->priced == PRICED_PAIR)
    return paths->p2p_launch + (p == PROTOCOL_LL ? 0 : paths->p2p_simple);
  if (s->more == ACTORS_NVSWITCHES && s->nodes < 2)
    return paths->launch[PROTOCOL_LL];
  if (!isfinite (paths->local))
    return calls * paths->launch[p];
  /* LL and LL128 copy their own at their own rate */
  return calls * paths->launch[p] + s->own / (p == PROTOCOL_SIMPLE ? paths->local : fmin (in_node, between));
}
