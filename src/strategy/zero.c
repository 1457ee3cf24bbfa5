/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/zero.h"
#include <math.h>

/* DeepSpeed ZeRO (runtime/zero/stage_1_and_2.py, runtime/engine.py).  All weights
 * and gradients are in two bytes in its half-precision modes; fp32 masters are
 * part of the optimizer's state. */

static double
wire_bytes (const StepInput *in)
{
  if (in->spec->gradients != GRADIENTS_AUTO)
    return in->spec->gradients == GRADIENTS_HALF ? 2 : 4;
  return precision_activation_bytes (in->compute->precision);
}

static gboolean
overlaps (const StrategySpec *spec)
{
  return spec->overlap_comm == AUTO_AUTO ? spec->stage == 3 : spec->overlap_comm == AUTO_YES;
}

/* Stages 0 and 1 reduce once a step, 2 and 3 in every micro-step. */
static gboolean
reduces (const StepInput *in, guint64 m)
{
  return builder_world (in) > 1 && (in->spec->stage >= 2 || m + 1 == in->batch.accumulation);
}

static void
forward_pass (Sharded *s)
{
  for (guint i = 0; i < s->b.in->workload->n_layers; i++)
    sharded_layer (s, i, FALSE, NO_ROW);
}

/* Gradients are copied into the bucket, the bucket is reduced; without overlap on
 * the compute stream, with it a second buffer is filled meanwhile.  `before`: the
 * reduction before, replaced. */
static gboolean
reduce_bucket (Sharded *s, double elements, guint *before, GError **error)
{
  const StrategySpec *spec = s->b.in->spec;
  const gboolean scatter = spec->stage > 0 && !spec->bucket_all_reduce;
  const double copy = compute_copy_seconds (s->b.in->compute, 2 * elements * s->reduce_bytes);
  Collective call = {
    .op = scatter ? OP_REDUCE_SCATTER : OP_ALL_REDUCE, .bytes = elements * s->reduce_bytes, .label = "gradients",
    .queue = NO_ROW, .host = NO_ROW,
  };
  guint row;

  s->last_row = kernel_row (&s->b, operator_row (&s->b, 1, "copy in"), copy, 1, "copy in");
  call.after = s->last_row;
  if (!collective_place (&s->b, &call, &row, error))
    return FALSE;
  if (overlaps (spec))
    sharded_wait (s, *before, "bucket");
  else
    sharded_wait (s, row, "bucket");
  *before = row;
  g_array_append_val (s->b.open, row);
  return TRUE;
}

/* A bucket closes before the tensor that it cannot take. */
static gboolean
backward_pass (Sharded *s, gboolean reduce, GError **error)
{
  const double cap = s->b.in->spec->reduce_bucket;
  double held = 0;
  guint before = NO_ROW;

  for (guint i = s->b.in->workload->n_layers; i-- > 0;)
    {
      const Layer *layer = &s->b.in->workload->layers[i];

      sharded_layer (s, i, TRUE, NO_ROW);
      for (guint t = layer->n_tensors; reduce && t-- > 0;)
        {
          if (held > 0 && held + layer->tensors[t] > cap)
            {
              if (!reduce_bucket (s, held, &before, error))
                return FALSE;
              held = 0;
            }
          held += layer->tensors[t];
        }
    }
  return held <= 0 || reduce_bucket (s, held, &before, error);
}

/* The updated weights, each GPU's share to all, before the next step. */
static gboolean
gather_weights (Sharded *s, GError **error)
{
  const double cap = s->b.in->spec->gather_bucket;

  for (double left = s->b.in->workload->params; left > 0; left -= cap)
    {
      const Collective call = {
        .op = OP_ALL_GATHER, .bytes = fmin (left, cap) * s->gather_bytes, .label = "weights", .queue = NO_ROW,
        .host = NO_ROW, .after = s->last_row,
      };
      guint row;

      if (!collective_place (&s->b, &call, &row, error))
        return FALSE;
      g_array_append_val (s->b.open, row);
    }
  s->last_row = wait_row (&s->b, "weights");
  return TRUE;
}

/* A step of more gathers than this would take minutes. */
static const double most_buckets = 1e5;

static gboolean
check_buckets (const StepInput *in, GError **error)
{
  const StrategySpec *spec = in->spec;
  const double least = fmin (spec->reduce_bucket, spec->gather_bucket), most = in->workload->params / most_buckets;

  if (spec->stage == 3 || least >= most)
    return TRUE;
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[strategy] %s: %g elements make more than %g buckets of %g parameters; at least %.0f are taken",
               spec->reduce_bucket < most ? "reduce-bucket-size" : "allgather-bucket-size", least, most_buckets, in->workload->params, ceil (most));
  return FALSE;
}

