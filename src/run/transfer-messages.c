/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/execute-private.h"

/* Calls message by message: each rank's part starts when its own member does, and
 * its member ends when the last message that it sends or gets is there. */

/* SPINS: waits for others; MET: all have come, the launch is not over. */
typedef enum { MEMBER_QUIET, MEMBER_SPINS, MEMBER_MET, MEMBER_FLIES } MemberState;
typedef struct { Id task; MemberState state; } Member;
/* One group at one meeting.  job: + 1; 0: not yet, or no more. */
typedef struct { guint job, came, left; } Instance;
typedef struct { guint instance, group, next_spare; Member *member; } Player;   /* of each job of the play */

struct MessageRun
{
  const Messages *plan;
  NetworkRun *network;
  Play       *play;
  Id          begin, flies;   /* handlers */
  GArray     *instances;      /* of Instance: groups of the graph in each step */
  GArray     *players;        /* of Player, by job */
  guint      *spare;          /* by group: job + 1 that may be played again */
  guint      *line;           /* by call */
  double     *slower;         /* by link */
};

#define INSTANCE(m, i) (&g_array_index ((m)->instances, Instance, (i)))
#define PLAYER(m, job) (&g_array_index ((m)->players, Player, (job)))

typedef struct { const GraphCall *graph; const MessageCall *call; guint group, instance; uint32_t actor; } Where;

static Where
where_is (const Execution *x, Id task)
{
  guint step;
  const guint index = execution_call (x, engine_get_task (x->engine, task)->what, &step);
  Where w = { .graph = graph_get_call (x->graph, index), .call = messages_call (x->messages->plan, index) };

  messages_member (x->messages->plan, index, execute_class (x, task), &w.group, &w.actor);
  w.instance = step * messages_groups (x->messages->plan) + w.call->first + w.group;
  return w;
}

static guint
n_members (const MessageRun *m, const MessageCall *call)
{
  return messages_folded (m->plan) ? 1 : call->group->schedule.ranks;
}

/* When a rank's last message is there.  Its task ends by an event of its own. */
static void
on_done (gpointer user, guint job, uint32_t actor)
{
  Execution *x = user;
  MessageRun *m = x->messages;
  Player *player = PLAYER (m, job);
  Instance *instance = INSTANCE (m, player->instance);
  Member *member = &player->member[actor];

  if (member->state == MEMBER_SPINS)
    beside_met (x, member->task);
  else if (member->state == MEMBER_FLIES)
    beside_ended (x, member->task);
  member->state = MEMBER_QUIET;
  engine_end_member (x->engine, member->task);
  if (--instance->left > 0)
    return;
  instance->job = 0;
  player->next_spare = m->spare[player->group];
  m->spare[player->group] = job + 1;
}

static guint
take_player (Execution *x, const Where *w, guint line)
{
  MessageRun *m = x->messages;
  const guint group = w->call->first + w->group;
  const MessageGroup *what = &w->call->group[w->group];
  guint job;

  if (m->spare[group] != 0)
    {
      job = m->spare[group] - 1;
      m->spare[group] = PLAYER (m, job)->next_spare;
      play_again (m->play, job);
    }
  else
    {
      const PlayJob spec = { .schedule = &what->schedule, .place = what->place, .fabric = what->fabric,
                             .done = on_done, .user = x, .line = line };
      const Player player = { .group = group, .member = g_new0 (Member, n_members (m, w->call)) };

      job = play_add (m->play, &spec);
      g_array_append_val (m->players, player);
    }
  PLAYER (m, job)->instance = w->instance;
  return job;
}

static void
on_begin (gpointer user, Engine *e, uint32_t task)
{
  Execution *x = user;
  const Where w = where_is (x, task);

  (void) e;
  play_begin (x->messages->play, INSTANCE (x->messages, w.instance)->job - 1, w.actor);
}

