/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "engine/events.h"

/* The radix heap of events.h, inline for the engine's loop.  Ahuja, Mehlhorn,
 * Orlin and Tarjan 1990, on integer keys: an event's bucket is the highest digit
 * in which its time differs from the last popped time, and that digit's value.
 * Of equal times all are in one bucket in the order of their pushes, and moving
 * a bucket down keeps that order: FIFO needs no sequence number.  Those at the
 * last popped time are in the now-list. */
#define RADIX_BITS 3   /* a digit; tests/bench: 1 and 2 move events more often, 4 spreads few over too much memory */
#define RADIX_DIGITS (1u << RADIX_BITS)
#define RADIX_LEVELS ((64 + RADIX_BITS - 1) / RADIX_BITS)
#define RADIX_BUCKETS (RADIX_LEVELS * RADIX_DIGITS)
#define RADIX_WORDS ((RADIX_BUCKETS + 63) / 64)
#define RADIX_NOW RADIX_BUCKETS

#define RADIX_BLOCK_BYTES 4096
#define RADIX_BLOCK_EVENTS 255

/* Aligned to its size, so a cursor at a border says that its block is full. */
typedef struct RadixBlock RadixBlock;
struct RadixBlock
{
  RadixBlock *next;
  gpointer    unused;
  Event       event[RADIX_BLOCK_EVENTS];
};
G_STATIC_ASSERT (sizeof (Event) == 16);
G_STATIC_ASSERT (sizeof (RadixBlock) == RADIX_BLOCK_BYTES);

typedef struct
{
  Event *end;     /* where the next one goes; NULL: no block yet */
  Event *begin;   /* the first; its block stays when the bucket is emptied */
} RadixBucket;

typedef struct RadixSlab RadixSlab;

struct RadixHeap
{
  Tick        last;                    /* popped */
  Event      *head;                    /* next of the now-list, in the block of its begin */
  uint64_t    occupied[RADIX_WORDS];   /* a bit a bucket */
  RadixBlock *spare;
  RadixBucket bucket[RADIX_BUCKETS + 1];
  RadixSlab  *slabs;
  gsize       bytes;
};

void     radix_heap_init   (RadixHeap *h);
void     radix_heap_finish (RadixHeap *h);
void     radix_heap_extend (RadixHeap *h, unsigned bucket);   /* by a block */
void     radix_heap_advance (RadixHeap *h);                   /* the now-list to its next block */
gboolean radix_heap_refill (RadixHeap *h);                    /* the empty now-list with the next time */

static inline gboolean
radix_at_border (const Event *cursor)
{
  return ((uintptr_t) cursor & (RADIX_BLOCK_BYTES - 1)) == 0;
}

static inline void
radix_put (RadixHeap *h, unsigned b, Event event)
{
  if (G_UNLIKELY (radix_at_border (h->bucket[b].end)))
    radix_heap_extend (h, b);
  *h->bucket[b].end++ = event;
}

static inline void
radix_push (RadixHeap *h, Event event)
{
  const Tick differing = event.time ^ h->last;

  if (differing == 0)
    {
      radix_put (h, RADIX_NOW, event);
      return;
    }

  const unsigned level = (63 - (unsigned) __builtin_clzll (differing)) / RADIX_BITS;
  const unsigned digit = (unsigned) (event.time >> (level * RADIX_BITS)) & (RADIX_DIGITS - 1);
  const unsigned b = level * RADIX_DIGITS + digit;

  radix_put (h, b, event);
  h->occupied[b / 64] |= (uint64_t) 1 << (b % 64);
}

/* No event is left at the last popped time. */
static inline gboolean
radix_now_empty (const RadixHeap *h)
{
  return h->head == h->bucket[RADIX_NOW].end;
}

/* Only if the now-list is not empty. */
static inline Event
radix_pop_now (RadixHeap *h)
{
  const Event event = *h->head++;
  RadixBucket *now = &h->bucket[RADIX_NOW];

  if (h->head == now->end)
    h->head = now->end = now->begin;
  else if (G_UNLIKELY (radix_at_border (h->head)))
    radix_heap_advance (h);
  return event;
}

/* The event `ahead` places behind the next one at the last popped time; NULL: there is
 * none, or it lies in another block. */
static inline const Event *
radix_ahead (const RadixHeap *h, unsigned ahead)
{
  const Event *at = h->head + ahead, *end = h->bucket[RADIX_NOW].end;
  const uintptr_t block = (uintptr_t) h->head / RADIX_BLOCK_BYTES;

  if ((uintptr_t) at / RADIX_BLOCK_BYTES != block || (at >= end && (uintptr_t) (end - 1) / RADIX_BLOCK_BYTES == block))
    return NULL;
  return at;
}
