/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network/network-private.h"
#include <math.h>
#include <string.h>

/* The transfers in flight and who shares what with whom.  Changes only mark
 * links; network_run_instant () then rates each connected component once. */

static double
limit_of (double capacity, double factor)
{
  const double scaled = capacity * factor;

  return scaled < CAPACITY_MAX ? scaled : INFINITY;
}

static Fixed
whole_of (double capacity)
{
  return isfinite (capacity) ? fixed_floor (capacity * CAPACITY_ONE) : 0;
}

static void
reset_links (NetworkRun *run)
{
  for (Id id = 1; id <= run->n_links; id++)
    {
      const double capacity = limit_of (network_link (run->network, id)->capacity, 1);

      run->link[id] = (LinkState) { .capacity = capacity, .left = whole_of (capacity) };
    }
  memset (run->ledger, 0, (run->n_links + 1) * sizeof *run->ledger);
}

NetworkRun *
network_run_new (const Network *network, Engine *e, double ticks_per_s)
{
  NetworkRun *run = g_new0 (NetworkRun, 1);

  run->network = network;
  run->engine = e;
  run->ticks_per_s = ticks_per_s;
  run->n_links = network_n_links (network);
  run->link = g_aligned_alloc0 (run->n_links + 1, sizeof (LinkState), 64);
  run->ledger = g_new (LinkLedger, run->n_links + 1);
  run->transfers = g_array_new (FALSE, TRUE, sizeof (Transfer));
  run->uses = g_array_new (FALSE, TRUE, sizeof (Use));
  run->crowds = g_array_new (FALSE, TRUE, sizeof (Crowd));
  run->stamp = g_array_new (FALSE, TRUE, sizeof (uint32_t));
  run->fixed = g_array_new (FALSE, TRUE, sizeof (uint64_t));
  run->size = g_array_new (FALSE, FALSE, sizeof (double));
  run->use_bytes = g_array_new (FALSE, FALSE, sizeof (double));
  run->spare_uses = g_array_new (FALSE, TRUE, sizeof (Id));
  run->of_activity = g_array_new (FALSE, TRUE, sizeof (Id));
  run->dirty = g_array_new (FALSE, FALSE, sizeof (Id));
  run->component = g_array_new (FALSE, FALSE, sizeof (Id));
  run->component_links = g_array_new (FALSE, FALSE, sizeof (Id));
  run->merged = g_array_new (FALSE, FALSE, sizeof (MergedLoad));
  radix_heap_init (&run->bounds);
  network_run_reset (run);
  return run;
}

void
network_run_free (NetworkRun *run)
{
  if (run == NULL)
    return;
  g_array_unref (run->transfers);
  g_array_unref (run->uses);
  g_array_unref (run->crowds);
  g_array_unref (run->stamp);
  g_array_unref (run->fixed);
  g_array_unref (run->size);
  g_array_unref (run->use_bytes);
  g_array_unref (run->spare_uses);
  g_array_unref (run->of_activity);
  g_array_unref (run->dirty);
  g_array_unref (run->component);
  g_array_unref (run->component_links);
  g_array_unref (run->merged);
  g_aligned_free (run->link);
  radix_heap_finish (&run->bounds);
  g_free (run->ledger);
  g_free (run);
}

void
network_run_reset (NetworkRun *run)
{
  g_array_set_size (run->transfers, 1);
  g_array_set_size (run->uses, 1);
  g_array_set_size (run->crowds, 1);
  g_array_set_size (run->stamp, 1);
  g_array_set_size (run->size, 1);
  g_array_set_size (run->use_bytes, 1);
  g_array_set_size (run->spare_uses, 0);
  g_array_set_size (run->of_activity, 0);
  g_array_set_size (run->dirty, 0);
  run->spare_transfer = run->spare_crowd = 0;
  run->epoch = 0;
  run->n_live = 0;
  run->solves = run->rated = 0;
  reset_links (run);
}

static void
mark_link (NetworkRun *run, Id id)
{
  if (run->link[id].dirty)
    return;
  run->link[id].dirty = TRUE;
  g_array_append_val (run->dirty, id);
}

static void
mark_transfer (NetworkRun *run, Id id)
{
  const Id marked = id | DIRTY_TRANSFER;

  g_array_append_val (run->dirty, marked);
}

static double
demand_on (const NetworkRun *run, Id transfer, Id link)
{
  const Use *use = USE (run, TRANSFER (run, transfer)->uses);

  while (use->link != link)
    use++;
  return use->demand;
}

void
network_run_scale (NetworkRun *run, Id link, double factor)
{
  g_return_if_fail (link > 0 && link <= run->n_links && factor > 0);

  LinkState *state = &run->link[link];
  CrowdWalk walk = crowd_walk (state);

  link_settle (run, &run->ledger[link]);
  state->capacity = limit_of (network_link (run->network, link)->capacity, factor);
  state->left = whole_of (state->capacity);
  mark_link (run, link);
  /* A link that no longer limits joins nothing: what was on it falls apart. */
  for (Id transfer; (transfer = crowd_next (run, &walk)) != 0;)
    {
      if (isfinite (state->capacity))
        state->left -= part_of (demand_on (run, transfer, link), TRANSFER (run, transfer)->rate);
      mark_transfer (run, transfer);
    }
  engine_touch (run->engine);
}

