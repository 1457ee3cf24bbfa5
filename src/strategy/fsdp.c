/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/fsdp.h"
#include "strategy/fsdp-units.h"
#include "strategy/sharded.h"
#include <math.h>

/* PyTorch's FullyShardedDataParallel (torch/distributed/fsdp/_runtime_utils.py)
 * and fully_shard (torch/distributed/_composable/fsdp/_fsdp_param_group.py).
 * Gradients are reduced in every micro-step unless the loop says otherwise.  Left
 * out: casts of gradients to reduce-dtype, adding them up where they are whole,
 * padding. */

typedef struct
{
  Sharded  s;
  guint    gathers, scatters, copies;   /* comm_row of each kind; NO_ROW: the class's own */
  double   root_elements;
  guint    root_gather;
  GArray  *free_events;     /* rows behind which a gathered unit is freed and the host has not waited for it yet */
  guint    before_unit;     /* end of the compute queue before the unit at work was issued */
  guint    last_scatter;    /* row of the reduction before */
  gboolean again;           /* gathered again in the backward pass */
  gboolean reduces;         /* this micro-step */
  RankGroup between;        /* group of that second gather */
} Fsdp;

/* Gathered units that are there at most, limit_all_gathers
 * (_free_event_queue.py _max_num_inflight_all_gathers). */
static const guint most_in_flight = 2;

static ShardUnit *
unit (const Fsdp *f, guint i)
{
  return &g_array_index (f->s.units, ShardUnit, i);
}

static double
dtype_bytes (int dtype, double automatic)
{
  return dtype == GRADIENTS_AUTO ? automatic : dtype == GRADIENTS_HALF ? 2 : 4;
}

static double
param_bytes (const StepInput *in)
{
  return dtype_bytes (in->spec->param_dtype, precision_activation_bytes (in->compute->precision));
}

static double
reduce_bytes (const StepInput *in)
{
  return dtype_bytes (in->spec->reduce_dtype, param_bytes (in));
}

static gboolean
shards (const StepInput *in)
{
  return in->spec->sharding != SHARDING_NO && builder_world (in) > 1;
}

static gboolean
is_hybrid (int sharding)
{
  return sharding == SHARDING_HYBRID || sharding == SHARDING_HYBRID_GRAD_OP;
}

static gboolean
find_groups (const StepInput *in, RankGroup *shard, RankGroup *replicas, GError **error)
{
  const StrategySpec *spec = in->spec;
  const guint64 world = builder_world (in);
  const guint64 node = spec->shard_size > 0 ? spec->shard_size : cluster_gpus_per_node (in->cluster);

  if (spec->sharding == SHARDING_NO || world == 1)
    return sharded_groups (in, 1, "shard-size", shard, replicas, error);
  return sharded_groups (in, is_hybrid (spec->sharding) ? node : world, "shard-size", shard, replicas, error);
}

/* TRUE, FALSE, or a group within which units are gathered again. */
static gboolean
find_reshard (Fsdp *f, const StepInput *in, GError **error)
{
  const char *text = in->spec->reshard != NULL ? in->spec->reshard : "true";
  const gboolean grad_op = in->spec->sharding == SHARDING_GRAD_OP || in->spec->sharding == SHARDING_HYBRID_GRAD_OP;
  const gboolean word = g_str_equal (text, "true") || g_str_equal (text, "false");
  RankGroup others;
  guint64 size;

  if (!word && !g_ascii_string_to_unsigned (text, 10, 2, G_MAXUINT32, &size, NULL))
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                   "[strategy] reshard-after-forward: '%s' is none of true, false and a number of GPUs from 2 on", text);
      return FALSE;
    }
  f->between = f->s.shard;
  f->again = !grad_op;
  if (in->spec->version != 2 || grad_op || g_str_equal (text, "true"))
    return TRUE;
  f->again = !g_str_equal (text, "false");
  if (word || size >= f->s.shard.n_ranks)
    return TRUE;
  return sharded_groups (in, size, "reshard-after-forward", &f->between, &others, error);
}

static void
remember_free (Fsdp *f)
{
  g_array_append_val (f->free_events, f->s.last_row);
}

