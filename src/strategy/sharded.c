/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/sharded.h"
#include <math.h>

static gboolean
size_fits (guint64 size, guint64 gpus, guint64 world)
{
  return size > 0 && world % size == 0 && (gpus % size == 0 || size % gpus == 0);
}

static gboolean
refuse_size (guint64 size, guint64 gpus, guint64 world, const char *key, GError **error)
{
  guint64 below = MIN (size, world), above = size;

  while (below > 1 && !size_fits (below, gpus, world))
    below--;
  while (above < world && !size_fits (above, gpus, world))
    above++;
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
               "[strategy] %s: %" G_GUINT64_FORMAT " does not divide %" G_GUINT64_FORMAT " GPUs in nodes of %" G_GUINT64_FORMAT
               " evenly; %" G_GUINT64_FORMAT "%s does", key, size, world, gpus, below, above > world || above == below ? "" : " or a larger divisor");
  if (error != NULL && above <= world && above != below && size_fits (above, gpus, world))
    {
      g_clear_error (error);
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                   "[strategy] %s: %" G_GUINT64_FORMAT " does not divide %" G_GUINT64_FORMAT " GPUs in nodes of %" G_GUINT64_FORMAT
                   " evenly; %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT " do", key, size, world, gpus, below, above);
    }
  return FALSE;
}

gboolean
sharded_groups (const StepInput *in, guint64 size, const char *key, RankGroup *shard, RankGroup *replicas, GError **error)
{
  const guint64 gpus = cluster_gpus_per_node (in->cluster), nodes = cluster_nodes (in->cluster), world = gpus * nodes;

  if (!size_fits (size, gpus, world))
    return refuse_size (size, gpus, world, key, error);
  if (size <= gpus)
    {
      *shard = (RankGroup) { .n_ranks = size, .n_nodes = 1, .per_node = size, .twins_per_node = gpus / size, .stride = 1 };
      *replicas = (RankGroup) { .n_ranks = world / size, .n_nodes = nodes, .per_node = gpus / size, .twins_per_node = size, .stride = size,
                                .spacing = size };
    }
  else
    {
      *shard = (RankGroup) { .n_ranks = size, .n_nodes = size / gpus, .per_node = gpus, .twins_per_node = 1, .stride = 1 };
      *replicas = (RankGroup) { .n_ranks = world / size, .n_nodes = world / size, .per_node = 1, .twins_per_node = gpus, .stride = 1,
                                .spacing = size, .node_stride = size / gpus };
    }
  return TRUE;
}

gboolean
sharded_init (Sharded *s, const StepInput *in, StepGraph *graph, GError **error)
{
  const int kind = in->spec->host == HOST_AUTO ? s->policy.host : in->spec->host;

  if (!builder_fits (in, 8, error))
    return FALSE;
  s->b = (Builder) {
    .in = in, .policy = &s->policy, .host = software_host (in, kind), .graph = graph,
    .open = g_array_new (FALSE, FALSE, sizeof (guint)),
    .noise = in->noise && in->spec->box_noise ? software_box (in->spec, builder_world (in)) : 1,
  };
  if (!sharded_kernels (s, error))
    return FALSE;
  s->policy.slowdown = s->slowdown;
  s->last_row = NO_ROW;
  builder_queues (&s->b);
  return TRUE;
}

void
sharded_clear (Sharded *s)
{
  g_free (s->b.forward);
  g_free (s->b.backward);
  g_free (s->unit_of);
  if (s->b.open != NULL)
    g_array_unref (s->b.open);
  if (s->units != NULL)
    g_array_unref (s->units);
}

static void
edges (Sharded *s, guint before, guint after)
{
  for (guint i = 0; before != NO_ROW && i < s->b.graph->classes->len; i++)
    graph_edge (s->b.graph, before + i, after + i);
}

void
sharded_layer (Sharded *s, guint layer, gboolean backward, guint wait)
{
  const char *name = s->b.in->workload->layers[layer].name;

  s->last_row = layer_row (&s->b, operator_row (&s->b, backward ? 2 : 1, name), layer, backward);
  edges (s, wait, s->last_row);
}

guint
sharded_mark (Sharded *s, const char *label)
{
  return s->last_row = compute_row (&s->b, NO_ROW, GRAPH_FIXED, CAUSE_OTHER, 0, 1, label);
}

void
sharded_wait (Sharded *s, guint row, const char *label)
{
  if (row != NO_ROW)
    edges (s, row, sharded_mark (s, label));
}

