/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/run.h"
#include "run/summary.h"
#include <math.h>

G_DEFINE_QUARK (run-error-quark, run_error)

/* Relative slack of sums of doubles; ticks are exact. */
static const double dust = 1e-9;

static void
add_check (Result *r, const char *name, gboolean ok, char *detail)
{
  r->checks = g_renew (Check, r->checks, r->n_checks + 1);
  r->checks[r->n_checks++] = (Check) { g_strdup (name), detail, ok };
}

static void
check_ledger (Result *r)
{
  double sum = 0;

  for (guint i = 0; i < N_CAUSES; i++)
    sum += r->ledger[i];
  add_check (r, "ledger sums to the step", fabs (sum - r->step_time) <= dust * r->step_time,
             g_strdup_printf ("%.12g s of %.12g s", sum, r->step_time));
}

/* Bytes that the calls put on a link as flows, and the busy seconds these take, in one step. */
static void
expected_load (const Execution *x, const Network *network, Id link, double *bytes, double *busy)
{
  const StepGraph *graph = execution_graph (x);

  *bytes = *busy = 0;
  for (guint i = 0; i < graph->calls->len; i++)
    {
      const GraphCall *call = graph_get_call (graph, i);

      for (guint k = 0; k < call->flow.n_loads && !execution_plays (x, i); k++)
        {
          const LinkLoad *load = &call->flow.load[k];

          if (load->link != link)
            continue;
          *bytes += call->call.size * load->bytes;
          *busy += call->call.size * load->bytes / load->efficiency / network_link (network, link)->capacity;
        }
    }
}

static void
check_links (Result *r, const Execution *x, const Network *network)
{
  const NetworkRun *run = execution_network (x);
  const double steps = execution_steps (x);
  gboolean conserved = TRUE, within = TRUE, bounded = TRUE;
  g_autoptr (GString) detail = g_string_new (NULL);

  for (Id link = 1; link <= network_n_links (network); link++)
    {
      const double carried = network_run_bytes (run, link) - execution_traffic_bytes (x, link), busy_run = network_run_busy (run, link);
      double bytes, busy;

      expected_load (x, network, link, &bytes, &busy);
      conserved = conserved && fabs (carried - steps * bytes) <= 1e-6 * (steps * bytes + execution_traffic_bytes (x, link)) + 1;
      within = within && busy_run <= seconds_from_ticks (engine_now (execution_engine (x))) * (1 + dust) + 1e-9;
      bounded = bounded && busy <= r->step_time * (1 + 1e-6) + 1e-9;
      g_string_append_printf (detail, "%s%s %.6g B of %.6g B, busy %.6g s a step", link > 1 ? "; " : "",
                              network_link (network, link)->name, carried / steps, bytes, busy);
    }
  add_check (r, "bytes are conserved on every link", conserved, g_strdup (detail->str));
  add_check (r, "no link carries more than its capacity", within, g_strdup (detail->str));
  add_check (r, "the step is no shorter than its bytes", bounded, g_strdup (detail->str));
}

/* Bytes of one play of a group, and of them those on each link. */
static double
group_bytes (const MessageGroup *g, double *on_link)
{
  const Schedule *s = &g->schedule;
  const uint32_t actors = g->played;
  double bytes = 0;
  Message message;
  Route route;

  for (uint32_t actor = 0; actor < actors; actor++)
    for (uint32_t track = 0; track < s->tracks; track++)
      for (uint32_t step = 0; step < s->steps; step++)
        for (uint32_t chunk = 0; chunk < s->chunks; chunk++)
          {
            if (!schedule_message (s, actor, track, step, chunk, &message))
              continue;
            fabric_route (g->fabric, g->place != NULL ? g->place[actor] : actor, g->place != NULL ? g->place[message.peer] : message.peer, &route);
            bytes += message.bytes;
            for (guint i = 0; i < route.n; i++)
              on_link[route.load[i].link] += g->times * message.bytes * route.load[i].bytes;
          }
  return bytes;
}

static gboolean
about (double found, double expected)
{
  return fabs (found - expected) <= 1e-6 * expected + 1;
}

