/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/execute-private.h"
#include <math.h>

Id
execution_call_link (const GraphCall *call, const Network *network)
{
  return call->flow.n_loads > 0 ? network_slowest (network, call->flow.load, call->flow.n_loads) : call->link;
}

static void
each_member (Execution *x, Id meeting, void (*what) (Execution *x, Id member))
{
  if (!execute_slows (x, execute_call (x, meeting)))
    return;
  for (Id task = engine_get_meeting (x->engine, meeting)->first_member; task != 0; task = engine_next_member (x->engine, task))
    what (x, task);
}

/* Beside flows of others a call counts in the bytes of the wire that it shares with
 * them, since fair shares are shares of that wire.  One with a rate of its own keeps
 * the share that is left when it starts. */
static void
start_flow (Execution *x, Id meeting, const GraphCall *call)
{
  const CollectiveFlow *flow = &call->flow;
  const Traffic *others = execution_others (x);
  const double demand = others != NULL ? traffic_demand (others, flow->load, flow->n_loads) : 0;
  const double unit = demand > 0 ? demand : 1;
  const double left = flow->n_loads == 0 && call->link != 0 ? traffic_left (x, call->link) : 1;
  LinkLoad load[G_N_ELEMENTS (flow->load)];

  for (guint i = 0; i < flow->n_loads; i++)
    load[i] = (LinkLoad) { flow->load[i].link, flow->load[i].bytes / unit, flow->load[i].efficiency };
  network_start (x->network, meeting, call->call.size * unit,
                 flow->cap / execute_link_scale (x, execution_call_link (call, x->links)) * unit * left, 1, load, flow->n_loads);
}

static void
start_bytes (gpointer user, Engine *e, uint32_t meeting)
{
  Execution *x = user;
  const GraphCall *call = execute_call (x, meeting);
  const CollectiveFlow *flow = &call->flow;

  if (call->call.size > 0 && (flow->n_loads > 0 || isfinite (flow->cap)))
    start_flow (x, meeting, call);
  else
    engine_end_meeting (e, meeting);
}

/* Only now a kernel of the collective runs beside others.  In ticks, launch and
 * latency are what they are together. */
static void
start_kernels (gpointer user, Engine *e, uint32_t meeting)
{
  Execution *x = user;
  const GraphCall *call = execute_call (x, meeting);
  const Tick latency = execute_latency (x, call->launch + call->flow.latency) - execute_latency (x, call->launch);

  each_member (x, meeting, beside_flies);
  if (latency > 0)
    engine_at (e, engine_now (e) + latency, x->bytes_flow, meeting);
  else
    start_bytes (x, e, meeting);
}

void
transfer_init (Execution *x)
{
  x->network = network_run_new (x->links, x->engine, TICKS_PER_S);
  x->launched = engine_handler (x->engine, start_kernels, x);
  x->bytes_flow = engine_handler (x->engine, start_bytes, x);
}

void
transfer_reset (Execution *x)
{
  network_run_reset (x->network);
  if (x->messages != NULL)
    message_run_reset (x);
  for (Id link = 1; link <= network_n_links (x->links); link++)
    network_run_scale (x->network, link, 1 / execute_link_scale (x, link));
}

void
transfer_arrived (Execution *x, Id task)
{
  const GraphCall *call = execute_call (x, engine_get_task (x->engine, task)->what);

  if (message_plays (x, execute_index (x, engine_get_task (x->engine, task)->what)))
    message_arrived (x, task);
  else if (execute_slows (x, call))
    beside_spins (x, task, call->slowdown);
}

void
transfer_met (Execution *x, Id meeting)
{
  const Tick launch = execute_latency (x, execute_call (x, meeting)->launch);

  if (x->ideal_network)
    {
      engine_end_meeting (x->engine, meeting);
      return;
    }
  if (message_plays (x, execute_index (x, meeting)))
    {
      message_met (x, meeting);
      return;
    }
  each_member (x, meeting, beside_met);
  if (launch > 0)
    engine_at (x->engine, engine_now (x->engine) + launch, x->launched, meeting);
  else
    start_kernels (x, x->engine, meeting);
}

void
transfer_ended (Execution *x, Id meeting)
{
  if (!message_plays (x, execute_index (x, meeting)))
    each_member (x, meeting, beside_ended);
}
