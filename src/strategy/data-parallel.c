/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/data-parallel.h"
#include "strategy/price.h"
#include <math.h>

/* Tasks alike, one for each process or rank class, stand in a row: a row is
 * named by its first index. */
typedef struct
{
  const StepInput    *in;
  const DataParallel *policy;
  const HostCosts    *host;
  StepGraph *graph;
  guint      n_processes, classes_per_process;
  guint      host_queue, input_queue;   /* of the first process; the others follow */
  double     issue;                     /* GPUs that one host task issues for */
  double     noise;
  double    *forward;                   /* s a layer */
  GArray    *open;                      /* rows of meetings that the step waits for */
} Builder;

#define NO_ROW G_MAXUINT

/* A step of more tasks than this would take minutes and gigabytes. */
static const double max_tasks = 4e6;

static guint64
world (const StepInput *in)
{
  return cluster_nodes (in->cluster) * cluster_gpus_per_node (in->cluster);
}

/* One class for all ranks, or (unfolded) one for each; hosts shared by the
 * GPUs of one process. */
static void
lay_queues (Builder *b)
{
  const guint64 ranks = world (b->in);
  const guint64 per_process = b->policy->one_process ? cluster_gpus_per_node (b->in->cluster) : 1;
  const guint n_classes = b->in->unfold ? (guint) ranks : 1;

  b->classes_per_process = b->in->unfold ? (guint) per_process : 1;
  b->n_processes = n_classes / b->classes_per_process;
  b->issue = (double) per_process;
  for (guint i = 0; i < n_classes; i++)
    graph_class (b->graph, b->in->unfold ? 1 : ranks);
  b->host_queue = b->graph->queues->len;
  for (guint i = 0; i < b->n_processes; i++)
    graph_queue (b->graph, LANE_HOST, i * b->classes_per_process, "host");
  b->input_queue = b->graph->queues->len;
  for (guint i = 0; i < b->n_processes; i++)
    graph_queue (b->graph, LANE_INPUT, i * b->classes_per_process, "input");
}

/* A host task for each process. */
static guint
host_row (Builder *b, double seconds, const char *label)
{
  const guint row = b->graph->tasks->len;

  for (guint i = 0; i < b->n_processes; i++)
    graph_fixed (b->graph, b->host_queue + i, CAUSE_HOST, seconds, label);
  return row;
}

static guint
operator_row (Builder *b, double operators, const char *label)
{
  return host_row (b, operators * b->host->operator_s * b->issue, label);
}

/* A task on each class's compute queue, launched by a host row. */
static guint
compute_row (Builder *b, guint host, GraphKind kind, Cause cause, double seconds, double noise, const char *label)
{
  const guint row = b->graph->tasks->len;

  for (guint i = 0; i < b->graph->classes->len; i++)
    {
      const guint queue = g_array_index (b->graph->classes, RankClass, i).compute;
      const guint task = kind == GRAPH_KERNEL ? graph_kernel (b->graph, queue, cause, seconds, noise, label)
                                              : graph_fixed (b->graph, queue, cause, seconds, label);

      if (host != NO_ROW)
        graph_edge (b->graph, host + i / b->classes_per_process, task);
    }
  return row;
}

static guint
kernel_row (Builder *b, guint host, double seconds, double noise, const char *label)
{
  return compute_row (b, host, GRAPH_KERNEL, CAUSE_COMPUTE, seconds, noise, label);
}

/* Every class waits, on its compute queue, for the rows in `open`. */
static guint
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
 * named algorithm that cannot do the operation leaves it to the ring. */
static gboolean
name_algorithm (const Builder *b, GraphCall *call, GError **error)
{
  const char *name = b->in->collective->algorithm;

  if (name == NULL || g_str_equal (name, "auto"))
    name = b->policy->algorithm != NULL ? b->policy->algorithm : "auto";
  if (!collective_find (name, &call->call.algorithm, error))
    return FALSE;
  if (call->call.algorithm != NULL && (call->call.algorithm->ops & call->call.op) == 0)
    return collective_find ("ring", &call->call.algorithm, error);
  return TRUE;
}

static gboolean
price (const Builder *b, GraphCall *call, GError **error)
{
  gboolean on_gpu;

  call->call.protocol = (Protocol) b->in->collective->protocol;
  if (!name_algorithm (b, call, error)
      || !price_call (b->in->cluster, &call->call, &call->group, &call->flow, &on_gpu, error))
    return FALSE;
  call->launch = b->policy->launch;
  call->slowdown = on_gpu ? software_slowdown (b->in->spec, b->in->compute->precision) : 1;
  return TRUE;
}

