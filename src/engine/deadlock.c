/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/engine-private.h"

/* Why nothing moves any more: the first waiting tasks by name, and two meetings
 * that queues reached in opposite order if that is the cause. */

#define NAMED_MAX 6
#define SEARCH_MAX 4000000   /* steps of the search for an opposite order */

static void
describe_task (const Engine *e, Id task, GString *out)
{
  if (e->hooks.describe != NULL)
    e->hooks.describe (e->user, task, out);
  else
    g_string_append_printf (out, "task %u", task);
}

static gboolean
is_open_head (const Engine *e, Id task)
{
  const Id queue = e->task.at[task].queue;

  return e->task.at[task].state != STATE_ENDED && (queue == 0 || e->queue.at[queue].head == task);
}

static void
describe_wait (const Engine *e, Id task, GString *out)
{
  const Task *t = &e->task.at[task];

  describe_task (e, task, out);
  if (t->waits > 0)
    g_string_append_printf (out, " waits for %u other%s", t->waits, t->waits == 1 ? "" : "s");
  else if (t->kind == TASK_MEET)
    {
      const Meeting *m = &e->meeting.at[t->what];

      if (m->arrived < m->expected)
        g_string_append_printf (out, " waits at a meeting where %u of %u are", m->arrived, m->expected);
      else
        g_string_append (out, " is at a meeting that never ends");
    }
  else
    g_string_append (out, " never ends");
}

/* The meeting at which a queue's head stands, 0 if it stands at none. */
static Id
blocked_at (const Engine *e, Id queue)
{
  if (queue == 0)
    return 0;

  const Id head = e->queue.at[queue].head;

  if (head == 0 || e->task.at[head].kind != TASK_MEET || e->task.at[head].state != STATE_STARTED)
    return 0;
  return e->task.at[head].what;
}

typedef struct { Id here, then; } Order;   /* on one queue: waits here, would go there later */

/* A member of meeting `a` that has not come because its queue stands at another
 * meeting `b`, of which a member in turn stands behind one at `a`. */
static gboolean
find_opposite (const Engine *e, Id a, uint32_t *steps, Order *one, Order *other)
{
  Id tried = 0;

  for (Id m = e->meeting.at[a].first_member; m != 0; m = e->more.at[m].next_member)
    {
      const Id queue = e->task.at[m].queue, b = blocked_at (e, queue);

      if (e->task.at[m].state != STATE_OPEN || b == 0 || b == a || b == tried)
        continue;
      tried = b;
      for (Id n = e->meeting.at[b].first_member; n != 0; n = e->more.at[n].next_member)
        {
          if (++*steps > SEARCH_MAX)
            return FALSE;
          if (e->task.at[n].state == STATE_OPEN && blocked_at (e, e->task.at[n].queue) == a)
            {
              *one = (Order) { e->queue.at[e->task.at[n].queue].head, n };
              *other = (Order) { e->queue.at[queue].head, m };
              return TRUE;
            }
        }
    }
  return FALSE;
}

static void
append_order (const Engine *e, const Order *order, GString *out)
{
  describe_task (e, order->here, out);
  g_string_append (out, " before ");
  describe_task (e, order->then, out);
}

static void
append_opposite (const Engine *e, GString *out)
{
  uint32_t steps = 0;
  Order one, other;

  for (Id a = 1; a <= e->meeting.n && steps < SEARCH_MAX; a++)
    if (!e->meeting_more.at[a].ended && e->meeting.at[a].arrived > 0
        && find_opposite (e, a, &steps, &one, &other))
      {
        g_string_append (out, "; two queues meet in opposite order: ");
        append_order (e, &one, out);
        g_string_append (out, ", but ");
        append_order (e, &other, out);
        return;
      }
}

void
engine_deadlock (Engine *e)
{
  g_autoptr (GString) text = g_string_new (NULL);
  uint32_t named = 0, heads = 0;

  for (Id task = 1; task <= e->task.n; task++)
    if (is_open_head (e, task))
      {
        if (++heads > NAMED_MAX)
          continue;
        g_string_append (text, named++ > 0 ? ", " : "");
        describe_wait (e, task, text);
      }
  if (heads > named)
    g_string_append_printf (text, " and %u more", heads - named);
  append_opposite (e, text);
  engine_fail (e, ENGINE_ERROR_DEADLOCK, "deadlock: %u of %u tasks can never end: %s",
               e->task.n - e->ended, e->task.n, text->str);
}
