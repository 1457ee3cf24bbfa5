/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/zero.h"
#include <math.h>

/* Stage 3 (DeepSpeed runtime/zero/stage3.py and partitioned_param_coordinator.py).
 * A submodule is a layer with weights of its own; tensors below the persistence
 * threshold stay whole.  Each submodule gathers what it still needs, then so many
 * elements ahead of it in one call, in the order of the pass. */

struct Three
{
  Sharded  *s;
  RankGroup again;          /* of gathers in the backward pass: hpZ */
  double    live;           /* elements gathered and not released, as the host counts */
  double    kept;           /* of tensors that are always whole */
  double    held;           /* gradients in the bucket */
  guint     last_reduce;
  guint     mark;           /* what the pass's first gather waits for; NO_ROW afterwards */
  GArray   *order;          /* units of the pass at hand, as they are used */
  guint     next;           /* in it: not prefetched so far */
};

static double
large_elements (const Layer *layer, double threshold)
{
  double elements = 0;

  for (guint t = 0; t < layer->n_tensors; t++)
    elements += layer->tensors[t] >= threshold ? layer->tensors[t] : 0;
  return elements;
}

static ShardUnit *
unit (const Three *z, guint i)
{
  return &g_array_index (z->s->units, ShardUnit, i);
}

static void
add_units (Three *z)
{
  const Workload *workload = z->s->b.in->workload;

  z->s->units = g_array_new (FALSE, FALSE, sizeof (ShardUnit));
  z->s->unit_of = g_new (guint, MAX (workload->n_layers, 1));
  for (guint i = 0; i < workload->n_layers; i++)
    {
      const ShardUnit what = { .first = i, .last = i, .gathered = NO_ROW, .label = workload->layers[i].name,
                               .elements = large_elements (&workload->layers[i], z->s->b.in->spec->persistence) };

      z->kept += workload->layers[i].params - what.elements;
      z->s->unit_of[i] = what.elements > 0 ? z->s->units->len : NO_UNIT;
      if (what.elements > 0)
        g_array_append_val (z->s->units, what);
    }
}

Three *
three_new (Sharded *s, GError **error)
{
  g_autoptr (Three) z = g_new0 (Three, 1);
  const guint64 second = s->b.in->spec->hpz_partition;
  RankGroup others;

  z->s = s;
  z->order = g_array_new (FALSE, FALSE, sizeof (guint));
  z->again = s->shard;
  if (second > 1 && builder_world (s->b.in) > 1
      && !sharded_groups (s->b.in, second, "hpz-partition-size", &z->again, &others, error))
    return NULL;
  add_units (z);
  return g_steal_pointer (&z);
}

void
three_free (Three *z)
{
  if (z == NULL)
    return;
  g_array_unref (z->order);
  g_free (z);
}

/* One call for units [from, to) of the order that are not whole. */
static gboolean
gather (Three *z, guint from, guint to, gboolean backward, GError **error)
{
  Builder *b = &z->s->b;
  const char *label = sharded_label (z->s, "gather", unit (z, g_array_index (z->order, guint, from))->label);
  double elements = 0;
  guint row;

  for (guint k = from; k < to; k++)
    {
      const ShardUnit *what = unit (z, g_array_index (z->order, guint, k));

      elements += what->whole ? 0 : what->elements;
    }
  if (elements <= 0)
    return TRUE;
  const Collective call = { .op = OP_ALL_GATHER, .bytes = elements * z->s->gather_bytes, .label = label, .queue = NO_ROW,
                            .group = backward ? &z->again : &z->s->shard, .host = NO_ROW, .after = z->mark };
  if (!collective_place (b, &call, &row, error))
    return FALSE;
  z->mark = NO_ROW;
  for (guint k = from; k < to; k++)
    {
      ShardUnit *what = unit (z, g_array_index (z->order, guint, k));

      if (!what->whole)
        what->gathered = row;
      what->whole = TRUE;
    }
  z->live += elements;
  return TRUE;
}

/* What unit `at` of the order needs, then ahead of it. */
static gboolean
fetch (Three *z, guint at, gboolean backward, GError **error)
{
  const StrategySpec *spec = z->s->b.in->spec;
  const guint first = MAX (z->next, at + 1);
  double ahead = 0;

  if (!gather (z, at, at + 1, backward, error))
    return FALSE;
  for (z->next = first; z->next < z->order->len && ahead < fmin (spec->prefetch_bucket, spec->max_live - z->live); z->next++)
    {
      const ShardUnit *what = unit (z, g_array_index (z->order, guint, z->next));

      ahead += what->whole ? 0 : what->elements;
    }
  return z->next <= first || gather (z, first, z->next, backward, error);
}

static void
release (Three *z, ShardUnit *what)
{
  what->whole = FALSE;
  z->live -= what->elements;
}

static void
set_order (Three *z, gboolean backward)
{
  g_array_set_size (z->order, 0);
  for (guint i = 0; i < z->s->units->len; i++)
    {
      const guint at = backward ? z->s->units->len - 1 - i : i;

      g_array_append_val (z->order, at);
    }
  z->next = 0;
}

/* Elements used from the end of a unit's forward pass to its backward pass. */
static double
reuse_distance (const Three *z, guint at)
{
  double elements = 0;

  for (guint i = at + 1; i < z->s->units->len; i++)
    elements += 2 * unit (z, i)->elements;
  return elements;
}

