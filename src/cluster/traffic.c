/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cluster/traffic.h"
#include "cluster/internal.h"
#include <math.h>
#include <stddef.h>

#define AT(field) offsetof (TrafficSpec, field)
const Key traffic_keys[] = {
  { "nic-rate", KEY_QUANTITY, UNIT_RATE, AT (nic_rate), "0 B/s",
    "What flows of others ask of each network card of the job's nodes, each way; fair sharing gives them less where there is less.", 0, 1e15 },
  { "uplink-rate", KEY_QUANTITY, UNIT_RATE, AT (uplink_rate), "0 B/s",
    "The same of the uplinks of each leaf (dragonfly: group) together, each way.", 0, 1e15 },
  { "flows", KEY_COUNT, UNIT_NONE, AT (flows), "1",
    "Equal flows that ask for nic-rate on a card, or for uplink-rate on the uplinks; a collective of the job counts as one there.", 1, 1e6 },
  { "job-size", KEY_QUANTITY, UNIT_BYTES, AT (job_size), "0 B",
    "Bytes that a second job moves over each network card, each way, before it computes again; its round waits for them.", 0, 1e15 },
  { "job-compute", KEY_QUANTITY, UNIT_TIME, AT (job_compute), "0 s",
    "Time for which the second job computes and moves nothing.", 0, 1e5 },
  { "input-size", KEY_QUANTITY, UNIT_BYTES, AT (input_size), "0 B",
    "Bytes of a training sample, read from shared storage over the network cards, ahead of the steps and evenly.", 0, 1e12 },
  { "checkpoint-steps", KEY_COUNT, UNIT_NONE, AT (checkpoint_steps), "0",
    "A checkpoint is written over the network cards once in so many steps; 0: none.", 0, 1e9 },
  { "checkpoint-size", KEY_QUANTITY, UNIT_BYTES, AT (checkpoint_size), NULL,
    "Bytes of a checkpoint, all ranks together; without it the weights and the optimizer's state.", 1, 1e18 },
  { "checkpoint-blocking", KEY_BOOLEAN, UNIT_NONE, AT (checkpoint_blocking), "false",
    "The GPUs stand still while it is written; false: it is written beside the next steps." },
  { "storage-rate", KEY_QUANTITY, UNIT_RATE, AT (storage_rate), NULL,
    "What the storage delivers, or takes, for all nodes together; without it the network cards are the limit.", 1, 1e18 },
  { NULL }
};
#undef AT

static TrafficFlow
flow_over (Id link, Id other, double rate, double flows)
{
  TrafficFlow flow = { .n_loads = other != 0 ? 2 : 1, .rate = rate, .flows = flows };

  flow.load[0] = (LinkLoad) { link, 1, 1 };
  flow.load[1] = (LinkLoad) { other, 1, 1 };
  return flow;
}

static void
add_steady (Traffic *out, Id link, double rate, double flows)
{
  if (link != 0 && rate > 0)
    out->steady[out->n_steady++] = flow_over (link, 0, rate, flows);
}

/* Of the storage, for one card; evenly. */
static double
storage_share (const Cluster *c, const TrafficSpec *spec)
{
  return isnan (spec->storage_rate) ? INFINITY : spec->storage_rate / (double) (c->nodes * c->machine->spec.nics);
}

/* What one flow without a limit gets of a card beside the steady ones: they have what
 * they ask for up to an equal share each. */
static double
card_share (const Cluster *c, const TrafficSpec *spec)
{
  const double line = c->nic_bandwidth * c->nic_left;

  return fmax (line - spec->nic_rate, line / ((double) spec->flows + 1));
}

double
cluster_reading (const Cluster *c, const TrafficSpec *spec)
{
  const double line = c->nic_in != 0 ? c->nic_bandwidth * c->nic_left : INFINITY;

  if (!(spec->input_size > 0))
    return INFINITY;
  return fmin (storage_share (c, spec), line) * (double) c->machine->spec.nics / spec->input_size;
}

gboolean
cluster_traffic (const Cluster *c, const TrafficSpec *spec, double samples, double state, Traffic *out)
{
  const double flows = (double) spec->flows, cards = (double) (c->nodes * c->machine->spec.nics);

  *out = (Traffic) { 0 };
  if (c->nic_out == 0)
    return FALSE;
  add_steady (out, c->nic_out, spec->nic_rate, flows);
  add_steady (out, c->nic_in, spec->nic_rate, flows);
  if (c->n_levels > 0)
    {
      add_steady (out, c->level[0].up, spec->uplink_rate, flows);
      add_steady (out, c->level[0].down, spec->uplink_rate, flows);
    }
  out->job = flow_over (c->nic_out, c->nic_in, INFINITY, 1);
  out->job_size = spec->job_size;
  out->job_compute = spec->job_compute;
  out->job_seconds = spec->job_size / (c->nic_bandwidth * c->nic_left);
  out->input = flow_over (c->nic_in, 0, storage_share (c, spec), 1);
  out->input_size = samples * spec->input_size / cards;
  if (spec->checkpoint_steps > 0)
    {
      out->checkpoint = flow_over (c->nic_out, 0, storage_share (c, spec), 1);
      out->checkpoint_size = (isnan (spec->checkpoint_size) ? state : spec->checkpoint_size) / cards;
      out->checkpoint_seconds = out->checkpoint_size / fmin (out->checkpoint.rate, card_share (c, spec));
      out->checkpoint_steps = spec->checkpoint_steps;
      out->checkpoint_blocking = spec->checkpoint_blocking;
    }
  return out->n_steady > 0 || out->job_size > 0 || out->input_size > 0 || out->checkpoint_steps > 0;
}

static gboolean
uses (const TrafficFlow *flow, Id link)
{
  for (guint i = 0; i < flow->n_loads; i++)
    if (flow->load[i].link == link)
      return TRUE;
  return FALSE;
}

double
traffic_demand (const Traffic *traffic, const LinkLoad *loads, guint n_loads)
{
  double most = 0;

  for (guint i = 0; i < n_loads; i++)
    {
      gboolean shared = uses (&traffic->job, loads[i].link);   /* the cards, both ways */

      for (guint k = 0; k < traffic->n_steady && !shared; k++)
        shared = uses (&traffic->steady[k], loads[i].link);
      if (shared)
        most = fmax (most, loads[i].bytes / loads[i].efficiency);
    }
  return most;
}

const char *
traffic_key (const Traffic *traffic)
{
  if (traffic->n_steady > 0)
    return "nic-rate";
  if (traffic->job_size > 0)
    return "job-size";
  return traffic->input_size > 0 ? "input-size" : "checkpoint-steps";
}
