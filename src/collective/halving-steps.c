/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"

/* Recursive halving and doubling (Thakur, Rabenseifner, Gropp 2005), near partners
 * first: the node's level, then its shards between nodes.  Of each level a power of
 * two takes part; each of the others hands its bytes to a partner before and gets
 * the sums after.  Steps, the same number on every rank:
 *   0           others in the node -> partner
 *   1 ...       halving in the node
 *   a           other nodes' shards -> partner
 *   a + 1 ...   halving, then doubling between nodes
 *   b           sums to the other nodes
 *   b + 1 ...   doubling in the node
 *   last        sums to the others in the node */
typedef struct { uint32_t in, between, in_part, between_part, a, b, last; } Plan;

static Plan
plan_of (const Schedule *s)
{
  Plan p = { .in = g_bit_storage (s->per_node) - 1, .between = g_bit_storage (s->nodes) - 1 };

  p.in_part = 1u << p.in;
  p.between_part = 1u << p.between;
  p.a = p.in + 1;
  p.b = p.a + 2 * p.between + 1;
  p.last = p.b + p.in + 1;
  return p;
}

static gboolean
plan (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  const Plan p = plan_of (s);

  (void) group;
  (void) paths;
  (void) error;
  s->tracks = 1;
  s->chunks = 1;
  s->steps = s->lanes = p.last + 1;
  s->blocks = p.in_part * p.between_part;
  s->own = s->size / s->ranks;
  return TRUE;
}

/* First of the blocks that a member still works on after `halvings` of `part`. */
static uint32_t
first_of (uint32_t member, uint32_t halvings, uint32_t part)
{
  uint32_t first = 0;

  for (uint32_t i = 0; i < halvings; i++)
    first += (member >> i & 1) * (part >> (i + 1));
  return first;
}

/* One exchange of a level: what goes, in blocks of the level, and to whom. */
typedef struct { uint32_t member, first, n; } Half;

static Half
half_of (uint32_t member, uint32_t round, uint32_t part, gboolean doubling)
{
  const uint32_t other = member ^ (1u << round);

  return (Half) { other, first_of (doubling ? member : other, round + 1, part), part >> (round + 1) };
}

/* The round of a level at this step, or FALSE. */
static gboolean
round_at (const Plan *p, uint32_t step, gboolean *in_node, gboolean *doubling, uint32_t *round)
{
  *in_node = step <= p->in || step > p->b;
  *doubling = *in_node ? step > p->b : step > p->a + p->between;
  *round = !*doubling ? step - (*in_node ? 0 : p->a) - 1 : (*in_node ? p->last : p->b) - 1 - step;
  return step != 0 && step != p->a && step != p->b && step != p->last;
}

/* Who sends to whom, without what; FALSE: nobody. */
static gboolean
peer_at (const Schedule *s, const Plan *p, uint32_t rank, uint32_t step, uint32_t *peer)
{
  const uint32_t local = rank % s->per_node, node = rank / s->per_node;
  gboolean in_node, doubling;
  uint32_t round;

  if (step == 0)
    *peer = rank - p->in_part;
  else if (step == p->last)
    *peer = rank + p->in_part;
  else if (step == p->a)
    *peer = rank - p->between_part * s->per_node;
  else if (step == p->b)
    *peer = rank + p->between_part * s->per_node;
  else if (round_at (p, step, &in_node, &doubling, &round))
    *peer = in_node ? node * s->per_node + (local ^ (1u << round)) : (node ^ (1u << round)) * s->per_node + local;
  if (step == 0)
    return local >= p->in_part;
  if (local >= p->in_part)
    return FALSE;
  if (step == p->last)
    return local + p->in_part < s->per_node;
  if (step == p->a)
    return node >= p->between_part;
  if (step == p->b)
    return node + p->between_part < s->nodes;
  return step < p->a || step > p->b || node < p->between_part;
}

/* The way back of peer_at. */
static gboolean
hears_at (const Schedule *s, const Plan *p, uint32_t rank, uint32_t step)
{
  const uint32_t local = rank % s->per_node, node = rank / s->per_node;

  if (step == 0)
    return local + p->in_part < s->per_node;
  if (step == p->last)
    return local >= p->in_part;
  if (local >= p->in_part)
    return FALSE;
  if (step == p->a)
    return node + p->between_part < s->nodes;
  if (step == p->b)
    return node >= p->between_part;
  return step < p->a || step > p->b || node < p->between_part;
}

static void
fill_blocks (const Schedule *s, const Plan *p, uint32_t rank, uint32_t step, Message *out)
{
  const uint32_t local = rank % s->per_node, node = rank / s->per_node, shard = first_of (local, p->in, p->in_part) * p->between_part;
  gboolean in_node, doubling;
  uint32_t round;

  out->reduces = step <= p->a + p->between;
  if (step == 0 || step == p->last)
    out->n_blocks = s->blocks;
  else if (round_at (p, step, &in_node, &doubling, &round))
    {
      const Half half = in_node ? half_of (local, round, p->in_part, doubling) : half_of (node, round, p->between_part, doubling);

      out->block = in_node ? half.first * p->between_part : shard + half.first;
      out->n_blocks = in_node ? half.n * p->between_part : half.n;
    }
  else
    {
      out->block = shard;
      out->n_blocks = p->between_part;
    }
  out->bytes = s->size / s->blocks * out->n_blocks;
}

static gboolean
message (const Schedule *s, uint32_t rank, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  const Plan p = plan_of (s);
  uint32_t waits = 0;

  (void) track;
  (void) chunk;
  if (!peer_at (s, &p, rank, step, &out->peer))
    return FALSE;
  out->lane = step;
  fill_blocks (s, &p, rank, step, out);
  /* The steps before waited for what came before those; two lie between at most. */
  for (uint32_t before = step; before-- > 0 && waits < MESSAGE_WAITS;)
    if (hears_at (s, &p, rank, before))
      {
        out->after[waits].lane = before;
        out->after[waits++].count = 1;
      }
  return TRUE;
}

const CollectiveSteps halving_doubling_steps = { plan, message };
