/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/megatron.h"
#include "strategy/data-parallel.h"
#include "strategy/megatron-plan.h"
#include "strategy/packed.h"
#include <math.h>

/* One step of Megatron-LM: the pipeline, gradients over the data-parallel ranks
 * once behind its last micro-batch, the tied embedding, the norm of all gradients
 * (all ranks wait there), the optimizer, parameters back to all. */
typedef struct
{
  Megatron     *m;
  StepGraph    *graph;
  PipelineRows *rows;
  guint        *pieces;
} Step;

/* megatron/core/distributed: a bucket closes at max (40e6, 1e6 x data-parallel)
 * parameters where it overlaps; only the first stage's first chunk has several.
 * Stacks on DistributedDataParallel have buckets of its size on each. */
static guint
buckets (const Megatron *m, guint at)
{
  const double ranks = (double) (m->dp * m->cp), own = m->llm.value[LLM_BUCKET];
  double params, experts;

  megatron_chunk_params (m, at, &params, &experts);
  if (!(m->overlap_grad || m->overlap_param) || ranks < 2)
    return 1;
  if (own > 0)
    return (guint) fmax (ceil (params / own), 1);
  if (at != 0)
    return 1;
  return (guint) fmax (ceil (params / fmax (40e6, 1e6 * ranks)), 1);
}

/* A collective on the data-parallel queue behind the row `after`; *row: itself,
 * or `after` where there is nobody to talk to. */
static gboolean
exchange (Step *s, guint stage, guint after, MegatronGroup group, CollectiveOp op, double bytes, const char *label, guint *row, GError **error)
{
  MegatronCalls calls = { 0 };

  *row = after;
  if (!megatron_add_calls (s->m, group, op, bytes, 1, &calls, NULL, error))
    return FALSE;
  if (calls.size <= 0)
    return TRUE;
  PipelineCall call = { megatron_call (s->m, &calls, label), megatron_group (s->m, group) };
  call.call.slowdown = isnan (s->m->in->spec->slowdown) ? s->m->llm.value[LLM_SLOWDOWN] : s->m->in->spec->slowdown;
  call.call.launch = isnan (s->m->in->spec->launch) ? 0 : s->m->in->spec->launch;
  *row = pipeline_collective (s->graph, s->rows, stage, after, &call);
  return TRUE;
}

/* The same, which the stage's next task waits for. */
static gboolean
reduce (Step *s, guint stage, guint after, MegatronGroup group, CollectiveOp op, double bytes, const char *label, GError **error)
{
  guint row;

  if (!exchange (s, stage, after, group, op, bytes, label, &row, error))
    return FALSE;
  if (row != after)
    g_array_append_val (s->rows->open[stage], row);
  return TRUE;
}

/* Micro-batches of a chunk after which sharded gradients go to their owners: one
 * chunk's run of them; 0: only the last of the step. */
static guint
round_of (const Megatron *m)
{
  if (!m->shard_gradients)
    return 0;
  return m->schedule == SCHEDULE_GPIPE ? (guint) m->micro_batches : m->schedule == SCHEDULE_1F1B ? 1 : m->group;
}

/* A share of a virtual stage's gradients behind a row.  Where optimizer states are
 * split, a rank needs its part only; not every stack leaves it at that. */
static gboolean
reduce_part (Step *s, guint at, double share, guint after, GError **error)
{
  const Megatron *m = s->m;
  const CollectiveOp op = m->distributed && (m->shard_gradients || m->llm.value[LLM_WHOLE_REDUCE] <= 0) ? OP_REDUCE_SCATTER : OP_ALL_REDUCE;
  const guint stage = at % (guint) m->pp;
  double dense, experts;

  megatron_chunk_params (m, at, &dense, &experts);
  return reduce (s, stage, after, GROUP_DATA, op, dense * share * m->gradient, "gradients", error)
         && (experts <= 0 || reduce (s, stage, after, GROUP_EXPERT_DATA, op, experts * share * m->gradient, "gradients of experts", error));
}

