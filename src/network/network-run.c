/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network/network-private.h"
#include <math.h>

/* The transfers in flight and who shares what with whom.  Changes only mark
 * links; network_run_instant () then rates each connected component once. */

#define DIRTY_TRANSFER ((uint32_t) 1 << 31)

static double
limit_of (double capacity, double factor)
{
  const double scaled = capacity * factor;

  return scaled < CAPACITY_MAX ? scaled : INFINITY;
}

static void
reset_links (NetworkRun *run)
{
  for (Id id = 1; id <= run->n_links; id++)
    run->link[id] = (LinkState) {
      .capacity = limit_of (network_link (run->network, id)->capacity, 1),
    };
}

NetworkRun *
network_run_new (const Network *network, Engine *e, double ticks_per_s)
{
  NetworkRun *run = g_new0 (NetworkRun, 1);

  run->network = network;
  run->engine = e;
  run->ticks_per_s = ticks_per_s;
  run->n_links = network_n_links (network);
  run->link = g_new0 (LinkState, run->n_links + 1);
  run->transfers = g_array_new (FALSE, TRUE, sizeof (Transfer));
  run->uses = g_array_new (FALSE, TRUE, sizeof (Use));
  run->of_activity = g_array_new (FALSE, TRUE, sizeof (Id));
  run->dirty = g_array_new (FALSE, FALSE, sizeof (Id));
  run->component = g_array_new (FALSE, FALSE, sizeof (Id));
  run->component_links = g_array_new (FALSE, FALSE, sizeof (Id));
  run->bounds = g_array_new (FALSE, FALSE, sizeof (Bound));
  run->merged = g_array_new (FALSE, FALSE, sizeof (MergedLoad));
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
  g_array_unref (run->of_activity);
  g_array_unref (run->dirty);
  g_array_unref (run->component);
  g_array_unref (run->component_links);
  g_array_unref (run->bounds);
  g_array_unref (run->merged);
  g_free (run->link);
  g_free (run);
}

void
network_run_reset (NetworkRun *run)
{
  g_array_set_size (run->transfers, 1);
  g_array_set_size (run->uses, 1);
  g_array_set_size (run->of_activity, 0);
  g_array_set_size (run->dirty, 0);
  run->spare_transfer = run->spare_use = 0;
  run->epoch = 0;
  run->solves = run->rated = 0;
  reset_links (run);
}

