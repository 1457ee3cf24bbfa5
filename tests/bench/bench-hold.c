/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench.h"
#include "engine/engine.h"
#include <math.h>
#include <stdio.h>

/* The hold model (Jones 1986): n events pending, each one that comes schedules
 * another an exponential time ahead.  The engine through its public calls beside
 * a naive heap (pointers to 64-byte events, a malloc and a free each), taking
 * turns in one process; CPU time; both must see the same events in the same
 * order.  `--strict`: fail under what it must reach. */

#define ROUNDS 5
#define MEAN 1.0e9   /* ticks between an event and the one that it schedules */

/* Marsaglia and Tsang 2000, the exponential ziggurat of 256 layers. */
#define LAYERS 256
#define TAIL 7.69711747013104972
#define AREA 0.0039496598225815571993

typedef struct
{
  double   edge[LAYERS + 1], height[LAYERS];
  uint64_t state;
} Random;

static void
random_start (Random *random, uint64_t seed)
{
  random->state = seed * 0x9e3779b97f4a7c15u | 1;
  random->edge[0] = AREA * exp (TAIL);
  random->edge[1] = TAIL;
  for (int i = 2; i < LAYERS; i++)
    random->edge[i] = -log (exp (-random->edge[i - 1]) + AREA / random->edge[i - 1]);
  random->edge[LAYERS] = 0;
  for (int i = 0; i < LAYERS; i++)
    random->height[i] = exp (-random->edge[i]);
}

static inline uint64_t
random_bits (Random *random)
{
  /* xorshift64* (Vigna 2016) */
  random->state ^= random->state >> 12;
  random->state ^= random->state << 25;
  random->state ^= random->state >> 27;
  return random->state * 0x2545f4914f6cdd1du;
}

static double
random_exponential (Random *random)
{
  double base = 0;

  for (;;)
    {
      const uint64_t bits = random_bits (random);
      const unsigned layer = bits & (LAYERS - 1);
      const double x = (double) (bits >> 11) * 0x1p-53 * random->edge[layer];

      if (x < random->edge[layer + 1])
        return base + x;
      if (layer == 0)
        base += TAIL;   /* no memory: the tail is the whole again */
      else
        {
          const double low = random->height[layer];
          const double high = layer + 1 < LAYERS ? random->height[layer + 1] : 1;

          if (low + (double) (random_bits (random) >> 11) * 0x1p-53 * (high - low) < exp (-x))
            return base + x;
        }
    }
}

/* What both sides do at an event. */
typedef struct
{
  Random   random;
  uint64_t seen, warm, until;   /* events; timed: warm to until */
  uint64_t order;               /* hash of (time, argument) in the order seen */
  double   start, end;
} Hold;

/* Ticks to the next event, 0 when it is enough. */
static inline Tick
hold_step (Hold *hold, Tick now, uint32_t argument)
{
  hold->order = (hold->order ^ now ^ ((uint64_t) argument << 40)) * 0x9e3779b97f4a7c15u;
  hold->seen++;
  if (G_UNLIKELY (hold->seen == hold->warm))
    hold->start = bench_cpu ();
  if (G_UNLIKELY (hold->seen >= hold->until))
    {
      if (hold->seen == hold->until)
        hold->end = bench_cpu ();
      return 0;
    }
  return 1 + (Tick) (MEAN * random_exponential (&hold->random));
}

/* The engine. */

typedef struct { Hold hold; Id handler; } EngineHold;

static void
engine_hold (gpointer user, Engine *e, uint32_t argument)
{
  EngineHold *this = user;
  const Tick now = engine_now (e);
  const Tick ahead = hold_step (&this->hold, now, argument);

  if (ahead > 0)
    engine_at (e, now + ahead, this->handler, argument);
}

static double
run_engine (EngineHold *this, uint32_t n)
{
  g_autoptr (Engine) e = engine_new (NULL, NULL);
  g_autoptr (GError) error = NULL;

  this->handler = engine_handler (e, engine_hold, this);
  for (uint32_t i = 0; i < n; i++)
    engine_at (e, 1 + (Tick) (MEAN * random_exponential (&this->hold.random)), this->handler, i);
  engine_run (e, &error);
  g_assert_no_error (error);
  return (double) engine_event_bytes (e) / n;
}

/* The naive heap. */

typedef struct NaiveEvent NaiveEvent;
struct NaiveEvent
{
  Tick     time;
  uint64_t sequence;
  void   (*call) (gpointer user, Tick now, uint32_t argument);
  gpointer user;
  uint32_t argument;
  char     payload[28];
};
G_STATIC_ASSERT (sizeof (NaiveEvent) == 64);

typedef struct
{
  Hold         hold;
  NaiveEvent **event;
  gsize        n, room;
  uint64_t     sequence;
} NaiveHold;

static inline gboolean
naive_less (const NaiveEvent *a, const NaiveEvent *b)
{
  return a->time < b->time || (a->time == b->time && a->sequence < b->sequence);
}

