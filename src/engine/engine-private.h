/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "engine/engine.h"
#include "engine/radix-heap.h"
#include <string.h>

/* Inside engine/ only: state.c has the memory, build.c fills the arrays, engine.c runs
 * them, activity.c is what has a rate, deadlock.c says why they stand still.  Hooks may
 * add tasks, so an array may move at any hook: the code holds indices over a hook, never
 * pointers. */

#define TICK_NEVER G_MAXUINT64
#define TICK_MAX ((Tick) G_MAXINT64)   /* last valid time */

/* Event.target: what happens in the top bits, to whom in the others. */
enum { EVENT_TASK, EVENT_ACTIVITY, EVENT_MEETING, EVENT_HANDLER, EVENT_ADDED };
#define EVENT_SHIFT 29
#define EVENT_INDEX (((uint32_t) 1 << EVENT_SHIFT) - 1)
#define EVENT_TARGET(kind, id) ((uint32_t) (kind) << EVENT_SHIFT | (id))

typedef struct { Id first, head, tail; } Queue;   /* head: the first unfinished */
typedef struct { Id task, next; } Edge;
enum { STATE_OPEN, STATE_STARTED, STATE_ENDED };
typedef struct { Id edge_tail, next_member; } TaskMore;
typedef struct { Id last_member; uint32_t members, gone; uint32_t ending, ended; } MeetingMore;

/* A run reads tasks in hardly any order: one line of the cache each. */
G_STATIC_ASSERT (sizeof (Task) == 64);

#define OWNER_TASK ((uint32_t) 1 << 31)
typedef struct
{
  double   left, rate;        /* units left at `since`; units a tick */
  Tick     since;             /* TICK_NEVER: not started, ended or cancelled */
  uint32_t generation;        /* 0: never started; an older completion event is dropped */
  uint32_t owner;             /* OWNER_TASK | task, a meeting, or 0 */
} Activity;

typedef struct { EngineHandler call; gpointer user; } Handler;

/* A growing array, aligned to a line of the cache, of which index 0 is not used. */
#define ARRAY(type) struct { type *at; uint32_t n, room; }

struct Engine
{
  EngineHooks hooks;
  gpointer    user;
  Tick        now;
  gboolean    touched, running, adding, background;
  uint32_t    ended;          /* tasks */
  uint64_t    events;
  GError     *error;
  RadixHeap   heap;
  ARRAY (Task) task;
  ARRAY (TaskMore) more;
  ARRAY (Queue) queue;
  ARRAY (Edge) edge;
  ARRAY (Meeting) meeting;
  ARRAY (MeetingMore) meeting_more;
  ARRAY (Activity) activity;
  ARRAY (Id) spare;           /* activities of nobody that have ended */
  ARRAY (Id) fresh;           /* tasks added since, that no other has to end for in their queue */
  ARRAY (Handler) handler;
};

/* The id of a new zeroed element. */
#define ARRAY_ADD(array) \
  (array_add ((gpointer *) &(array)->at, &(array)->n, &(array)->room, sizeof *(array)->at))
void engine_array_grow (gpointer *at, uint32_t n, uint32_t *room, gsize size, uint32_t wanted);

static inline Id
array_add (gpointer *at, uint32_t *n, uint32_t *room, gsize size)
{
  if (G_UNLIKELY (*n + 1 >= *room))
    engine_array_grow (at, *n, room, size, MAX (64, 2 * *room));
  memset ((char *) *at + ++*n * size, 0, size);
  return *n;
}

void engine_fail      (Engine *e, EngineError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
void engine_fail_number (Engine *e, const char *format, double number) G_GNUC_PRINTF (2, 0);   /* one %s */
void engine_deadlock  (Engine *e);   /* sets the error */
void engine_fill_activity (Engine *e, Id id, double amount, uint32_t owner);

/* `before` ended now and held the task up; of several that end now, the first of them. */
static inline void
engine_note_last (Engine *e, Id id, Id before)
{
  Task *task = &e->task.at[id];

  if (task->last == 0 || task->start != e->now || before < task->last)
    task->last = before;
  task->start = e->now;
}

static inline void
engine_push (Engine *e, Tick when, unsigned kind, Id id, uint32_t argument)
{
  radix_push (&e->heap, (Event) { when, EVENT_TARGET (kind, id), argument });
}

static inline void
engine_push_after (Engine *e, Tick ticks, unsigned kind, Id id, uint32_t argument)
{
  if (G_UNLIKELY (ticks > TICK_MAX - e->now))
    {
      engine_fail (e, ENGINE_ERROR_TIME, "the run lasts longer than 2^63 ticks");
      return;
    }
  engine_push (e, e->now + ticks, kind, id, argument);
}
