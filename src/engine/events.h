/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/id.h"

/* Pending events.  Two structures behind the same four calls: the radix heap
 * that runs (monotone: no push before the last popped time; FIFO among equal
 * times by construction; 4 KiB blocks from a free list), and a 4-ary heap with
 * (time, sequence) that tests it. */
typedef struct { Tick time; uint32_t target, argument; } Event;   /* 16 bytes */

typedef struct RadixHeap RadixHeap;
RadixHeap *radix_heap_new   (void);
void       radix_heap_free  (RadixHeap *h);
void       radix_heap_push  (RadixHeap *h, Event event);
gboolean   radix_heap_pop   (RadixHeap *h, Event *event);
void       radix_heap_clear (RadixHeap *h);   /* keeps memory, time starts at 0 again */
gsize      radix_heap_bytes (const RadixHeap *h);

typedef struct FourHeap FourHeap;
FourHeap  *four_heap_new    (void);
void       four_heap_free   (FourHeap *h);
void       four_heap_push   (FourHeap *h, Event event);
gboolean   four_heap_pop    (FourHeap *h, Event *event);