/* A collective that starts behind `after` (a row of compute tasks, or none) and
 * its own host call.  Its members' row is left in `open`. */
static gboolean
collective_row (Builder *b, CollectiveOp op, double bytes, double largest, guint after, const char *label, GError **error)
{
  GraphCall call = { .call = { .op = op, .size = bytes, .largest = largest }, .label = label };
  guint host, row, index;

  if (!price (b, &call, error))
    return FALSE;
  host = host_row (b, b->host->collective_s * b->issue, label);
  index = graph_call (b->graph, &call);
  row = b->graph->tasks->len;
  for (guint i = 0; i < b->graph->classes->len; i++)
    {
      const guint member = graph_meet (b->graph, g_array_index (b->graph->classes, RankClass, i).comm, index);

      graph_edge (b->graph, host + i / b->classes_per_process, member);
      if (after != NO_ROW)
        graph_edge (b->graph, after + i, member);
    }
  g_array_append_val (b->open, row);
  return TRUE;
}

static double
gradient_bytes (const StepInput *in)
{
  return software_gradient_bytes (in->spec, in->compute->precision);
}

/* Bytes that a copy of one gradient into or out of its group moves. */
static double
copy_traffic (const StepInput *in)
{
  const double wire = gradient_bytes (in);

  return in->spec->compression != COMPRESSION_NONE ? 4 + wire : 2 * wire;
}

static gboolean
reduce_group (Builder *b, const Bucket *group, guint index, guint backward, GError **error)
{
  const double element = gradient_bytes (b->in);
  char *label = arena_alloc (b->graph->arena, 24);
  guint after = backward;

  g_snprintf (label, 24, "gradients %u", index + 1);
  if (!b->policy->view)
    {
      const double seconds = compute_copy_seconds (b->in->compute, group->elements * copy_traffic (b->in));

      after = kernel_row (b, operator_row (b, 1, label), seconds, 1, "copy in");
    }
  return collective_row (b, OP_ALL_REDUCE, group->elements * element, group->largest * element, after, label, error);
}

/* Buffers travel before the forward pass that reads them. */
static gboolean
broadcast_buffers (Builder *b, GError **error)
{
  const double bytes = b->in->workload->buffers * 4;

  if (!b->policy->buffers || bytes <= 0 || world (b->in) == 1)
    return TRUE;
  if (!collective_row (b, OP_BROADCAST, bytes, 0, NO_ROW, "buffers", error))
    return FALSE;
  wait_row (b, "buffers");
  return TRUE;
}

static void
feed_input (Builder *b, guint first_kernel)
{
  const double seconds = (double) (b->in->batch.per_gpu * cluster_gpus_per_node (b->in->cluster)) / b->in->input->rate;

  if (isnan (b->in->input->rate))
    return;
  for (guint i = 0; i < b->graph->classes->len; i++)
    {
      if (i % b->classes_per_process == 0)
        graph_fixed (b->graph, b->input_queue + i / b->classes_per_process, CAUSE_INPUT, seconds, "input");
      graph_edge (b->graph, b->graph->tasks->len - 1, first_kernel + i);
    }
}

static void
forward_pass (Builder *b)
{
  guint first = NO_ROW;

  for (guint i = 0; i < b->in->workload->n_layers; i++)
    {
      const char *name = b->in->workload->layers[i].name;
      const guint row = kernel_row (b, operator_row (b, 1, name), b->forward[i], b->noise, name);

      if (first == NO_ROW)
        first = row;
    }
  feed_input (b, first);
}

/* A layer's backward pass is two kernels' worth (by input and by weight): 2 x
 * forward.  Groups leave, in order, once their last gradient is there. */
static gboolean
backward_pass (Builder *b, gboolean reduce, GError **error)
{
  const GArray *groups = b->policy->groups;
  guint next = 0;

  for (guint i = b->in->workload->n_layers; i-- > 0;)
    {
      const char *name = b->in->workload->layers[i].name;
      const guint row = kernel_row (b, operator_row (b, 2, name), 2 * b->forward[i], b->noise, name);

      for (; reduce && next < groups->len && g_array_index (groups, Bucket, next).last == i; next++)
        {
          if (!reduce_group (b, &g_array_index (groups, Bucket, next), next, row, error))
            return FALSE;
        }
    }
  return TRUE;
}