/* The host blocks until the oldest of two gathered units is freed. */
static guint
gather_host (Fsdp *f, const char *label)
{
  Builder *b = &f->s.b;
  const guint host = host_row (b, b->host->collective_s + software_cost (b->in, COST_FSDP_HOOK)->value, label);

  if (b->in->spec->version == 2 || !b->in->spec->limit_all_gathers || f->free_events->len < most_in_flight)
    return host;
  for (guint i = 0; i < b->graph->classes->len; i++)
    graph_edge (b->graph, g_array_index (f->free_events, guint, 0) + i, host + b->process[i]);
  g_array_remove_index (f->free_events, 0);
  return host;
}

/* fully_shard keeps two units in the air without the host: the copy out of one
 * gather, on the compute queue, precedes the next gather. */
static gboolean
gather (Fsdp *f, guint index, gboolean backward, GError **error)
{
  ShardUnit *what = unit (f, index);
  const char *label = sharded_label (&f->s, "gather", what->label);
  const Collective call = {
    .op = OP_ALL_GATHER, .bytes = what->elements * f->s.gather_bytes, .label = label, .queue = f->gathers,
    .group = backward ? &f->between : &f->s.shard, .host = gather_host (f, label),
    .after = f->s.b.in->spec->version == 2 ? f->before_unit : NO_ROW,
  };

  what->whole = TRUE;
  return collective_place (&f->s.b, &call, &what->gathered, error);
}

static gboolean
gather_next (Fsdp *f, guint index, gboolean backward, GError **error)
{
  return index >= f->s.units->len || unit (f, index)->whole || gather (f, index, backward, error);
}

/* The root's weights, first of all and until the end of the backward pass.  They
 * wait for what the compute queue did before: the optimizer. */
static gboolean
gather_root (Fsdp *f, GError **error)
{
  const Collective call = {
    .op = OP_ALL_GATHER, .bytes = f->root_elements * f->s.gather_bytes, .label = "gather root", .queue = f->gathers,
    .group = &f->s.shard, .host = NO_ROW, .after = sharded_mark (&f->s, "forward"),
  };

  f->before_unit = f->s.last_row;
  f->root_gather = f->s.last_row;
  if (f->root_elements <= 0 || !shards (f->s.b.in))
    return TRUE;
  return collective_place (&f->s.b, &call, &f->root_gather, error);
}

static gboolean
reduce (Fsdp *f, double elements, const char *of, GError **error)
{
  Sharded *s = &f->s;
  const gboolean copies = s->replicas.n_ranks > 1;
  Collective call = {
    .op = OP_REDUCE_SCATTER, .bytes = elements * s->reduce_bytes, .label = sharded_label (s, "reduce", of),
    .queue = f->scatters, .group = &s->shard, .host = NO_ROW, .after = s->last_row,
  };

  if (s->shard.n_ranks > 1 && !collective_place (&s->b, &call, &call.after, error))
    return FALSE;
  if (copies)
    {
      call.op = OP_ALL_REDUCE;
      call.bytes = elements * s->reduce_bytes / (double) s->shard.n_ranks;
      call.queue = f->copies;
      call.group = &s->replicas;
      call.label = sharded_label (s, "all-reduce", of);
      if (!collective_place (&s->b, &call, &call.after, error))
        return FALSE;
    }
  f->last_scatter = call.after;
  g_array_append_val (s->b.open, call.after);
  return TRUE;
}

static gboolean
forward_pass (Fsdp *f, GError **error)
{
  Sharded *s = &f->s;
  const gboolean sharded = shards (s->b.in), twice = f->again;
  guint wait = f->root_gather;

  for (guint i = 0; i < s->b.in->workload->n_layers; i++)
    {
      const guint at = s->unit_of[i];
      const guint before = s->last_row;

      if (sharded && at != NO_UNIT && unit (f, at)->first == i)
        {
          if (!gather_next (f, at, FALSE, error)
              || (s->b.in->spec->forward_prefetch && !gather_next (f, at + 1, FALSE, error)))
            return FALSE;
          if (wait != NO_ROW)
            sharded_wait (s, wait, "root");
          wait = unit (f, at)->gathered;
          f->before_unit = before;
        }
      sharded_layer (s, i, FALSE, wait);
      wait = NO_ROW;
      if (sharded && twice && at != NO_UNIT && unit (f, at)->last == i)
        {
          unit (f, at)->whole = FALSE;
          remember_free (f);
        }
    }
  return TRUE;
}

