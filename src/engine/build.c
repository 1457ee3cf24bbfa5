/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/engine-private.h"

/* Building a graph, and reading it. */

#define ARRAY_EXPECT(array, n_more) \
  (engine_array_grow ((gpointer *) &(array)->at, (array)->n, &(array)->room, sizeof *(array)->at, (array)->n + (n_more) + 1))

void
engine_expect (Engine *e, uint32_t tasks, uint32_t rated, uint32_t edges)
{
  ARRAY_EXPECT (&e->task, tasks);
  ARRAY_EXPECT (&e->more, tasks);
  ARRAY_EXPECT (&e->activity, rated);
  ARRAY_EXPECT (&e->edge, edges);
}

Id
engine_queue (Engine *e)
{
  return ARRAY_ADD (&e->queue);
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
            {
              task->last = q->tail;
              task->start = e->task.at[q->tail].end;
            }
        }
      q->tail = id;
      if (q->head == 0)
        q->head = id;
    }
  if (queue == 0 || e->queue.at[queue].head == id)
    {
      const Id fresh = ARRAY_ADD (&e->fresh);

      e->fresh.at[fresh] = id;
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

Id
engine_task_rated (Engine *e, Id queue, double amount, uint8_t cause, uint16_t step)
{
  const Id id = add_task (e, queue, TASK_RATED, cause, step);

  if (id != 0)
    {
      const Id activity = ARRAY_ADD (&e->activity);

      engine_fill_activity (e, activity, amount, OWNER_TASK | id);
      e->task.at[id].what = activity;
    }
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
  g_return_if_fail (e->task.at[after].state == STATE_OPEN);
  if (e->task.at[before].state == STATE_ENDED)
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
