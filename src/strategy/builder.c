/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/builder.h"
#include <math.h>

guint64
builder_world (const StepInput *in)
{
  return cluster_nodes (in->cluster) * cluster_gpus_per_node (in->cluster);
}

static RankClass *
class_at (const Builder *b, guint i)
{
  return &g_array_index (b->graph->classes, RankClass, i);
}

void
builder_queues (Builder *b)
{
  const guint64 ranks = builder_world (b->in);
  const guint64 per_process = b->policy->one_process ? cluster_gpus_per_node (b->in->cluster) : 1;
  const gboolean root = b->policy->root && ranks > 1 && !b->in->unfold;
  const guint n_classes = b->in->unfold ? (guint) ranks : root ? 2 : 1;

  b->classes_per_process = b->in->unfold ? (guint) per_process : n_classes;
  b->n_processes = n_classes / b->classes_per_process;
  b->issue = (double) per_process;
  b->cycle_queue = NO_ROW;
  for (guint i = 0; i < n_classes; i++)
    graph_class (b->graph, b->in->unfold || (root && i == 0) ? 1 : root ? ranks - 1 : ranks);
  b->host_queue = b->graph->queues->len;
  for (guint i = 0; i < b->n_processes; i++)
    graph_queue (b->graph, LANE_HOST, i * b->classes_per_process, "host");
  b->input_queue = b->graph->queues->len;
  for (guint i = 0; i < b->n_processes; i++)
    graph_queue (b->graph, LANE_INPUT, i * b->classes_per_process, "input");
}

guint
host_row (Builder *b, double seconds, const char *label)
{
  const guint row = b->graph->tasks->len;

  for (guint i = 0; i < b->n_processes; i++)
    graph_fixed (b->graph, b->host_queue + i, CAUSE_HOST, seconds, label);
  return row;
}

guint
operator_row (Builder *b, double operators, const char *label)
{
  return host_row (b, operators * b->host->operator_s * b->issue, label);
}

static guint
compute_task (Builder *b, guint class, guint host, const GraphTask *what)
{
  const guint queue = class_at (b, class)->compute;
  const guint task = what->kind == GRAPH_KERNEL
                       ? graph_kernel (b->graph, queue, what->cause, what->seconds, what->noise, what->label)
                       : graph_fixed (b->graph, queue, what->cause, what->seconds, what->label);

  if (host != NO_ROW)
    graph_edge (b->graph, host + class / b->classes_per_process, task);
  return task;
}

guint
compute_row (Builder *b, guint host, GraphKind kind, Cause cause, double seconds, double noise, const char *label)
{
  const guint row = b->graph->tasks->len;
  const GraphTask what = { .kind = kind, .cause = cause, .seconds = seconds, .noise = noise, .label = label };

  for (guint i = 0; i < b->graph->classes->len; i++)
    compute_task (b, i, host, &what);
  return row;
}

guint
kernel_row (Builder *b, guint host, double seconds, double noise, const char *label)
{
  return compute_row (b, host, GRAPH_KERNEL, CAUSE_COMPUTE, seconds, noise, label);
}

guint
root_kernel (Builder *b, guint host, Cause cause, double seconds, const char *label)
{
  return compute_task (b, 0, host, &(GraphTask) { .kind = GRAPH_KERNEL, .cause = cause, .seconds = seconds, .noise = 1, .label = label });
}

guint
cycle_row (Builder *b, guint after, double seconds, const char *label)
{
  const guint n = b->graph->classes->len;
  guint row;

  if (b->cycle_queue == NO_ROW)
    {
      b->cycle_queue = b->graph->queues->len;
      for (guint i = 0; i < n; i++)
        graph_queue (b->graph, LANE_HOST, i, "background thread");
    }
  row = b->graph->tasks->len;
  for (guint i = 0; i < n; i++)
    graph_edge (b->graph, after + i, graph_fixed (b->graph, b->cycle_queue + i, CAUSE_HOST, seconds, label));
  return row;
}