/* fully_shard: the compute queue waits until the gradients of the unit before are
 * reduced, for their buffer is free then. */
static gboolean
end_unit (Fsdp *f, guint at, gboolean sharded, GError **error)
{
  Sharded *s = &f->s;
  const StrategySpec *spec = s->b.in->spec;
  const guint previous = f->last_scatter;

  if (sharded)
    {
      unit (f, at)->whole = FALSE;
      remember_free (f);
      if (spec->version != 2 && spec->backward_prefetch == PREFETCH_POST && at > 0 && !gather_next (f, at - 1, TRUE, error))
        return FALSE;
    }
  if (!f->reduces)
    return TRUE;
  if (!reduce (f, unit (f, at)->elements, unit (f, at)->label, error))
    return FALSE;
  if (spec->version == 2 && previous != NO_ROW)
    sharded_wait (s, previous, "gradient buffer");
  return TRUE;
}

static gboolean
backward_pass (Fsdp *f, GError **error)
{
  Sharded *s = &f->s;
  const StrategySpec *spec = s->b.in->spec;
  const gboolean sharded = shards (s->b.in), several = builder_world (s->b.in) > 1;

  f->last_scatter = NO_ROW;
  for (guint i = s->b.in->workload->n_layers; i-- > 0;)
    {
      const guint at = s->unit_of[i];
      guint wait = NO_ROW;

      if (sharded && at != NO_UNIT && unit (f, at)->last == i)
        {
          const guint before = s->last_row;

          if (!gather_next (f, at, TRUE, error))
            return FALSE;
          wait = unit (f, at)->gathered;
          f->before_unit = before;
          if ((spec->version == 2 || spec->backward_prefetch == PREFETCH_PRE) && at > 0 && !gather_next (f, at - 1, TRUE, error))
            return FALSE;
        }
      sharded_layer (s, i, TRUE, wait);
      if (several && at != NO_UNIT && unit (f, at)->first == i && !end_unit (f, at, sharded, error))
        return FALSE;
    }
  return !several || !f->reduces || f->root_elements <= 0 || reduce (f, f->root_elements, "root", error);
}

static gboolean
run_micro_step (Fsdp *f, guint64 m, GError **error)
{
  const gboolean last = m + 1 == f->s.b.in->batch.accumulation;

  f->s.b.micro = (guint) m;
  f->reduces = last || f->s.b.in->spec->gradient_sync == SYNC_EVERY;
  for (guint i = 0; i < f->s.units->len; i++)
    unit (f, i)->whole = FALSE;
  if (!gather_root (f, error))
    return FALSE;
  sharded_input (&f->s, m == 0);
  if (!forward_pass (f, error) || !backward_pass (f, error))
    return FALSE;
  if (!last && f->reduces && builder_world (f->s.b.in) > 1)
    f->s.last_row = wait_row (&f->s.b, "gradients");
  return TRUE;
}

static gboolean
run_step (Fsdp *f, GError **error)
{
  const StepInput *in = f->s.b.in;

  host_row (&f->s.b, f->s.b.host->step_s, "step");
  for (guint64 m = 0; m < in->batch.accumulation; m++)
    {
      if (!run_micro_step (f, m, error))
        return FALSE;
    }
  return sharded_optimizer (&f->s, 1 / (double) f->s.shard.n_ranks, error);
}

static void
place_queues (Fsdp *f, const StepInput *in)
{
  f->gathers = f->scatters = f->copies = NO_ROW;
  if (in->spec->version == 2 && shards (in))
    f->scatters = comm_row (&f->s.b, "reduce-scatter");
  if (f->s.replicas.n_ranks > 1 && f->s.shard.n_ranks > 1)
    f->copies = comm_row (&f->s.b, "all-reduce");
}

static void
fsdp_clear (Fsdp *f)
{
  sharded_clear (&f->s);
  if (f->free_events != NULL)
    g_array_unref (f->free_events);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fsdp, fsdp_clear)

