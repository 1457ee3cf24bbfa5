/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/events.h"

/* The radix heap against the 4-ary heap with (time, sequence): the same events
 * in the same order, whatever is pushed when. */

typedef struct { const char *name; guint32 seed; guint shift; guint n_steps; guint push_percent; } Workload;

/* Increments are a random number of 0 to 2^shift: at 0 nearly all times are equal, at
 * 40 none are. */
static const Workload workloads[] = {
  { "all-ties", 3, 0, 60000, 55 },
  { "many-ties", 5, 3, 60000, 52 },
  { "few-ties", 7, 12, 60000, 60 },
  { "no-ties", 11, 40, 60000, 51 },
  { "near-empty", 13, 20, 60000, 45 },
  { "far-apart", 17, 60, 40, 90 },
};

static Tick
increment (GRand *random, guint shift)
{
  const guint64 bits = (guint64) g_rand_int (random) << 32 | g_rand_int (random);

  /* Of mixed size: half of the time a shorter one. */
  return (bits >> 1 & (((guint64) 1 << shift) - 1)) >> (bits & 1 ? 0 : shift / 2);
}

static void
push_both (RadixHeap *radix, FourHeap *four, Event event)
{
  radix_heap_push (radix, event);
  four_heap_push (four, event);
}

static gboolean
pop_both (RadixHeap *radix, FourHeap *four, Tick *now)
{
  Event a, b;
  const gboolean some = radix_heap_pop (radix, &a);

  g_assert_cmpint (some, ==, four_heap_pop (four, &b));
  if (!some)
    return FALSE;
  g_assert_cmpuint (a.time, ==, b.time);
  g_assert_cmpuint (a.argument, ==, b.argument);
  g_assert_cmpuint (a.target, ==, b.target);
  g_assert_cmpuint (a.time, >=, *now);
  *now = a.time;
  return TRUE;
}

static void
test_oracle (gconstpointer data)
{
  const Workload *w = data;
  g_autoptr (GRand) random = g_rand_new_with_seed (w->seed);
  RadixHeap *radix = radix_heap_new ();

  /* Twice: a cleared heap is as good as a new one, and needs no more memory. */
  for (guint round = 0; round < 2; round++)
    {
      FourHeap *four = four_heap_new ();
      Tick now = 0;
      const gsize bytes = radix_heap_bytes (radix);

      g_rand_set_seed (random, w->seed);
      for (guint step = 0; step < w->n_steps; step++)
        if (g_rand_int_range (random, 0, 100) < (gint) w->push_percent)
          push_both (radix, four, (Event) { now + increment (random, w->shift), step % 7, step });
        else
          pop_both (radix, four, &now);
      if (round > 0)
        g_assert_cmpuint (radix_heap_bytes (radix), ==, bytes);
      if (round == 0)
        radix_heap_clear (radix);
      else
        while (pop_both (radix, four, &now))
          ;
      four_heap_free (four);
    }
  radix_heap_free (radix);
}

/* 1,000 events at each of three times, pushed in turn, some of them while the
 * first time is being popped: of each time they come in the order of the pushes. */
static void
test_fifo (void)
{
  static const Tick times[] = { 977, 978, 1u << 20 };
  RadixHeap *heap = radix_heap_new ();
  guint next[3] = { 0, 0, 0 }, popped[3] = { 0, 0, 0 };
  Event event;

  for (guint i = 0; i < 600; i++)
    for (guint t = 0; t < 3; t++)
      radix_heap_push (heap, (Event) { times[t], t, next[t]++ });
  while (radix_heap_pop (heap, &event))
    {
      const guint t = event.target;

      g_assert_cmpuint (event.time, ==, times[t]);
      g_assert_cmpuint (event.argument, ==, popped[t]++);
      for (guint later = t; later < 3; later++)
        if (next[later] < 1000)
          radix_heap_push (heap, (Event) { times[later], later, next[later]++ });
    }
  for (guint t = 0; t < 3; t++)
    g_assert_cmpuint (popped[t], ==, 1000);
  radix_heap_free (heap);
}

/* Both ends of the range. */
static void
test_extremes (void)
{
  RadixHeap *heap = radix_heap_new ();
  Event event;

  radix_heap_push (heap, (Event) { G_MAXUINT64, 0, 2 });
  radix_heap_push (heap, (Event) { G_MAXINT64, 0, 1 });
  radix_heap_push (heap, (Event) { 0, 0, 0 });
  for (guint i = 0; i < 3; i++)
    {
      g_assert_true (radix_heap_pop (heap, &event));
      g_assert_cmpuint (event.argument, ==, i);
    }
  g_assert_false (radix_heap_pop (heap, &event));
  radix_heap_free (heap);
}

/* A pending event costs its 16 bytes and little more, at any distance. */
static void
test_memory (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (19);
  RadixHeap *heap = radix_heap_new ();
  const guint n = 1000000;
  Tick now = 0;
  Event event;

  for (guint i = 0; i < n; i++)
    radix_heap_push (heap, (Event) { increment (random, 34), 0, i });
  for (guint i = 0; i < n; i++)
    {
      g_assert_true (radix_heap_pop (heap, &event));
      now = event.time;
      radix_heap_push (heap, (Event) { now + increment (random, 34), 0, i });
    }
  g_assert_cmpuint (radix_heap_bytes (heap), <=, 40 * (gsize) n);
  radix_heap_free (heap);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (workloads); i++)
    {
      g_autofree char *path = g_strdup_printf ("/events/oracle/%s", workloads[i].name);

      g_test_add_data_func (path, &workloads[i], test_oracle);
    }
  g_test_add_func ("/events/fifo", test_fifo);
  g_test_add_func ("/events/extremes", test_extremes);
  g_test_add_func ("/events/memory", test_memory);
  return g_test_run ();
}
