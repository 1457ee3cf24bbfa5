/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/radix-heap.h"
#include <stdlib.h>

/* Blocks come in slabs that grow with the heap, an eighth of it at a time. */
#define SLAB_BLOCKS_MIN 16
#define SLAB_BLOCKS_MAX 256

struct RadixSlab
{
  RadixSlab *next;
  gpointer   memory;
};

void
radix_heap_init (RadixHeap *h)
{
  memset (h, 0, sizeof *h);
}

void
radix_heap_finish (RadixHeap *h)
{
  for (RadixSlab *slab = h->slabs, *next; slab != NULL; slab = next)
    {
      next = slab->next;
      free (slab->memory);
      g_free (slab);
    }
}

void
radix_heap_more (RadixHeap *h)
{
  const gsize n = CLAMP (h->bytes / RADIX_BLOCK_BYTES / 8, SLAB_BLOCKS_MIN, SLAB_BLOCKS_MAX);
  RadixSlab *slab = g_new (RadixSlab, 1);
  RadixBlock *blocks = aligned_alloc (RADIX_BLOCK_BYTES, n * RADIX_BLOCK_BYTES);

  if (blocks == NULL)
    g_error ("out of memory for pending events");
  slab->memory = blocks;
  slab->next = h->slabs;
  h->slabs = slab;
  h->bytes += n * RADIX_BLOCK_BYTES + sizeof *slab;
  for (gsize i = n; i-- > 0;)
    {
      blocks[i].next = h->spare;
      h->spare = &blocks[i];
    }
}

static Tick
least_time (const RadixBucket *bucket)
{
  Tick least = G_MAXUINT64;

  for (const RadixBlock *block = bucket->first; block != NULL; block = block->next)
    {
      const Event *end = block->next != NULL ? block->event + RADIX_BLOCK_EVENTS : bucket->end;

      for (const Event *event = block->event; event < end; event++)
        least = MIN (least, event->time);
    }
  return least;
}

/* All buckets below the least occupied one are empty, so appending its events
 * in their order keeps ties FIFO. */
gboolean
radix_heap_refill (RadixHeap *h)
{
  if (h->occupied == 0)
    return FALSE;

  const unsigned b = 1 + (unsigned) __builtin_ctzll (h->occupied);
  const RadixBucket from = h->bucket[b];

  h->bucket[b] = (RadixBucket) { NULL, NULL };
  h->occupied &= h->occupied - 1;
  h->last = least_time (&from);
  for (RadixBlock *block = from.first, *next; block != NULL; block = next)
    {
      next = block->next;

      const Event *end = next != NULL ? block->event + RADIX_BLOCK_EVENTS : from.end;

      for (const Event *event = block->event; event < end; event++)
        radix_push (h, *event);
      block->next = h->spare;
      h->spare = block;
    }
  return TRUE;
}

RadixHeap *
radix_heap_new (void)
{
  RadixHeap *h = g_new (RadixHeap, 1);

  radix_heap_init (h);
  return h;
}

void
radix_heap_free (RadixHeap *h)
{
  if (h == NULL)
    return;
  radix_heap_finish (h);
  g_free (h);
}

void
radix_heap_push (RadixHeap *h, Event event)
{
  g_return_if_fail (event.time >= h->last);
  radix_push (h, event);
}

gboolean
radix_heap_pop (RadixHeap *h, Event *event)
{
  if (radix_now_empty (h) && !radix_heap_refill (h))
    return FALSE;
  *event = radix_pop_now (h);
  return TRUE;
}

void
radix_heap_clear (RadixHeap *h)
{
  for (unsigned b = 0; b < RADIX_BUCKETS; b++)
    {
      RadixBucket *bucket = &h->bucket[b];

      for (RadixBlock *block = bucket->first, *next; block != NULL; block = next)
        {
          next = block->next;
          block->next = h->spare;
          h->spare = block;
        }
      *bucket = (RadixBucket) { NULL, NULL };
    }
  h->head = NULL;
  h->occupied = 0;
  h->last = 0;
}

gsize
radix_heap_bytes (const RadixHeap *h)
{
  return sizeof *h + h->bytes;
}