/* `at` is within the array then; not one call a piece. */
static inline void
reach (GArray *array, guint at)
{
  if (G_UNLIKELY (at >= array->len))
    g_array_set_size (array, MAX (at + 1, 2 * array->len));
}

static Id
new_transfer (NetworkRun *run)
{
  const Id id = run->spare_transfer != 0 ? run->spare_transfer : run->transfers->len;

  if (id == run->transfers->len)
    {
      g_array_set_size (run->transfers, id + 1);
      reach (run->stamp, id);
      reach (run->fixed, id / 64);
      reach (run->size, id);
    }
  else
    run->spare_transfer = TRANSFER (run, id)->uses;
  return id;
}

/* The first of `n` uses side by side. */
static Id
new_uses (NetworkRun *run, guint n)
{
  Id *spare = n < run->spare_uses->len ? &g_array_index (run->spare_uses, Id, n) : NULL;
  const Id id = spare != NULL && *spare != 0 ? *spare : run->uses->len;

  if (id == run->uses->len)
    {
      g_array_set_size (run->uses, id + n);
      reach (run->use_bytes, id + n - 1);
    }
  else
    *spare = USE (run, id)->link;
  return id;
}

static void
free_uses (NetworkRun *run, Id first, guint n)
{
  if (n == 0)
    return;
  if (n >= run->spare_uses->len)
    g_array_set_size (run->spare_uses, n + 1);
  USE (run, first)->link = g_array_index (run->spare_uses, Id, n);
  g_array_index (run->spare_uses, Id, n) = first;
}

Id
network_start (NetworkRun *run, Id meeting, double size, double cap, double weight,
               const LinkLoad *loads, guint n_loads)
{
  g_return_val_if_fail (size >= 0 && cap > 0 && weight > 0, 0);
  for (guint i = 0; i < n_loads; i++)
    g_return_val_if_fail (loads[i].link > 0 && loads[i].link <= run->n_links && loads[i].efficiency > 0, 0);

  const Id activity = engine_activity (run->engine, size, meeting);
  const Id id = new_transfer (run);

  for (guint i = 0; i < n_loads; i++)
    {
      PREFETCH (&run->link[loads[i].link]);
      PREFETCH (&run->ledger[loads[i].link]);
    }
  g_array_set_size (run->merged, MAX (run->merged->len, n_loads));

  const MergedLoad *merged = (MergedLoad *) run->merged->data;
  const guint n = network_merge_loads (loads, n_loads, weight, (MergedLoad *) run->merged->data);
  const Id first = new_uses (run, n);

  for (guint i = 0; i < n; i++)
    PREFETCH (CROWD_AT (run, run->link[merged[i].link].last));
  run->n_live++;
  *TRANSFER (run, id) = (Transfer) { .cap = cap, .uses = first, .n_uses = n, .activity = activity };
  SIZE_OF (run, id) = size;
  for (guint i = 0; i < n; i++)
    {
      Use *use = USE (run, first + i);

      *use = (Use) { .link = merged[i].link, .demand = merged[i].demand };
      USE_BYTES (run, first + i) = merged[i].bytes;
      network_crowd_join (run, use->link, id, use);
      mark_link (run, use->link);
    }
  mark_transfer (run, id);
  reach (run->of_activity, activity);
  g_array_index (run->of_activity, Id, activity) = id;
  engine_touch (run->engine);
  return activity;
}

static double
moved (const NetworkRun *run, Id transfer)
{
  return SIZE_OF (run, transfer) - engine_left (run->engine, TRANSFER (run, transfer)->activity);
}

static Id
transfer_of (const NetworkRun *run, Id activity)
{
  return activity < run->of_activity->len ? g_array_index (run->of_activity, Id, activity) : 0;
}

void
network_ask (const NetworkRun *run, Id activity, guint step)
{
  const Id id = transfer_of (run, activity);
  const Transfer *transfer = TRANSFER (run, id);

  if (id == 0)
    return;
  if (step == 0)
    {
      PREFETCH (transfer);
      PREFETCH (&SIZE_OF (run, id));
    }
  else if (step == 1)
    {
      PREFETCH (USE (run, transfer->uses));
      PREFETCH (&USE_BYTES (run, transfer->uses));
    }
  else
    for (const Use *use = USE (run, transfer->uses), *end = use + transfer->n_uses; use < end; use++)
      {
        PREFETCH (&run->link[use->link]);
        PREFETCH (&run->ledger[use->link]);
        PREFETCH (CROWD_AT (run, use->place / CROWD));
      }
}

