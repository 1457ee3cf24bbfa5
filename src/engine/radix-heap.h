/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "engine/events.h"
#include <string.h>

/* The radix heap of events.h, inline for the engine's loop.  Ahuja, Mehlhorn,
 * Orlin and Tarjan 1990, on integer keys: an event's bucket is the highest digit
 * in which its time differs from the last popped time, and that digit's value.
 * Of equal times all are in one bucket in the order of their pushes, and moving
 * a bucket down keeps that order: FIFO needs no sequence number.
 * Bucket 0 is the now-list: the events at the last popped time. */
#define RADIX_BLOCK_BYTES 4096
#define RADIX_BLOCK_EVENTS 255
#define RADIX_BUCKETS 65

typedef struct RadixBlock RadixBlock;
struct RadixBlock
{
  RadixBlock *next;
  gpointer    unused;
  Event       event[RADIX_BLOCK_EVENTS];
};
G_STATIC_ASSERT (sizeof (Event) == 16);
G_STATIC_ASSERT (sizeof (RadixBlock) == RADIX_BLOCK_BYTES);

/* Blocks are aligned to their size, so a cursor at a block's border says that
 * the block is full (or, NULL, that there is none). */
typedef struct
{
  Event      *end;      /* where the next event goes */
  RadixBlock *first;
} RadixBucket;

typedef struct RadixSlab RadixSlab;

struct RadixHeap
{
  Tick        last;               /* the last popped time */
  uint64_t    occupied;           /* bit b - 1: bucket b > 0 holds events */
  Event      *head;               /* next of bucket 0 */
  RadixBlock *spare;
  RadixBucket bucket[RADIX_BUCKETS];
  RadixSlab  *slabs;
  gsize       bytes;
};

void radix_heap_init      (RadixHeap *h);
void radix_heap_finish    (RadixHeap *h);
void radix_heap_more      (RadixHeap *h);                       /* fills the list of spare blocks */
gboolean radix_heap_refill (RadixHeap *h);                      /* bucket 0 from the least other one */

static inline RadixBlock *
radix_block_of (const Event *end)
{
  return (RadixBlock *) (((uintptr_t) end - 1) & ~(uintptr_t) (RADIX_BLOCK_BYTES - 1));
}

static inline void
radix_bucket_extend (RadixHeap *h, unsigned b)
{
  RadixBucket *bucket = &h->bucket[b];

  if (h->spare == NULL)
    radix_heap_more (h);

  RadixBlock *block = h->spare;

  h->spare = block->next;
  block->next = NULL;
  if (bucket->first == NULL)
    bucket->first = block;
  else
    radix_block_of (bucket->end)->next = block;
  bucket->end = block->event;
  if (b == 0 && h->head == NULL)
    h->head = block->event;
}

static inline void
radix_put (RadixHeap *h, unsigned b, Event event)
{
  RadixBucket *bucket = &h->bucket[b];

  if (G_UNLIKELY (((uintptr_t) bucket->end & (RADIX_BLOCK_BYTES - 1)) == 0))
    radix_bucket_extend (h, b);
  *bucket->end++ = event;
}

static inline unsigned
radix_bucket_of (Tick time, Tick last)
{
  const Tick differing = time ^ last;

  return differing == 0 ? 0 : 64 - (unsigned) __builtin_clzll (differing);
}

static inline void
radix_push (RadixHeap *h, Event event)
{
  const unsigned b = radix_bucket_of (event.time, h->last);

  radix_put (h, b, event);
  if (b > 0)
    h->occupied |= (uint64_t) 1 << (b - 1);
}

/* No event is left at the last popped time. */
static inline gboolean
radix_now_empty (const RadixHeap *h)
{
  return h->head == h->bucket[0].end;
}

/* Only if the now-list is not empty. */
static inline Event
radix_pop_now (RadixHeap *h)
{
  const Event event = *h->head++;

  if (G_UNLIKELY (((uintptr_t) h->head & (RADIX_BLOCK_BYTES - 1)) == 0))
    {
      RadixBlock *used = h->bucket[0].first, *next = used->next;

      used->next = h->spare;
      h->spare = used;
      h->bucket[0].first = next;
      h->head = next != NULL ? next->event : NULL;
      if (next == NULL)
        h->bucket[0].end = NULL;
    }
  return event;
}
