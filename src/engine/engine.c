/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/engine-private.h"

/* The run.  Whatever ends, ends by an event: a hook or a task of no length never
 * nests, and what happens at one instant happens in the order it was asked for. */

Tick
engine_now (const Engine *e)
{
  return e->now;
}

uint64_t
engine_events (const Engine *e)
{
  return e->events;
}

Id
engine_ends_ahead (const Engine *e, unsigned ahead)
{
  const Event *event = radix_ahead (&e->heap, ahead);

  if (event == NULL || event->target >> EVENT_SHIFT != EVENT_ACTIVITY)
    return 0;
  __builtin_prefetch (&e->activity.at[event->target & EVENT_INDEX]);
  return event->target & EVENT_INDEX;
}

gboolean
engine_calls_ahead (const Engine *e, unsigned ahead, Id handler, uint32_t *argument)
{
  const Event *event = radix_ahead (&e->heap, ahead);

  if (event == NULL || event->target != EVENT_TARGET (EVENT_HANDLER, handler))
    return FALSE;
  *argument = event->argument;
  return TRUE;
}

gsize
engine_event_bytes (const Engine *e)
{
  return radix_heap_bytes (&e->heap);
}

Id
engine_handler (Engine *e, EngineHandler handler, gpointer user)
{
  const Id id = ARRAY_ADD (&e->handler);

  e->handler.at[id] = (Handler) { handler, user };
  return id;
}

void
engine_at (Engine *e, Tick when, Id handler, uint32_t argument)
{
  if (G_UNLIKELY (when > TICK_MAX))
    {
      engine_fail (e, ENGINE_ERROR_TIME, "a timer lies more than 2^63 ticks ahead");
      return;
    }
  g_return_if_fail (when >= e->now);
  engine_push (e, when, EVENT_HANDLER, handler, argument);
}

void
engine_touch (Engine *e)
{
  e->touched = TRUE;
}

/* Tasks. */

static void
start_rated (Engine *e, Id id)
{
  const Id activity = e->task.at[id].what;
  Activity *a = &e->activity.at[activity];

  if (a->generation != 0)   /* cancelled before it started */
    return;
  a->since = e->now;
  a->generation = 1;
  if (e->hooks.on_start != NULL)
    e->hooks.on_start (e->user, e, id);
  else
    engine_set_rate (e, activity, 1);
}

static void
start_meet (Engine *e, Id id)
{
  const Id meeting = e->task.at[id].what;
  Meeting *m = &e->meeting.at[meeting];

  if (m->arrived++ == 0)
    m->first = e->now;
  if (m->last_task == 0 || e->now != m->last || id < m->last_task)
    m->last_task = id;
  m->last = e->now;

  const gboolean complete = m->arrived == m->expected;

  if (e->hooks.on_wait != NULL)
    e->hooks.on_wait (e->user, e, id);
  if (!complete)
    return;
  if (e->hooks.on_meet != NULL)
    e->hooks.on_meet (e->user, e, meeting);
  else
    engine_end_meeting (e, meeting);
}

/* Asks for what the end of a task reads first; by then it is there. */
static inline void
ask_ahead (const Engine *e, const Task *task)
{
  __builtin_prefetch (&e->task.at[task->next]);
  if (task->edges != 0)
    __builtin_prefetch (&e->task.at[e->edge.at[task->edges].task]);
}

static void
try_start (Engine *e, Id id)
{
  Task *task = &e->task.at[id];

  if (task->waits > 0 || task->state != STATE_OPEN
      || (task->queue != 0 && e->queue.at[task->queue].head != id))
    return;
  task->state = STATE_STARTED;
  task->start = e->now;
  ask_ahead (e, task);
  switch ((TaskKind) task->kind)
    {
    case TASK_FIXED:
      engine_push_after (e, task->work, EVENT_TASK, id, 0);
      break;
    case TASK_RATED:
      start_rated (e, id);
      break;
    case TASK_MEET:
      start_meet (e, id);
      break;
    }
}

static void
mark_ended (Engine *e, Id id)
{
  e->task.at[id].state = STATE_ENDED;
  e->task.at[id].end = e->now;
  e->ended++;
}

/* Successors in the order of their edges, then the next of the queue. */
static void
release (Engine *e, Id id)
{
  for (Id edge = e->task.at[id].edges, after; edge != 0;)
    {
      after = e->edge.at[edge].task;
      edge = e->edge.at[edge].next;

      Task *task = &e->task.at[after];

      if (task->kind == TASK_RATED)
        __builtin_prefetch (&e->activity.at[task->what]);
      engine_note_last (e, after, id);
      if (--task->waits == 0)
        {
          task->ready = e->now;
          try_start (e, after);
        }
    }

  const Id queue = e->task.at[id].queue;

  if (queue == 0)
    return;

  const Id next = e->task.at[id].next;

  e->queue.at[queue].head = next;
  if (next == 0)
    return;
  engine_note_last (e, next, id);
  try_start (e, next);
}

