/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/builder.h"
#include "strategy/sparse.h"
#include <math.h>


static double
gradient_bytes (const Builder *b)
{
  return software_gradient_bytes (b->in->spec, b->in->compute->precision, b->policy->half);
}

/* Bytes that a copy of one gradient into or out of its group moves. */
static double
copy_traffic (const Builder *b)
{
  const double wire = gradient_bytes (b);

  return b->in->spec->compression != COMPRESSION_NONE ? 4 + wire : 2 * wire;
}

/* A reduction to one GPU moves the bytes of a broadcast from it. */
static gboolean
reduce_group (Builder *b, const Bucket *group, guint index, guint backward, GError **error)
{
  const double element = gradient_bytes (b);
  const double extra = b->policy->group_s != NULL ? b->policy->group_s (b->in, group) : 0;
  char *label = arena_alloc (b->graph->arena, 24);
  guint after = backward;

  g_snprintf (label, 24, "gradients %u", index + 1);
  if (!b->policy->view)
    {
      const double seconds = compute_copy_seconds (b->in->compute, group->elements * copy_traffic (b));

      after = kernel_row (b, operator_row (b, 1, label), seconds, 1, "copy in");
    }
  if (group->delay > 0)
    after = cycle_row (b, after, group->delay, label);
  return collective_row (b, b->policy->root ? OP_BROADCAST : OP_ALL_REDUCE, group->elements * element, group->largest * element,
                         extra, after, label, error);
}

/* Buffers travel before the forward pass that reads them. */
static gboolean
broadcast_buffers (Builder *b, GError **error)
{
  const double bytes = b->in->workload->buffers * 4;

  if (!b->policy->buffers || bytes <= 0 || builder_world (b->in) == 1)
    return TRUE;
  if (!collective_row (b, OP_BROADCAST, bytes, 0, 0, NO_ROW, "buffers", error))
    return FALSE;
  wait_row (b, "buffers");
  return TRUE;
}

/* The pipeline of a node works ahead of its GPUs; where it does not, every step
 * waits for its input. */
static void
feed_input (Builder *b, guint first_kernel, double seconds)
{
  for (guint i = 0; i < b->graph->classes->len; i++)
    {
      if (i == 0 || b->process[i] != b->process[i - 1])
        graph_fixed (b->graph, b->input_queue + b->process[i], CAUSE_INPUT, seconds, "input");
      graph_edge (b->graph, b->graph->tasks->len - 1, first_kernel + i);
    }
}

/* s of one micro-step's samples at the node's ceiling; the serial part once a step. */
static double
input_seconds (const Builder *b, gboolean first)
{
  const InputSpec *input = b->in->input;
  const double samples = (double) (b->in->batch.per_gpu * cluster_gpus_per_node (b->in->cluster));
  const double serial = isnan (input->serial_time) || !first ? 0 : input->serial_time;

  return serial + (isnan (input->rate) ? 0 : samples / input->rate);
}

static gboolean
forward_pass (Builder *b, gboolean first_micro_step, guint *end, GError **error)
{
  const double input = input_seconds (b, first_micro_step);
  guint first = NO_ROW, last = NO_ROW, rows = NO_ROW;

  if (input > 0 && b->in->input->in_step)
    compute_row (b, NO_ROW, GRAPH_FIXED, CAUSE_INPUT, input, 1, "input");
  for (guint i = 0; i < b->in->workload->n_layers; i++)
    {
      const char *name = b->in->workload->layers[i].name;

      last = layer_row (b, operator_row (b, 1, name), i, FALSE);
      if (first == NO_ROW)
        first = last;
      if (exchange_last (b, i) && !exchange_place (b, last, FALSE, &rows, error))
        return FALSE;
      if (exchange_reader (b, i))
        exchange_wait (b, rows, last);
    }
  if (input > 0 && !b->in->input->in_step)
    feed_input (b, first, input);
  *end = last;
  return TRUE;
}

/* GPUs that one host task of the backward pass issues for: torch's autograd
 * engine has a thread for each device. */
static double
backward_operators (const DataParallel *policy, double issue)
{
  return policy->root ? 2 / issue : 2;
}

/* Groups leave, in order, once their last gradient is there. */
/* Rows of an embedding's gradient, of all ranks to all. */
static gboolean
gather_rows (Builder *b, const Layer *layer, guint row, GError **error)
{
  return collective_row (b, OP_ALL_GATHER, sparse_elements (b->in, layer) * gradient_bytes (b), 0, 0, row, "sparse rows", error);
}