static void
optimizer_step (Builder *b, gboolean reduced, guint gradients)
{
  const StepInput *in = b->in;
  const double params = in->workload->params;
  const guint host = operator_row (b, b->host->tensor_ops * in->workload->n_tensors, "optimizer");
  const gboolean sync = in->spec->host_sync == AUTO_AUTO
                          ? b->policy->always_sync || in->compute->precision == PRECISION_MIXED_FP16
                          : in->spec->host_sync == AUTO_YES;

  for (guint i = 0; reduced && sync && i < b->graph->classes->len; i++)
    graph_edge (b->graph, gradients + i, host + i / b->classes_per_process);
  if (reduced && !b->policy->view)
    kernel_row (b, host, compute_copy_seconds (in->compute, params * copy_traffic (in)), 1, "copy out");
  compute_row (b, host, GRAPH_KERNEL, CAUSE_OPTIMIZER,
               compute_copy_seconds (in->compute, params * software_optimizer_traffic (in->training->optimizer)),
               1, "optimizer");
}

static gboolean
build_step (Builder *b, GError **error)
{
  const guint64 micro_steps = b->in->batch.accumulation;
  const gboolean several = world (b->in) > 1 && b->policy->groups != NULL;
  const double fixed = isnan (b->in->spec->fixed) ? b->policy->fixed : b->in->spec->fixed;
  guint gradients = NO_ROW;

  host_row (b, b->host->step_s, "step");
  if (several && fixed > 0)
    compute_row (b, NO_ROW, GRAPH_FIXED, CAUSE_HOST, fixed, 1, "framework");
  for (guint64 m = 0; m < micro_steps; m++)
    {
      const gboolean reduce = several && (m + 1 == micro_steps || !b->in->spec->no_sync);

      if (reduce && !broadcast_buffers (b, error))
        return FALSE;
      forward_pass (b);
      if (!backward_pass (b, reduce, error))
        return FALSE;
      if (reduce || m + 1 == micro_steps)
        gradients = wait_row (b, "gradients");
    }
  optimizer_step (b, several, gradients);
  return TRUE;
}

static const KernelClass kernel_classes[] = {
  [LAYER_CONV] = KERNEL_CONV, [LAYER_GEMM] = KERNEL_GEMM, [LAYER_ATTENTION] = KERNEL_ATTENTION,
  [LAYER_SOFTMAX] = KERNEL_SOFTMAX, [LAYER_NORM] = KERNEL_NORM, [LAYER_ELEMENTWISE] = KERNEL_ELEMENTWISE,
  [LAYER_POOL] = KERNEL_POOL, [LAYER_EMBEDDING] = KERNEL_EMBEDDING, [LAYER_OTHER] = KERNEL_ELEMENTWISE,
};

double *
data_parallel_forward (const StepInput *in)
{
  double *seconds = g_new (double, in->workload->n_layers);
  const double batch = (double) in->batch.per_gpu;

  for (guint i = 0; i < in->workload->n_layers; i++)
    {
      const Layer *layer = &in->workload->layers[i];
      const KernelWork work = {
        .kind = kernel_classes[layer->kind],
        .flop = layer->flop * batch,
        .bytes = layer->bytes_fp32 / 4 * precision_activation_bytes (in->compute->precision) * batch + 4 * layer->params,
        .winograd = layer->winograd,
      };

      seconds[i] = compute_seconds (in->compute, &work);
    }
  return seconds;
}

/* Micro-steps and rank classes multiply the tasks of a step: refused before
 * memory is spent. */
static gboolean
check_size (const StepInput *in, GError **error)
{
  const double tasks = (double) in->batch.accumulation * in->workload->n_layers * 4
                       * (in->unfold ? (double) world (in) : 1);

  if (tasks <= max_tasks)
    return TRUE;
  g_set_error (error, STRATEGY_ERROR, STRATEGY_ERROR_UNSUITED,
               "[training] accumulation: %" G_GUINT64_FORMAT " micro-steps%s make %.3g tasks in a step; at most %.3g are taken",
               in->batch.accumulation, in->unfold ? " with a class for every rank" : "", tasks, max_tasks);
  return FALSE;
}

gboolean
data_parallel_build (const StepInput *in, const DataParallel *policy, StepGraph *graph, GError **error)
{
  const int kind = in->spec->host == HOST_AUTO ? policy->host : in->spec->host;
  g_autofree double *forward = NULL;
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint));
  Builder b = { .in = in, .policy = policy, .host = software_host (kind), .graph = graph, .open = open,
                .noise = in->noise && in->spec->box_noise ? software_box (world (in)) : 1 };

  if (!check_size (in, error))
    return FALSE;
  forward = b.forward = data_parallel_forward (in);
  lay_queues (&b);
  return build_step (&b, error);
}
