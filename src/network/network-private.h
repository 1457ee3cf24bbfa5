/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "network/network.h"

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

typedef struct
{
  Id     transfer, link;
  Id     next;                /* use of the same transfer; on the free list, the next spare */
  Id     before, after;       /* uses of the same link */
  double bytes, demand;       /* per byte of message, all twins: on the wire, of the link's time x capacity */
  Fixed  demand_fixed;
} Use;

typedef struct
{
  Id       activity;
  Id       uses;
  uint32_t epoch;             /* of the last component it was in */
  gboolean fixed;             /* its rate, in this filling */
  double   size, cap, rate;   /* bytes of one message, bytes/s */
} Transfer;

typedef struct
{
  double   capacity;          /* scaled; INFINITY: never limits */
  Id       first, last;       /* uses */
  uint32_t epoch;
  gboolean dirty;
  double   bytes, busy;       /* of ended transfers; s until `since` */
  double   load;              /* share of the capacity in use since then */
  Tick     since;
  Fixed    open, used;        /* filling: demand not yet fixed, capacity given away */
  uint32_t n_open;
} LinkState;

typedef struct { double key; uint32_t item; } Bound;   /* a link, or a transfer's cap with the top bit */
#define BOUND_CAP ((uint32_t) 1 << 31)

struct NetworkRun
{
  const Network *network;
  Engine    *engine;
  double     ticks_per_s;
  LinkState *link;            /* 1..n_links */
  guint      n_links;
  GArray    *transfers, *uses;          /* [0] is not used */
  Id         spare_transfer, spare_use;
  GArray    *of_activity;               /* Id of its transfer */
  GArray    *dirty;                     /* Ids of links, or of transfers with the top bit */
  GArray    *component, *component_links;   /* Ids */
  GArray    *bounds;                    /* heap of Bound */
  GArray    *merged;
  uint32_t   epoch;
  guint64    solves, rated;
};

#define TRANSFER(run, id) (&g_array_index ((run)->transfers, Transfer, (id)))
#define USE(run, id) (&g_array_index ((run)->uses, Use, (id)))

/* Max-min fair rates of run->component over run->component_links. */
void network_fill (NetworkRun *run);
