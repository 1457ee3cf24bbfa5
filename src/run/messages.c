/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/messages-private.h"
#include "run/lines.h"
#include "strategy/price.h"

G_DEFINE_QUARK (messages-error-quark, messages_error)

/* Of a step; bytes of memory of all that they start from; and tasks of its graph. */
static const double most_messages = 1e7, most_memory = 1e9, most_tasks = 4e6;

gboolean
messages_refuse (GError **error, const GraphCall *call, const char *key, const char *why)
{
  g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED, "%s: '%s' %s; give --tier flow", key, call->label, why);
  return FALSE;
}

gboolean
messages_fit (Messages *m, GError **error)
{
  if (m->count <= most_messages && m->memory <= most_memory)
    return TRUE;
  if (m->count > most_messages)
    g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED,
                 "[cluster] nodes: %.3g messages or more in a step are too many to play one by one (at most %.3g); give --tier flow or fewer ranks",
                 m->count, most_messages);
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

/* Whether all ranks one by one could be played, before a graph of them all is made. */
static gboolean
worth_unfolding (Messages *m, GError **error)
{
  const double tasks = (double) m->graph->tasks->len * m->ranks / m->graph->classes->len;

  if (!messages_would_fit (m, error))
    return FALSE;
  if (tasks <= most_tasks)
    {
      g_set_error_literal (error, MESSAGES_ERROR, MESSAGES_FOLDED, "one rank cannot stand for others here");
      return FALSE;
    }
  g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED, "[cluster] nodes: a step of every rank has %.2g tasks, more than are played "
               "one by one (at most %.2g); give --tier flow or fewer ranks", tasks, most_tasks);
  return FALSE;
}

static gboolean
plan_all (Messages *m, GError **error)
{
  g_autoptr (GError) folded = NULL;

  if (m->graph->classes->len != m->ranks && !m->folded)
    return worth_unfolding (m, error);
  for (guint i = 0; i < m->graph->calls->len; i++)
    {
      if (messages_plan_call (m, i, &folded))
        continue;
      if (g_error_matches (folded, MESSAGES_ERROR, MESSAGES_FOLDED))
        return worth_unfolding (m, error);
      g_propagate_error (error, g_steal_pointer (&folded));
      return FALSE;
    }
  return TRUE;
}

Messages *
messages_new (const StepGraph *graph, const Cluster *cluster, const MessageCards *cards, GError **error)
{
  g_autoptr (Messages) m = g_new0 (Messages, 1);

  m->graph = graph;
  m->cluster = cluster;
  m->arena = arena_new ();
  m->cards = *cards;
  m->ranks = (uint32_t) price_all (cluster).n_ranks;
  m->folded = graph->classes->len == 1 && m->ranks > 1;
  m->calls = g_new0 (MessageCall, MAX (graph->calls->len, 1));
  m->groups = g_ptr_array_new ();
  m->known = messages_set_new ();
  m->line = lines_of (graph);
  messages_members (m);
  return plan_all (m, error) && build_world (m, error) ? g_steal_pointer (&m) : NULL;
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

gboolean
messages_folded (const Messages *m)
{
  return m->folded;
}

double
messages_count (const Messages *m)
{
  return m->count;
}

void
messages_member (const Messages *m, guint task, guint *twin, uint32_t *actor)
{
  const MessageCall *call = &m->calls[graph_task (m->graph, task)->call];
  const guint64 position = m->position[task], block = call->spacing * call->ranks;

  *twin = *actor = 0;
  if (m->folded)
    return;
  *twin = (guint) (position / block * call->spacing + position % call->spacing);
  *actor = (uint32_t) (position % block / call->spacing);
}
