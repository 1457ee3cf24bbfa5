/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/events.h"

/* The oracle: nothing clever, so that one can see that it is right. */
typedef struct { Event event; uint64_t sequence; } Entry;

struct FourHeap
{
  Entry   *entry;
  gsize    n, room;
  uint64_t sequence;
};

FourHeap *
four_heap_new (void)
{
  return g_new0 (FourHeap, 1);
}

void
four_heap_free (FourHeap *h)
{
  if (h == NULL)
    return;
  g_free (h->entry);
  g_free (h);
}

static gboolean
before (const Entry *a, const Entry *b)
{
  return a->event.time < b->event.time
         || (a->event.time == b->event.time && a->sequence < b->sequence);
}

void
four_heap_push (FourHeap *h, Event event)
{
  const Entry entry = { event, h->sequence++ };

  if (h->n == h->room)
    {
      h->room = MAX (64, 2 * h->room);
      h->entry = g_renew (Entry, h->entry, h->room);
    }

  gsize at = h->n++;

  for (gsize up; at > 0; at = up)
    {
      up = (at - 1) / 4;
      if (!before (&entry, &h->entry[up]))
        break;
      h->entry[at] = h->entry[up];
    }
  h->entry[at] = entry;
}

gboolean
four_heap_pop (FourHeap *h, Event *event)
{
  if (h->n == 0)
    return FALSE;
  *event = h->entry[0].event;

  const Entry moved = h->entry[--h->n];
  gsize at = 0;

  for (;;)
    {
      const gsize first = 4 * at + 1, end = MIN (first + 4, h->n);
      gsize least = first;

      if (first >= h->n)
        break;
      for (gsize i = first + 1; i < end; i++)
        if (before (&h->entry[i], &h->entry[least]))
          least = i;
      if (!before (&h->entry[least], &moved))
        break;
      h->entry[at] = h->entry[least];
      at = least;
    }
  h->entry[at] = moved;
  return TRUE;
}