void
network_end (NetworkRun *run, Id activity)
{
  const Id id = transfer_of (run, activity);

  if (id == 0)
    return;

  Transfer *transfer = TRANSFER (run, id);
  const double bytes = moved (run, id);

  /* Last to first, as the links are also visited. */
  for (guint i = transfer->n_uses; i-- > 0;)
    {
      const Use *use = USE (run, transfer->uses + i);

      if (isfinite (run->link[use->link].capacity))
        run->link[use->link].left += part_of (use->demand, transfer->rate);
      run->ledger[use->link].bytes += bytes * USE_BYTES (run, transfer->uses + i);
      network_crowd_leave (run, use);
      mark_link (run, use->link);
    }
  free_uses (run, transfer->uses, transfer->n_uses);
  g_array_index (run->of_activity, Id, activity) = 0;
  *transfer = (Transfer) { .uses = run->spare_transfer };
  STAMP (run, id) = 0;
  run->n_live--;
  run->spare_transfer = id;
  engine_touch (run->engine);
}

static void
rate_alone (NetworkRun *run, Transfer *transfer)
{
  const Use *uses = USE (run, transfer->uses);

  transfer->rate = transfer->cap;
  transfer->bottleneck = 0;
  for (guint i = 0; i < transfer->n_uses; i++)
    {
      const double limit = run->link[uses[i].link].capacity / uses[i].demand;

      if (limit < transfer->rate)
        transfer->bottleneck = uses[i].link;
      transfer->rate = MIN (transfer->rate, limit);
    }
  for (guint i = 0; i < transfer->n_uses; i++)
    {
      const double capacity = run->link[uses[i].link].capacity;

      if (isfinite (capacity))
        run->link[uses[i].link].left = whole_of (capacity) - part_of (uses[i].demand, transfer->rate);
      run->ledger[uses[i].link].load = isfinite (capacity) ? uses[i].demand * transfer->rate / capacity : 0;
    }
}

static void
rate_component (NetworkRun *run)
{
  if (run->component->len == 1)
    {
      const Id only = g_array_index (run->component, Id, 0);

      rate_alone (run, TRANSFER (run, only));
      FIXED (run, only) |= FIXED_BIT (only);
    }
  else if (run->component->len > 1)
    {
      network_fill (run, FALSE);
      run->solves++;
      run->rated += run->component->len;
    }
  else
    for (guint i = 0; i < run->component_links->len; i++)
      run->ledger[g_array_index (run->component_links, Id, i)].load = 0;
  for (guint i = 0; i < run->component->len; i++)
    {
      const Transfer *transfer = TRANSFER (run, g_array_index (run->component, Id, i));

      if (i + 8 < run->component->len)
        PREFETCH (TRANSFER (run, g_array_index (run->component, Id, i + 8)));
      engine_set_rate (run->engine, transfer->activity, transfer->rate / run->ticks_per_s);
    }
}

static void
rate_from (NetworkRun *run, Id seed)
{
  if (!(seed & DIRTY_TRANSFER))
    {
      run->link[seed].dirty = FALSE;
      if (!isfinite (run->link[seed].capacity))
        run->ledger[seed].load = 0;
    }
  else if (TRANSFER (run, seed & ~DIRTY_TRANSFER)->activity == 0)
    return;   /* ended at the same instant */
  network_component (run, seed);
  rate_component (run);
}

void
network_run_instant (NetworkRun *run)
{
  if (run->dirty->len == 0)
    return;
  run->epoch++;
  if (network_component_all (run))
    rate_component (run);
  else if (run->n_live > LOCAL_FROM)
    network_local (run);
  else
    for (guint i = 0; i < run->dirty->len; i++)
      rate_from (run, g_array_index (run->dirty, Id, i));
  g_array_set_size (run->dirty, 0);
}

guint64
network_run_solves (const NetworkRun *run)
{
  return run->solves;
}

guint64
network_run_rated (const NetworkRun *run)
{
  return run->rated;
}

double
network_run_bytes (const NetworkRun *run, Id link)
{
  g_return_val_if_fail (link > 0 && link <= run->n_links, 0);

  double bytes = run->ledger[link].bytes;
  CrowdWalk walk = crowd_walk (&run->link[link]);

  for (Id transfer; (transfer = crowd_next (run, &walk)) != 0;)
    {
      const Transfer *t = TRANSFER (run, transfer);

      for (Id use = t->uses; use < t->uses + t->n_uses; use++)
        bytes += USE (run, use)->link == link ? USE_BYTES (run, use) * moved (run, transfer) : 0;
    }
  return bytes;
}

double
network_run_busy (const NetworkRun *run, Id link)
{
  g_return_val_if_fail (link > 0 && link <= run->n_links, 0);

  const LinkLedger *state = &run->ledger[link];
  const Tick now = engine_now (run->engine);

  return state->busy + state->load * ((double) (now - state->since) / run->ticks_per_s);
}
