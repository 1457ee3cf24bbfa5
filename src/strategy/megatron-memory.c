/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/megatron-plan.h"
#include "strategy/data-parallel.h"
#include <math.h>

/* Bytes a token and layer that one GPU keeps for the backward pass: Korthikanti et
 * al. 2022, equations 1 to 4, written out by tensor so that gates, grouped queries
 * and other widths count as they are (GPT: 34 h + 5 a s). */
static double
layer_bytes (const Megatron *m, MegatronBlock kind)
{
  const Shape *s = m->shape;
  const gboolean experts = kind == BLOCK_EXPERTS;
  const double h = (double) s->hidden, t = (double) m->tp, d = (double) s->head_dim, f = megatron_ffn (m, kind) / t, e = m->llm.element;
  const double context = (double) s->heads / t * d, q = (double) s->heads / t * (double) shape_query_dim (s), mask = m->dropout ? 1 : 0;
  const double kv_heads = fmax ((double) s->kv_heads / t, 1), kv = kv_heads * (d + (double) shape_query_dim (s));   /* keys and values */
  const double squeezed = s->kv_lora_rank > 0 ? 2 * (double) (s->q_lora_rank + s->kv_lora_rank) + (double) s->qk_rope_head_dim : 0;
  const double outside = m->sp ? h / t : h, scores = (double) s->heads / t * (double) s->sequence;
  const double visits = experts ? (double) s->top_k * m->in->spec->imbalance : 1;
  const double gathered = experts ? outside * visits * (m->sp || m->tp == 1 ? (double) m->etp : 1) : outside;   /* inputs of experts */
  const double columns = visits * f, shared = experts ? (double) (s->shared_experts * s->ffn) / t : 0, ways = m->gated ? 3 : 2;
  const gboolean whole = (m->modules & (experts ? MODULE_EXPERTS : MODULE_DENSE)) != 0;
  double bytes;

  if (m->in->training->recompute == RECOMPUTE_FULL)
    return e * outside;
  if (m->in->training->recompute == RECOMPUTE_PER_OP)   /* input, queries, values, context, one half of the gate, output */
    return 2 * e * outside + e * (q + context + kv / 2) + visits * e * f;
  /* inputs of both norms and of the products behind them, masks of both dropouts */
  bytes = outside * (2 * e + 2 * mask + ((m->modules & MODULE_NORM) != 0 ? 0 : 2 * e));
  bytes += ((m->modules & MODULE_UP) != 0 ? 0 : e * (q + kv)) + e * context;   /* queries, keys, values; context */
  bytes += e * squeezed * outside / h;   /* of latent attention, behind and before its norms */
  bytes += m->flash || (m->modules & MODULE_CORE_ATTENTION) != 0 ? 0 : scores * (2 * e + mask);
  if (whole)
    return bytes;
  bytes += e * (gathered - outside) + columns * e * (experts && (m->modules & MODULE_ACTIVATION) != 0 ? ways - 1 : ways);
  return bytes + ((m->modules & MODULE_SHARED) != 0 ? 0 : shared * e * ways);
}

/* Of these, what came from the stage before. */
static double
input_bytes (const Megatron *m)
{
  const double h = (double) m->shape->hidden;

  return m->in->training->recompute == RECOMPUTE_FULL ? 0 : m->llm.element * (m->sp ? h / (double) m->tp : h);
}

/* Passes of a stage that are under way at most: as many as it does forward before
 * the first one back, and one. */
static double
in_flight (const Megatron *m, guint stage)
{
  const double total = (double) (m->v * m->micro_batches), behind = (double) (m->pp - 1 - stage);

  if (m->schedule == SCHEDULE_GPIPE)
    return total;
  if (m->schedule == SCHEDULE_1F1B)
    return fmin (behind + 1, total);
  return fmin (2 * behind + (double) ((m->v - 1) * m->group) + 1, total);
}

static double
activation_bytes (const Megatron *m, guint stage)
{
  const double tokens = (double) m->micro * (double) m->shape->sequence / (double) m->cp, t = (double) m->tp;
  const gboolean last = stage + 1 == m->pp;
  double layers = 0, bytes;

  for (guint chunk = 0; chunk < m->v; chunk++)
    for (MegatronBlock kind = 0; kind < N_BLOCKS; kind++)
      layers += megatron_blocks (m, chunk * (guint) m->pp + stage, kind) * layer_bytes (m, kind);
  bytes = in_flight (m, stage) * (layers / (double) m->v - (m->in->spec->free_inputs ? input_bytes (m) : 0));
  if (last)   /* final norm, its output, logits in 4 bytes; of each further token too, with the product before */
    bytes += (1 + (double) m->shape->mtp_layers) * (2 * m->llm.element * (double) m->shape->hidden / (m->sp ? t : 1) + 4 * megatron_embedding_params (m) / (double) m->shape->hidden);
  return tokens * bytes;
}

/* Two-byte weights, gradients, fp32 weights and state; the last two split by a
 * distributed optimizer. */
static void
stage_memory (const Megatron *m, guint stage, MemoryUse *out)
{
  const double state = 4 + software_optimizer_state (m->in->training->optimizer);
  double dense, experts, all, owned, summed;

  megatron_stage_params (m, stage, &dense, &experts);
  all = dense + experts;
  owned = m->distributed ? dense / (double) (m->dp * m->cp) + experts / (double) m->edp : all;
  summed = m->shard_gradients ? owned + all / (double) m->v : all;   /* and a chunk's on their way */
  *out = (MemoryUse) {
    .weights = all * m->llm.element, .gradients = summed * m->gradient, .optimizer = owned * (m->llm.element < 4 ? state : state - 4),
    .activations = activation_bytes (m, stage), .buffers = m->llm.value[LLM_RESERVE],
  };
  memory_sum (m->in, out);
}

GArray *
megatron_stages (const StepInput *in)
{
  GArray *stages = g_array_new (FALSE, FALSE, sizeof (MemoryStage));
  g_auto (Megatron) m = { 0 };

  if (!megatron_plan (in, &m, NULL))
    return stages;
  for (guint stage = 0; stage < m.pp; stage++)
    {
      MemoryStage one = { .stage = stage + 1 };

      stage_memory (&m, stage, &one.use);
      g_array_append_val (stages, one);
    }
  return stages;
}

/* The stage that needs most. */
void
megatron_memory (const StepInput *in, MemoryUse *out)
{
  g_autoptr (GArray) stages = megatron_stages (in);

  *out = (MemoryUse) { 0 };
  memory_sum (in, out);
  for (guint i = 0; i < stages->len; i++)
    {
      const MemoryUse *use = &g_array_index (stages, MemoryStage, i).use;

      if (use->total > out->total)
        *out = *use;
    }
}