/* Link by link, shown class by class. */
static void
check_message_links (Result *r, const Execution *x, const double *expected)
{
  const FabricWorld *world = messages_world (execution_plan (x));
  const Network *network = world_network (world);
  const double steps = execution_steps (x), seconds = seconds_from_ticks (engine_now (execution_engine (x)));
  g_autoptr (GString) detail = g_string_new (NULL);
  gboolean conserved = TRUE;
  double busiest = 0, sum = 0, all = 0;
  guint n = 0;

  for (Id link = 1; link <= network_n_links (network); link++)
    {
      const double carried = play_bytes (execution_play (x), link);
      const char *name = network_link (network, link)->name;

      conserved = conserved && about (carried, steps * expected[link]);
      busiest = MAX (busiest, execution_play_busy (x, link));
      sum += carried / steps;
      all += expected[link];
      n++;
      if (link < network_n_links (network) && g_str_equal (name, network_link (network, link + 1)->name))
        continue;
      g_string_append_printf (detail, "%s%s %.6g B of %.6g B on %u", detail->len > 0 ? "; " : "", name, sum, all, n);
      sum = all = n = 0;
    }
  add_check (r, "messages' bytes are conserved on every link", conserved, g_strdup (detail->str));
  add_check (r, "no link carries more messages than its capacity", busiest <= seconds * (1 + dust) + 1e-9,
             g_strdup_printf ("%.9g s of bytes on the busiest in %.9g s", busiest, seconds));
}

/* Messages: each call sent what its schedule says, and all of that came. */
static void
check_messages (Result *r, const Execution *x)
{
  const Messages *plan = execution_plan (x);
  const double steps = execution_steps (x);
  g_autofree double *on_link = NULL;
  double sent = 0, got = 0, expected = 0;
  gboolean called = TRUE;

  if (plan == NULL)
    return;
  on_link = g_new0 (double, network_n_links (world_network (messages_world (plan))) + 1);
  for (guint i = 0; i < messages_groups (plan); i++)
    {
      const MessageGroup *g = messages_group (plan, i);
      const double bytes = g->times * group_bytes (g, on_link);

      called = called && about (execution_play_sent (x, i), steps * bytes);
      expected += bytes;
    }
  play_totals (execution_play (x), &sent, &got);
  add_check (r, "every call sent its messages", called,
             g_strdup_printf ("%.6g B of %.6g B in %u kinds of calls", sent / steps, expected, messages_groups (plan)));
  add_check (r, "every message that was sent came", fabs (sent - got) <= dust * sent,
             g_strdup_printf ("%.9g B sent, %.9g B came", sent, got));
  check_message_links (r, x, on_link);
}

/* Nothing is a flow. */
static gboolean
all_messages (const Execution *x)
{
  for (guint i = 0; i < execution_graph (x)->calls->len; i++)
    if (!execution_plays (x, i))
      return FALSE;
  return execution_plan (x) != NULL;
}

/* What each queue has to do in all steps played, when nothing slows it.  Caller frees. */
static double *
queue_seconds (const Execution *x)
{
  const StepGraph *graph = execution_graph (x);
  double *seconds = g_new0 (double, MAX (graph->queues->len, 1)), own;

  for (guint i = 0; i < graph->tasks->len; i++)
    for (guint step = 0; step < execution_steps (x); step++)
      {
        execution_seconds (x, execution_task_id (x, step, i), &own);
        seconds[graph_task (graph, i)->queue] += own;
      }
  return seconds;
}

/* Where nothing is drawn, of one step; else of the last ones played, from their
 * first on: there a host may be ahead of its GPU. */
static void
check_queues (Result *r, const Played *played)
{
  const GArray *queues = played->graph->queues;
  const guint steps = execution_steps (played->x);
  const double step = played->draws == NULL ? r->step_time : seconds_from_ticks (execution_end (played->x, steps - 1)) / steps;
  g_autofree double *seconds = queue_seconds (played->x);
  double most = 0;

  for (guint i = 0; i < queues->len; i++)
    if (played->draws == NULL || g_array_index (queues, GraphQueue, i).kind == LANE_COMPUTE)
      most = MAX (most, seconds[i] / steps);
  add_check (r, "the step is no shorter than any of its queues", most <= step * (1 + dust),
             g_strdup_printf ("%.9g s in the longest, step %.9g s", most, step));
}

static void
check_bounds (Result *r)
{
  double path = 0;

  for (guint i = 0; i < r->n_path; i++)
    path += r->path[i].seconds;
  add_check (r, "the critical path is as long as the step", fabs (path - r->step_time) <= dust * r->step_time,
             g_strdup_printf ("%.9g s, step %.9g s", path, r->step_time));
  add_check (r, "shares are shares", r->gpu_idle_share >= -dust && r->gpu_idle_share <= 1 + dust && r->step_time > 0
             && isfinite (r->step_time), g_strdup_printf ("idle share %.9g", r->gpu_idle_share));
}

gboolean
summary_checks (Result *r, const Played *played, const Network *network, GError **error)
{
  check_ledger (r);
  check_queues (r, played);
  check_bounds (r);
  if (!all_messages (played->x))
    check_links (r, played->x, network);
  check_messages (r, played->x);
  for (guint i = 0; i < r->n_checks; i++)
    {
      if (r->checks[i].ok)
        continue;
      g_set_error (error, RUN_ERROR, RUN_ERROR_CHECK, "self-check failed: %s: %s", r->checks[i].name, r->checks[i].detail);
      return FALSE;
    }
  return TRUE;
}
