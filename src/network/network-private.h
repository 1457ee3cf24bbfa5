/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "engine/radix-heap.h"
#include "network/network.h"
#include <math.h>
#include <string.h>

/* Between network.c, network-run.c and filling.c. */

/* The loads of `weight` equal transfers on one link, per byte of message. */
typedef struct { Id link; double bytes, demand; } MergedLoad;
guint network_merge_loads (const LinkLoad *loads, guint n_loads, double weight, MergedLoad *out);

/* Sums of demands and of used capacity are kept in fixed point: they do not
 * depend on the order of their terms, so neither do the rates. */
__extension__ typedef unsigned __int128 Fixed;
#define DEMAND_ONE 0x1p64
#define DEMAND_MAX 0x1p40     /* of one use; 2^24 of them do not overflow */
#define CAPACITY_ONE 0x1p60
#define CAPACITY_MAX 0x1p64   /* bytes/s; a faster link never limits */

/* The record that a solve reads many million times, at random, is kept small and
 * what it does not read lies elsewhere. */

/* One link of a transfer; a transfer's uses lie side by side. */
typedef struct
{
  Id       link;              /* on a spare list: the first of the next spare */
  uint32_t place;             /* in the link's crowd */
  double   demand;            /* of the link's time x capacity, per byte of message, all twins */
} Use;

/* Transfers of one link, in the order they came; 0: one that has left. */
#define CROWD 12
typedef struct
{
  Id       before, after;     /* on the spare list: after is the next spare */
  uint32_t n, live;
  Id       transfer[CROWD];
} Crowd;
G_STATIC_ASSERT (sizeof (Crowd) == 64);

typedef struct
{
  double   cap, rate;         /* bytes/s of message */
  Id       uses;              /* first; on the spare list, the next spare */
  uint32_t n_uses;
  Id       activity;          /* 0: ended */
  Id       bottleneck;        /* the link that limits it; 0: its cap */
} Transfer;
G_STATIC_ASSERT (sizeof (Transfer) == 32);

/* What a filling reads and writes of a link. */
typedef struct
{
  Fixed    open, left;        /* demand not yet fixed, capacity not yet given away (may be a rounding below 0) */
  double   capacity;          /* scaled; INFINITY: never limits */
  Id       first, last;       /* crowds */
  uint32_t n_open, n_uses, stamp;   /* stamp: epoch of the last component it was in */
  gboolean dirty;
} LinkState;
G_STATIC_ASSERT (sizeof (LinkState) == 64);

/* And the rest. */
typedef struct
{
  Fixed    demand;            /* of all uses */
  double   bytes, busy;       /* of ended transfers; s until `since` */
  double   load;              /* share of the capacity in use since then */
  Tick     since;
} LinkLedger;

struct NetworkRun
{
  const Network *network;
  Engine    *engine;
  double     ticks_per_s;
  LinkState *link;            /* 1..n_links */
  LinkLedger *ledger;
  guint      n_links;
  GArray    *transfers, *uses, *crowds;   /* [0] is not used */
  GArray    *stamp;                     /* of a transfer: epoch of the last component it was in */
  GArray    *fixed;                     /* 64 transfers each: is its rate fixed, in this filling */
  guint      n_live;
  GArray    *size, *use_bytes;          /* of a transfer's message; wire bytes per byte of message, all twins */
  Id         spare_transfer, spare_crowd;
  GArray    *spare_uses;                /* Id by number of uses */
  GArray    *of_activity;               /* Id of its transfer */
  GArray    *dirty;                     /* Ids of links, or of transfers with the top bit */
  GArray    *component, *component_links;   /* Ids */
  RadixHeap  bounds;                    /* of links' shares and transfers' caps, in a filling */
  GArray    *merged;
  uint32_t   epoch;
  guint64    solves, rated;
};

