/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "engine/engine.h"

/* Links and who shares them.  `multiplicity` links alike, loaded alike, are ONE
 * constraint of `capacity` each. */
typedef struct
{
  const char *name;          /* "nic-out"; for reports */
  double      capacity;      /* bytes/s of one link, one way (shared: both ways together) */
  double      latency;       /* s, of the wire */
  guint64     multiplicity;
  gboolean    shared;
} LinkClass;

typedef struct Network Network;         /* immutable once built */
Network         *network_new      (void);
void             network_free     (Network *network);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Network, network_free)
Id               network_add      (Network *network, const char *name, double capacity, double latency,
                                   guint64 multiplicity, gboolean shared);   /* name is copied */
void             network_set_capacity (Network *network, Id link, double capacity);   /* while it is built */
guint            network_n_links  (const Network *network);                  /* ids 1..n */
const LinkClass *network_link     (const Network *network, Id link);

/* What a transfer asks of EACH link of a class, per byte of its message. */
typedef struct
{
  Id     link;
  double bytes;              /* wire bytes, for conservation and reports */
  double efficiency;         /* (0, 1]: the share of the line that the software reaches; the link is busy bytes/efficiency */
} LinkLoad;

/* The bytes/s of message that idle links allow: min over loads of capacity x
 * efficiency/bytes, and cap. */
double network_idle_rate (const Network *network, const LinkLoad *loads, guint n_loads, double cap);
/* The link class that is slowest at it; 0: no load. */
Id     network_slowest   (const Network *network, const LinkLoad *loads, guint n_loads);

/* The transfers of one run: max-min fair with a cap per transfer, bottleneck-
 * order filling, only the connected component that changed, one solve an
 * instant (call network_run_instant from on_instant).  A transfer alone on its
 * links is rated without a solve. */
typedef struct NetworkRun NetworkRun;
NetworkRun *network_run_new   (const Network *network, Engine *e, double ticks_per_s);
void        network_run_free  (NetworkRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NetworkRun, network_run_free)
/* After engine_reset (): forgets transfers, scales and counts; keeps the memory. */
void        network_run_reset (NetworkRun *run);
/* Capacity of a class times `factor` from now on (sensitivities, ideal: INFINITY). */
void        network_run_scale (NetworkRun *run, Id link, double factor);
/* Starts `size` bytes for a meeting (0: none); `weight` equal transfers at once
 * count as that many on every link.  Touches the engine.  Returns the activity. */
Id          network_start     (NetworkRun *run, Id meeting, double size, double cap, double weight,
                               const LinkLoad *loads, guint n_loads);
/* Call from on_end: takes the activity's loads off its links.  Any other activity is left alone.
 * (To break a transfer off: this, then engine_cancel ().) */
void        network_end       (NetworkRun *run, Id activity);
/* Asks for the memory that network_end () of an activity will read: its records, then
 * what they lead to, then what those do (step 0, 1, 2; each once the one before is there). */
#define NETWORK_ASK_STEPS 3u
void        network_ask       (const NetworkRun *run, Id activity, guint step);
void        network_run_instant (NetworkRun *run);
guint64     network_run_solves  (const NetworkRun *run);         /* fillings of a component of several */
guint64     network_run_rated   (const NetworkRun *run);         /* transfers in them */
/* Wire bytes carried by EACH link of the class so far, and seconds it was busy: for the self-checks. */
double      network_run_bytes   (const NetworkRun *run, Id link);
double      network_run_busy    (const NetworkRun *run, Id link);