/* Only now kernels of the collective run beside others. */
static void
on_flies (gpointer user, Engine *e, uint32_t index)
{
  Execution *x = user;
  const Instance *instance = INSTANCE (x->messages, index);
  Player *player;

  (void) e;
  if (instance->job == 0)
    return;
  player = PLAYER (x->messages, instance->job - 1);
  for (guint i = 0; i < instance->came; i++)
    if (player->member[i].state == MEMBER_MET)
      {
        player->member[i].state = MEMBER_FLIES;
        beside_flies (x, player->member[i].task);
      }
}

static void
all_came (Execution *x, const Where *w)
{
  const Instance *instance = INSTANCE (x->messages, w->instance);
  Player *player = PLAYER (x->messages, instance->job - 1);
  const Tick launch = transfer_latency (x, w->graph->launch);

  for (guint i = 0; i < instance->came; i++)
    if (player->member[i].state == MEMBER_SPINS)
      {
        player->member[i].state = MEMBER_MET;
        beside_met (x, player->member[i].task);
      }
  if (launch > 0)
    engine_at (x->engine, engine_now (x->engine) + launch, x->messages->flies, w->instance);
  else
    on_flies (x, x->engine, w->instance);
}

gboolean
message_plays (const Execution *x, guint call)
{
  return x->messages != NULL && !x->ideal_network && messages_call (x->messages->plan, call)->n_groups > 0;
}

void
message_arrived (Execution *x, Id task)
{
  MessageRun *m = x->messages;
  const guint index = execution_call (x, engine_get_task (x->engine, task)->what, NULL);
  const Where w = where_is (x, task);
  Instance *instance;
  Member *member;

  if (w.instance >= m->instances->len)
    g_array_set_size (m->instances, w.instance + 1);
  instance = INSTANCE (m, w.instance);
  if (instance->job == 0)
    *instance = (Instance) { take_player (x, &w, m->line[index]) + 1, 0, n_members (m, w.call) };
  member = &PLAYER (m, instance->job - 1)->member[w.actor];
  *member = (Member) { task, transfer_slows (x, w.graph) ? MEMBER_SPINS : MEMBER_QUIET };
  if (member->state == MEMBER_SPINS)
    beside_spins (x, task, w.graph->slowdown);
  engine_at (x->engine, engine_now (x->engine) + transfer_latency (x, w.graph->launch + w.call->launch), m->begin, task);
  if (++instance->came == n_members (m, w.call))
    all_came (x, &w);
}

void
message_activity_ended (Execution *x, Id activity)
{
  network_end (x->messages->network, activity);
  play_activity_ended (x->messages->play, activity);
}

/* Queues that meet are one line; a class may have only one queue on each. */
static guint
root_of (guint *parent, guint queue)
{
  while (parent[queue] != queue)
    queue = parent[queue] = parent[parent[queue]];
  return queue;
}

static gboolean
several_on_line (const StepGraph *graph, guint *parent)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_direct_hash, g_direct_equal);

  for (guint i = 0; i < graph->queues->len; i++)
    {
      const GraphQueue *queue = &g_array_index (graph->queues, GraphQueue, i);
      const gsize key = (gsize) root_of (parent, i) * graph->classes->len + queue->rank_class + 1;

      if (queue->kind == LANE_COMM && !g_hash_table_add (seen, GSIZE_TO_POINTER (key)))
        return TRUE;
    }
  return FALSE;
}

/* What calls follow each other on: numbers from 0.  Where it is not plain, each call
 * is taken as apart, so that its messages share with all others. */