#define TRANSFER(run, id) (&g_array_index ((run)->transfers, Transfer, (id)))
#define STAMP(run, id) (g_array_index ((run)->stamp, uint32_t, (id)))
#define FIXED(run, id) (g_array_index ((run)->fixed, uint64_t, (id) / 64))
#define FIXED_BIT(id) ((uint64_t) 1 << (id) % 64)
#define USE(run, id) (&g_array_index ((run)->uses, Use, (id)))
#define USE_BYTES(run, id) (g_array_index ((run)->use_bytes, double, (id)))
#define SIZE_OF(run, id) (g_array_index ((run)->size, double, (id)))
#define CROWD_AT(run, id) (&g_array_index ((run)->crowds, Crowd, (id)))

/* Who is on a link: crowd.c. */
void network_crowd_join  (NetworkRun *run, Id link, Id transfer, Use *use);
void network_crowd_leave (NetworkRun *run, const Use *use);
#define PREFETCH(address) __builtin_prefetch (address)

typedef struct { Id crowd; guint at; } CrowdWalk;
static inline CrowdWalk
crowd_walk (const LinkState *link)
{
  return (CrowdWalk) { link->first, 0 };
}

/* The next transfer, 0 at the end. */
static inline Id
crowd_next (const NetworkRun *run, CrowdWalk *walk)
{
  while (walk->crowd != 0)
    {
      const Crowd *crowd = CROWD_AT (run, walk->crowd);

      while (walk->at < crowd->n)
        {
          const Id transfer = crowd->transfer[walk->at++];

          if (transfer != 0)
            return transfer;
        }
      *walk = (CrowdWalk) { crowd->after, 0 };
    }
  return 0;
}

/* The integer part of x in [0, 2^127): what a cast gives, without the call. */
static inline Fixed
fixed_floor (double x)
{
  uint64_t bits;

  memcpy (&bits, &x, sizeof bits);

  const int shift = (int) (bits >> 52) - 1075;
  const uint64_t mantissa = (bits & (((uint64_t) 1 << 52) - 1)) | (uint64_t) 1 << 52;

  return shift >= 0 ? (Fixed) mantissa << shift : shift > -53 ? mantissa >> -shift : 0;
}

static inline Fixed
demand_fixed (double demand)
{
  return fixed_floor (MIN (demand, DEMAND_MAX) * DEMAND_ONE);
}

static inline void
link_settle (const NetworkRun *run, LinkLedger *ledger)   /* seconds busy up to now; the load changes from here on */
{
  const Tick now = engine_now (run->engine);

  ledger->busy += ledger->load * ((double) (now - ledger->since) / run->ticks_per_s);
  ledger->since = now;
}

/* Into the set that is rated anew; FALSE: it is there, or is a link that limits nobody. */
static inline gboolean
component_take_transfer (NetworkRun *run, Id id)
{
  if (STAMP (run, id) == run->epoch)
    return FALSE;
  STAMP (run, id) = run->epoch;
  g_array_append_val (run->component, id);
  return TRUE;
}

static inline gboolean
component_take_link (NetworkRun *run, Id id)
{
  LinkState *link = &run->link[id];

  if (link->stamp == run->epoch || !isfinite (link->capacity))
    return FALSE;
  link->stamp = run->epoch;
  link_settle (run, &run->ledger[id]);
  g_array_append_val (run->component_links, id);
  return TRUE;
}

/* Component.c: who shares links with a seed, into run->component and
 * run->component_links; or everyone, if nearly all has changed (else FALSE). */
#define DIRTY_TRANSFER ((uint32_t) 1 << 31)
void     network_component     (NetworkRun *run, Id seed);
gboolean network_component_all (NetworkRun *run);

/* Max-min fair rates of run->component over run->component_links; `partly`: others on
 * those links keep theirs. */
void network_fill (NetworkRun *run, gboolean partly);

/* Of many in flight, those that a change reaches: local.c. */
#define LOCAL_FROM 64
void network_local (NetworkRun *run);

/* Shares this near are one: what is equal on paper is equal in bits. */
#define TIE (1 + 0x1p-40)

/* What a transfer has of a link's capacity. */
static inline Fixed
part_of (double demand, double rate)
{
  return fixed_floor (demand * rate * CAPACITY_ONE);
}
