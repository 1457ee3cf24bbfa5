/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/builder.h"
#include "strategy/blocks.h"
#include "strategy/packed.h"
#include <math.h>

G_DEFINE_QUARK (strategy-error-quark, strategy_error)

/* A step of more tasks than this would take minutes and gigabytes. */
static const double max_tasks = 4e6;

guint64
builder_world (const StepInput *in)
{
  return cluster_nodes (in->cluster) * cluster_gpus_per_node (in->cluster);
}

gboolean
builder_fits (const StepInput *in, guint per_layer, GError **error)
{
  const double tasks = (double) in->batch.accumulation * in->workload->n_layers * per_layer
                       * (in->unfold ? (double) builder_world (in) : (double) MAX (in->period, 1));

  if (tasks <= max_tasks)
    return TRUE;
  g_set_error (error, STRATEGY_ERROR, STRATEGY_ERROR_UNSUITED,
               "[training] accumulation: %" G_GUINT64_FORMAT " micro-steps%s make %.3g tasks in a step; at most %.3g are taken",
               in->batch.accumulation, in->unfold ? " with a class for every rank" : "", tasks, max_tasks);
  return FALSE;
}

static RankClass *
class_at (const Builder *b, guint i)
{
  return &g_array_index (b->graph->classes, RankClass, i);
}

/* Ranks that are slow in every step, of those that one may call so. */
static guint64
slow_ranks (const StepInput *in, guint64 ranks)
{
  return in->uneven != NULL && in->uneven->slow_factor > 1 ? MIN (in->uneven->slow_ranks, ranks) : 0;
}

static void
add_class (Builder *b, guint64 multiplicity, guint process, gboolean slow)
{
  if (multiplicity == 0)
    return;
  const guint class = graph_class (b->graph, multiplicity);

  b->process[class] = process;
  b->factor[class] = slow ? b->in->uneven->slow_factor : 1;
  b->n_processes = process + 1;
}

/* The first ranks are slow; where the first GPU is special the last ones.  `each`: ranks
 * that one stands for. */
static void
add_each (Builder *b, guint64 ranks, guint64 each, guint64 per_process, guint64 slow)
{
  for (guint64 i = 0; i < ranks; i++)
    add_class (b, each, (guint) (i / per_process), b->policy->root ? i >= ranks - slow : i < slow);
}

/* Ranks after which all begins anew; 0: none stands for others so. */
static guint64
period_of (const StepInput *in, guint64 ranks, guint64 slow)
{
  return in->period > 0 && slow == 0 && in->period < ranks && ranks % in->period == 0 ? in->period : 0;
}

static void
add_root (Builder *b, guint64 ranks, guint64 slow)
{
  const guint64 others = MIN (slow, ranks - 1);

  add_class (b, 1, 0, slow == ranks);
  add_class (b, ranks - 1 - others, 0, FALSE);
  add_class (b, others, 0, TRUE);
}

/* Processes whose GPUs are all slow, one where some are, and the others. */
static void
add_alike (Builder *b, guint64 ranks, guint64 per_process, guint64 slow)
{
  const guint64 whole = slow / per_process * per_process, part = slow - whole;
  const guint64 mixed = part > 0 ? per_process : 0;
  guint process = 0;

  add_class (b, whole, process, TRUE);
  process = b->n_processes;
  add_class (b, part, process, TRUE);
  add_class (b, mixed - part, process, FALSE);
  add_class (b, ranks - whole - mixed, b->n_processes, FALSE);
}

/* Pauses of one rank are host time there; where one class stands for all, nearly
 * everybody waits for it. */
static void
add_pauses (Builder *b)
{
  const NoiseSpec *uneven = b->in->uneven;

  if (uneven != NULL && uneven->pause > 0)
    graph_pauses (b->graph, b->in->unfold || uneven->pause_together ? CAUSE_HOST : CAUSE_WAIT);
}

void
builder_queues (Builder *b)
{
  const guint64 ranks = builder_world (b->in), slow = slow_ranks (b->in, ranks);
  const guint64 per_process = b->policy->one_process ? cluster_gpus_per_node (b->in->cluster) : 1;
  const guint64 period = period_of (b->in, ranks, slow);
  const gsize most = b->in->unfold ? ranks : MAX (period, 4);

  b->process = arena_array (b->graph->arena, guint, most);
  b->factor = arena_array (b->graph->arena, double, most);
  b->issue = (double) per_process;
  b->cycle_queue = NO_ROW;
  if (b->in->unfold)
    add_each (b, ranks, 1, per_process, slow);
  else if (period > 0 && !b->policy->root)
    add_each (b, period, ranks / period, per_process, 0);
  else if (b->policy->root && ranks > 1)
    add_root (b, ranks, slow);
  else
    add_alike (b, ranks, per_process, slow);
  b->host_queue = b->graph->queues->len;
  for (guint i = 0; i < b->graph->classes->len; i++)
    if (i == 0 || b->process[i] != b->process[i - 1])
      graph_queue (b->graph, LANE_HOST, i, "host");
  b->input_queue = b->graph->queues->len;
  for (guint i = 0; i < b->graph->classes->len; i++)
    if (i == 0 || b->process[i] != b->process[i - 1])
      graph_queue (b->graph, LANE_INPUT, i, "input");
  add_pauses (b);
  for (guint attention = 0; attention < 2; attention++)
    b->spread[attention] = packed_spread (b->in, b->graph, attention, b->whole, (double) b->in->batch.per_gpu);
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
                       ? graph_kernel (b->graph, queue, what->cause, what->seconds * b->factor[class], what->noise, what->label)
                       : graph_fixed (b->graph, queue, what->cause, what->seconds, what->label);

  if (host != NO_ROW)
    graph_edge (b->graph, host + b->process[class], task);
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
layer_row (Builder *b, guint host, guint layer, gboolean backward)
{
  const Layer *what = &b->in->workload->layers[layer];
  const guint row = kernel_row (b, host, backward ? b->backward[layer] : b->forward[layer], b->noise, what->name);
  const guint spread = layer_scores (what) > 0 ? b->spread[1] : packed_row (b->in, what) ? b->spread[0] : 0;

  for (guint i = 0; i < b->graph->classes->len; i++)
    graph_vary (b->graph, row + i, spread, b->micro);
  return row;
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
      if (!b->policy->price (b->in, b->graph->arena, call, error))
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
  call->launch += software_settled (b->in->spec->launch, b->policy->launch);
  if (!on_gpu)
    call->slowdown = 1;
  else if (b->policy->slowdown > 0 && isnan (b->in->spec->slowdown))
    call->slowdown = b->policy->slowdown;
  else
    call->slowdown = software_slowdown (b->in);
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

      graph_edge (b->graph, host + b->process[i], member);
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
