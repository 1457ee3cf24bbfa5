/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/messages.h"
#include "strategy/price.h"

G_DEFINE_QUARK (messages-error-quark, messages_error)

/* Of a step; and bytes of memory of all that they start from. */
static const double most_messages = 1e7, most_memory = 1e9;
static const double track_bytes = 256, lane_bytes = 16;

typedef struct { MessageCall call; guint *position; Paths paths; } Call;   /* position: of each class among the members; NULL: its number */

struct Messages
{
  const StepGraph *graph;
  const Cluster   *cluster;
  gboolean         folded;
  Call            *calls;
  guint            groups;
  uint32_t         ranks, per_node;
  FabricWorld     *world;
  const Fabric    *any;
  double           count, memory;
  MessageCards     cards;
};

static gboolean
refuse (GError **error, const GraphCall *call, const char *why)
{
  g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED, "'%s' %s; give --tier flow", call->label, why);
  return FALSE;
}

static gboolean
only_unfolded (GError **error)
{
  g_set_error_literal (error, MESSAGES_ERROR, MESSAGES_FOLDED, "one rank cannot stand for others here");
  return FALSE;
}

/* Nobody to send to: launch and latency are all there is. */
static gboolean
moves_nothing (const GraphCall *call)
{
  return !(call->call.size > 0) || (!call->merged && (call->group.n_ranks < 2 || call->flow.algorithm == NULL));
}

/* Ranks of a node, or of a box of them, as all calls see them. */
static gboolean
same_boxes (Messages *m, const GraphCall *call, const char *which, GError **error)
{
  RankGroup all = price_all (m->cluster);

  cluster_fold_group (m->cluster, which, &all);
  if (m->per_node == 0)
    m->per_node = (uint32_t) all.per_node;
  return m->per_node == all.per_node || refuse (error, call, "takes other links than the rest of the step, which no messages are known of");
}

/* Messages and memory of one group. */
static gboolean
count (Messages *m, const Schedule *s, guint groups, GError **error)
{
  const double actors = m->folded ? 1 : s->actors;

  m->count += groups * actors * s->tracks * s->steps * s->chunks;
  m->memory += groups * actors * (s->tracks * track_bytes + s->lanes * lane_bytes);
  if (m->count <= most_messages && m->memory <= most_memory)
    return TRUE;
  if (m->count > most_messages)
    g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED,
                 "%.2g messages or more in a step are too many to play one by one (at most %.2g); give --tier flow or fewer ranks",
                 m->count, most_messages);
  else
    g_set_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED,
                 "the messages of a step would take more than %.2g bytes of memory to play one by one; give --tier flow or fewer ranks",
                 most_memory);
  return FALSE;
}

/* Members in the order of their classes, which is that of the ranks. */
static guint *
members_of (const Messages *m, guint call, guint *n)
{
  const GArray *classes = m->graph->classes;
  g_autofree gboolean *in = g_new0 (gboolean, classes->len);
  guint *members = g_new (guint, classes->len);

  *n = 0;
  for (guint i = 0; i < m->graph->tasks->len; i++)
    {
      const GraphTask *task = graph_task (m->graph, i);

      if (task->kind == GRAPH_MEET && task->call == call)
        in[g_array_index (m->graph->queues, GraphQueue, task->queue).rank_class] = TRUE;
    }
  for (guint i = 0; i < classes->len; i++)
    if (in[i])
      members[(*n)++] = i;
  return members;
}

/* Those with the same r % spacing and r / (spacing x n) meet. */
static void
locate (const RankGroup *group, guint position, guint *which, uint32_t *actor)
{
  const guint64 spacing = MAX (group->spacing, 1), block = spacing * group->n_ranks;

  *which = (guint) (position / block * spacing + position % spacing);
  *actor = (uint32_t) (position % block / spacing);
}

/* Schedules number ranks node by node, as many on each. */
static gboolean
even (const Messages *m, const MessageGroup *g)
{
  const Schedule *s = &g->schedule;

  for (uint32_t i = 0; i < s->ranks; i++)
    {
      const uint32_t node = g->place[i] / m->per_node, first = g->place[i - i % s->per_node] / m->per_node;

      if (node != first || (i % s->per_node == 0 && i > 0 && node <= g->place[i - 1] / m->per_node))
        return FALSE;
    }
  return TRUE;
}

static gboolean
fill_places (Messages *m, guint index, GError **error)
{
  const GraphCall *call = graph_get_call (m->graph, index);
  Call *to = &m->calls[index];
  guint n, which;
  uint32_t actor;
  g_autofree guint *members = members_of (m, index, &n);

  if (n % call->group.n_ranks != 0 || to->call.n_groups * call->group.n_ranks != n)
    return refuse (error, call, "is of ranks whose groups are not known one by one");
  if (n < m->graph->classes->len)
    to->position = g_new0 (guint, m->graph->classes->len);
  for (guint i = 0; i < n; i++)
    {
      locate (&call->group, i, &which, &actor);
      to->call.group[which].place[actor] = members[i];
      if (to->position != NULL)
        to->position[members[i]] = i;
    }
  for (guint i = 0; i < to->call.n_groups; i++)
    {
      MessageGroup *g = &to->call.group[i];

      for (uint32_t k = g->schedule.ranks; k < g->schedule.actors; k++)
        g->place[k] = m->ranks + (k - g->schedule.ranks);
      if (!even (m, g))
        return refuse (error, call, "is of ranks that lie unevenly on the nodes");
    }
  return TRUE;
}

