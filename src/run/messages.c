/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/messages-private.h"
#include "run/lines.h"
#include "strategy/price.h"

/* Tasks of the graph of a step. */
static const double most_tasks = 4e6;

/* 0: all as one. */
static guint64
cards_of (const Messages *m, const MessageGroup *g)
{
  const guint64 gpus = cluster_gpus_per_node (m->cluster);
  guint64 cards = 0;

  if (m->per_node != gpus)
    return 0;
  for (uint32_t i = 0; i < g->schedule.ranks; i++)
    {
      const guint64 of = cluster_cards (m->cluster, g->place != NULL ? g->place[i] % gpus : i % gpus);

      if (of == 0)
        return 0;
      cards |= of;
    }
  return cards;
}

static void
view_all (Messages *m, gboolean make)
{
  const Network *network = cluster_network (m->cluster);

  for (guint i = 0; i < m->groups->len; i++)
    {
      MessageGroup *g = g_ptr_array_index (m->groups, i);

      if (!make)
        fabric_expect (m->world, &g->schedule, &g->paths, network, g->protocol, cards_of (m, g));
      else
        m->any = g->fabric = fabric_view (m->world, &g->schedule, &g->paths, network, g->protocol, cards_of (m, g));
    }
}

static gboolean
build_world (Messages *m, GError **error)
{
  if (m->groups->len == 0)
    return TRUE;
  m->world = world_new (m->ranks, m->per_node, m->folded);
  for (guint i = 0; i < m->groups->len; i++)
    {
      const guint64 cards = cards_of (m, g_ptr_array_index (m->groups, i));

      if (world_cards (m->world, cards != 0 ? cards : 1))
        continue;
      g_set_error_literal (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED, "[cluster] gpus-per-node: the step's calls take network "
                           "cards in more ways than can be told apart; give --tier flow");
      return FALSE;
    }
  view_all (m, FALSE);
  world_close (m->world);
  view_all (m, TRUE);
  return TRUE;
}

/* One class stands for all ranks; or each of a period does, in all blocks alike; or all are there. */
static gboolean
find_classes (Messages *m, guint64 period)
{
  const GArray *classes = m->graph->classes;

  m->folded = classes->len == 1 && m->ranks > 1;
  if (m->folded || classes->len == m->ranks)
    return TRUE;
  if (period == 0 || classes->len % period != 0 || m->ranks % classes->len != 0)
    return FALSE;
  m->period = (uint32_t) period;
  m->block = (uint32_t) (m->ranks / classes->len * period);
  for (guint i = 0; i < classes->len; i++)
    if (g_array_index (classes, RankClass, i).multiplicity != m->block / m->period)
      return FALSE;
  m->list = g_new (uint32_t, m->ranks);
  m->index = g_new (uint32_t, m->ranks);
  m->played = g_new (uint32_t, m->ranks);
  m->number = g_new (uint32_t, m->ranks);
  return !messages_some_slow (m);
}

static gboolean
other_graph (GError **error)
{
  g_set_error_literal (error, MESSAGES_ERROR, MESSAGES_FOLDED, "one rank cannot stand for others here");
  return FALSE;
}

static gboolean
plan_all (Messages *m, guint64 period, GError **error)
{
  if (!find_classes (m, period))
    return other_graph (error);
  for (guint i = 0; i < m->graph->calls->len; i++)
    if (!messages_plan_call (m, i, error))
      return FALSE;
  return build_world (m, error) && (m->period == 0 || m->world == NULL || world_fold (m->world, m->block, m->period) || other_graph (error));
}

static Messages *
begin (const StepGraph *graph, const Cluster *cluster, const MessageCards *cards)
{
  Messages *m = g_new0 (Messages, 1);

  m->graph = graph;
  m->cluster = cluster;
  m->arena = arena_new ();
  m->cards = *cards;
  m->ranks = (uint32_t) price_all (cluster).n_ranks;
  m->calls = g_new0 (MessageCall, MAX (graph->calls->len, 1));
  m->groups = g_ptr_array_new ();
  m->known = messages_set_new ();
  m->line = lines_of (graph);
  messages_members (m);
  return m;
}

Messages *
messages_new (const StepGraph *graph, const Cluster *cluster, const MessageCards *cards, guint64 period, GError **error)
{
  g_autoptr (Messages) m = begin (graph, cluster, cards);

  return plan_all (m, period, error) ? g_steal_pointer (&m) : NULL;
}

gboolean
messages_may_unfold (const StepGraph *graph, const Cluster *cluster, GError **error)
{
  static const MessageCards whole = { 0, 1 };
  g_autoptr (Messages) m = begin (graph, cluster, &whole);
  const double tasks = (double) graph->tasks->len * m->ranks / graph->classes->len;

  if (!messages_would_fit (m, error))
    return FALSE;
  if (tasks <= most_tasks)
    return TRUE;
  g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED, "[cluster] nodes: a step of every rank has %.2g tasks, more than are played "
               "one by one (at most %.2g); give --tier flow or fewer ranks", tasks, most_tasks);
  return FALSE;
}

void
messages_free (Messages *m)
{
  if (m == NULL)
    return;
  for (guint i = 0; i < m->groups->len; i++)
    fabric_free (((MessageGroup *) g_ptr_array_index (m->groups, i))->fabric);
  g_ptr_array_unref (m->groups);
  g_hash_table_unref (m->known);
  world_free (m->world);
  g_free (m->calls);
  g_free (m->line);
  g_free (m->first_member);
  g_free (m->member);
  g_free (m->position);
  g_free (m->twin);
  g_free (m->actor);
  g_free (m->list);
  g_free (m->index);
  g_free (m->played);
  g_free (m->number);
  arena_free (m->arena);
  g_free (m);
}

const MessageCall *
messages_call (const Messages *m, guint call)
{
  return &m->calls[call];
}

guint
messages_twins (const Messages *m)
{
  return m->twins;
}

guint
messages_groups (const Messages *m)
{
  return m->groups->len;
}

const MessageGroup *
messages_group (const Messages *m, guint group)
{
  return g_ptr_array_index (m->groups, group);
}

const FabricWorld *
messages_world (const Messages *m)
{
  return m->world;
}

const Fabric *
messages_fabric (const Messages *m)
{
  return m->any;
}

double
messages_whole (const Messages *m, Id link)
{
  const Network *network = cluster_network (m->cluster);
  uint32_t node;
  const Id class = world_class (m->world, link, &node);

  if (!messages_some_slow (m) || class == 0 || !g_str_has_prefix (network_link (network, class)->name, "nic-"))
    return 1;
  return (guint64) node * m->per_node / cluster_gpus_per_node (m->cluster) >= m->cards.slow_nodes ? m->cards.left : 1;
}

guint
messages_stand (const Messages *m)
{
  return m->graph->classes->len;
}

double
messages_count (const Messages *m)
{
  return m->count;
}

void
messages_member (const Messages *m, guint task, guint *twin, uint32_t *actor)
{
  const guint member = m->first_member[graph_task (m->graph, task)->call] + m->position[task];

  *twin = m->twin[member];
  *actor = m->actor[member];
}
