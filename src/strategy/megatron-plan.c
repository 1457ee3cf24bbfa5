/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/megatron-plan.h"
#include "strategy/packed.h"
#include <math.h>

/* The divisors of `whole` next to `value`, none below `least`: "6 and 8", "4". */
static char *
near_divisors (guint64 whole, guint64 value, guint64 least)
{
  guint64 below = 0, above = 0;

  for (guint64 i = 1; i * i <= whole; i++)
    {
      const guint64 pair[2] = { i, whole / i };

      for (guint k = 0; whole % i == 0 && k < 2; k++)
        {
          if (pair[k] < least)
            continue;
          if (pair[k] <= value)
            below = MAX (below, pair[k]);
          else
            above = above == 0 ? pair[k] : MIN (above, pair[k]);
        }
    }
  if (above == 0 || below == 0)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " would", MAX (above, below));
  return g_strdup_printf ("%" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT " would", below, above);
}

/* `value` must divide `whole`; what is offered instead divides `room` too, for which
 * other numbers leave it. */
static gboolean
must_divide (guint64 whole, guint64 value, guint64 room, const char *key, const char *what, GError **error)
{
  if (whole % value == 0)
    return TRUE;
  g_autofree char *near = near_divisors (batch_greatest_divisor (whole, room), value, 1);
  return megatron_refuse (error, key, "%" G_GUINT64_FORMAT " does not divide the %" G_GUINT64_FORMAT " %s; %s%s", value, whole, what,
                 room % whole == 0 ? "" : "with all else as it is ", near);
}

static gboolean
interleaved (const StrategySpec *spec)
{
  return spec->schedule == SCHEDULE_KEY_INTERLEAVED || (spec->schedule == SCHEDULE_KEY_AUTO && spec->virtual_stages > 1);
}

static guint64
expert_tensor (const StrategySpec *spec)
{
  return spec->expert_tensor_parallel > 0 ? spec->expert_tensor_parallel : spec->tensor_parallel;
}

/* GPUs that tensor or pipeline parallelism could take: what the other degrees leave,
 * experts' too. */
static guint64
room_for_tensor (const StrategySpec *spec, guint64 gpus)
{
  const guint64 stage = gpus / spec->pipeline_parallel, left = stage / spec->context_parallel;

  return spec->expert_tensor_parallel > 0 || stage % spec->expert_parallel != 0
           ? left : batch_greatest_divisor (left, stage / spec->expert_parallel);
}

static guint64
room_for_pipeline (const StrategySpec *spec, guint64 gpus)
{
  const guint64 left = gpus / (spec->tensor_parallel * spec->context_parallel), experts = expert_tensor (spec) * spec->expert_parallel;

  return gpus % experts != 0 ? left : batch_greatest_divisor (left, gpus / experts);
}

/* The degree that may give way while the others stay: what they leave divides.  Else
 * the number of GPUs. */
static gboolean
refuse_degrees (const StrategySpec *spec, guint64 gpus, GError **error)
{
  const struct { const char *key; guint64 value, room, least; } degrees[] = {   /* room 0: all that others leave */
    { "context-parallel", spec->context_parallel, 0, 1 },
    { "pipeline-parallel", spec->pipeline_parallel, room_for_pipeline (spec, gpus), interleaved (spec) ? 2 : 1 },
    { "tensor-parallel", spec->tensor_parallel, room_for_tensor (spec, gpus), 1 },
  };
  const guint64 product = degrees[0].value * degrees[1].value * degrees[2].value;
  g_autofree char *text = g_strdup_printf ("tensor-parallel %" G_GUINT64_FORMAT " x pipeline-parallel %" G_GUINT64_FORMAT " x context-parallel %"
                                           G_GUINT64_FORMAT " = %" G_GUINT64_FORMAT " does not divide the %" G_GUINT64_FORMAT " GPUs",
                                           degrees[2].value, degrees[1].value, degrees[0].value, product, gpus);

  for (guint i = 0; i < G_N_ELEMENTS (degrees); i++)
    {
      const guint64 others = product / degrees[i].value;
      g_autofree char *key = g_strconcat ("[strategy] ", degrees[i].key, NULL);

      if (degrees[i].value == 1 || gpus % others != 0)
        continue;
      const guint64 room = batch_greatest_divisor (gpus / others, degrees[i].room);
      if (room < degrees[i].least)
        continue;
      g_autofree char *near = near_divisors (room, degrees[i].value, degrees[i].least);
      return megatron_refuse (error, key, "%s; %s %s", text, degrees[i].key, near);
    }
  if (gpus < product)
    return megatron_refuse (error, "[strategy] tensor-parallel", "%s; %" G_GUINT64_FORMAT " GPUs are the least that do", text, product);
  return megatron_refuse (error, "[strategy] tensor-parallel", "%s; %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT " GPUs would", text,
                 gpus / product * product, (gpus / product + 1) * product);
}