static gboolean
build (const StepInput *in, StepGraph *graph, GError **error)
{
  g_auto (Fsdp) f = { .s.policy = { .host = HOST_EAGER }, .s.gather_bytes = param_bytes (in), .s.reduce_bytes = reduce_bytes (in) };

  if (!find_groups (in, &f.s.shard, &f.s.replicas, error) || !find_reshard (&f, in, error) || !sharded_init (&f.s, in, graph, error))
    return FALSE;
  f.free_events = g_array_new (FALSE, FALSE, sizeof (guint));
  f.s.units = fsdp_units (in, &f.s.unit_of, &f.root_elements);
  place_queues (&f, in);
  return run_step (&f, error);
}

/* Sharded fp32 weights, gradients and states; whole in param-dtype what is
 * gathered: the root and two units (all of them where they stay), and the whole
 * gradient of a unit and the root, or of all where micro-steps leave them whole. */
static void
memory (const StepInput *in, MemoryUse *out)
{
  RankGroup shard = { .n_ranks = 1 }, replicas;
  g_autofree guint *unit_of = NULL;
  double root;
  g_autoptr (GArray) units = fsdp_units (in, &unit_of, &root);
  const gboolean pure = in->compute->precision == PRECISION_FP16 || in->compute->precision == PRECISION_BF16;
  const gboolean stays = in->spec->sharding == SHARDING_GRAD_OP || in->spec->sharding == SHARDING_HYBRID_GRAD_OP
                         || (in->spec->version == 2 && g_strcmp0 (in->spec->reshard, "false") == 0);
  const double params = in->workload->params, largest = sharded_largest (units);
  const gboolean whole = in->spec->gradient_sync == SYNC_LAST && in->batch.accumulation > 1;
  const double gathered = stays ? params : fmin (params, root + 2 * largest);
  double n;

  find_groups (in, &shard, &replicas, NULL);
  n = (double) shard.n_ranks;
  *out = (MemoryUse) {
    .weights = params * (pure ? 2 : 4) / n,
    .gradients = params * (pure ? 2 : 4) / n,
    .optimizer = params * software_optimizer_state (in->training->optimizer) / n,
    .activations = memory_activations (in),
    .buffers = (n > 1 ? gathered * param_bytes (in) : 0) + (builder_world (in) > 1 ? fmin (params, whole ? params : root + largest) * reduce_bytes (in) : 0),
  };
  if (in->spec->offload)
    out->optimizer = 0;
  memory_settle (in, out);
}

static void
values (const StepInput *in, ClusterValue value, gpointer user)
{
  const DataParallel policy = { .host = HOST_EAGER };
  g_autofree guint *unit_of = NULL;
  double root;
  g_autoptr (GArray) units = fsdp_units (in, &unit_of, &root);
  RankGroup shard = { .n_ranks = 1 }, replicas = { .n_ranks = 1 };

  data_parallel_values (in, &policy, value, user);
  sharded_values (in, value, user);
  if (!find_groups (in, &shard, &replicas, NULL))
    return;
  data_parallel_say (value, user, "units", g_strdup_printf ("%u, largest %.4g parameters, root %.4g", units->len, sharded_largest (units), root), ORIGIN_DERIVED, "wrap");
  data_parallel_say (value, user, "shard group", g_strdup_printf ("%" G_GUINT64_FORMAT " GPUs, %" G_GUINT64_FORMAT " copies", shard.n_ranks, replicas.n_ranks), ORIGIN_DERIVED, "sharding and shard-size");
  data_parallel_say (value, user, "weights on the wire", g_strdup_printf ("%g B", param_bytes (in)), ORIGIN_DERIVED, "param-dtype");
  data_parallel_say (value, user, "gradients on the wire", g_strdup_printf ("%g B", reduce_bytes (in)), ORIGIN_DERIVED, "reduce-dtype; torch: the parameters' where not given");
  data_parallel_say_cost (value, user, "hooks of a unit", software_cost (in, COST_FSDP_HOOK));
}

const Strategy strategy_fsdp = {
  .name = "fsdp",
  .summary = "PyTorch FSDP 1 and 2: weights, gradients and states sharded, units gathered and released in turn",
  .build = build,
  .memory = memory,
  .values = values,
};