static gboolean
run_layer (Three *z, guint layer, guint at, gboolean backward, GError **error)
{
  Sharded *s = z->s;
  ShardUnit *what = unit (z, s->unit_of[layer]);

  if (s->shard.n_ranks > 1)
    {
      host_row (&s->b, software_cost (s->b.in, COST_ZERO_HOOK)->value, "hooks");
      if (!fetch (z, at, backward, error))
        return FALSE;
    }
  sharded_layer (s, layer, backward, what->gathered);
  what->gathered = NO_ROW;
  return TRUE;
}

static gboolean
forward_pass (Three *z, GError **error)
{
  const Sharded *s = z->s;
  guint at = 0;

  set_order (z, FALSE);
  for (guint i = 0; i < s->b.in->workload->n_layers; i++)
    {
      const guint index = s->unit_of[i];

      if (index == NO_UNIT)
        {
          sharded_layer (z->s, i, FALSE, NO_ROW);
          continue;
        }
      if (!run_layer (z, i, at++, FALSE, error))
        return FALSE;
      if (s->b.in->spec->reuse_distance <= 0 || reuse_distance (z, index) >= s->b.in->spec->reuse_distance)
        release (z, unit (z, index));
    }
  return TRUE;
}

/* Each bucket to its owners, and between copies (MiCS) their shares once more. */
static gboolean
reduce_bucket (Three *z, GError **error)
{
  Sharded *s = z->s;
  Collective call = { .op = OP_REDUCE_SCATTER, .bytes = z->held * s->reduce_bytes, .label = "gradients", .queue = NO_ROW,
                      .group = &s->shard, .host = NO_ROW, .after = s->last_row };
  const guint before = z->last_reduce;

  z->held = 0;
  if (s->shard.n_ranks > 1 && !collective_place (&s->b, &call, &call.after, error))
    return FALSE;
  if (s->replicas.n_ranks > 1)
    {
      call.op = OP_ALL_REDUCE;
      call.bytes /= (double) s->shard.n_ranks;
      call.group = &s->replicas;
      call.label = "gradients of copies";
      if (!collective_place (&s->b, &call, &call.after, error))
        return FALSE;
    }
  z->last_reduce = call.after;
  g_array_append_val (s->b.open, call.after);
  sharded_wait (s, s->b.in->spec->overlap_comm == AUTO_NO ? call.after : before, "bucket");
  return TRUE;
}

static gboolean
hold (Three *z, double elements, GError **error)
{
  if (z->held > 0 && z->held + elements > z->s->b.in->spec->reduce_bucket && !reduce_bucket (z, error))
    return FALSE;
  z->held += elements;
  return TRUE;
}

static gboolean
hold_layer (Three *z, const Layer *layer, GError **error)
{
  if (builder_world (z->s->b.in) < 2)
    return TRUE;
  for (guint t = layer->n_tensors; t-- > 0;)
    {
      if (!hold (z, layer->tensors[t], error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
backward_pass (Three *z, GError **error)
{
  const Sharded *s = z->s;
  guint at = 0;

  set_order (z, TRUE);
  z->last_reduce = NO_ROW;
  for (guint i = s->b.in->workload->n_layers; i-- > 0;)
    {
      const guint index = s->unit_of[i];

      if (index == NO_UNIT)
        sharded_layer (z->s, i, TRUE, NO_ROW);
      else if (!run_layer (z, i, at++, TRUE, error))
        return FALSE;
      else
        release (z, unit (z, index));
      if (!hold_layer (z, &s->b.in->workload->layers[i], error))
        return FALSE;
    }
  return z->held <= 0 || reduce_bucket (z, error);
}

/* Gathers of a pass wait for what the compute queue did before it: the optimizer. */
gboolean
three_micro_step (Three *z, gboolean first, GError **error)
{
  z->mark = sharded_mark (z->s, "forward");
  z->live = 0;
  sharded_input (z->s, first);
  if (!forward_pass (z, error) || !backward_pass (z, error))
    return FALSE;
  if (builder_world (z->s->b.in) > 1)
    z->s->last_row = wait_row (&z->s->b, "gradients");
  return TRUE;
}

gboolean
three_persistent (Three *z, GError **error)
{
  const Collective call = { .op = OP_ALL_GATHER, .bytes = z->kept * z->s->gather_bytes, .label = "whole tensors", .queue = NO_ROW,
                            .group = &z->s->shard, .host = NO_ROW, .after = z->s->last_row };
  guint row;

  if (z->kept <= 0 || z->s->shard.n_ranks < 2)
    return TRUE;
  if (!collective_place (&z->s->b, &call, &row, error))
    return FALSE;
  sharded_wait (z->s, row, "whole tensors");
  return TRUE;
}

double
three_kept (const StepInput *in)
{
  double kept = 0;

  for (guint i = 0; i < in->workload->n_layers; i++)
    kept += in->workload->layers[i].params - large_elements (&in->workload->layers[i], in->spec->persistence);
  return kept;
}

double
three_live (const StepInput *in)
{
  double largest = 0;

  for (guint i = 0; i < in->workload->n_layers; i++)
    largest = fmax (largest, large_elements (&in->workload->layers[i], in->spec->persistence));
  return fmin (in->workload->params - three_kept (in), fmax (largest, in->spec->max_live));
}