void
sharded_input (Sharded *s, gboolean first)
{
  const InputSpec *input = s->b.in->input;
  const double samples = (double) (s->b.in->batch.per_gpu * cluster_gpus_per_node (s->b.in->cluster));
  const double serial = isnan (input->serial_time) || !first ? 0 : input->serial_time;
  const double seconds = serial + (isnan (input->rate) ? 0 : samples / input->rate);

  if (!(seconds > 0))
    return;
  if (input->in_step)
    {
      s->last_row = compute_row (&s->b, NO_ROW, GRAPH_FIXED, CAUSE_INPUT, seconds, 1, "input");
      return;
    }
  const guint mark = sharded_mark (s, "input");
  for (guint i = 0; i < s->b.graph->classes->len; i++)
    {
      const guint fed = graph_fixed (s->b.graph, s->b.input_queue + i, CAUSE_INPUT, seconds, "input");

      graph_edge (s->b.graph, fed, mark + i);
    }
}

static double
optimizer_seconds (const StepInput *in, double elements)
{
  return compute_copy_seconds (in->compute, elements * software_optimizer_traffic (in->training->optimizer));
}

/* The state lies on the host: gradients out, the CPUs' pass over it, weights in,
 * one behind the other (Ren and others 2021, section 4, without its delayed
 * update); a node's GPUs share its bridge and its memory. */
static void
offloaded (Sharded *s, double elements)
{
  const StrategySpec *spec = s->b.in->spec;
  const double gpus = (double) cluster_gpus_per_node (s->b.in->cluster);
  const double traffic = elements * software_optimizer_traffic (s->b.in->training->optimizer);

  compute_row (&s->b, NO_ROW, GRAPH_FIXED, CAUSE_OPTIMIZER, gpus * elements * s->reduce_bytes / spec->host_copy_rate, 1, "gradients to host");
  compute_row (&s->b, NO_ROW, GRAPH_FIXED, CAUSE_OPTIMIZER, gpus * traffic / spec->host_optimizer_rate, 1, "optimizer on host");
  s->last_row = compute_row (&s->b, NO_ROW, GRAPH_FIXED, CAUSE_OPTIMIZER, gpus * elements * s->gather_bytes / spec->host_copy_rate, 1, "weights from host");
}

/* Squares of a GPU's own gradients are summed, the sums of all GPUs added (all wait
 * there), the gradients scaled: 4 and 8 bytes a parameter in fp32
 * (torch/nn/utils/clip_grad.py; runtime/zero/stage_1_and_2.py, unscale_and_clip_grads). */
static gboolean
clip (Sharded *s, double elements, GError **error)
{
  const StepInput *in = s->b.in;
  const Collective norm = { .op = OP_ALL_REDUCE, .bytes = 4, .label = "norm of gradients", .queue = NO_ROW, .host = NO_ROW,
                            .after = compute_row (&s->b, NO_ROW, GRAPH_KERNEL, CAUSE_OPTIMIZER, compute_copy_seconds (in->compute, 4 * elements), 1, "norm") };
  guint row = NO_ROW;

  if (builder_world (in) > 1 && !collective_place (&s->b, &norm, &row, error))
    return FALSE;
  sharded_wait (s, row, "norm of gradients");
  s->last_row = compute_row (&s->b, NO_ROW, GRAPH_KERNEL, CAUSE_OPTIMIZER, compute_copy_seconds (in->compute, 8 * elements), 1, "clip");
  return TRUE;
}

gboolean
sharded_optimizer (Sharded *s, double share, GError **error)
{
  const StepInput *in = s->b.in;
  const guint gradients = wait_row (&s->b, "gradients");
  const gboolean sync = in->spec->host_sync == AUTO_AUTO ? s->policy.always_sync || in->compute->precision == PRECISION_MIXED_FP16
                                                         : in->spec->host_sync == AUTO_YES;
  const double elements = in->workload->params * share;
  const guint host = operator_row (&s->b, s->b.host->tensor_ops * in->workload->n_tensors, "optimizer");

  for (guint i = 0; sync && i < s->b.graph->classes->len; i++)
    graph_edge (s->b.graph, gradients + i, host + s->b.process[i]);
  if (in->spec->clipping == AUTO_YES && !clip (s, elements, error))
    return FALSE;
  if (in->spec->offload)
    offloaded (s, elements);
  else
    s->last_row = compute_row (&s->b, host, GRAPH_KERNEL, CAUSE_OPTIMIZER, optimizer_seconds (in, elements), 1, "optimizer");
  return TRUE;
}

const char *
sharded_label (Sharded *s, const char *what, const char *of)
{
  const gsize size = strlen (what) + strlen (of) + 2;
  char *label = arena_alloc (s->b.graph->arena, size);

  g_snprintf (label, size, "%s %s", what, of);
  return label;
}

double
sharded_largest (const GArray *units)
{
  double largest = 0;

  for (guint i = 0; i < units->len; i++)
    largest = MAX (largest, g_array_index (units, ShardUnit, i).elements);
  return largest;
}
