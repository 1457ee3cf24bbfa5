/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/id.h"

/* A discrete-event engine: integer time, tasks on in-order queues, meetings of
 * queues, activities whose rate is set from above.  It knows no GPU and no byte.
 * No globals: two engines may run in two threads. */
typedef struct Engine Engine;

typedef enum { TASK_FIXED, TASK_RATED, TASK_MEET } TaskKind;

typedef struct
{
  Id       queue, next;         /* queue (0: none) and the next in issue order */
  Id       edges, last;         /* first successor edge; the predecessor or queue mate that finished last */
  uint32_t waits;               /* predecessors still open */
  uint8_t  kind, cause;         /* cause: an opaque byte of the caller's */
  uint16_t step;                /* opaque */
  Id       what;                /* TASK_RATED: its activity; TASK_MEET: its meeting */
  uint32_t state;               /* the engine's own */
  Tick     work;                /* TASK_FIXED */
  Tick     ready, start, end;   /* ready: no predecessor open; start: also head of its queue (before: when `last` ended) */
} Task;

typedef struct
{
  uint32_t expected, arrived;
  Id       call;                /* opaque */
  Id       last_task;           /* the member that came last (ties: lowest id) */
  Tick     first, last, end;    /* arrivals, end.  Wait of a member: last - its start */
  Id       first_member;        /* members are linked by engine_next_member () */
} Meeting;

typedef struct
{
  /* The last member of a meeting is there: start its activity now or after a
   * timer, or end it with engine_end_meeting (). */
  void (*on_meet)    (gpointer user, Engine *e, Id meeting);
  /* A member became head of its queue and waits there (also called for the last one, before on_meet). */
  void (*on_wait)    (gpointer user, Engine *e, Id task);
  /* A rated task became running: give its activity a rate. */
  void (*on_start)   (gpointer user, Engine *e, Id task);
  /* An activity ended; its meeting or task ends right after this call. */
  void (*on_end)     (gpointer user, Engine *e, Id activity);
  /* A meeting ended; its members have ended too, their successors not yet started. */
  void (*on_meeting_end) (gpointer user, Engine *e, Id meeting);
  /* No event is left at `now` and engine_touch () was called since the last time. */
  void (*on_instant) (gpointer user, Engine *e);
  /* Appends the name of a task for an error.  May be NULL. */
  void (*describe)   (gpointer user, Id task, GString *out);
} EngineHooks;
typedef void (*EngineHandler) (gpointer user, Engine *e, uint32_t argument);

#define ENGINE_ERROR (engine_error_quark ())
typedef enum { ENGINE_ERROR_DEADLOCK, ENGINE_ERROR_TIME, ENGINE_ERROR_AMOUNT } EngineError;
GQuark engine_error_quark (void);

Engine *engine_new   (const EngineHooks *hooks, gpointer user);
void    engine_free  (Engine *e);
/* Forgets tasks, queues, meetings, activities, events and time; keeps handlers and memory. */
void    engine_reset (Engine *e);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Engine, engine_free)

/* Building.  Tasks go to the back of their queue in the order of these calls.
 * O(1) each, amortised. */
Id   engine_queue      (Engine *e);
/* So many more will come, `rated` of the tasks: memory is taken once. */
void engine_expect     (Engine *e, uint32_t tasks, uint32_t rated, uint32_t edges);
Id   engine_task_fixed (Engine *e, Id queue, Tick work, uint8_t cause, uint16_t step);
/* `amount` in the caller's unit (a kernel: ticks when nothing slows it). */
Id   engine_task_rated (Engine *e, Id queue, double amount, uint8_t cause, uint16_t step);
Id   engine_meeting    (Engine *e, Id call, uint32_t expected);
Id   engine_task_meet  (Engine *e, Id queue, Id meeting, uint8_t cause, uint16_t step);
/* `after` starts once `before` has ended.  Both in one engine, `after` not started. */
void engine_edge       (Engine *e, Id before, Id after);

/* Whatever ends, ends by an event of its own: hooks never nest.  Hooks may add
 * queues, tasks, edges and timers; a task added in the run is looked at once the
 * events before it at this instant are done.  May be called again after more
 * tasks were added; time goes on.
 * Runs until no event is left.  An unfinished task then is a deadlock: the error
 * names the waiting tasks, at a meeting both orders. */
gboolean engine_run  (Engine *e, GError **error);
/* Timers and activities of nobody go on by themselves: the run ends with its last task. */
void     engine_background (Engine *e, gboolean on);
Tick     engine_now  (const Engine *e);
uint64_t engine_events (const Engine *e);   /* events popped so far */
/* For those who ask early for the memory that they will read: the activity that ends so
 * many events after the next one, at this instant; 0: another event, or not known yet. */
Id       engine_ends_ahead  (const Engine *e, unsigned ahead);
/* The same of a call of `handler`; FALSE: another event. */
gboolean engine_calls_ahead (const Engine *e, unsigned ahead, Id handler, uint32_t *argument);
gsize    engine_event_bytes (const Engine *e);   /* memory held for pending events */

/* Activities: `amount` units left; 0 units a tick until a rate is set.  Of one without
 * meeting and task the number is another's once its on_end is over. */
Id     engine_activity  (Engine *e, double amount, Id meeting);
/* What an activity of this rate takes, rounded up: THE conversion, so that an
 * estimate that uses it agrees with the run to the tick.  G_MAXUINT64: too long. */
Tick   engine_ticks     (double amount, double rate);
void   engine_set_rate  (Engine *e, Id activity, double rate);  /* units a tick; O(1): a new generation, one event.  End rounds up to a tick */
void   engine_cancel    (Engine *e, Id activity);               /* it never ends */
double engine_rate      (const Engine *e, Id activity);
double engine_left      (const Engine *e, Id activity);         /* units left at now */
Id     engine_activity_task    (const Engine *e, Id activity);
void   engine_end_meeting (Engine *e, Id meeting);              /* at now, without an activity */
/* Ends one waiting member by itself, now; the last one ends the meeting.  For each member, or for none. */
void   engine_end_member  (Engine *e, Id task);

/* Timers.  A handler is registered once; `when` is not before now. */
Id   engine_handler (Engine *e, EngineHandler handler, gpointer user);
void engine_at      (Engine *e, Tick when, Id handler, uint32_t argument);
void engine_touch   (Engine *e);

/* What happened: borrowed, valid until the next task is added or reset. */
const Task    *engine_get_task    (const Engine *e, Id task);
const Meeting *engine_get_meeting (const Engine *e, Id meeting);
uint32_t       engine_n_tasks     (const Engine *e);            /* ids 1..n */
uint32_t       engine_n_meetings  (const Engine *e);
Id             engine_queue_first (const Engine *e, Id queue);  /* first task in issue order; follow Task.next */
Id             engine_next_member (const Engine *e, Id task);   /* next member task of its meeting */
