/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/messages-private.h"
#include "strategy/price.h"
#include <math.h>
#include <string.h>

G_DEFINE_QUARK (messages-error-quark, messages_error)

/* Of a step; bytes of memory of all that they start from. */
static const double most_messages = 1e7, most_memory = 1e9;
/* Bytes of memory of what a group is played from. */
static const double track_bytes = 256, lane_bytes = 16;
/* Less of a call than this is the dust of sums. */
static const double least_part = 1e-9;

/* What a call of the graph stands for, itself if for nothing else. */
typedef struct { GraphPart own; const GraphPart *parts; guint n; } Parts;
/* One of them ready to be played. */
typedef struct { Schedule schedule; Paths paths; Protocol protocol; double hops; guint times; } Planned;

static gboolean
refuse (GError **error, const GraphCall *call, const char *key, const char *why)
{
  g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED, "%s: '%s' %s; give --tier flow", key, call->label, why);
  return FALSE;
}

static gboolean
fit (Messages *m, GError **error)
{
  if (m->count <= most_messages && m->memory <= most_memory)
    return TRUE;
  if (m->count > most_messages)
    g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED,
                 "[cluster] nodes: more than %.0f million messages in a step, too many to play one by one; give --tier flow or fewer ranks",
                 most_messages / 1e6);
  else
    g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED,
                 "[cluster] nodes: the messages of a step would take more than %.2g bytes of memory to play one by one; give --tier flow or "
                 "fewer ranks", most_memory);
  return FALSE;
}

gboolean
messages_some_slow (const Messages *m)
{
  return m->cards.slow_nodes > 0 && m->cards.slow_nodes < cluster_nodes (m->cluster);
}

static gboolean
only_unfolded (GError **error)
{
  g_set_error_literal (error, MESSAGES_ERROR, MESSAGES_FOLDED, "one rank cannot stand for others here");
  return FALSE;
}

/* Members in the order of their tasks: that of the ranks; of a message its sender first. */
void
messages_members (Messages *m)
{
  const StepGraph *graph = m->graph;

  m->first_member = g_new0 (guint, graph->calls->len + 1);
  m->position = g_new0 (guint, MAX (graph->tasks->len, 1));
  for (guint i = 0; i < graph->tasks->len; i++)
    if (graph_task (graph, i)->kind == GRAPH_MEET)
      m->position[i] = m->first_member[graph_task (graph, i)->call + 1]++;
  for (guint i = 0; i < graph->calls->len; i++)
    m->first_member[i + 1] += m->first_member[i];
  m->member = g_new (guint, MAX (m->first_member[graph->calls->len], 1));
  m->twin = g_new0 (guint, MAX (m->first_member[graph->calls->len], 1));
  m->actor = g_new0 (uint32_t, MAX (m->first_member[graph->calls->len], 1));
  for (guint i = 0; i < graph->tasks->len; i++)
    {
      const GraphTask *task = graph_task (graph, i);

      if (task->kind == GRAPH_MEET)
        m->member[m->first_member[task->call] + m->position[i]] = g_array_index (graph->queues, GraphQueue, task->queue).rank_class;
    }
}

/* Ranks of a node, or of a box of them, as all calls see them. */
static gboolean
same_boxes (Messages *m, const GraphCall *call, const char *which, GError **error)
{
  RankGroup all = price_all (m->cluster);

  cluster_fold_group (m->cluster, which, &all);
  if (m->per_node == 0)
    m->per_node = (uint32_t) all.per_node;
  return m->per_node == all.per_node
         || refuse (error, call, "[cluster] machine", "takes other links than the rest of the step, which no messages are known of");
}

/* Nobody to send to: launch and latency are all there is. */
static gboolean
moves_nothing (const GraphPart *part)
{
  return !(part->call.size > 0) || part->group.n_ranks < 2 || part->call.algorithm == NULL || !(part->count > least_part);
}

static gboolean
parts_of (const GraphCall *call, Parts *out, GError **error)
{
  *out = (Parts) { .own = { .call = call->call, .group = call->group, .count = 1 }, .parts = call->parts, .n = call->n_parts };
  if (out->n > 0)
    return TRUE;
  if (call->merged && call->call.size > 0 && (call->flow.n_loads > 0 || isfinite (call->flow.cap)))
    return refuse (error, call, "[strategy] kind", "stands for traffic of which no messages are known");
  out->own.call.algorithm = call->merged ? NULL : call->flow.algorithm;
  out->own.call.protocol = call->flow.protocol;
  out->n = 1;
  return TRUE;
}

/* Errors of schedules that `collective` prints too name no key. */
static gboolean
name_key (GError **error)
{
  if (error != NULL && (*error)->message[0] != '[')
    g_prefix_error (error, "[collective] algorithm: ");
  return FALSE;
}

