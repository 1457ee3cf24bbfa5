/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/execute-private.h"
#include <string.h>

/* Calls message by message: each rank's part starts when its own member does, and
 * its member ends when the last message that it sends or gets is there. */

/* SPINS: waits for others; MET: all have come, the launch is not over. */
typedef enum { MEMBER_QUIET, MEMBER_SPINS, MEMBER_MET, MEMBER_FLIES } MemberState;
/* The part of its call that it plays, and how often it has. */
typedef struct { Id task; MemberState state; guint part, turn; } Member;
/* A twin of a call in one step that somebody has come to.  players: + 1, the first of
 * those at work for it.  waiting: members that wait for all others before they go on. */
typedef struct { guint instance, call, twin, came, left, waiting, players, next_spare, size; Member *member; } Live;
/* Of each job of the play.  next: + 1, of the same twin, or spare of the same group. */
typedef struct { guint live, group, part, turn, left, next, same; } Player;   /* same: + 1, one more of its group */

struct MessageRun
{
  const Messages *plan;
  NetworkRun *network;
  Play       *play;
  Id          begin, flies;   /* handlers */
  GArray     *instances;      /* of guint: of each twin in each step what lives of it, + 1; 0: not yet, or no more */
  GArray     *lives;          /* of Live */
  GArray     *players;        /* of Player, by job */
  guint       spare_live;     /* + 1 */
  guint      *spare;          /* by group: job + 1 that may be played again */
  guint      *of_group;       /* by group: job + 1, any */
  double     *slower;         /* by link */
};

#define INSTANCE(m, i) (g_array_index ((m)->instances, guint, (i)))
#define LIVE(m, i) (&g_array_index ((m)->lives, Live, (i)))
#define PLAYER(m, job) (&g_array_index ((m)->players, Player, (job)))

typedef struct { const GraphCall *graph; const MessageCall *call; guint index, twin, instance; uint32_t actor; } Where;

static Where
where_is (const Execution *x, Id task)
{
  const Id meeting = engine_get_task (x->engine, task)->what;
  const guint step = execute_step (x, meeting);
  Where w = { .index = execute_index (x, meeting) };

  w.graph = graph_get_call (x->graph, w.index);
  w.call = messages_call (x->messages->plan, w.index);
  messages_member (x->messages->plan, (task - 1) % x->graph->tasks->len, &w.twin, &w.actor);
  w.instance = step * messages_twins (x->messages->plan) + w.call->first + w.twin;
  return w;
}

static guint
new_live (MessageRun *m, const Where *w)
{
  guint index = m->spare_live;
  Live *live;

  if (index == 0)
    {
      const Live fresh = { 0 };

      g_array_append_val (m->lives, fresh);
      index = m->lives->len;
    }
  live = LIVE (m, index - 1);
  m->spare_live = m->spare_live != 0 ? live->next_spare : 0;
  if (live->size < w->call->ranks)
    live->member = g_renew (Member, live->member, live->size = w->call->ranks);
  live->instance = w->instance;
  live->call = w->index;
  live->twin = w->twin;
  live->came = live->waiting = live->players = 0;
  live->left = w->call->ranks;
  INSTANCE (m, w->instance) = index;
  return index - 1;
}

static void
release_live (MessageRun *m, guint index)
{
  Live *live = LIVE (m, index);

  INSTANCE (m, live->instance) = 0;
  live->next_spare = m->spare_live;
  m->spare_live = index + 1;
}

static void
release_player (MessageRun *m, guint job)
{
  Player *player = PLAYER (m, job);
  guint *at = &LIVE (m, player->live)->players;

  while (*at != job + 1)
    at = &PLAYER (m, *at - 1)->next;
  *at = player->next;
  player->next = m->spare[player->group];
  m->spare[player->group] = job + 1;
}

static void
end_member (Execution *x, guint index, Member *member)
{
  MessageRun *m = x->messages;

  if (member->state == MEMBER_SPINS)
    beside_met (x, member->task);
  else if (member->state == MEMBER_FLIES)
    beside_ended (x, member->task);
  member->state = MEMBER_QUIET;
  engine_end_member (x->engine, member->task);
  if (--LIVE (m, index)->left == 0)
    release_live (m, index);
}