/* The meeting ends with its last member. */
static void
member_ended (Engine *e, Id meeting)
{
  MeetingMore *more = &e->meeting_more.at[meeting];

  if (++more->gone < e->meeting.at[meeting].expected)
    return;
  more->ending = more->ended = TRUE;
  e->meeting.at[meeting].end = e->now;
  if (e->hooks.on_meeting_end != NULL)
    e->hooks.on_meeting_end (e->user, e, meeting);
}

static void
end_task (Engine *e, Id id)
{
  mark_ended (e, id);
  if (e->task.at[id].kind == TASK_MEET)
    member_ended (e, e->task.at[id].what);
  release (e, id);
}

void
engine_end_member (Engine *e, Id task)
{
  g_return_if_fail (task > 0 && task <= e->task.n);
  g_return_if_fail (e->task.at[task].kind == TASK_MEET && e->task.at[task].state == STATE_STARTED);
  engine_push (e, e->now, EVENT_TASK, task, 0);
}

void
engine_end_meeting (Engine *e, Id meeting)
{
  g_return_if_fail (meeting > 0 && meeting <= e->meeting.n);

  MeetingMore *more = &e->meeting_more.at[meeting];

  g_return_if_fail (e->meeting.at[meeting].arrived == e->meeting.at[meeting].expected);
  if (more->ending)
    return;
  more->ending = TRUE;
  engine_push (e, e->now, EVENT_MEETING, meeting, 0);
}

static void
end_meeting (Engine *e, Id meeting)
{
  MeetingMore *more = &e->meeting_more.at[meeting];
  const Id first = e->meeting.at[meeting].first_member;

  if (more->ended)
    return;
  more->ending = more->ended = TRUE;
  e->meeting.at[meeting].end = e->now;
  for (Id member = first; member != 0; member = e->more.at[member].next_member)
    mark_ended (e, member);
  if (e->hooks.on_meeting_end != NULL)
    e->hooks.on_meeting_end (e->user, e, meeting);
  for (Id member = first; member != 0; member = e->more.at[member].next_member)
    release (e, member);
}

static void
end_activity (Engine *e, Id activity)
{
  Activity *a = &e->activity.at[activity];
  const uint32_t owner = a->owner;

  a->left = 0;
  a->rate = 0;
  a->since = TICK_NEVER;
  if (e->hooks.on_end != NULL)
    e->hooks.on_end (e->user, e, activity);
  if (owner & OWNER_TASK)
    end_task (e, owner & ~OWNER_TASK);
  else if (owner != 0)
    end_meeting (e, owner);
  else
    {
      const Id spare = ARRAY_ADD (&e->spare);

      e->spare.at[spare] = activity;
    }
}

/* The loop. */

static void
start_added (Engine *e)
{
  e->adding = FALSE;
  for (uint32_t i = 1; i <= e->fresh.n; i++)
    try_start (e, e->fresh.at[i]);
  e->fresh.n = 0;
}

static void
handle (Engine *e, Event event)
{
  const Id id = event.target & EVENT_INDEX;

  switch (event.target >> EVENT_SHIFT)
    {
    case EVENT_HANDLER:
      e->now = event.time;
      e->handler.at[id].call (e->handler.at[id].user, e, event.argument);
      break;
    case EVENT_TASK:
      e->now = event.time;
      end_task (e, id);
      break;
    case EVENT_ACTIVITY:
      /* A stale one does not even move the time. */
      if (e->activity.at[id].generation != event.argument)
        break;
      e->now = event.time;
      end_activity (e, id);
      break;
    case EVENT_MEETING:
      e->now = event.time;
      end_meeting (e, id);
      break;
    case EVENT_ADDED:
      start_added (e);
      break;
    default:
      g_assert_not_reached ();
    }
}

static void
loop (Engine *e)
{
  while (G_LIKELY (e->error == NULL))
    {
      if (radix_now_empty (&e->heap))
        {
          if (e->touched)
            {
              e->touched = FALSE;
              if (e->hooks.on_instant != NULL)
                e->hooks.on_instant (e->user, e);
              continue;
            }
          if ((e->background && e->ended == e->task.n) || !radix_heap_refill (&e->heap))
            break;
        }
      e->events++;
      handle (e, radix_pop_now (&e->heap));
    }
}

void
engine_background (Engine *e, gboolean on)
{
  e->background = on;
}

gboolean
engine_run (Engine *e, GError **error)
{
  g_return_val_if_fail (!e->running, FALSE);
  e->running = TRUE;
  start_added (e);
  loop (e);
  e->running = FALSE;
  if (e->error == NULL)
    {
      /* Dropped events may have led the heap past the last one that counted. */
      e->heap.last = e->now;
      if (e->ended < e->task.n)
        engine_deadlock (e);
    }
  if (e->error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&e->error));
  return FALSE;
}