/* Seconds busy up to now; the load changes from here on. */
static void
settle (NetworkRun *run, LinkState *link)
{
  const Tick now = engine_now (run->engine);

  link->busy += link->load * ((double) (now - link->since) / run->ticks_per_s);
  link->since = now;
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

void
network_run_scale (NetworkRun *run, Id link, double factor)
{
  g_return_if_fail (link > 0 && link <= run->n_links && factor > 0);

  LinkState *state = &run->link[link];

  settle (run, state);
  state->capacity = limit_of (network_link (run->network, link)->capacity, factor);
  mark_link (run, link);
  /* A link that no longer limits joins nothing: what was on it falls apart. */
  for (Id use = state->first; use != 0; use = USE (run, use)->after)
    mark_transfer (run, USE (run, use)->transfer);
  engine_touch (run->engine);
}

static Id
new_transfer (NetworkRun *run)
{
  const Id id = run->spare_transfer != 0 ? run->spare_transfer : run->transfers->len;

  if (id == run->transfers->len)
    g_array_set_size (run->transfers, id + 1);
  else
    run->spare_transfer = TRANSFER (run, id)->uses;
  *TRANSFER (run, id) = (Transfer) { 0 };
  return id;
}

static void
add_use (NetworkRun *run, Id transfer, const MergedLoad *load)
{
  const Id id = run->spare_use != 0 ? run->spare_use : run->uses->len;
  LinkState *link = &run->link[load->link];

  if (id == run->uses->len)
    g_array_set_size (run->uses, id + 1);
  else
    run->spare_use = USE (run, id)->next;
  *USE (run, id) = (Use) {
    .transfer = transfer,
    .link = load->link,
    .next = TRANSFER (run, transfer)->uses,
    .before = link->last,
    .bytes = load->bytes,
    .demand = load->demand,
    .demand_fixed = (Fixed) (MIN (load->demand, DEMAND_MAX) * DEMAND_ONE),
  };
  TRANSFER (run, transfer)->uses = id;
  if (link->last != 0)
    USE (run, link->last)->after = id;
  else
    link->first = id;
  link->last = id;
  mark_link (run, load->link);
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

  TRANSFER (run, id)->activity = activity;
  TRANSFER (run, id)->size = size;
  TRANSFER (run, id)->cap = cap;
  g_array_set_size (run->merged, MAX (run->merged->len, n_loads));

  const MergedLoad *merged = (MergedLoad *) run->merged->data;
  const guint n = network_merge_loads (loads, n_loads, weight, (MergedLoad *) run->merged->data);

  for (guint i = 0; i < n; i++)
    add_use (run, id, &merged[i]);
  mark_transfer (run, id);
  if (activity >= run->of_activity->len)
    g_array_set_size (run->of_activity, activity + 1);
  g_array_index (run->of_activity, Id, activity) = id;
  engine_touch (run->engine);
  return activity;
}

static double
moved (const NetworkRun *run, Id transfer)
{
  const Transfer *t = TRANSFER (run, transfer);

  return t->size - engine_left (run->engine, t->activity);
}

void
network_end (NetworkRun *run, Id activity)
{
  const Id id = activity < run->of_activity->len ? g_array_index (run->of_activity, Id, activity) : 0;

  if (id == 0)
    return;

  const double bytes = moved (run, id);

  for (Id use = TRANSFER (run, id)->uses, next; use != 0; use = next)
    {
      Use *u = USE (run, use);
      LinkState *link = &run->link[u->link];

      next = u->next;
      link->bytes += bytes * u->bytes;
      *(u->before != 0 ? &USE (run, u->before)->after : &link->first) = u->after;
      *(u->after != 0 ? &USE (run, u->after)->before : &link->last) = u->before;
      u->next = run->spare_use;
      run->spare_use = use;
      mark_link (run, u->link);
    }
  g_array_index (run->of_activity, Id, activity) = 0;
  TRANSFER (run, id)->activity = 0;
  TRANSFER (run, id)->uses = run->spare_transfer;
  run->spare_transfer = id;
  engine_touch (run->engine);
}

/* Components: transfers are joined by each link that can limit them. */

static void
visit_transfer (NetworkRun *run, Id id)
{
  if (TRANSFER (run, id)->epoch == run->epoch)
    return;
  TRANSFER (run, id)->epoch = run->epoch;
  g_array_append_val (run->component, id);
}

static void
visit_link (NetworkRun *run, Id id)
{
  LinkState *link = &run->link[id];

  if (link->epoch == run->epoch || !isfinite (link->capacity))
    return;
  link->epoch = run->epoch;
  settle (run, link);
  g_array_append_val (run->component_links, id);
  for (Id use = link->first; use != 0; use = USE (run, use)->after)
    visit_transfer (run, USE (run, use)->transfer);
}

static void
rate_alone (NetworkRun *run, Transfer *transfer)
{
  transfer->rate = transfer->cap;
  for (Id use = transfer->uses; use != 0; use = USE (run, use)->next)
    {
      const double limit = run->link[USE (run, use)->link].capacity / USE (run, use)->demand;

      transfer->rate = MIN (transfer->rate, limit);
    }
}

static double
load_of (const NetworkRun *run, const LinkState *link)
{
  double used = 0;

  for (Id use = link->first; use != 0; use = USE (run, use)->after)
    {
      const double rate = TRANSFER (run, USE (run, use)->transfer)->rate;

      used += isfinite (rate) ? USE (run, use)->demand * rate : 0;
    }
  return used / link->capacity;
}

static void
rate_component (NetworkRun *run)
{
  if (run->component->len == 1)
    rate_alone (run, TRANSFER (run, g_array_index (run->component, Id, 0)));
  else if (run->component->len > 1)
    {
      network_fill (run);
      run->solves++;
      run->rated += run->component->len;
    }
  for (guint i = 0; i < run->component_links->len; i++)
    {
      LinkState *link = &run->link[g_array_index (run->component_links, Id, i)];

      link->load = load_of (run, link);
    }
  for (guint i = 0; i < run->component->len; i++)
    {
      const Transfer *transfer = TRANSFER (run, g_array_index (run->component, Id, i));

      engine_set_rate (run->engine, transfer->activity, transfer->rate / run->ticks_per_s);
    }
}

static void
rate_from (NetworkRun *run, Id seed)
{
  g_array_set_size (run->component, 0);
  g_array_set_size (run->component_links, 0);
  if (seed & DIRTY_TRANSFER)
    visit_transfer (run, seed & ~DIRTY_TRANSFER);
  else
    visit_link (run, seed);
  for (guint i = 0; i < run->component->len; i++)
    {
      const Id id = g_array_index (run->component, Id, i);

      for (Id use = TRANSFER (run, id)->uses; use != 0; use = USE (run, use)->next)
        visit_link (run, USE (run, use)->link);
    }
  rate_component (run);
}

void
network_run_instant (NetworkRun *run)
{
  if (run->dirty->len == 0)
    return;
  run->epoch++;
  for (guint i = 0; i < run->dirty->len; i++)
    {
      const Id seed = g_array_index (run->dirty, Id, i);

      if (!(seed & DIRTY_TRANSFER))
        {
          run->link[seed].dirty = FALSE;
          if (!isfinite (run->link[seed].capacity))
            run->link[seed].load = 0;
        }
      else if (TRANSFER (run, seed & ~DIRTY_TRANSFER)->activity == 0)
        continue;   /* ended at the same instant */
      rate_from (run, seed);
    }
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

  double bytes = run->link[link].bytes;

  for (Id use = run->link[link].first; use != 0; use = USE (run, use)->after)
    bytes += USE (run, use)->bytes * moved (run, USE (run, use)->transfer);
  return bytes;
}

double
network_run_busy (const NetworkRun *run, Id link)
{
  g_return_val_if_fail (link > 0 && link <= run->n_links, 0);

  const LinkState *state = &run->link[link];
  const Tick now = engine_now (run->engine);

  return state->busy + state->load * ((double) (now - state->since) / run->ticks_per_s);
}
