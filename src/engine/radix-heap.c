/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/radix-heap.h"
#include <stdlib.h>
#include <string.h>

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

static void
add_slab (RadixHeap *h)
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

static RadixBlock *
take_block (RadixHeap *h)
{
  if (h->spare == NULL)
    add_slab (h);

  RadixBlock *block = h->spare;

  h->spare = block->next;
  block->next = NULL;
  return block;
}

static void
give_block (RadixHeap *h, RadixBlock *block)
{
  block->next = h->spare;
  h->spare = block;
}

/* `inside` is not at a border. */
static RadixBlock *
block_of (const Event *inside)
{
  return (RadixBlock *) ((uintptr_t) inside & ~(uintptr_t) (RADIX_BLOCK_BYTES - 1));
}

/* Blocks are aligned, so buckets that hold few events begin on different lines
 * of them: at one offset they would all compete for the same set of the cache. */
static Event *
first_event (RadixBlock *block, unsigned b)
{
  const unsigned per_line = 64 / sizeof (Event), lines = RADIX_BLOCK_BYTES / 64 / 2;

  return block->event + (per_line - 1) + per_line * (b * 7 % (lines - 1));
}

void
radix_heap_extend (RadixHeap *h, unsigned b)
{
  RadixBucket *bucket = &h->bucket[b];
  RadixBlock *block = take_block (h);

  if (bucket->end != NULL)
    {
      block_of (bucket->end - 1)->next = block;
      bucket->end = block->event;
      return;
    }
  bucket->begin = bucket->end = first_event (block, b);
  if (b == RADIX_NOW)
    h->head = bucket->begin;
}

void
radix_heap_advance (RadixHeap *h)
{
  RadixBlock *used = block_of (h->head - 1), *next = used->next;

  h->head = h->bucket[RADIX_NOW].begin = next->event;
  give_block (h, used);
}

static Tick
least_time (const Event *event, const Event *end, Tick least)
{
  for (; event < end; event++)
    least = MIN (least, event->time);
  return least;
}

static void
move_down (RadixHeap *h, const Event *event, const Event *end)
{
  for (; event < end; event++)
    radix_push (h, *event);
}

static const Event *
end_in (const RadixBlock *block, const Event *end)
{
  return block->next != NULL ? block->event + RADIX_BLOCK_EVENTS : end;
}

static void
refill_from_blocks (RadixHeap *h, const Event *begin, const Event *end)
{
  RadixBlock *first = block_of (begin), *rest = first->next;
  Tick least = least_time (begin, end_in (first, end), G_MAXUINT64);

  for (const RadixBlock *block = rest; block != NULL; block = block->next)
    least = least_time (block->event, end_in (block, end), least);
  h->last = least;
  move_down (h, begin, end_in (first, end));
  first->next = NULL;
  for (RadixBlock *block = rest, *next; block != NULL; block = next)
    {
      next = block->next;
      move_down (h, block->event, end_in (block, end));
      give_block (h, block);
    }
}

/* The least occupied bucket moves down: all below it are empty, so appending its
 * events in their order keeps ties FIFO. */
gboolean
radix_heap_refill (RadixHeap *h)
{
  unsigned word = 0;

  while (h->occupied[word] == 0)
    if (++word == RADIX_WORDS)
      return FALSE;

  RadixBucket *bucket = &h->bucket[word * 64 + (unsigned) __builtin_ctzll (h->occupied[word])];
  const Event *begin = bucket->begin, *end = bucket->end;

  h->occupied[word] &= h->occupied[word] - 1;
  bucket->end = bucket->begin;
  if (end == begin + 1)
    {
      h->last = begin->time;
      radix_put (h, RADIX_NOW, *begin);
    }
  else if (block_of (end - 1) == block_of (begin))
    {
      h->last = least_time (begin, end, G_MAXUINT64);
      move_down (h, begin, end);
    }
  else
    refill_from_blocks (h, begin, end);
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

static void
empty (RadixHeap *h, unsigned b)
{
  RadixBucket *bucket = &h->bucket[b];

  if (bucket->end == NULL)
    return;

  RadixBlock *first = block_of (bucket->begin);

  for (RadixBlock *block = first->next, *next; block != NULL; block = next)
    {
      next = block->next;
      give_block (h, block);
    }
  first->next = NULL;
  bucket->end = bucket->begin;
}

void
radix_heap_clear (RadixHeap *h)
{
  empty (h, RADIX_NOW);
  for (unsigned word = 0; word < RADIX_WORDS; word++)
    for (; h->occupied[word] != 0; h->occupied[word] &= h->occupied[word] - 1)
      empty (h, word * 64 + (unsigned) __builtin_ctzll (h->occupied[word]));
  h->head = h->bucket[RADIX_NOW].begin;
  h->last = 0;
}

gsize
radix_heap_bytes (const RadixHeap *h)
{
  return sizeof *h + h->bytes;
}