static gboolean
some_slow (const Messages *m)
{
  return m->cards.slow_nodes > 0 && m->cards.slow_nodes < cluster_nodes (m->cluster);
}

static gboolean
plan_call (Messages *m, guint index, GError **error)
{
  const GraphCall *call = graph_get_call (m->graph, index);
  Call *to = &m->calls[index];
  CollectiveCall what = call->call;
  RankGroup group = call->group;
  Schedule schedule;

  to->call.first = m->groups;
  if (moves_nothing (call))
    return TRUE;
  if (call->merged)
    return refuse (error, call, "stands for several calls at once, of which no messages are known");
  what.algorithm = call->flow.algorithm;
  what.protocol = call->flow.protocol;
  if (!same_boxes (m, call, collective_paths (what.algorithm), error)
      || !cluster_paths (m->cluster, collective_paths (what.algorithm), &group, &to->paths, error)
      || !schedule_init (&schedule, &what, &group, &to->paths, 0, error))
    return FALSE;
  if (schedule.servers > 0 && group.n_ranks != m->ranks)
    return refuse (error, call, "is of a part of the ranks, but servers serve all");
  if (m->folded && (group.n_ranks != m->ranks || (group.n_nodes > 1 && some_slow (m)) || !fabric_may_fold (&schedule, &to->paths)))
    return only_unfolded (error);
  to->call.n_groups = m->folded ? 1 : (guint) (call->members / group.n_ranks);
  to->call.launch = schedule_launch (&schedule, &to->paths, what.protocol);
  to->call.group = g_new0 (MessageGroup, to->call.n_groups);
  m->groups += to->call.n_groups;
  for (guint i = 0; i < to->call.n_groups; i++)
    {
      to->call.group[i].schedule = schedule;
      to->call.group[i].place = m->folded ? NULL : g_new0 (uint32_t, schedule.actors);
    }
  return count (m, &schedule, to->call.n_groups, error) && (m->folded || fill_places (m, index, error));
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

  for (guint i = 0; i < m->graph->calls->len; i++)
    for (guint k = 0; k < m->calls[i].call.n_groups; k++)
      {
        MessageGroup *g = &m->calls[i].call.group[k];
        const Protocol protocol = graph_get_call (m->graph, i)->flow.protocol;

        if (!make)
          fabric_expect (m->world, &g->schedule, &m->calls[i].paths, network, protocol, cards_of (m, g));
        else
          m->any = g->fabric = fabric_view (m->world, &g->schedule, &m->calls[i].paths, network, protocol, cards_of (m, g));
      }
}

static gboolean
build_world (Messages *m, GError **error)
{
  if (m->groups == 0)
    return TRUE;
  m->world = world_new (m->ranks, m->per_node, m->folded);
  for (guint i = 0; i < m->graph->calls->len; i++)
    for (guint k = 0; k < m->calls[i].call.n_groups; k++)
      {
        const guint64 cards = cards_of (m, &m->calls[i].call.group[k]);

        if (!world_cards (m->world, cards != 0 ? cards : 1))
          return refuse (error, graph_get_call (m->graph, i), "takes network cards in more ways than can be told apart");
      }
  view_all (m, FALSE);
  world_close (m->world);
  view_all (m, TRUE);
  return TRUE;
}

Messages *
messages_new (const StepGraph *graph, const Cluster *cluster, const MessageCards *cards, GError **error)
{
  g_autoptr (Messages) m = g_new0 (Messages, 1);

  m->graph = graph;
  m->cluster = cluster;
  m->cards = *cards;
  m->ranks = (uint32_t) price_all (cluster).n_ranks;
  m->folded = graph->classes->len == 1 && m->ranks > 1;
  m->calls = g_new0 (Call, MAX (graph->calls->len, 1));
  if (graph->classes->len != m->ranks && !m->folded)
    {
      only_unfolded (error);
      return NULL;
    }
  for (guint i = 0; i < graph->calls->len; i++)
    if (!plan_call (m, i, error))
      return NULL;
  return build_world (m, error) ? g_steal_pointer (&m) : NULL;
}

void
messages_free (Messages *m)
{
  if (m == NULL)
    return;
  for (guint i = 0; i < m->graph->calls->len; i++)
    {
      for (guint k = 0; k < m->calls[i].call.n_groups; k++)
        {
          fabric_free (m->calls[i].call.group[k].fabric);
          g_free (m->calls[i].call.group[k].place);
        }
      g_free (m->calls[i].call.group);
      g_free (m->calls[i].position);
    }
  g_free (m->calls);
  world_free (m->world);
  g_free (m);
}

const MessageCall *
messages_call (const Messages *m, guint call)
{
  return &m->calls[call].call;
}

guint
messages_groups (const Messages *m)
{
  return m->groups;
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

  if (!some_slow (m) || class == 0 || !g_str_has_prefix (network_link (network, class)->name, "nic-"))
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
messages_member (const Messages *m, guint call, guint rank_class, guint *group, uint32_t *actor)
{
  const guint *position = m->calls[call].position;

  *group = *actor = 0;
  if (!m->folded)
    locate (&graph_get_call (m->graph, call)->group, position != NULL ? position[rank_class] : rank_class, group, actor);
}
