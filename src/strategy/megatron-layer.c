/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/megatron-layer.h"
#include "strategy/packed.h"
#include <math.h>

/* Kernels of a transformer layer as Megatron-LM runs them.  Bytes a kernel moves, in
 * whole activations H = tokens x hidden x element: norm 2, dropout with residual 3.5
 * forward and back, softmax 2 scores forward and 3 back, dropout of scores 2.5;
 * backward products are two for one. */

double
layer_add (const MegatronLayer *l, double bytes)
{
  return llm_stream (l->llm, LLM_ADD, bytes);
}

double
layer_product (const MegatronLayer *l, double m, double n, double k, double batch, double *back, double *weight)
{
  const double input = llm_gemm (l->llm, m, k, n, batch), grad = llm_gemm (l->llm, n, k, m, batch);

  *back += input + grad + (l->fused ? 0 : llm_cast (l->llm, batch * m * n));
  if (weight != NULL)
    *weight = grad;
  return llm_gemm (l->llm, m, n, k, batch) + (l->fused ? 0 : llm_cast (l->llm, batch * m * k));
}

/* Scores, softmax, dropout, context: through memory, or fused. */
static void
attention_core (MegatronLayer *l, double *forward, double *back)
{
  const Megatron *m = l->m;
  const double b = (double) m->micro, rows = l->sequence / (double) m->cp, query = l->q / l->heads, value = l->context / l->heads;
  const double products = b * l->heads, scores = l->e * products * rows * l->sequence;

  if (m->flash)
    {
      double sequences = b;
      const double length = packed_length (m->in, l->sequence, &sequences);

      *forward = llm_attention (l->llm, sequences, length, l->heads, l->kv_heads, l->d, 1 / (double) m->cp);
      *back = *forward * l->llm->value[LLM_FLASH_BACKWARD];
      l->whole_attention = llm_attention (l->llm, b, l->sequence, l->heads, l->kv_heads, l->d, 1 / (double) m->cp);
      return;
    }
  *forward = llm_gemm (l->llm, rows, l->sequence, query, products) + llm_gemm (l->llm, rows, value, l->sequence, products)
             + llm_stream (l->llm, LLM_NORM, 2 * scores) + (m->dropout ? layer_add (l, 2.5 * scores) : 0);
  *back = llm_gemm (l->llm, rows, l->sequence, query, products) + llm_gemm (l->llm, rows, l->sequence, value, products)
          + llm_gemm (l->llm, rows, query, l->sequence, products) + llm_gemm (l->llm, rows, value, l->sequence, products)
          + layer_add (l, 3 * scores) + (m->dropout ? layer_add (l, 2.5 * scores) : 0);
}

/* A squeezed width: its product, of tokens outside tensor-parallel parts, and its norm. */
static double
squeeze (const MegatronLayer *l, double width, double extra, LayerCost *out)
{
  const double tokens = l->tokens / (l->m->sp ? l->t : 1);
  const double seconds = layer_product (l, tokens, width + extra, l->h, 1, &out->backward, NULL);

  out->forward += seconds + llm_stream (l->llm, LLM_NORM, 2 * l->e * tokens * width);
  out->backward += llm_stream (l->llm, LLM_NORM, 5 * l->e * tokens * width);
  return seconds;
}

/* core/transformer/multi_latent_attention.py. */
static void
latent_products (MegatronLayer *l, LayerCost *out)
{
  const Shape *s = l->m->shape;
  const double rank = (double) s->kv_lora_rank, q_rank = (double) s->q_lora_rank;
  double weight;

  if (q_rank > 0)
    l->kept += squeeze (l, q_rank, 0, out);
  l->up = layer_product (l, l->tokens, l->q, q_rank > 0 ? q_rank : l->h, 1, &out->backward, &l->qkv_grad);
  l->kept += squeeze (l, rank, (double) s->qk_rope_head_dim, out);
  l->up += layer_product (l, l->tokens, l->heads * (double) s->qk_nope_head_dim + l->v, rank, 1, &out->backward, &weight);
  l->qkv_grad += weight;
  out->forward += l->up;
}