static void
begin_later (Execution *x, const MessagePart *part, double seconds, Id task)
{
  engine_at (x->engine, engine_now (x->engine) + execute_latency (x, seconds + part->launch), x->messages->begin, task);
}

/* One that waits for all is the last of them. */
static void
begin_together (Execution *x, Live *live, const MessagePart *part)
{
  if (++live->waiting < messages_call (x->messages->plan, live->call)->ranks)
    return;
  live->waiting = 0;
  for (guint i = 0; i < live->came; i++)
    begin_later (x, part, 0, live->member[i].task);
}

/* When a rank's last message is there: it plays what follows, or its task ends by an
 * event of its own. */
static void
on_done (gpointer user, guint job, uint32_t actor)
{
  Execution *x = user;
  MessageRun *m = x->messages;
  Player *player = PLAYER (m, job);
  const guint index = player->live;
  const MessageCall *call = messages_call (m->plan, LIVE (m, index)->call);
  Member *member = &LIVE (m, index)->member[actor];

  if (++member->turn == call->part[member->part].times)
    {
      member->part++;
      member->turn = 0;
    }
  if (--player->left == 0)
    release_player (m, job);
  if (member->part == call->n_parts)
    end_member (x, index, member);
  else if (call->part[member->part].together && member->turn == 0)
    begin_together (x, LIVE (m, index), &call->part[member->part]);
  else
    begin_later (x, &call->part[member->part], 0, member->task);
}

/* The job of a twin's part and turn. */
static guint
take_player (Execution *x, guint index, guint part, guint turn)
{
  MessageRun *m = x->messages;
  Live *live = LIVE (m, index);
  const MessageCall *call = messages_call (m->plan, live->call);
  const guint group = call->part[part].group[live->twin];
  guint job;

  for (guint i = live->players; i != 0; i = PLAYER (m, i - 1)->next)
    if (PLAYER (m, i - 1)->part == part && PLAYER (m, i - 1)->turn == turn)
      return i - 1;
  if (m->spare[group] != 0)
    {
      job = m->spare[group] - 1;
      m->spare[group] = PLAYER (m, job)->next;
      play_again (m->play, job);
    }
  else
    {
      const MessageGroup *what = messages_group (m->plan, group);
      const PlayJob spec = { .schedule = &what->schedule, .place = what->place, .fabric = what->fabric, .hops = what->hops, .played = what->played,
                             .done = on_done, .user = x, .line = what->line };
      const Player player = { .same = m->of_group[group] };

      job = play_add (m->play, &spec);
      g_array_append_val (m->players, player);
      m->of_group[group] = job + 1;
    }
  *PLAYER (m, job) = (Player) { index, group, part, turn, call->ranks, live->players, PLAYER (m, job)->same };
  live->players = job + 1;
  return job;
}

static void
on_begin (gpointer user, Engine *e, uint32_t task)
{
  Execution *x = user;
  const Where w = where_is (x, task);
  const guint index = INSTANCE (x->messages, w.instance) - 1;
  const Member *member = &LIVE (x->messages, index)->member[w.actor];

  (void) e;
  play_begin (x->messages->play, take_player (x, index, member->part, member->turn), w.actor);
}

/* Only now kernels of the collective run beside others. */
static void
on_flies (gpointer user, Engine *e, uint32_t instance)
{
  Execution *x = user;
  Live *live;

  (void) e;
  if (INSTANCE (x->messages, instance) == 0)
    return;
  live = LIVE (x->messages, INSTANCE (x->messages, instance) - 1);
  for (guint i = 0; i < live->came; i++)
    if (live->member[i].state == MEMBER_MET)
      {
        live->member[i].state = MEMBER_FLIES;
        beside_flies (x, live->member[i].task);
      }
}