static void naive_hold (gpointer user, Tick now, uint32_t argument);

static void
naive_push (NaiveHold *this, Tick time, uint32_t argument)
{
  NaiveEvent *event = malloc (sizeof *event);

  g_assert (event != NULL);
  event->time = time;
  event->sequence = this->sequence++;
  event->call = naive_hold;
  event->user = this;
  event->argument = argument;
  if (this->n == this->room)
    {
      this->room = MAX (64, 2 * this->room);
      this->event = g_renew (NaiveEvent *, this->event, this->room);
    }

  gsize at = this->n++;

  for (gsize up; at > 0 && naive_less (event, this->event[up = (at - 1) / 2]); at = up)
    this->event[at] = this->event[up];
  this->event[at] = event;
}

static NaiveEvent *
naive_pop (NaiveHold *this)
{
  NaiveEvent *first = this->event[0], *moved = this->event[--this->n];
  gsize at = 0;

  for (gsize child; (child = 2 * at + 1) < this->n; at = child)
    {
      if (child + 1 < this->n && naive_less (this->event[child + 1], this->event[child]))
        child++;
      if (!naive_less (this->event[child], moved))
        break;
      this->event[at] = this->event[child];
    }
  this->event[at] = moved;
  return first;
}

static void
naive_hold (gpointer user, Tick now, uint32_t argument)
{
  NaiveHold *this = user;
  const Tick ahead = hold_step (&this->hold, now, argument);

  if (ahead > 0)
    naive_push (this, now + ahead, argument);
}

static void
run_naive (NaiveHold *this, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    naive_push (this, 1 + (Tick) (MEAN * random_exponential (&this->hold.random)), i);
  while (this->n > 0)
    {
      NaiveEvent *event = naive_pop (this);

      event->call (event->user, event->time, event->argument);
      free (event);
    }
  g_free (this->event);
}

/* The table. */

static void
hold_start (Hold *hold, uint32_t n, uint64_t events, uint64_t seed)
{
  *hold = (Hold) { .warm = n, .until = n + events };
  random_start (&hold->random, seed);
}

static double
hold_ns (const Hold *hold)
{
  return 1e9 * (hold->end - hold->start) / (double) (hold->until - hold->warm);
}

typedef struct { uint32_t pending; uint64_t events; double must, reach; } Row;
typedef struct { double engine, naive, bytes; gboolean ordered; } Measured;

static Measured
measure (const Row *row)
{
  double engine_ns[ROUNDS], naive_ns[ROUNDS];
  Measured measured = { .ordered = TRUE };

  for (int round = 0; round < ROUNDS; round++)
    {
      EngineHold engine = { 0 };
      NaiveHold naive = { 0 };

      hold_start (&engine.hold, row->pending, row->events, 17 + round);
      hold_start (&naive.hold, row->pending, row->events, 17 + round);
      measured.bytes = run_engine (&engine, row->pending);
      run_naive (&naive, row->pending);
      engine_ns[round] = hold_ns (&engine.hold);
      naive_ns[round] = hold_ns (&naive.hold);
      measured.ordered &= engine.hold.order == naive.hold.order && engine.hold.seen == naive.hold.seen;
    }
  measured.engine = bench_median (engine_ns, ROUNDS);
  measured.naive = bench_median (naive_ns, ROUNDS);
  return measured;
}

int
main (int argc, char **argv)
{
  static const Row rows[] = {
    { 1000, 3000000, 1.5, 2 },
    { 100000, 3000000, 3, 5 },
    { 1000000, 3000000, 10, 15 },
  };
  const double flat_must = 2.5, bytes_must = 40;
  const gboolean strict = argc > 1 && g_str_equal (argv[1], "--strict");
  gboolean ordered = TRUE, met = TRUE;
  double first = 0, last = 0;

  printf ("work,pending,cpu_ns,naive_cpu_ns,ratio,must,goal,memory_bytes,order,goal_met\n");
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const Measured m = measure (&rows[i]);

      printf ("hold,%u,%.1f,%.1f,%.2f,%.1f,%.1f,%.0f,%s,%s\n", rows[i].pending, m.engine, m.naive, m.naive / m.engine,
              rows[i].must, rows[i].reach, m.bytes * rows[i].pending, m.ordered ? "same" : "DIFFERS",
              m.naive / m.engine >= rows[i].reach ? "met" : "MISSED");
      fflush (stdout);
      ordered &= m.ordered;
      met &= m.naive / m.engine >= rows[i].must;
      first = i == 0 ? m.engine : first;
      last = m.engine;
      if (i + 1 == G_N_ELEMENTS (rows))
        met &= m.bytes <= bytes_must;
    }
  met &= last / first <= flat_must;
  if (!met)
    fprintf (stderr, "bench-hold: under what it must reach: a ratio, %.1f times the cost at most pending, or %.0f bytes an event\n",
             flat_must, bytes_must);
  return !ordered || (strict && !met) ? EXIT_FAILURE : EXIT_SUCCESS;
}