/* Gradients of a virtual stage, in as many calls as it has buckets. */
static gboolean
reduce_chunk (Step *s, guint at, guint after_all, GError **error)
{
  const guint n = s->pieces[at];

  for (guint i = 0; i < n; i++)
    {
      if (!reduce_part (s, at, 1.0 / n, s->m->overlap_grad ? s->rows->piece[at][i] : after_all, error))
        return FALSE;
    }
  return TRUE;
}

/* Rounds before the last, in the order in which chunks end them. */
static gboolean
reduce_rounds (Step *s, guint stage, GError **error)
{
  const Megatron *m = s->m;
  const guint round = round_of (m);

  for (guint i = 0; round > 0 && (i + 1) * round < m->micro_batches; i++)
    {
      for (guint chunk = (guint) m->v; chunk-- > 0;)
        {
          const guint at = chunk * (guint) m->pp + stage;

          if (!reduce_part (s, at, 1, s->rows->round[at][i], error))
            return FALSE;
        }
    }
  return TRUE;
}

/* Chunks end their last backward pass from the last to the first. */
static gboolean
reduce_all (Step *s, GError **error)
{
  const Megatron *m = s->m;

  for (guint stage = 0; stage < m->pp; stage++)
    {
      const guint behind = m->overlap_grad ? 0 : pipeline_compute (s->graph, s->rows, stage, GRAPH_FIXED, CAUSE_OTHER, 0, "end of the pipeline");

      if (!reduce_rounds (s, stage, error))
        return FALSE;
      for (guint chunk = (guint) m->v; chunk-- > 0;)
        if (!reduce_chunk (s, chunk * (guint) m->pp + stage, behind, error))
          return FALSE;
    }
  return TRUE;
}

/* A table on the first and the last stage is one: its gradients are summed.  So is that
 * in which further tokens are looked up. */
static gboolean
reduce_tied (Step *s, GError **error)
{
  const Megatron *m = s->m;
  GraphCall call;

  if (m->pp < 2 || (m->shape->tied != SHAPE_YES && m->shape->mtp_layers == 0))
    return TRUE;
  if (!megatron_pair (m, 0, (guint) m->pp - 1, OP_ALL_REDUCE, megatron_embedding_params (m) * m->gradient, "tied embedding", &call, error))
    return FALSE;
  pipeline_meet (s->graph, s->rows, 0, 2, (guint) m->pp - 1, &call);
  return TRUE;
}

static gboolean
meet_all (Step *s, GError **error)
{
  MegatronCalls calls = { 0 };
  GraphCall call;

  /* one number over the tensor-parallel ranks; over stages the same few microseconds */
  if (!megatron_add_calls (s->m, s->m->tp > 1 ? GROUP_TENSOR : GROUP_DATA, OP_ALL_REDUCE, 8, 1, &calls, NULL, error))
    return FALSE;
  if (calls.size > 0)
    call = megatron_call (s->m, &calls, "norm of gradients");
  else
    call = (GraphCall) { .call.op = OP_ALL_REDUCE, .flow.cap = INFINITY, .label = "norm of gradients" };
  call.slowdown = 1;
  call.together = TRUE;
  pipeline_meet (s->graph, s->rows, 0, (guint) s->m->pp, 1, &call);
  return TRUE;
}

/* Each stage's parameters to all of its ranks. */
static gboolean
gather (Step *s, guint stage, guint after, GError **error)
{
  const Megatron *m = s->m;
  double dense, experts;

  megatron_stage_params (m, stage, &dense, &experts);
  return reduce (s, stage, after, GROUP_DATA, OP_ALL_GATHER, dense * m->llm.element, "parameters", error)
         && (experts <= 0 || reduce (s, stage, after, GROUP_EXPERT_DATA, OP_ALL_GATHER, experts * m->llm.element, "parameters of experts", error));
}

/* The same beside the first forward pass of the step that follows: bucket by
 * bucket, each before the kernels that need it. */