static void
all_came (Execution *x, const Where *w)
{
  Live *live = LIVE (x->messages, INSTANCE (x->messages, w->instance) - 1);
  const Tick launch = execute_latency (x, w->graph->launch);

  for (guint i = 0; i < live->came; i++)
    if (live->member[i].state == MEMBER_SPINS)
      {
        live->member[i].state = MEMBER_MET;
        beside_met (x, live->member[i].task);
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
  const Where w = where_is (x, task);
  guint index;
  Live *live;
  Member *member;

  if (w.instance >= m->instances->len)
    g_array_set_size (m->instances, w.instance + 1);
  index = INSTANCE (m, w.instance) != 0 ? INSTANCE (m, w.instance) - 1 : new_live (m, &w);
  live = LIVE (m, index);
  member = &live->member[w.actor];
  *member = (Member) { .task = task, .state = execute_slows (x, w.graph) ? MEMBER_SPINS : MEMBER_QUIET };
  if (member->state == MEMBER_SPINS)
    beside_spins (x, task, w.graph->slowdown);
  if (!w.call->together)
    begin_later (x, &w.call->part[0], w.graph->launch, task);
  if (++live->came == w.call->ranks)
    all_came (x, &w);
}

void
message_met (Execution *x, Id meeting)
{
  const guint index = execute_index (x, meeting);
  const MessageCall *call = messages_call (x->messages->plan, index);

  for (Id task = engine_get_meeting (x->engine, meeting)->first_member; task != 0 && call->together; task = engine_next_member (x->engine, task))
    begin_later (x, &call->part[0], graph_get_call (x->graph, index)->launch, task);
}

void
message_activity_ended (Execution *x, Id activity)
{
  network_end (x->messages->network, activity);
  play_activity_ended (x->messages->play, activity);
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
  m->instances = g_array_new (FALSE, TRUE, sizeof (guint));
  m->lives = g_array_new (FALSE, TRUE, sizeof (Live));
  m->players = g_array_new (FALSE, TRUE, sizeof (Player));
  m->spare = g_new0 (guint, messages_groups (plan));
  m->of_group = g_new0 (guint, messages_groups (plan));
  m->slower = g_new (double, network_n_links (world_network (messages_world (plan))) + 1);
  for (guint i = 0; i < messages_groups (plan); i++)
    {
      const MessageGroup *g = messages_group (plan, i);

      play_expect (m->play, &(PlayJob) { .schedule = &g->schedule, .place = g->place, .fabric = g->fabric, .line = g->line, .played = g->played });
    }
}

void
message_run_free (MessageRun *m)
{
  if (m == NULL)
    return;
  play_free (m->play);
  network_run_free (m->network);
  for (guint i = 0; i < m->lives->len; i++)
    g_free (LIVE (m, i)->member);
  g_array_unref (m->lives);
  g_array_unref (m->players);
  g_array_unref (m->instances);
  g_free (m->spare);
  g_free (m->of_group);
  g_free (m->slower);
  g_free (m);
}

/* What a run that failed left at work is spare again. */
static void
forget (MessageRun *m)
{
  g_array_set_size (m->instances, 0);
  memset (m->spare, 0, messages_groups (m->plan) * sizeof (guint));
  m->spare_live = 0;
  for (guint i = 0; i < m->lives->len; i++)
    {
      LIVE (m, i)->next_spare = m->spare_live;
      m->spare_live = i + 1;
    }
  for (guint i = 0; i < m->players->len; i++)
    {
      PLAYER (m, i)->next = m->spare[PLAYER (m, i)->group];
      m->spare[PLAYER (m, i)->group] = i + 1;
    }
}

void
message_run_reset (Execution *x)
{
  MessageRun *m = x->messages;
  const guint links = network_n_links (world_network (messages_world (m->plan)));

  network_run_reset (m->network);
  play_reset (m->play);
  forget (m);
  for (Id link = 1; link <= links; link++)
    {
      uint32_t number;
      const Id class = world_class (messages_world (m->plan), link, &number);

      m->slower[link] = execute_link_scale (x, class) * messages_whole (m->plan, link);
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

const Messages *
execution_plan (const Execution *x)
{
  return x->messages != NULL ? x->messages->plan : NULL;
}

double
execution_play_sent (const Execution *x, guint group)
{
  const MessageRun *m = x->messages;
  double sent = 0;

  for (guint i = m->of_group[group]; i != 0; i = PLAYER (m, i - 1)->same)
    sent += play_job_sent (m->play, i - 1);
  return sent;
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
