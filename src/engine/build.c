/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/engine-private.h"

/* Building a graph, and reading it. */

Id
engine_array_add (gpointer *at, uint32_t *n, uint32_t *room, gsize size)
{
  const Id id = *n + 1;

  g_assert (id < EVENT_INDEX);
  if (id >= *room)
    {
      *room = MAX (64, 2 * *room);
      *at = g_realloc_n (*at, *room, size);
    }
  memset ((char *) *at + id * size, 0, size);
  *n = id;
  return id;
}

Id
engine_queue (Engine *e, Id owner)
{
  const Id id = ARRAY_ADD (&e->queue);

  e->queue.at[id].owner = owner;
  return id;
}

static Id
add_task (Engine *e, Id queue, TaskKind kind, uint8_t cause, uint16_t step)
{
  g_return_val_if_fail (queue <= e->queue.n, 0);

  const Id id = ARRAY_ADD (&e->task);
  Task *task = &e->task.at[id];

  ARRAY_ADD (&e->more);
  task->queue = queue;
  task->kind = (uint8_t) kind;
  task->cause = cause;
  task->step = step;
  task->ready = e->now;
  if (queue != 0)
    {
      Queue *q = &e->queue.at[queue];

      if (q->first == 0)
        q->first = id;
      else
        {
          e->task.at[q->tail].next = id;
          /* Behind a queue mate that has ended, the queue stands empty. */
          if (q->head == 0)
            task->last = q->tail;
        }
      q->tail = id;
      if (q->head == 0)
        q->head = id;
    }
  /* Its edges come after this call, so it is looked at by an event. */
  if (e->running && !e->adding)
    {
      e->adding = TRUE;
      radix_push (&e->heap, (Event) { e->now, EVENT_TARGET (EVENT_ADDED, 0), 0 });
    }
  return id;
}

Id
engine_task_fixed (Engine *e, Id queue, Tick work, uint8_t cause, uint16_t step)
{
  const Id id = add_task (e, queue, TASK_FIXED, cause, step);

  if (id != 0)
    e->task.at[id].work = work;
  return id;
}

static void
fill_activity (Engine *e, Id id, double amount, uint32_t owner)
{
  if (!(amount >= 0))
    engine_fail_number (e, "an activity cannot have %s units to do", amount);
  e->activity.at[id] = (Activity) { .left = amount, .since = TICK_NEVER, .owner = owner };
}

Id
engine_task_rated (Engine *e, Id queue, double amount, uint8_t cause, uint16_t step)
{
  const Id id = add_task (e, queue, TASK_RATED, cause, step);

  if (id != 0)
    {
      const Id activity = ARRAY_ADD (&e->activity);

      fill_activity (e, activity, amount, OWNER_TASK | id);
      e->task.at[id].what = activity;
    }
  return id;
}

Id
engine_activity (Engine *e, double amount, Id meeting)
{
  g_return_val_if_fail (meeting <= e->meeting.n, 0);

  /* events of the one that had the number before are of an older generation */
  const Id id = e->spare.n > 0 ? e->spare.at[e->spare.n--] : ARRAY_ADD (&e->activity);
  const uint32_t generation = e->activity.at[id].generation + 1;

  fill_activity (e, id, amount, meeting);
  e->activity.at[id].since = e->now;
  e->activity.at[id].generation = generation;
  return id;
}

Id
engine_meeting (Engine *e, Id call, uint32_t expected)
{
  const Id id = ARRAY_ADD (&e->meeting);

  ARRAY_ADD (&e->meeting_more);
  e->meeting.at[id].call = call;
  e->meeting.at[id].expected = expected;
  return id;
}

Id
engine_task_meet (Engine *e, Id queue, Id meeting, uint8_t cause, uint16_t step)
{
  g_return_val_if_fail (meeting > 0 && meeting <= e->meeting.n, 0);

  MeetingMore *more = &e->meeting_more.at[meeting];

  g_return_val_if_fail (more->members < e->meeting.at[meeting].expected, 0);

  const Id id = add_task (e, queue, TASK_MEET, cause, step);

  if (id == 0)
    return 0;
  e->task.at[id].what = meeting;
  if (more->last_member == 0)
    e->meeting.at[meeting].first_member = id;
  else
    e->more.at[more->last_member].next_member = id;
  more->last_member = id;
  more->members++;
  return id;
}

void
engine_edge (Engine *e, Id before, Id after)
{
  g_return_if_fail (before > 0 && before <= e->task.n && after > 0 && after <= e->task.n);
  g_return_if_fail (e->more.at[after].state == STATE_OPEN);
  if (e->more.at[before].state == STATE_ENDED)
    {
      if (e->task.at[before].end == e->now)
        engine_note_last (e, after, before);
      return;
    }

  const Id id = ARRAY_ADD (&e->edge);
  TaskMore *more = &e->more.at[before];

  e->edge.at[id].task = after;
  if (more->edge_tail == 0)
    e->task.at[before].edges = id;
  else
    e->edge.at[more->edge_tail].next = id;
  more->edge_tail = id;
  e->task.at[after].waits++;
}

const Task *
engine_get_task (const Engine *e, Id task)
{
  g_return_val_if_fail (task > 0 && task <= e->task.n, NULL);
  return &e->task.at[task];
}

const Meeting *
engine_get_meeting (const Engine *e, Id meeting)
{
  g_return_val_if_fail (meeting > 0 && meeting <= e->meeting.n, NULL);
  return &e->meeting.at[meeting];
}

uint32_t
engine_n_tasks (const Engine *e)
{
  return e->task.n;
}

uint32_t
engine_n_meetings (const Engine *e)
{
  return e->meeting.n;
}

Id
engine_queue_owner (const Engine *e, Id queue)
{
  return queue > 0 && queue <= e->queue.n ? e->queue.at[queue].owner : 0;
}

Id
engine_queue_first (const Engine *e, Id queue)
{
  return queue > 0 && queue <= e->queue.n ? e->queue.at[queue].first : 0;
}

Id
engine_next_member (const Engine *e, Id task)
{
  g_return_val_if_fail (task > 0 && task <= e->task.n, 0);
  return e->more.at[task].next_member;
}

Id
engine_next_edge (const Engine *e, Id *edge)
{
  if (*edge == 0)
    return 0;

  const Edge *this = &e->edge.at[*edge];

  *edge = this->next;
  return this->task;
}