guint
wait_row (Builder *b, const char *label)
{
  const guint row = compute_row (b, NO_ROW, GRAPH_FIXED, CAUSE_OTHER, 0, 1, label);

  for (guint k = 0; k < b->open->len; k++)
    for (guint i = 0; i < b->graph->classes->len; i++)
      graph_edge (b->graph, g_array_index (b->open, guint, k) + i, row + i);
  g_array_set_size (b->open, 0);
  return row;
}

/* The algorithm of this call, as the scenario, else the framework, names it.  A
 * named algorithm that cannot do the operation leaves a broadcast to the ring,
 * and all that shards to NCCL's choice. */
static gboolean
name_algorithm (const Builder *b, GraphCall *call, GError **error)
{
  const char *name = b->in->collective->algorithm;

  if (name == NULL || g_str_equal (name, "auto"))
    name = b->policy->algorithm != NULL ? b->policy->algorithm : "auto";
  if (!collective_find (name, &call->call.algorithm, error))
    return FALSE;
  if (call->call.algorithm != NULL && (call->call.algorithm->ops & call->call.op) == 0)
    return collective_find (call->call.op == OP_BROADCAST ? "ring" : "auto", &call->call.algorithm, error);
  return TRUE;
}

/* `group`: NULL: all GPUs. */
static gboolean
price (const Builder *b, GraphCall *call, const RankGroup *group, GError **error)
{
  gboolean on_gpu = FALSE;

  if (b->policy->price != NULL)
    {
      call->merged = TRUE;
      if (!b->policy->price (b->in, call, error))
        return FALSE;
    }
  else
    {
      call->call.protocol = (Protocol) b->in->collective->protocol;
      call->group = group != NULL ? *group : price_all (b->in->cluster);
      if (!name_algorithm (b, call, error)
          || !price_group (b->in->cluster, &call->call, &call->group, &call->flow, &on_gpu, error))
        return FALSE;
    }
  call->launch += isnan (b->in->spec->launch) ? b->policy->launch : b->in->spec->launch;
  if (!on_gpu)
    call->slowdown = 1;
  else if (b->policy->slowdown > 0 && isnan (b->in->spec->slowdown))
    call->slowdown = b->policy->slowdown;
  else
    call->slowdown = software_slowdown (b->in->spec, b->in->compute->precision);
  return TRUE;
}

guint
comm_row (Builder *b, const char *name)
{
  const guint row = b->graph->queues->len;

  for (guint i = 0; i < b->graph->classes->len; i++)
    graph_queue (b->graph, LANE_COMM, i, name);
  return row;
}

gboolean
collective_place (Builder *b, const Collective *what, guint *placed, GError **error)
{
  GraphCall call = { .call = { .op = what->op, .size = what->bytes, .largest = what->largest }, .launch = what->extra, .label = what->label };
  guint host = what->host, row, index;

  if (!price (b, &call, what->group, error))
    return FALSE;
  if (host == NO_ROW)
    host = host_row (b, b->host->collective_s * b->issue, what->label);
  index = graph_call (b->graph, &call);
  row = b->graph->tasks->len;
  for (guint i = 0; i < b->graph->classes->len; i++)
    {
      const guint member = graph_meet (b->graph, what->queue != NO_ROW ? what->queue + i : class_at (b, i)->comm, index);

      graph_edge (b->graph, host + i / b->classes_per_process, member);
      if (what->after != NO_ROW)
        graph_edge (b->graph, what->after + i, member);
    }
  *placed = row;
  return TRUE;
}

gboolean
collective_row (Builder *b, CollectiveOp op, double bytes, double largest, double extra, guint after, const char *label, GError **error)
{
  const Collective what = { .op = op, .bytes = bytes, .largest = largest, .extra = extra, .after = after,
                            .queue = NO_ROW, .host = NO_ROW, .label = label };
  guint row;

  if (!collective_place (b, &what, &row, error))
    return FALSE;
  g_array_append_val (b->open, row);
  return TRUE;
}