static gboolean
backward_pass (Builder *b, gboolean reduce, GError **error)
{
  const GArray *groups = b->policy->groups;
  const double operators = backward_operators (b->policy, b->issue);
  guint next = 0, rows = NO_ROW;

  for (guint i = b->in->workload->n_layers; i-- > 0;)
    {
      const char *name = b->in->workload->layers[i].name;
      const guint row = layer_row (b, operator_row (b, operators, name), i, TRUE);

      if (exchange_reader (b, i) && !exchange_place (b, row, TRUE, &rows, error))
        return FALSE;
      if (exchange_last (b, i))
        exchange_wait (b, rows, row);
      if (reduce && sparse_layer (b->in, &b->in->workload->layers[i]) && !gather_rows (b, &b->in->workload->layers[i], row, error))
        return FALSE;
      for (; reduce && next < groups->len && g_array_index (groups, Bucket, next).last == i; next++)
        {
          if (!reduce_group (b, &g_array_index (groups, Bucket, next), next, row, error))
            return FALSE;
        }
    }
  return TRUE;
}

static gboolean
host_waits (const Builder *b)
{
  const StepInput *in = b->in;

  if (in->spec->host_sync == AUTO_AUTO)
    return b->policy->always_sync || in->compute->precision == PRECISION_MIXED_FP16;
  return in->spec->host_sync == AUTO_YES;
}

static void
optimizer_step (Builder *b, gboolean reduced, guint gradients)
{
  const StepInput *in = b->in;
  const double params = reduced || sparse_owned_params (in) > 0 ? sparse_updated (in, b->forward) : in->workload->params, issue = b->policy->root ? 1 / b->issue : 1;
  const double seconds = compute_copy_seconds (in->compute, params * software_optimizer_traffic (in->training->optimizer));
  guint host;

  if (reduced && b->policy->remote_update)
    return;
  host = operator_row (b, b->host->tensor_ops * in->workload->n_tensors * issue, "optimizer");
  for (guint i = 0; reduced && host_waits (b) && i < b->graph->classes->len; i++)
    graph_edge (b->graph, gradients + i, host + b->process[i]);
  if (reduced && !b->policy->view)
    kernel_row (b, host, compute_copy_seconds (in->compute, params * copy_traffic (b)), 1, "copy out");
  if (reduced && b->policy->root)
    root_kernel (b, host, CAUSE_OPTIMIZER, seconds, "optimizer");
  else
    compute_row (b, host, GRAPH_KERNEL, CAUSE_OPTIMIZER, seconds, 1, "optimizer");
}

static gboolean
before_forward (Builder *b, gboolean several, gboolean reduce, GError **error)
{
  if (several && b->policy->leave != NULL)
    return b->policy->leave (b, error);
  return !reduce || broadcast_buffers (b, error);
}

static gboolean
build_step (Builder *b, GError **error)
{
  const guint64 micro_steps = b->in->batch.accumulation;
  const gboolean several = builder_world (b->in) > 1 && b->policy->groups != NULL;
  const double fixed = software_settled (b->in->spec->fixed, b->policy->fixed);
  guint gradients = NO_ROW;

  host_row (b, b->host->step_s, "step");
  if (several && fixed > 0)
    compute_row (b, NO_ROW, GRAPH_FIXED, CAUSE_HOST, fixed, 1, "framework");
  for (guint64 m = 0; m < micro_steps; m++)
    {
      const gboolean last = m + 1 == micro_steps;
      const gboolean reduce = several && (last || !b->in->spec->no_sync || b->policy->root);
      guint forward;

      b->micro = (guint) m;
      if (!before_forward (b, several, reduce, error))
        return FALSE;
      if (!forward_pass (b, m == 0, &forward, error))
        return FALSE;
      if ((several && b->policy->gather != NULL && !b->policy->gather (b, forward, error)) || !backward_pass (b, reduce, error))
        return FALSE;
      if (reduce || last)
        gradients = wait_row (b, "gradients");
    }
  optimizer_step (b, several, gradients);
  return TRUE;
}

gboolean
data_parallel_build (const StepInput *in, const DataParallel *policy, StepGraph *graph, GError **error)
{
  const int kind = in->spec->host == HOST_AUTO ? policy->host : in->spec->host;
  g_autofree double *forward = NULL, *backward = NULL;
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint));
  Builder b = { .in = in, .policy = policy, .host = software_host (in, kind), .graph = graph, .open = open,
                .noise = in->noise && in->spec->box_noise ? software_box (in->spec, builder_world (in)) : 1 };

  if (!builder_fits (in, 4, error))
    return FALSE;
  forward = b.forward = data_parallel_forward (in);
  backward = b.backward = data_parallel_backward (in, forward);
  b.whole = data_parallel_whole (in, forward);
  builder_queues (&b);
  exchange_init (&b);
  return build_step (&b, error);
}