static gboolean
gather_ahead (Step *s, GError **error)
{
  const Megatron *m = s->m;

  for (guint at = 0; m->overlap_param && at < megatron_virtual_stages (m); at++)
    {
      const guint stage = at % (guint) m->pp, n = s->pieces[at];
      double dense, experts;

      megatron_chunk_params (m, at, &dense, &experts);
      for (guint i = 0; i < n; i++)
        {
          const guint begin = s->rows->begin[stage];
          guint row;

          if (!exchange (s, stage, begin, GROUP_DATA, OP_ALL_GATHER, dense / n * m->llm.element, "parameters ahead", &row, error))
            return FALSE;
          pipeline_edge (s->graph, s->rows, row, s->rows->taker[at][i]);
          if (experts <= 0)
            continue;
          if (!exchange (s, stage, begin, GROUP_EXPERT_DATA, OP_ALL_GATHER, experts / n * m->llm.element, "parameters of experts ahead", &row, error))
            return FALSE;
          pipeline_edge (s->graph, s->rows, row, s->rows->taker[at][i]);
        }
    }
  return TRUE;
}

static gboolean
update (Step *s, GError **error)
{
  const Megatron *m = s->m;
  const double traffic = software_optimizer_traffic (m->in->training->optimizer) + m->llm.value[LLM_OPTIMIZER_EXTRA];
  const double fixed = isnan (m->in->spec->fixed) ? m->llm.value[LLM_FIXED] : m->in->spec->fixed;

  for (guint stage = 0; stage < m->pp; stage++)
    {
      double dense, experts;
      guint row;

      megatron_stage_params (m, stage, &dense, &experts);
      const double owned = m->distributed ? dense / (double) (m->dp * m->cp) + experts / (double) m->edp : dense + experts;
      row = pipeline_compute (s->graph, s->rows, stage, GRAPH_KERNEL, CAUSE_OPTIMIZER,
                              m->llm.ideal ? 0 : llm_stream (&m->llm, LLM_ADD, owned * traffic + (dense + experts) * m->llm.value[LLM_WHOLE_BYTES]),
                              "optimizer");
      if (m->distributed && !m->overlap_param && !gather (s, stage, row, error))
        return FALSE;
      pipeline_compute (s->graph, s->rows, stage, GRAPH_FIXED, CAUSE_OTHER, fixed, "end of the step");
    }
  return TRUE;
}

/* Ranks beyond a node add to what the constants of one node hold: the largest of N
 * against that of n. */
static double
noise (const Megatron *m)
{
  const double node = (double) MIN (cluster_gpus_per_node (m->in->cluster), m->world), all = (double) m->world;
  const double spread = sqrt (2 * log (all)) - sqrt (2 * log (fmax (node, 1)));

  return m->in->noise && m->in->spec->box_noise ? 1 + m->llm.value[LLM_RANK_NOISE] * spread : 1;
}