/* Whole ones, or (`rest`) what of one is left: bytes and hops of the share. */
static gboolean
plan_part (Messages *m, const GraphCall *call, const GraphPart *part, gboolean rest, Planned *out, GError **error)
{
  const double whole = floor (part->count + least_part), left = part->count - whole;
  const char *paths = collective_paths (part->call.algorithm);
  CollectiveCall what = part->call;
  RankGroup group = part->group;

  *out = (Planned) { .protocol = what.protocol, .hops = 1, .times = (guint) whole };
  if (rest)
    {
      out->times = left > least_part;
      out->hops = left;
      what.size *= left;
      what.largest *= left;
    }
  return out->times == 0
         || (same_boxes (m, call, paths, error) && cluster_paths (m->cluster, paths, &group, &out->paths, error)
             && (schedule_init (&out->schedule, &what, &group, &out->paths, 0, error) || name_key (error)));
}

static guint
group_hash (gconstpointer key)
{
  const MessageGroup *g = key;
  const guint place = g->place != NULL ? g->place[0] * 31 + g->place[g->schedule.ranks - 1] : 0;

  return g_double_hash (&g->schedule.size) ^ (place * 7919 + g->line * 104729 + g->schedule.op);
}

static gboolean
same (double x, double y)
{
  return !(x < y) && !(x > y);
}

static gboolean
group_equal (gconstpointer x, gconstpointer y)
{
  const MessageGroup *a = x, *b = y;
  const Schedule *s = &a->schedule, *t = &b->schedule;

  if (s->steps_of != t->steps_of || s->op != t->op || !same (s->size, t->size) || s->actors != t->actors || s->per_node != t->per_node
      || s->chunks != t->chunks || s->one_way != t->one_way || s->variables != t->variables || !same (s->first_share, t->first_share) || a->protocol != b->protocol
      || a->line != b->line || !same (a->hops, b->hops) || (a->place == NULL) != (b->place == NULL))
    return FALSE;
  for (uint32_t i = 0; i < s->actors && a->place != NULL; i++)
    if (a->place[i] != b->place[i])
      return FALSE;
  return TRUE;
}

GHashTable *
messages_set_new (void)
{
  return g_hash_table_new (group_hash, group_equal);
}

/* Schedules number ranks node by node, as many on each. */
static gboolean
even (const Messages *m, const MessageGroup *g)
{
  const Schedule *s = &g->schedule;

  for (uint32_t i = 0; i < s->ranks && g->place != NULL; i++)
    {
      const uint32_t node = g->place[i] / m->per_node, first = g->place[i - i % s->per_node] / m->per_node;

      if (node != first || (i % s->per_node == 0 && i > 0 && s->nodes > 1 && node == g->place[i - 1] / m->per_node))
        return FALSE;
    }
  return TRUE;
}

static void
fill_places (const Messages *m, const Schedule *s, const Family *family, guint twin, uint32_t *place)
{
  for (uint32_t i = 0; i < s->ranks; i++)
    place[i] = family_rank (family, twin, i);
  for (uint32_t i = s->ranks; i < s->actors; i++)
    place[i] = m->ranks + (i - s->ranks);
}

/* Its number; as new, or one known that plays the same. */
static guint
group_number (Messages *m, const MessageGroup *what, double times)
{
  MessageGroup *g = g_hash_table_lookup (m->known, what);

  if (g == NULL)
    {
      const Schedule *s = &what->schedule;

      g = arena_array (m->arena, MessageGroup, 1);
      *g = *what;
      if (what->place != NULL)
        g->place = memcpy (arena_array (m->arena, uint32_t, s->actors), what->place, s->actors * sizeof (uint32_t));
      g_hash_table_add (m->known, g);
      g_ptr_array_add (m->groups, g);
      m->memory += g->played * (s->tracks * track_bytes + s->lanes * lane_bytes) + sizeof (MessageGroup);
      g->number = m->groups->len - 1;
    }
  g->times += times;
  return g->number;
}

static double
messages_of (const Schedule *s, double actors)
{
  return actors * s->tracks * s->steps * s->chunks;
}

/* A part of the call for all of its twins. */
static gboolean
add_part (Messages *m, guint index, const Planned *planned, const Family *family, MessagePart *out, GError **error)
{
  const GraphCall *call = graph_get_call (m->graph, index);
  const Schedule *s = &planned->schedule;
  guint *numbers = arena_array (m->arena, guint, m->calls[index].n_groups);
  MessageGroup what = { .schedule = *s, .protocol = planned->protocol, .paths = planned->paths, .line = m->line[index], .hops = planned->hops };
  /* servers and switches beside the ranks, where all of these are there */
  what.played = m->folded ? 1 : family->come < s->ranks ? family->come : s->actors;
  g_autofree uint32_t *place = g_new (uint32_t, s->actors);

  m->count += planned->times * m->calls[index].n_groups * messages_of (s, what.played);
  if (!fit (m, error))
    return FALSE;
  for (guint twin = 0; twin < m->calls[index].n_groups; twin++)
    {
      if (!m->folded)
        fill_places (m, s, family, twin, what.place = place);
      if (!even (m, &what))
        return refuse (error, call, "[cluster] gpus-per-node", "is of ranks that lie unevenly on the nodes");
      numbers[twin] = group_number (m, &what, planned->times);
    }
  *out = (MessagePart) {
    .times = planned->times, .launch = planned->hops * schedule_launch (s, &planned->paths, planned->protocol), .group = numbers,
  };
  return TRUE;
}