static guint *
lines_of (const StepGraph *graph)
{
  g_autofree guint *parent = g_new (guint, graph->queues->len), *first = g_new (guint, MAX (graph->calls->len, 1));
  guint *line = g_new (guint, MAX (graph->calls->len, 1));
  gboolean mixed;

  for (guint i = 0; i < graph->queues->len; i++)
    parent[i] = i;
  for (guint i = 0; i < graph->calls->len; i++)
    first[i] = G_MAXUINT;
  for (guint i = 0; i < graph->tasks->len; i++)
    {
      const GraphTask *task = graph_task (graph, i);

      if (task->kind == GRAPH_MEET && first[task->call] == G_MAXUINT)
        first[task->call] = task->queue;
      else if (task->kind == GRAPH_MEET)
        parent[root_of (parent, task->queue)] = root_of (parent, first[task->call]);
    }
  mixed = several_on_line (graph, parent);
  for (guint i = 0; i < graph->calls->len; i++)
    line[i] = mixed || first[i] == G_MAXUINT ? i : root_of (parent, first[i]);
  return line;
}

void
execution_messages (Execution *x, const Messages *plan)
{
  MessageRun *m;

  g_return_if_fail (x->messages == NULL);
  if (messages_groups (plan) == 0)
    return;
  m = x->messages = g_new0 (MessageRun, 1);
  m->plan = plan;
  m->network = network_run_new (world_network (messages_world (plan)), x->engine, TICKS_PER_S);
  m->play = play_new_in (messages_fabric (plan), x->engine, m->network);
  m->begin = engine_handler (x->engine, on_begin, x);
  m->flies = engine_handler (x->engine, on_flies, x);
  m->instances = g_array_new (FALSE, TRUE, sizeof (Instance));
  m->players = g_array_new (FALSE, TRUE, sizeof (Player));
  m->spare = g_new0 (guint, messages_groups (plan));
  m->line = lines_of (x->graph);
  m->slower = g_new (double, network_n_links (world_network (messages_world (plan))) + 1);
  for (guint i = 0; i < x->graph->calls->len; i++)
    for (guint k = 0; k < messages_call (plan, i)->n_groups; k++)
      {
        const MessageGroup *g = &messages_call (plan, i)->group[k];

        play_expect (m->play, &(PlayJob) { .schedule = &g->schedule, .place = g->place, .fabric = g->fabric, .line = m->line[i] });
      }
}

void
message_run_free (MessageRun *m)
{
  if (m == NULL)
    return;
  play_free (m->play);
  network_run_free (m->network);
  for (guint i = 0; i < m->players->len; i++)
    g_free (PLAYER (m, i)->member);
  g_array_unref (m->players);
  g_array_unref (m->instances);
  g_free (m->spare);
  g_free (m->line);
  g_free (m->slower);
  g_free (m);
}

void
message_run_reset (Execution *x)
{
  MessageRun *m = x->messages;
  const guint links = network_n_links (world_network (messages_world (m->plan)));

  network_run_reset (m->network);
  play_reset (m->play);
  g_array_set_size (m->instances, 0);
  for (guint i = 0; i < messages_groups (m->plan); i++)
    m->spare[i] = 0;
  for (guint i = 0; i < m->players->len; i++)
    {
      PLAYER (m, i)->next_spare = m->spare[PLAYER (m, i)->group];
      m->spare[PLAYER (m, i)->group] = i + 1;
    }
  for (Id link = 1; link <= links; link++)
    {
      uint32_t number;
      const Id class = world_class (messages_world (m->plan), link, &number);

      m->slower[link] = transfer_link_scale (x, class) * messages_whole (m->plan, link);
      network_run_scale (m->network, link, 1 / m->slower[link]);
    }
  play_scale (m->play, x->scale.latency, m->slower);
}

void
message_run_settle (MessageRun *m)
{
  play_settle (m->play);
}

void
message_run_instant (MessageRun *m)
{
  network_run_instant (m->network);
}

const Play *
execution_play (const Execution *x)
{
  return x->messages != NULL ? x->messages->play : NULL;
}

double
execution_play_busy (const Execution *x, Id link)
{
  const MessageRun *m = x->messages;

  return play_bytes (m->play, link) / network_link (world_network (messages_world (m->plan)), link)->capacity * m->slower[link];
}

const Network *
execution_play_network (const Execution *x)
{
  return x->messages != NULL ? world_network (messages_world (x->messages->plan)) : NULL;
}