static void
attention_part (MegatronLayer *l, LayerCost *out)
{
  const Shape *s = l->m->shape;
  const double columns = l->q + l->k + l->v, bias = s->bias == SHAPE_YES ? 1 : 0;
  const double pass = l->e * l->tokens;   /* bytes of a column, read or written once */

  out->forward += llm_stream (l->llm, LLM_NORM, 2 * l->split);
  if (s->kv_lora_rank > 0)
    latent_products (l, out);
  else
    {
      const double qkv = layer_product (l, l->tokens, columns, l->h, 1, &out->backward, &l->qkv_grad);

      out->forward += qkv;
      l->kept += qkv * (l->q + l->v) / columns;   /* queries and values; not keys, not the projection */
    }
  if (bias > 0)
    out->forward += layer_add (l, 2 * pass * columns);
  if (s->positions == POSITIONS_ROTARY)
    {
      const double turn = layer_add (l, 2 * pass * (l->q + l->k));   /* latent: and the parts of each put together */

      l->up += turn;
      out->forward += turn;
      out->backward += layer_add (l, 2 * pass * (l->q + l->k));
    }
  attention_core (l, &l->attention, &l->attention_back);
  out->forward += l->attention;
  out->backward += l->attention_back;
  if (!l->m->flash)
    {
      out->forward += layer_add (l, 2 * l->whole / l->t);   /* transpose of the context */
      out->backward += layer_add (l, 2 * l->whole / l->t) + layer_add (l, 2 * pass * columns);
    }
  if (bias > 0)
    out->backward += layer_add (l, pass * columns);
  out->forward += layer_product (l, l->tokens, l->h, l->context, 1, &out->backward, NULL);
  l->norms = 2 * llm_stream (l->llm, LLM_NORM, 2 * l->split);
}

/* `local` feed-forward parts of width f that take `visits` tokens in all. */
static void
feed_forward (MegatronLayer *l, double visits, double f, double local, double *up_grad, LayerCost *out)
{
  const double pass = l->e * visits * f, each = visits / local, ways = l->m->gated ? 2 : 1;
  double up, down;

  up = layer_product (l, each, ways * f, l->h, local, &out->backward, up_grad);
  out->forward += up;
  if (!l->fused)
    {
      out->forward += llm_stream (l->llm, LLM_ACTIVATION, (ways + 1) * pass);
      out->backward += llm_stream (l->llm, LLM_ACTIVATION, (l->m->gated ? 5 : 3) * pass);
    }
  if (l->m->shape->bias == SHAPE_YES)
    out->backward += layer_add (l, pass);
  down = layer_product (l, each, l->h, f, local, &out->backward, NULL);
  out->forward += down;
  l->kept += l->m->gated ? up / 2 + down : up;
}

double
megatron_expert_operators (const Megatron *m, gboolean back)
{
  const double *of = m->llm.value, each = of[back ? LLM_EXPERT_OPERATORS_BACK : LLM_EXPERT_OPERATORS] + (m->llm.fp8 ? of[LLM_EXPERT_OPERATORS_FP8] : 0);

  return of[back ? LLM_EXPERTS_OPERATORS_BACK : LLM_EXPERTS_OPERATORS] + each * (double) (m->shape->experts / m->ep);
}

/* Each token visits top-k experts; those of one GPU see what of all GPUs' tokens
 * falls to them, the busiest more. */
static void
ffn_part (MegatronLayer *l, LayerCost *out)
{
  const Shape *s = l->m->shape;
  const gboolean experts = l->kind == BLOCK_EXPERTS;

  out->forward += llm_stream (l->llm, LLM_NORM, 2 * l->split);
  l->ffn = -out->forward;
  if (experts)
    {
      out->forward += layer_product (l, l->tokens / (l->m->sp ? l->t : 1), (double) s->experts, l->h, 1, &out->backward, NULL);
      l->fused = l->m->fused_experts;   /* the dispatcher permutes as it sends */
      out->forward += l->fused ? 0 : 2 * layer_add (l, 2 * l->e * l->sent * l->h);   /* permuted, and back */
      out->backward += l->fused ? 0 : 2 * layer_add (l, 2 * l->e * l->sent * l->h);
    }
  for (guint pass = 0; experts && pass < 2; pass++)   /* what is small takes its least */
    *(pass == 0 ? &out->forward : &out->backward) += megatron_expert_operators (l->m, pass == 1) * llm_stream (l->llm, LLM_ADD, 0);
  feed_forward (l, l->visits, l->f, experts ? (double) (s->experts / l->m->ep) : 1, &l->up_grad, out);
  l->activation = experts && !l->fused ? llm_stream (l->llm, LLM_ACTIVATION, (l->m->gated ? 3 : 2) * l->e * l->visits * l->f) : 0;
  l->fused = FALSE;
  if (l->shared > 0)
    {
      l->common = -out->forward;
      feed_forward (l, l->tokens, l->shared, 1, &l->up_grad, out);
      l->common += out->forward;
      out->forward += layer_add (l, 3 * l->split);   /* its sum with what the experts gave */
    }
  l->ffn += out->forward;
}

