/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/builder.h"
#include "strategy/pytorch.h"
#include <math.h>

/* PyTorch nn.DataParallel (torch/nn/parallel/data_parallel.py, replicate.py,
 * scatter_gather.py): one Python process.  Before each forward pass the batch is
 * scattered and all weights are broadcast from GPU 0; outputs are gathered there;
 * the backward pass of the broadcast, which adds the gradients up on GPU 0, is one
 * node of the graph and runs when all gradients are there.  Threads of the forward
 * pass share Python's lock; autograd's have none.  Only GPU 0 has an optimizer. */

/* Coalesced copies: torch/nn/parallel/comm.py, buffer_size of 10 MiB. */
static const double copy_size = 10.0 * 1024 * 1024;

/* Elements of a sample as the first layer reads it; of tokens next to none. */
static double
sample_elements (const Workload *workload)
{
  const Layer *first = &workload->layers[0];

  return first->kind == LAYER_CONV || first->kind == LAYER_GEMM ? fmax (0, first->bytes_fp32 / 4 - first->out_elems) : 0;
}

/* Bytes that a GPU hands back: what the last product makes, in fp32; the loss is
 * taken on GPU 0 (not priced). */
static double
output_bytes (const StepInput *in)
{
  for (guint i = in->workload->n_layers; i-- > 0;)
    if (in->workload->layers[i].kind == LAYER_GEMM)
      return in->workload->layers[i].out_elems * 4 * (double) in->batch.per_gpu;
  return 4;
}

/* Batch and weights leave GPU 0.  Modules are made anew for each GPU: an operator a
 * layer, assumed. */
static gboolean
leave (Builder *b, GError **error)
{
  const StepInput *in = b->in;
  const double others = (double) builder_world (in) - 1;
  const double batch = 4 * sample_elements (in->workload) * (double) in->batch.per_gpu * others;
  const double state = (in->workload->params + in->workload->buffers) * 4;
  const guint start = compute_row (b, NO_ROW, GRAPH_FIXED, CAUSE_OTHER, 0, 1, "start");

  if (batch > 0 && !collective_row (b, OP_BROADCAST, batch, 0, 0, start, "scatter", error))
    return FALSE;
  operator_row (b, in->workload->n_layers, "replicate");
  for (guint i = 0; i < b->policy->groups->len; i++)
    {
      const double share = g_array_index (b->policy->groups, Bucket, i).elements / in->workload->params;

      if (!collective_row (b, OP_BROADCAST, share * state, 0, 0, start, "weights", error))
        return FALSE;
    }
  wait_row (b, "weights");
  return TRUE;
}

/* Outputs return. */
static gboolean
gather (Builder *b, guint last, GError **error)
{
  const double others = (double) builder_world (b->in) - 1;

  if (!collective_row (b, OP_BROADCAST, output_bytes (b->in) * others, 0, 0, last, "outputs", error))
    return FALSE;
  wait_row (b, "outputs");
  return TRUE;
}

/* All gradients leave after the last layer of the backward pass. */
static DataParallel
policy (const StepInput *in)
{
  GArray *groups = buckets_by_size (in->workload, 4, copy_size, copy_size);

  for (guint i = 0; i < groups->len; i++)
    g_array_index (groups, Bucket, i).last = 0;
  return (DataParallel) {
    .one_process = TRUE,
    .root = TRUE,
    .host = HOST_EAGER,
    .launch = software_cost (in, COST_DATA_PARALLEL_LAUNCH),
    .view = TRUE,
    .groups = groups,
    .leave = leave,
    .gather = gather,
  };
}

static gboolean
build (const StepInput *in, StepGraph *graph, GError **error)
{
  const DataParallel one = policy (in);
  g_autoptr (GArray) groups = one.groups;

  return data_parallel_build (in, &one, graph, error);
}

/* Of GPU 0: the outputs of all, and a coalesced buffer to send and one to receive. */
static void
memory (const StepInput *in, MemoryUse *out)
{
  const double gpus = (double) builder_world (in);

  data_parallel_memory (in, gpus > 1 ? output_bytes (in) * gpus + 2 * copy_size : 0, out);
}

static void
values (const StepInput *in, ClusterValue value, gpointer user)
{
  const DataParallel one = policy (in);
  g_autoptr (GArray) groups = one.groups;

  data_parallel_values (in, &one, value, user);
  if (builder_world (in) < 2)
    return;
  data_parallel_say (value, user, "weights", g_strdup ("broadcast from GPU 0 before each forward pass"), ORIGIN_DERIVED, "torch/nn/parallel/replicate.py");
  data_parallel_say (value, user, "gradients", g_strdup ("added up on GPU 0 after the backward pass"), ORIGIN_DERIVED, "torch/nn/parallel/_functions.py, Broadcast");
  data_parallel_say (value, user, "coalesced copies", quantity_format (copy_size, UNIT_BYTES), ORIGIN_DERIVED, "torch/nn/parallel/comm.py, buffer_size");
}

const Strategy strategy_data_parallel = {
  .name = "data-parallel",
  .summary = "PyTorch nn.DataParallel: one process, weights leave GPU 0 and gradients return to it each step",
  .max_nodes = 1,
  .instead = "ddp",
  .build = build,
  .memory = memory,
  .values = values,
};
