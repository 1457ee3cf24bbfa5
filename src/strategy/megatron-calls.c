/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/megatron-plan.h"
#include "strategy/packed.h"
#include "strategy/price.h"
#include <math.h>
#include <string.h>

PipelineGroup
megatron_group (const Megatron *m, MegatronGroup which)
{
  switch (which)
    {
    case GROUP_TENSOR:
      return (PipelineGroup) { m->tp, 1 };
    case GROUP_CONTEXT:
      return (PipelineGroup) { m->cp, m->tp };
    case GROUP_EXPERT_TENSOR:
      return (PipelineGroup) { m->etp, 1 };
    case GROUP_EXPERT:
      return (PipelineGroup) { m->ep, m->etp };
    case GROUP_EXPERT_NODE:
      return (PipelineGroup) { m->ep / megatron_expert_boxes (m), m->etp };
    case GROUP_EXPERT_DATA:
      return (PipelineGroup) { m->edp, m->etp * m->ep };
    default:
      return (PipelineGroup) { m->dp * m->cp, m->tp };
    }
}

/* As placed: GPUs numbered node by node, `stride` apart.  A node holds a divisor of
 * the group, and as many groups beside it as it has GPUs left. */
static RankGroup
placed (const Megatron *m, PipelineGroup group)
{
  const guint64 node = cluster_gpus_per_node (m->in->cluster), most = MAX (node / group.stride, 1);
  guint64 inside = MIN (group.size, most);

  while (group.size % inside != 0)
    inside--;
  return (RankGroup) {
    .n_ranks = group.size, .n_nodes = group.size / inside, .per_node = inside, .twins_per_node = MAX (node / inside, 1),
    .stride = inside > 1 ? group.stride : 0, .node_stride = inside > 1 ? 1 : MAX (group.stride / node, 1),
  };
}

guint64
megatron_expert_boxes (const Megatron *m)
{
  RankGroup group = placed (m, megatron_group (m, GROUP_EXPERT));

  cluster_fold_group (m->in->cluster, collective_paths (NULL), &group);
  return group.n_nodes;
}

/* None of a place's E/p experts: C(E - E/p, k) / C(E, k). */
double
megatron_visited (const Megatron *m, guint64 places)
{
  const double experts = (double) m->shape->experts, others = experts - experts / (double) places;
  double none = 1;

  for (guint64 i = 0; i < m->shape->top_k; i++)
    none *= fmax (others - (double) i, 0) / (experts - (double) i);
  return (double) places * (1 - none);
}

static gboolean
price (const Megatron *m, RankGroup group, CollectiveOp op, double size, const CollectiveAlgorithm *algorithm, GraphCall *out,
       double *wire, GError **error)
{
  const Network *network = cluster_network (m->in->cluster);
  gboolean on_gpu;

  *out = (GraphCall) { .call = { .op = op, .size = size, .algorithm = algorithm, .protocol = PROTOCOL_AUTO }, .slowdown = 1, .group = group, .merged = TRUE };
  *wire = 0;
  if (group.n_ranks < 2 || size <= 0)
    {
      out->flow.cap = INFINITY;
      return TRUE;
    }
  if (!price_group (m->in->cluster, &out->call, &out->group, &out->flow, &on_gpu, error))
    return FALSE;
  *wire = collective_estimate (&out->flow, network, size) - out->flow.latency;
  out->link = network_slowest (network, out->flow.load, out->flow.n_loads);
  out->flow.n_loads = 0;
  out->flow.cap = *wire > 0 ? size / *wire : INFINITY;
  return TRUE;
}

/* Only gradients take the scenario's own algorithm, where it can do the call. */
static gboolean
algorithm_of (const Megatron *m, MegatronGroup group, CollectiveOp op, const CollectiveAlgorithm **out, GError **error)
{
  const char *name = m->in->collective->algorithm;

  *out = NULL;
  if (name == NULL || (group != GROUP_DATA && group != GROUP_EXPERT_DATA))
    return TRUE;
  if (!collective_find (name, out, error))
    return FALSE;
  if (*out != NULL && ((*out)->ops & op) == 0)
    *out = NULL;
  return TRUE;
}

/* One that was priced, as many times. */
static GraphPart
part_of (const GraphCall *call, double count)
{
  GraphPart part = { .call = call->call, .group = call->group, .count = count };

  part.call.algorithm = call->flow.algorithm;
  part.call.protocol = call->flow.protocol;
  return part;
}

static void
add_part (MegatronCalls *calls, const GraphPart *part, double times)
{
  for (guint i = 0; i < calls->n_parts; i++)
    {
      GraphPart *known = &calls->part[i];

      if (known->call.op != part->call.op || known->call.size < part->call.size || known->call.size > part->call.size
          || known->call.algorithm != part->call.algorithm || known->call.protocol != part->call.protocol)
        continue;
      known->count += times * part->count;
      return;
    }
  g_return_if_fail (calls->n_parts < MEGATRON_PARTS);
  calls->part[calls->n_parts] = *part;
  calls->part[calls->n_parts++].count *= times;
}