static gboolean
plain_step (Sharded *s, GError **error)
{
  const StepInput *in = s->b.in;
  const gboolean sharded = in->spec->stage > 0 && builder_world (in) > 1;

  for (guint64 m = 0; m < in->batch.accumulation; m++)
    {
      s->b.micro = (guint) m;
      sharded_input (s, m == 0);
      forward_pass (s);
      if (!backward_pass (s, reduces (in, m), error))
        return FALSE;
    }
  return sharded_optimizer (s, sharded ? 1 / (double) builder_world (in) : 1, error) && (!sharded || gather_weights (s, error));
}

static gboolean
three_step (Sharded *s, GError **error)
{
  const StepInput *in = s->b.in;
  g_autoptr (Three) three = three_new (s, error);

  if (three == NULL)
    return FALSE;
  for (guint64 m = 0; m < in->batch.accumulation; m++)
    {
      s->b.micro = (guint) m;
      if (!three_micro_step (three, m == 0, error))
        return FALSE;
    }
  return sharded_optimizer (s, 1 / (double) s->shard.n_ranks, error) && three_persistent (three, error);
}

static guint64
shard_size (const StepInput *in)
{
  const guint64 world = builder_world (in);

  return in->spec->stage == 3 && in->spec->mics_shard > 0 && world > 1 ? in->spec->mics_shard : world;
}

static gboolean
build (const StepInput *in, StepGraph *graph, GError **error)
{
  g_auto (Sharded) s = { .policy = { .host = HOST_EAGER, .always_sync = TRUE }, .gather_bytes = precision_activation_bytes (in->compute->precision),
                         .reduce_bytes = wire_bytes (in) };

  if (!check_buckets (in, error) || !sharded_groups (in, shard_size (in), "mics-shard-size", &s.shard, &s.replicas, error)
      || !sharded_init (&s, in, graph, error))
    return FALSE;
  host_row (&s.b, s.b.host->step_s, "step");
  return in->spec->stage == 3 ? three_step (&s, error) : plain_step (&s, error);
}

/* 16, 4 + 12/N, 2 + 14/N and 16/N bytes a parameter of mixed-precision Adam
 * (Rajbhandari and others 2020, figure 1): weights and gradients of two bytes,
 * fp32 weights and two states in the optimizer.  Buffers: the bucket, twice with
 * overlap; weights that are whole in stage 3. */
static void
memory (const StepInput *in, MemoryUse *out)
{
  const StrategySpec *spec = in->spec;
  const double params = in->workload->params, element = precision_activation_bytes (in->compute->precision);
  const double n = (double) shard_size (in), copies = spec->hpz_partition > 1 ? (double) spec->hpz_partition : INFINITY;
  const double master = element < 4 ? 4 : 0;
  const gboolean several = builder_world (in) > 1;

  *out = (MemoryUse) {
    .weights = params * element / (spec->stage == 3 ? n : 1),
    .gradients = params * element / (spec->stage >= 2 ? n : 1),
    .optimizer = params * (master + software_optimizer_state (in->training->optimizer)) / (spec->stage >= 1 ? n : 1),
    .activations = memory_activations (in),
    .buffers = several ? fmin (params, spec->reduce_bucket) * wire_bytes (in) * (overlaps (spec) ? 2 : 1) : 0,
  };
  if (spec->stage == 3 && several)
    out->buffers += element * (three_live (in) + three_kept (in) + params / copies);
  if (spec->offload)
    out->optimizer = 0;
  memory_settle (in, out);
}

static void
values (const StepInput *in, ClusterValue value, gpointer user)
{
  const DataParallel policy = { .host = HOST_EAGER, .always_sync = TRUE };

  data_parallel_values (in, &policy, value, user);
  sharded_values (in, value, user);
  if (builder_world (in) < 2)
    return;
  if (in->spec->overlap_comm == AUTO_AUTO)
    data_parallel_say (value, user, "overlap-comm", g_strdup (overlaps (in->spec) ? "yes" : "no"), ORIGIN_DERIVED, "DeepSpeed runtime/zero/config.py: stage 3 alone");
  data_parallel_say (value, user, "weights on the wire", g_strdup_printf ("%g B", precision_activation_bytes (in->compute->precision)), ORIGIN_DERIVED, "the precision's");
  data_parallel_say (value, user, "gradients on the wire", g_strdup_printf ("%g B", wire_bytes (in)), ORIGIN_DERIVED, "those of the weights");
}

const Strategy strategy_zero = {
  .name = "zero",
  .summary = "DeepSpeed ZeRO: stage 1 shards optimizer states, 2 gradients too, 3 weights too",
  .build = build,
  .memory = memory,
  .values = values,
};