/* Experts split the GPUs of a stage anew: whole ones, where that alone is amiss,
 * could be dealt out. */
static gboolean
check_experts (const StrategySpec *spec, guint64 stage, GError **error)
{
  const guint64 etp = expert_tensor (spec), ep = spec->expert_parallel;

  if (!must_divide (stage, etp, stage % ep == 0 ? stage / ep : stage, "[strategy] expert-tensor-parallel", "GPUs of a stage", error))
    return FALSE;
  if (stage / etp % ep == 0)
    return TRUE;
  g_autofree char *near = near_divisors (stage / etp, ep, 1);
  g_autofree char *of = etp == spec->tensor_parallel ? g_strdup ("data- and context-parallel GPUs")
                                                     : g_strdup_printf ("groups of expert-tensor-parallel %" G_GUINT64_FORMAT " in a stage", etp);
  return megatron_refuse (error, "[strategy] expert-parallel", "%" G_GUINT64_FORMAT " does not divide the %" G_GUINT64_FORMAT " %s; %s%s", ep, stage / etp, of, near,
                 stage % ep == 0 && spec->sequence_parallel != 0 ? ", or expert-tensor-parallel = 1" : "");
}

static gboolean
check_degrees (const StrategySpec *spec, guint64 gpus, GError **error)
{
  if (gpus % (spec->tensor_parallel * spec->pipeline_parallel * spec->context_parallel) != 0)
    return refuse_degrees (spec, gpus, error);
  return check_experts (spec, gpus / spec->pipeline_parallel, error);
}

static gboolean
check_schedule (const StrategySpec *spec, GError **error)
{
  if (interleaved (spec) && (spec->pipeline_parallel < 2 || spec->virtual_stages < 2))
    return megatron_refuse (error, "[strategy] schedule", "interleaved needs at least 2 stages with at least 2 chunks each, not pipeline-parallel %"
                   G_GUINT64_FORMAT " and virtual-stages %" G_GUINT64_FORMAT, spec->pipeline_parallel, spec->virtual_stages);
  if (interleaved (spec) && spec->interleave_group > 0 && spec->interleave_group < spec->pipeline_parallel)
    return megatron_refuse (error, "[strategy] interleave-group", "%" G_GUINT64_FORMAT " is below the %" G_GUINT64_FORMAT " stages; %"
                   G_GUINT64_FORMAT " is the least", spec->interleave_group, spec->pipeline_parallel, spec->pipeline_parallel);
  if (!interleaved (spec) && spec->virtual_stages > 1)
    return megatron_refuse (error, "[strategy] virtual-stages", "%" G_GUINT64_FORMAT " chunks a stage go with schedule interleaved; 1 with gpipe and 1f1b",
                   spec->virtual_stages);
  return TRUE;
}

static guint64
group_of (const StrategySpec *spec)
{
  return spec->interleave_group > 0 ? spec->interleave_group : spec->pipeline_parallel;
}

/* Names the nearest batches that would do. */
static gboolean
refuse_batch (const StrategySpec *spec, guint64 global, guint64 dp, guint64 unit, GError **error)
{
  const guint64 below = global / unit * unit;
  g_autofree char *groups = g_strdup_printf ("interleaved groups of %" G_GUINT64_FORMAT " ", group_of (spec));
  g_autofree char *nearest = below > 0 ? g_strdup_printf ("%" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT " would", below, below + unit)
                                       : g_strdup_printf ("%" G_GUINT64_FORMAT " is the least that does", unit);

  return megatron_refuse (error, "[training] global-batch", "%" G_GUINT64_FORMAT " does not divide over %" G_GUINT64_FORMAT
                 " data-parallel replica%s in %smicro-batches of %" G_GUINT64_FORMAT "; %s", global, dp, dp == 1 ? "" : "s",
                 interleaved (spec) ? groups : "", spec->micro_batch, nearest);
}

/* Samples of a step are of a replica: batch-per-gpu counts its micro-batches too. */
gboolean
megatron_batch (const StrategySpec *spec, const TrainingSpec *training, guint64 gpus, Batch *out, GError **error)
{
  const guint64 micro = spec->micro_batch;

  if (!check_degrees (spec, gpus, error) || !check_schedule (spec, error))
    return FALSE;
  const guint64 dp = gpus / (spec->tensor_parallel * spec->pipeline_parallel * spec->context_parallel);
  const guint64 global = training->global_batch > 0 ? training->global_batch : training->batch_per_gpu * dp;
  const guint64 unit = dp * micro * (interleaved (spec) ? group_of (spec) : 1);
  if (global % unit != 0)
    return refuse_batch (spec, global, dp, unit, error);
  *out = (Batch) { .per_gpu = micro, .accumulation = global / (dp * micro), .global = global };
  return TRUE;
}