/* Of others at that time, on idle links of their own: s of all messages. */
static gboolean
seconds_aside (const Messages *m, const Planned *planned, double *seconds, GError **error)
{
  const Schedule *s = &planned->schedule;
  g_autoptr (Fabric) fabric = fabric_new (s, &planned->paths, cluster_network (m->cluster), planned->protocol, FALSE);
  g_autoptr (Play) play = play_new (fabric, FALSE);
  const PlayJob job = { .schedule = s, .hops = planned->hops };

  play_add (play, &job);
  if (!play_run (play, error))
    return FALSE;
  *seconds += planned->times * (planned->hops * schedule_launch (s, &planned->paths, planned->protocol)
                                + (double) play_end (play, 0) / TICKS_PER_S);
  return TRUE;
}

static gboolean
may_fold (const Messages *m, const Planned *planned, const RankGroup *group)
{
  return group->n_ranks == m->ranks && (group->n_nodes < 2 || !messages_some_slow (m)) && fabric_may_fold (&planned->schedule, &planned->paths);
}

static gboolean
check_part (Messages *m, guint index, const GraphPart *part, const Planned *planned, Family *family, GError **error)
{
  const GraphCall *call = graph_get_call (m->graph, index);
  const MessageCall *to = &m->calls[index];

  *family = (Family) { .twins = 1, .come = 1 };
  if (planned->schedule.servers > 0 && part->group.n_ranks != m->ranks)
    return refuse (error, call, "[collective] algorithm", "is of a part of the ranks, but servers serve all");
  if (m->folded)
    return may_fold (m, planned, &part->group) || only_unfolded (error);
  if (!messages_family (m, index, &part->group, &planned->schedule, part->call.one_way, family)
      || (m->period > 0 && planned->paths.n_levels > 0 && !placement_packed (planned->paths.placement)))
    return only_unfolded (error);
  if (family->n % family->size == 0 && (to->n_groups == 0 || (to->n_groups == family->twins && to->ranks == family->come)))
    return TRUE;
  return refuse (error, call, "[strategy] kind", "is of ranks whose groups are not known one by one");
}

gboolean
messages_plan_call (Messages *m, guint index, GError **error)
{
  const GraphCall *call = graph_get_call (m->graph, index);
  MessageCall *to = &m->calls[index];
  MessagePart *out;
  double aside = 0;
  Parts parts;

  to->first = m->twins;
  to->together = call->together;
  if (!parts_of (call, &parts, error))
    return FALSE;
  out = arena_array (m->arena, MessagePart, 2 * parts.n);
  to->part = out;
  for (guint i = 0; i < 2 * parts.n; i++)
    {
      const GraphPart *part = parts.parts != NULL ? &parts.parts[i / 2] : &parts.own;
      Planned planned;
      Family family;

      if (moves_nothing (part))
        continue;
      if (!plan_part (m, call, part, i % 2 == 1, &planned, error))
        return FALSE;
      if (planned.times == 0)
        continue;
      if (part->aside)
        {
          if (!seconds_aside (m, &planned, &aside, error))
            return FALSE;
          continue;
        }
      if (!check_part (m, index, part, &planned, &family, error))
        return FALSE;
      if (!m->folded && to->n_groups == 0)
        family_members (m, index, &family);
      to->ranks = family.come;
      to->n_groups = family.twins;
      if (!add_part (m, index, &planned, &family, &out[to->n_parts], error))
        return FALSE;
      out[to->n_parts].launch += part->seconds;
      out[to->n_parts++].together = part->together;
    }
  if (to->n_parts > 0)
    out[0].launch += aside;
  m->twins += to->n_groups;
  return TRUE;
}

gboolean
messages_would_fit (Messages *m, GError **error)
{
  m->count = m->memory = 0;
  for (guint i = 0; i < m->graph->calls->len; i++)
    {
      const GraphCall *call = graph_get_call (m->graph, i);
      double members = 0;
      Parts parts;

      if (!parts_of (call, &parts, error))
        return FALSE;
      for (guint k = m->first_member[i]; k < m->first_member[i + 1]; k++)
        members += (double) g_array_index (m->graph->classes, RankClass, m->member[k]).multiplicity;
      for (guint k = 0; k < 2 * parts.n; k++)
        {
          const GraphPart *part = parts.parts != NULL ? &parts.parts[k / 2] : &parts.own;
          Planned planned;

          if (moves_nothing (part) || part->aside)
            continue;
          if (!plan_part (m, call, part, k % 2 == 1, &planned, error))
            return FALSE;
          if (planned.times > 0)
            m->count += planned.times * members / (double) part->group.n_ranks * messages_of (&planned.schedule, planned.schedule.actors);
        }
    }
  return fit (m, error);
}