static gboolean
messages (const Megatron *m, GraphCall *ahead, GraphCall *back, GError **error)
{
  const guint n = megatron_virtual_stages (m), pp = (guint) m->pp;

  for (guint at = 0; at < n; at++)
    {
      if (at + 1 < n && !megatron_message (m, at % pp, (at + 1) % pp, "activations to the next stage", &ahead[at], error))
        return FALSE;
      if (at > 0 && !megatron_message (m, at % pp, (at - 1) % pp, "gradients to the stage before", &back[at], error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
finish (Step *s, GError **error)
{
  return gather_ahead (s, error) && reduce_all (s, error) && reduce_tied (s, error) && meet_all (s, error) && update (s, error);
}

/* Tensor- and context-parallel ranks share a micro-batch, and all stages see it. */
static void
spread (const Megatron *m, StepGraph *graph, PipelineWork *work)
{
  graph->sharing = m->tp * m->cp;
  graph->stages = (guint) m->pp;
  for (guint at = 0; at < megatron_virtual_stages (m); at++)
    work[at].spread = packed_spread (m->in, graph, work[at].attention, work[at].whole, (double) m->micro);
}

static gboolean
megatron_build (const StepInput *in, StepGraph *graph, GError **error)
{
  g_auto (Megatron) m = { 0 };

  if (!megatron_plan (in, &m, error))
    return FALSE;
  m.arena = graph->arena;
  const guint n = megatron_virtual_stages (&m);
  g_autofree PipelineWork *forward = g_new0 (PipelineWork, n), *backward = g_new0 (PipelineWork, n);
  g_autofree GraphCall *ahead = g_new0 (GraphCall, n), *back = g_new0 (GraphCall, n);
  g_autofree guint *pieces = g_new (guint, n);
  PipelineRows rows;
  Step step = { &m, graph, &rows, pieces };
  gboolean ok;

  if (!megatron_work (&m, forward, backward, error) || !messages (&m, ahead, back, error))
    return FALSE;
  spread (&m, graph, forward);
  spread (&m, graph, backward);
  for (guint at = 0; at < n; at++)
    pieces[at] = buckets (&m, at);
  const PipelineGroup groups[] = {
    megatron_group (&m, GROUP_TENSOR), megatron_group (&m, GROUP_CONTEXT), megatron_group (&m, GROUP_DATA),
    megatron_group (&m, GROUP_EXPERT_TENSOR), megatron_group (&m, GROUP_EXPERT), megatron_group (&m, GROUP_EXPERT_DATA),
  };
  const Pipeline pipeline = {
    .schedule = m.schedule, .stages = (guint) m.pp, .chunks = (guint) m.v, .micro_batches = (guint) m.micro_batches, .group = m.group,
    .ranks = m.world / m.pp, .unfold = in->unfold, .period = in->period, .noise = noise (&m), .blocking = !m.overlap_p2p,
    .forward = forward, .backward = backward, .ahead = ahead, .back = back, .pieces = pieces,
    .gathers = m.overlap_param ? pieces : NULL, .round = round_of (&m),
    .groups = groups, .n_groups = G_N_ELEMENTS (groups),
    .slow_ranks = in->uneven != NULL ? in->uneven->slow_ranks : 0, .slow_factor = in->uneven != NULL ? in->uneven->slow_factor : 1,
    .pauses = in->uneven != NULL && in->uneven->pause > 0,
    .pause_cause = in->unfold || (in->uneven != NULL && in->uneven->pause_together) ? CAUSE_HOST : CAUSE_WAIT,
  };
  pipeline_build (&pipeline, graph, &rows);
  ok = finish (&step, error);
  pipeline_rows_clear (&rows, &pipeline);
  return ok;
}

static void
say_constant (const Megatron *m, LlmConstant i, ClusterValue value, gpointer user)
{
  const double low = m->llm.low[i], high = m->llm.high[i];
  g_autofree char *text = isnan (low) ? g_strdup_printf ("%.4g", m->llm.value[i])
                                      : g_strdup_printf ("%.4g (%.4g to %.4g)", m->llm.value[i], low, high);

  value (user, "strategy", llm_constant_names[i], text, &m->llm.origin[i]);
}

static void
megatron_values (const StepInput *in, ClusterValue value, gpointer user)
{
  g_auto (Megatron) m = { 0 };

  if (!megatron_plan (in, &m, NULL))
    return;
  g_autofree char *matrix = kernel_choice_text (&m.llm.matrix);
  data_parallel_say (value, user, "data-parallel", g_strdup_printf ("%" G_GUINT64_FORMAT, m.dp), ORIGIN_DERIVED, "GPUs over the other degrees");
  data_parallel_say (value, user, "micro-batches", g_strdup_printf ("%" G_GUINT64_FORMAT, m.micro_batches), ORIGIN_DERIVED, "of a replica in a step");
  data_parallel_say (value, user, "gradient", g_strdup_printf ("%g B a parameter", m.gradient), ORIGIN_DERIVED, "4 with bf16 and fp8 unless grad-reduce-in-fp32 says otherwise");
  data_parallel_say (value, user, "matrix products", g_steal_pointer (&matrix), ORIGIN_DERIVED, "models/kernel");
  for (guint i = 0; i < N_LLM; i++)
    say_constant (&m, (LlmConstant) i, value, user);
}

const Strategy strategy_megatron = {
  .name = "megatron",
  .summary = "Megatron-LM: tensor, sequence, pipeline, context, expert and data parallelism",
  .batch = megatron_batch,
  .layout = TRUE,
  .build = megatron_build,
  .memory = megatron_memory,
  .stages = megatron_stages,
  .values = megatron_values,
};