static void
residual_part (MegatronLayer *l, LayerCost *out)
{
  const gboolean dropout = l->m->dropout;
  const double params = megatron_block_params (l->m, l->kind) + (l->kind == BLOCK_EXPERTS ? megatron_expert_params (l->m) : 0);

  out->forward += 2 * layer_add (l, (dropout ? 3.5 : 3) * l->split);
  out->backward += 2 * llm_stream (l->llm, LLM_NORM, 5 * l->split) + 2 * layer_add (l, 3 * l->split) + (dropout ? 2 * layer_add (l, 3.5 * l->split) : 0);
  if (l->llm->value[LLM_ACCUMULATE_BYTES] > 0 && !l->llm->ideal)
    out->backward += layer_add (l, l->llm->value[LLM_ACCUMULATE_BYTES] * params);
}

MegatronLayer
megatron_layer_of (const Megatron *m, MegatronBlock kind)
{
  const Shape *s = m->shape;
  const gboolean experts = kind == BLOCK_EXPERTS;
  const double rope = (double) s->qk_rope_head_dim, query = (double) shape_query_dim (s), value = (double) s->head_dim;
  MegatronLayer l = {
    .m = m, .llm = &m->llm, .e = m->llm.element, .sequence = (double) s->sequence, .h = (double) s->hidden, .t = (double) m->tp,
    .kind = kind, .heads = (double) s->heads / (double) m->tp, .d = (query + value) / 2,
    .f = megatron_ffn (m, kind) / (double) (experts ? m->etp : m->tp),
    .shared = experts ? (double) (s->shared_experts * s->ffn) / (double) m->tp : 0,
  };

  l.tokens = (double) m->micro * l.sequence / (double) m->cp * packed_tokens (m->in);
  l.kv_heads = fmax ((double) s->kv_heads / l.t, 1);
  l.q = l.heads * query;
  l.k = l.kv_heads * query;
  l.v = l.kv_heads * value;
  l.context = l.heads * value;
  l.input = s->kv_lora_rank == 0 ? l.h : (s->q_lora_rank > 0 ? (double) s->q_lora_rank : l.h) + (double) s->kv_lora_rank + rope;
  l.whole = l.e * l.tokens * l.h;
  l.split = m->sp ? l.whole / l.t : l.whole;
  l.sent = l.tokens / (m->sp ? l.t : 1) * (experts ? (double) s->top_k * m->in->spec->imbalance : 1);
  l.visits = experts ? l.sent * (layer_copies (m) ? 1 : (double) m->etp) : l.tokens;
  return l;
}

/* Selective, by module; a part of one that is named too runs once. */
static double
modules_again (const MegatronLayer *l)
{
  const guint modules = l->m->modules;
  const gboolean experts = l->kind == BLOCK_EXPERTS, whole = (modules & (experts ? MODULE_EXPERTS : MODULE_DENSE)) != 0;
  double seconds = 0;

  seconds += (modules & MODULE_CORE_ATTENTION) != 0 ? l->attention : 0;
  seconds += (modules & MODULE_NORM) != 0 ? l->norms : 0;
  seconds += (modules & MODULE_UP) != 0 ? l->up : 0;
  if (whole)
    return seconds + l->ffn;
  seconds += experts && (modules & MODULE_ACTIVATION) != 0 ? l->activation : 0;
  return seconds + (experts && (modules & MODULE_SHARED) != 0 ? l->common : 0);
}

/* Seconds of the forward pass that run again: all, some parts, or (torchtitan,
 * by op) all but attention and every other product.  By op the outputs of
 * reduce-scatters are kept; inputs are gathered again in any case. */
static double
repeated (const MegatronLayer *l, double forward)
{
  switch (l->m->in->training->recompute)
    {
    case RECOMPUTE_FULL:
      return forward;
    case RECOMPUTE_SELECTIVE:
      return modules_again (l);
    case RECOMPUTE_PER_OP:
      return forward - l->attention - l->kept;
    default:
      return 0;
    }
}

static double
attention_again (const MegatronLayer *l)
{
  const int recompute = l->m->in->training->recompute;

  return recompute == RECOMPUTE_FULL || (recompute == RECOMPUTE_SELECTIVE && (l->m->modules & MODULE_CORE_ATTENTION) != 0) ? l->attention : 0;
}

gboolean
megatron_layer_cost (MegatronLayer *l, LayerCost *out, GError **error)
{
  attention_part (l, out);
  ffn_part (l, out);
  residual_part (l, out);
  out->again = repeated (l, out->forward);
  out->attention[0] = l->attention;
  out->attention[1] = l->attention_back + attention_again (l);
  out->whole_attention = l->whole_attention;
  return megatron_layer_calls (l, out, error);
}