gboolean
megatron_add_calls (const Megatron *m, MegatronGroup group, CollectiveOp op, double size, double count, MegatronCalls *calls,
                    double *seconds, GError **error)
{
  const CollectiveAlgorithm *algorithm;
  GraphCall one;
  double wire;

  if (!algorithm_of (m, group, op, &algorithm, error)
      || !price (m, placed (m, megatron_group (m, group)), op, size, algorithm, &one, &wire, error))
    return FALSE;
  if (seconds != NULL)
    *seconds = one.flow.latency + wire;
  if (one.group.n_ranks < 2 || count <= 0)
    return TRUE;
  if (calls->size <= 0)
    calls->first = one;
  calls->group = group;
  calls->size += count * size;
  calls->latency += count * one.flow.latency;
  calls->wire += count * wire;
  calls->nic_bytes += count * size * one.flow.nic_bytes;
  const GraphPart part = part_of (&one, count);
  add_part (calls, &part, 1);
  return TRUE;
}

void
megatron_pile (MegatronCalls *on, const MegatronCalls *calls, double times)
{
  if (calls->size <= 0 || times <= 0)
    return;
  if (on->size <= 0)
    {
      on->first = calls->first;
      on->group = calls->group;
    }
  on->size += times * calls->size;
  on->latency += times * calls->latency;
  on->wire += times * calls->wire;
  on->nic_bytes += times * calls->nic_bytes;
  for (guint i = 0; i < calls->n_parts; i++)
    add_part (on, &calls->part[i], times);
}

static void
give_parts (const Megatron *m, GraphCall *call, const GraphPart *parts, guint n)
{
  GraphPart *copy;

  if (m->arena == NULL || n == 0)
    return;
  copy = arena_array (m->arena, GraphPart, n);
  memcpy (copy, parts, n * sizeof *parts);
  call->parts = copy;
  call->n_parts = n;
}

GraphCall
megatron_call (const Megatron *m, const MegatronCalls *calls, const char *label)
{
  GraphCall call = calls->first;

  call.call.size = calls->size;
  call.flow.latency = calls->latency;
  call.flow.cap = calls->wire > 0 ? calls->size / calls->wire : INFINITY;
  call.flow.nic_bytes = calls->size > 0 ? calls->nic_bytes / calls->size : 0;
  call.label = label;
  give_parts (m, &call, calls->part, calls->n_parts);
  return call;
}

gboolean
megatron_pair (const Megatron *m, guint from, guint to, CollectiveOp op, double size, const char *label, GraphCall *out, GError **error)
{
  const guint64 node = cluster_gpus_per_node (m->in->cluster), each = m->world / m->pp, twins = MIN (each, node);
  const gboolean same = each * from / node == each * to / node;
  const RankGroup pair = { .n_ranks = 2, .n_nodes = same ? 1 : 2, .per_node = same ? 2 : 1, .twins_per_node = twins, .stride = same ? each : 0,
                           .node_stride = same ? 1 : MAX (each / node, 1) };
  double wire;

  if (!price (m, pair, op, size, NULL, out, &wire, error))
    return FALSE;
  out->label = label;
  GraphPart part = part_of (out, 1);
  part.call.one_way = op == OP_SEND_RECV;
  part.group.spacing = each;   /* all of both stages meet in one call: each its like */
  give_parts (m, out, &part, 1);
  return TRUE;
}

/* Activations of one micro-batch; split over the tensor-parallel ranks where
 * sequence parallelism splits them, or where slices are sent and gathered again. */
gboolean
megatron_message (const Megatron *m, guint from, guint to, const char *label, GraphCall *out, GError **error)
{
  const gboolean slices = m->tp > 1 && !m->sp && m->llm.value[LLM_SLICES] > 0;
  const double whole = (double) m->micro * (double) m->shape->sequence / (double) m->cp * (double) m->shape->hidden * m->llm.element
                       * packed_tokens (m->in);
  const double size = m->sp || slices ? whole / (double) m->tp : whole;
  MegatronCalls gather = { 0 };
  double seconds = 0;

  if (!megatron_pair (m, from, to, OP_SEND_RECV, size, label, out, error))
    return FALSE;
  if (slices && !megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, whole, 1, &gather, &seconds, error))
    return FALSE;
  out->flow.latency += seconds;
  if (gather.n_parts > 0 && out->n_parts > 0)
    {
      GraphPart parts[] = { out->parts[0], gather.part[0] };

      parts[1].aside = TRUE;
      give_parts (m, out, parts, 2);
    }
  return TRUE;
}