/* What tensor parallelism must divide, all of it. */
static guint64
room_in_shape (const Megatron *m)
{
  const Shape *shape = m->shape;
  guint64 room = batch_greatest_divisor (shape->heads, room_for_tensor (m->in->spec, m->world));

  if (shape->dense_layers > 0)
    room = batch_greatest_divisor (room, shape->dense_ffn);
  if (m->etp == m->tp)
    room = batch_greatest_divisor (room, shape->ffn);
  if (shape->shared_experts > 0)
    room = batch_greatest_divisor (room, shape->shared_experts * shape->ffn);
  return m->sp ? batch_greatest_divisor (room, shape->sequence / m->cp) : room;
}

static gboolean
check_tensor (const Megatron *m, GError **error)
{
  const Shape *shape = m->shape;
  const guint64 room = room_in_shape (m), kv = shape->kv_heads;
  const struct { guint64 whole; const char *what; gboolean counts; } parts[] = {
    { shape->heads, "attention heads", TRUE },
    { shape->ffn, "columns of the feed-forward part", m->etp == m->tp },
    { shape->dense_ffn, "columns of dense-ffn", shape->dense_layers > 0 },
    { shape->shared_experts * shape->ffn, "columns of the shared experts", shape->shared_experts > 0 },
    { kv, "key and value heads", kv % m->tp != 0 && m->tp % kv != 0 },
    { shape->sequence / m->cp, "tokens of a GPU (sequence-parallel)", m->sp },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      if (parts[i].counts && !must_divide (parts[i].whole, m->tp, room, "[strategy] tensor-parallel", parts[i].what, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
check_experts_of_shape (const Megatron *m, GError **error)
{
  const StrategySpec *spec = m->in->spec;
  const guint64 stage = m->world / m->pp;

  if (spec->expert_parallel > 1 && !m->experts)
    return megatron_refuse (error, "[strategy] expert-parallel", "%" G_GUINT64_FORMAT " GPUs share experts, but the workload has none; 1, or [workload] experts",
                   m->ep);
  if (m->experts && !must_divide (m->shape->experts, m->ep, stage / m->etp, "[strategy] expert-parallel", "experts", error))
    return FALSE;
  if (m->etp == m->tp)
    return TRUE;
  if (!m->experts)
    return megatron_refuse (error, "[strategy] expert-tensor-parallel", "%" G_GUINT64_FORMAT " GPUs share each expert, but the workload has none; leave it out, "
                   "or [workload] experts", m->etp);
  if (!must_divide (m->shape->ffn, m->etp, stage / m->ep, "[strategy] expert-tensor-parallel", "columns of the feed-forward part", error))
    return FALSE;
  return m->tp == 1 || m->sp
         || megatron_refuse (error, "[strategy] expert-tensor-parallel", "%" G_GUINT64_FORMAT " beside tensor-parallel %" G_GUINT64_FORMAT
                             " needs sequence-parallel = yes, or each token would be there %" G_GUINT64_FORMAT " times", m->etp, m->tp, m->tp);
}

static gboolean
check_shape (const Megatron *m, GError **error)
{
  if (!check_tensor (m, error) || !check_experts_of_shape (m, error))
    return FALSE;
  return m->cp == 1 || must_divide (m->shape->sequence / 2, m->cp, m->world / (m->tp * m->pp), "[strategy] context-parallel",
                                    "pairs of tokens of a sample", error);
}

/* A last stage of its own size (decoder-last-pipeline-num-layers); the others get
 * equal shares. */
static gboolean
deal_last (Megatron *m, GError **error)
{
  const guint64 last = m->in->spec->last_stage_layers, others = m->pp - 1, all = m->shape->layers;
  const char *where = "[strategy] last-stage-layers";

  if (m->pp < 2 || m->v > 1 || m->in->spec->account_embedding || m->in->spec->account_loss)
    return megatron_refuse (error, where, "needs pipeline-parallel of at least 2, 1 virtual stage and no account-for-embedding or -loss");
  if (last >= all || (all - last) % others != 0)
    {
      const guint64 nearest = last >= all ? all - others : all - (all - last + others / 2) / others * others;

      return megatron_refuse (error, where, "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " layers leave no equal shares for the other %" G_GUINT64_FORMAT
                     " stages; %" G_GUINT64_FORMAT " would", last, all, others, nearest);
    }
  m->layers = g_new (guint64, m->pp);
  for (guint64 i = 0; i < m->pp; i++)
    m->layers[i] = i == others ? last : (all - last) / others;
  return TRUE;
}

static gboolean
deal_costs (Megatron *m, GError **error)
{
  const StrategySpec *spec = m->in->spec;

  if (m->v > 1 || spec->last_stage_layers > 0 || spec->account_embedding || spec->account_loss)
    return megatron_refuse (error, "[strategy] stages-by-cost", "needs 1 virtual stage and no last-stage-layers, account-for-embedding or -loss");
  megatron_deal_by_cost (m);
  return TRUE;
}

static gboolean
deal_layers (Megatron *m, GError **error)
{
  const StrategySpec *spec = m->in->spec;

  if (spec->stages_by_cost)
    return deal_costs (m, error);
  if (spec->stage_layers != NULL)
    return megatron_deal_list (m, error);
  if (spec->last_stage_layers > 0)
    return deal_last (m, error);
  const guint64 stages = m->pp * m->v, extra = (spec->account_embedding ? 1 : 0) + (spec->account_loss ? 1 : 0);
  const guint64 all = m->shape->layers + extra;

  if (all % stages != 0)
    {
      const guint64 below = all / stages * stages;
      const gboolean chunks = m->v > 1 && all % m->pp == 0;   /* else the stages give way, and chunks if they must */
      const guint64 pieces = all % m->v == 0 ? all / m->v : all, room = room_for_pipeline (spec, m->world);
      g_autofree char *near = chunks ? near_divisors (all / m->pp, m->v, 1)
                                     : near_divisors (batch_greatest_divisor (pieces, room), m->pp, 1);
      g_autofree char *degree = g_strdup_printf ("%s%s %s%s", !chunks && room % pieces != 0 ? "with all else as it is " : "",
                                                 chunks ? "virtual-stages" : "pipeline-parallel", near,
                                                 !chunks && all % m->v != 0 ? " with 1 virtual stage" : "");
      g_autofree char *layers = below > extra ? g_strdup_printf ("%" G_GUINT64_FORMAT " or %" G_GUINT64_FORMAT, below - extra, below + stages - extra)
                                              : g_strdup_printf ("%" G_GUINT64_FORMAT, below + stages - extra);

      return megatron_refuse (error, chunks ? "[strategy] virtual-stages" : "[strategy] pipeline-parallel",
                     "%" G_GUINT64_FORMAT " layers%s do not divide into %" G_GUINT64_FORMAT " stages of %" G_GUINT64_FORMAT
                     " chunk%s; %s, or %s layers", m->shape->layers, extra > 0 ? " with what counts as layers" : "", m->pp, m->v,
                     m->v == 1 ? "" : "s", degree, layers);
    }
  m->layers = g_new (guint64, stages);
  for (guint64 i = 0; i < stages; i++)
    m->layers[i] = all / stages;
  m->layers[0] -= spec->account_embedding ? 1 : 0;
  m->layers[stages - 1] -= spec->account_loss ? 1 : 0;
  return TRUE;
}

/* Names of Megatron-Core's transformer_config.py, recompute_modules. */
static gboolean
read_modules (Megatron *m, GError **error)
{
  static const struct { const char *name; guint bit; } known[] = {
    { "core_attn", MODULE_CORE_ATTENTION }, { "layernorm", MODULE_NORM }, { "mla_up_proj", MODULE_UP }, { "mlp", MODULE_DENSE },
    { "moe", MODULE_EXPERTS }, { "moe_act", MODULE_ACTIVATION }, { "shared_experts", MODULE_SHARED },
  };
  const TrainingSpec *training = m->in->training;
  const char *where = "[training] recompute-modules";
  g_auto (GStrv) names = g_strsplit (training->recompute_modules != NULL ? training->recompute_modules : known[0].name, ",", 0);
  guint i;

  if (training->recompute != RECOMPUTE_SELECTIVE)
    return training->recompute_modules == NULL || megatron_refuse (error, where, "goes with recompute = selective; full takes all");
  for (guint k = 0; names[k] != NULL; k++)
    {
      const char *name = g_strstrip (names[k]);

      for (i = 0; i < G_N_ELEMENTS (known) && !g_str_equal (known[i].name, name); i++)
        continue;
      if (i == G_N_ELEMENTS (known))
        return megatron_refuse (error, where, "'%s' is none of core_attn, layernorm, mla_up_proj, mlp, moe, moe_act, shared_experts", name);
      m->modules |= known[i].bit;
    }
  if ((m->modules & MODULE_UP) != 0 && m->shape->kv_lora_rank == 0)
    return megatron_refuse (error, where, "mla_up_proj is of latent attention, which the workload has not ([workload] kv-lora-rank)");
  if ((m->modules & (MODULE_EXPERTS | MODULE_ACTIVATION)) != 0 && !m->experts)
    return megatron_refuse (error, where, "moe and moe_act are of experts, which the workload has not ([workload] experts)");
  if ((m->modules & MODULE_SHARED) != 0 && m->shape->shared_experts == 0)
    return megatron_refuse (error, where, "the workload has no shared_experts ([workload] shared-experts)");
  return TRUE;
}

static gboolean
settle (int key, gboolean otherwise)
{
  return key == AUTO_AUTO ? otherwise : key == AUTO_YES;
}

static gboolean
four_bytes (const Megatron *m)
{
  const Precision p = m->in->compute->precision;

  if (m->in->spec->grad_fp32 != AUTO_AUTO)
    return m->in->spec->grad_fp32 == AUTO_YES;
  return p != PRECISION_FP16 && p != PRECISION_MIXED_FP16;
}

gboolean
megatron_plan (const StepInput *in, Megatron *out, GError **error)
{
  const StrategySpec *spec = in->spec;
  const Shape *shape = &in->workload->dims;
  g_auto (Megatron) m = {
    .in = in, .shape = shape, .tp = spec->tensor_parallel, .pp = spec->pipeline_parallel, .cp = spec->context_parallel,
    .ep = spec->expert_parallel, .etp = expert_tensor (spec), .v = spec->virtual_stages, .micro = in->batch.per_gpu, .micro_batches = in->batch.accumulation,
    .world = cluster_nodes (in->cluster) * cluster_gpus_per_node (in->cluster),
  };

  if (shape->architecture != ARCHITECTURE_GPT && shape->architecture != ARCHITECTURE_LLAMA && shape->architecture != ARCHITECTURE_MPT)
    return megatron_refuse (error, "[workload] name", "'%s' is no decoder of a known shape, which megatron needs; give a gpt, llama or mpt, "
                   "or an architecture and its shape", in->workload->name);
  m.dp = m.world / (m.tp * m.pp * m.cp);
  m.edp = m.world / (m.etp * m.ep * m.pp);
  m.group = (guint) group_of (spec);
  m.schedule = interleaved (spec) ? SCHEDULE_INTERLEAVED : spec->schedule == SCHEDULE_KEY_GPIPE ? SCHEDULE_GPIPE : SCHEDULE_1F1B;
  m.sp = spec->sequence_parallel != 0 && m.tp > 1;
  m.distributed = spec->distributed_optimizer != 0;
  m.shard_gradients = spec->shard_gradients != 0;
  if (m.shard_gradients && !m.distributed)
    return megatron_refuse (error, "[strategy] shard-gradients", "needs distributed-optimizer = yes: whoever owns a parameter's state owns its gradient");
  m.overlap_grad = spec->overlap_grad_reduce != 0;
  m.overlap_param = spec->overlap_param_gather != 0 && m.distributed;
  m.tp_overlap = spec->tp_comm_overlap != 0;
  m.gated = shape->gated == SHAPE_YES;
  m.experts = shape->experts > 1;
  if (!check_shape (&m, error) || !read_modules (&m, error) || !deal_layers (&m, error) || !llm_init (&m.llm, in->compute, spec->stack, error))
    return FALSE;
  m.flash = in->training->attention == ATTENTION_AUTO ? m.llm.value[LLM_FLASH] > 0 || packed_fused (in) : in->training->attention == ATTENTION_FLASH;
  m.dropout = settle (spec->dropout, m.llm.value[LLM_DROPOUT] > 0 && shape->architecture == ARCHITECTURE_GPT);
  m.overlap_p2p = settle (spec->overlap_p2p, m.schedule == SCHEDULE_INTERLEAVED && m.llm.value[LLM_SLICES] <= 0);
  m.fused_experts = m.experts && m.llm.value[LLM_EXPERTS_FUSED] > 0;
  m.send_once = spec->dispatcher == DISPATCHER_AUTO ? m.fused_experts : spec->dispatcher == DISPATCHER_FLEX;
  m.gradient = four_bytes (&m) ? 4 : 2;
  *out = m;
  m.layers = NULL;
  return TRUE;
}

void
megatron_clear (Megatron *m)
{
  g_clear_pointer (&m->layers, g_free);
}

guint
megatron_virtual_stages (const Megatron *m)
{
  return (guint) (m->pp * m->v);
}
