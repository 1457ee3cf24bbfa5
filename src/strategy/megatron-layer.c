/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/megatron-plan.h"
#include "strategy/packed.h"
#include <math.h>

/* Kernels of a transformer layer as Megatron-LM runs them, and the collectives
 * between them.  Bytes a kernel moves, in whole activations H = tokens x hidden x
 * element: norm 2, dropout with residual 3.5 forward and back, softmax 2 scores
 * forward and 3 back, dropout of scores 2.5; backward products are two for one. */
typedef struct
{
  const Megatron *m;
  const LlmModel *llm;
  double e;                    /* bytes of an element */
  double tokens, sequence;     /* of a GPU before sequence parallelism; of a whole sample */
  MegatronBlock kind;
  double h, t, f, shared;      /* widths of a GPU: hidden whole, of the feed-forward part, of shared experts */
  double heads, kv_heads, d, q, k, v, context;   /* heads; mean width of one; columns of queries, keys, values, what they give */
  double input;                /* width that tensor-parallel GPUs gather before the first half */
  double sent, visits;         /* tokens that a GPU sends to experts, each top-k times; that its own experts get */
  double whole, split;         /* bytes of an activation; of it outside tensor-parallel parts */
  double qkv_grad, up_grad;    /* s of weight gradients that input-gradient collectives run beside */
  double attention;            /* s of the attention core forward */
  double attention_back;
  double whole_attention;      /* s of it forward over whole sequences */
  double norms, up, activation, common, ffn;   /* s forward of what selective recomputation may name: norms, what widens, gates of
                                  experts, shared experts, all of the second half */
  double kept;                 /* s forward of products that recompute by op does not repeat: every other one */
} OneLayer;

/* Of one layer. */
typedef struct
{
  double forward, backward, again;   /* s of kernels; again: recomputed */
  double attention[2], whole_attention;   /* of them attention, with what of it is recomputed; forward over whole sequences */
  MegatronCalls tensor[2], context[2], expert[2], expert_tensor[2];   /* nothing hides them: forward, backward */
} LayerCost;

/* Each tensor-parallel GPU has all tokens, outside its parts of a layer too. */
static gboolean
copies (const Megatron *m)
{
  return m->tp > 1 && !m->sp;
}

static double
add (const OneLayer *l, double bytes)
{
  return llm_stream (l->llm, LLM_ADD, bytes);
}

/* The three products of m x k by k x n; *weight: that of the weight's gradient. */
static double
product (const OneLayer *l, double m, double n, double k, double batch, double *back, double *weight)
{
  const double input = llm_gemm (l->llm, m, k, n, batch), grad = llm_gemm (l->llm, n, k, m, batch);

  *back += input + grad + llm_cast (l->llm, batch * m * n);
  if (weight != NULL)
    *weight = grad;
  return llm_gemm (l->llm, m, n, k, batch) + llm_cast (l->llm, batch * m * k);
}

/* Scores, softmax, dropout, context: through memory, or fused. */
static void
attention_core (OneLayer *l, double *forward, double *back)
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
             + llm_stream (l->llm, LLM_NORM, 2 * scores) + (m->dropout ? add (l, 2.5 * scores) : 0);
  *back = llm_gemm (l->llm, rows, l->sequence, query, products) + llm_gemm (l->llm, rows, l->sequence, value, products)
          + llm_gemm (l->llm, rows, query, l->sequence, products) + llm_gemm (l->llm, rows, value, l->sequence, products)
          + add (l, 3 * scores) + (m->dropout ? add (l, 2.5 * scores) : 0);
}

/* A squeezed width: its product, of tokens outside tensor-parallel parts, and its norm. */
static double
squeeze (const OneLayer *l, double width, double extra, LayerCost *out)
{
  const double tokens = l->tokens / (l->m->sp ? l->t : 1);
  const double seconds = product (l, tokens, width + extra, l->h, 1, &out->backward, NULL);

  out->forward += seconds + llm_stream (l->llm, LLM_NORM, 2 * l->e * tokens * width);
  out->backward += llm_stream (l->llm, LLM_NORM, 5 * l->e * tokens * width);
  return seconds;
}

/* core/transformer/multi_latent_attention.py. */
static void
latent_products (OneLayer *l, LayerCost *out)
{
  const Shape *s = l->m->shape;
  const double rank = (double) s->kv_lora_rank, q_rank = (double) s->q_lora_rank;
  double weight;

  if (q_rank > 0)
    l->kept += squeeze (l, q_rank, 0, out);
  l->up = product (l, l->tokens, l->q, q_rank > 0 ? q_rank : l->h, 1, &out->backward, &l->qkv_grad);
  l->kept += squeeze (l, rank, (double) s->qk_rope_head_dim, out);
  l->up += product (l, l->tokens, l->heads * (double) s->qk_nope_head_dim + l->v, rank, 1, &out->backward, &weight);
  l->qkv_grad += weight;
  out->forward += l->up;
}

static void
attention_part (OneLayer *l, LayerCost *out)
{
  const Shape *s = l->m->shape;
  const double columns = l->q + l->k + l->v, bias = s->bias == SHAPE_YES ? 1 : 0;
  const double pass = l->e * l->tokens;   /* bytes of a column, read or written once */

  out->forward += llm_stream (l->llm, LLM_NORM, 2 * l->split);
  if (s->kv_lora_rank > 0)
    latent_products (l, out);
  else
    {
      const double qkv = product (l, l->tokens, columns, l->h, 1, &out->backward, &l->qkv_grad);

      out->forward += qkv;
      l->kept += qkv * (l->q + l->v) / columns;   /* queries and values; not keys, not the projection */
    }
  if (bias > 0)
    out->forward += add (l, 2 * pass * columns);
  if (s->positions == POSITIONS_ROTARY)
    {
      const double turn = add (l, 2 * pass * (l->q + l->k));   /* latent: and the parts of each put together */

      l->up += turn;
      out->forward += turn;
      out->backward += add (l, 2 * pass * (l->q + l->k));
    }
  attention_core (l, &l->attention, &l->attention_back);
  out->forward += l->attention;
  out->backward += l->attention_back;
  if (!l->m->flash)
    {
      out->forward += add (l, 2 * l->whole / l->t);   /* transpose of the context */
      out->backward += add (l, 2 * l->whole / l->t) + add (l, 2 * pass * columns);
    }
  if (bias > 0)
    out->backward += add (l, pass * columns);
  out->forward += product (l, l->tokens, l->h, l->context, 1, &out->backward, NULL);
  l->norms = 2 * llm_stream (l->llm, LLM_NORM, 2 * l->split);
}

/* `local` feed-forward parts of width f that take `visits` tokens in all. */
static void
feed_forward (OneLayer *l, double visits, double f, double local, double *up_grad, LayerCost *out)
{
  const double pass = l->e * visits * f, each = visits / local, ways = l->m->gated ? 2 : 1;
  double up, down;

  up = product (l, each, ways * f, l->h, local, &out->backward, up_grad);
  out->forward += up;
  out->forward += llm_stream (l->llm, LLM_ACTIVATION, (ways + 1) * pass);
  out->backward += llm_stream (l->llm, LLM_ACTIVATION, (l->m->gated ? 5 : 3) * pass);
  if (l->m->shape->bias == SHAPE_YES)
    out->backward += add (l, pass);
  down = product (l, each, l->h, f, local, &out->backward, NULL);
  out->forward += down;
  l->kept += l->m->gated ? up / 2 + down : up;
}

/* Each token visits top-k experts; those of one GPU see what of all GPUs' tokens
 * falls to them, the busiest more. */
static void
ffn_part (OneLayer *l, LayerCost *out)
{
  const Shape *s = l->m->shape;
  const gboolean experts = l->kind == BLOCK_EXPERTS;

  out->forward += llm_stream (l->llm, LLM_NORM, 2 * l->split);
  l->ffn = -out->forward;
  if (experts)
    {
      out->forward += product (l, l->tokens / (l->m->sp ? l->t : 1), (double) s->experts, l->h, 1, &out->backward, NULL);
      out->forward += 2 * add (l, 2 * l->e * l->sent * l->h);   /* permuted, and back */
      out->backward += 2 * add (l, 2 * l->e * l->sent * l->h);
    }
  feed_forward (l, l->visits, l->f, experts ? (double) (s->experts / l->m->ep) : 1, &l->up_grad, out);
  l->activation = experts ? llm_stream (l->llm, LLM_ACTIVATION, (l->m->gated ? 3 : 2) * l->e * l->visits * l->f) : 0;
  if (l->shared > 0)
    {
      l->common = -out->forward;
      feed_forward (l, l->tokens, l->shared, 1, &l->up_grad, out);
      l->common += out->forward;
      out->forward += add (l, 3 * l->split);   /* its sum with what the experts gave */
    }
  l->ffn += out->forward;
}

static void
residual_part (OneLayer *l, LayerCost *out)
{
  const gboolean dropout = l->m->dropout;

  out->forward += 2 * add (l, (dropout ? 3.5 : 3) * l->split);
  out->backward += 2 * llm_stream (l->llm, LLM_NORM, 5 * l->split) + 2 * add (l, 3 * l->split) + (dropout ? 2 * add (l, 3.5 * l->split) : 0);
  out->backward += l->llm->value[LLM_ACCUMULATE_BYTES] > 0 && !l->llm->ideal
                     ? add (l, l->llm->value[LLM_ACCUMULATE_BYTES] * (megatron_block_params (l->m, l->kind)
                                                                       + (l->kind == BLOCK_EXPERTS ? megatron_expert_params (l->m) : 0))) : 0;
}

/* What of a collective shows beside a kernel. */
static double
shown (double call, double beside)
{
  return call > beside && call > 0 ? 1 - beside / call : 0;
}

/* Before and behind each half of a layer.  Without sequence parallelism: an
 * all-reduce behind each half, and one of each half's input gradient, which runs
 * beside the weight gradient.  With it: all-gather before and reduce-scatter behind;
 * backward the same of gradients, of which the one behind runs beside the weight
 * gradient, and the input is gathered again beside the input gradient.  Latent
 * attention gathers what is squeezed, not the stream. */
static gboolean
tensor_calls (const OneLayer *l, LayerCost *out, GError **error)
{
  const Megatron *m = l->m;
  const gboolean async = l->llm->value[LLM_ASYNC_BACKWARD] > 0;
  const double left = 1 - (m->tp_overlap ? l->llm->value[LLM_TP_OVERLAP] : 0);
  const double beside[2] = { async ? l->qkv_grad : 0, async ? l->up_grad : 0 };
  const gboolean apart = l->kind == BLOCK_EXPERTS && !copies (m);   /* experts have calls of their own */

  for (guint half = 0; half < 2; half++)
    {
      const double size = half == 1 && l->kind == BLOCK_EXPERTS ? (apart ? 0 : l->e * l->visits * l->h) + (l->shared > 0 ? l->whole : 0) : l->whole;
      const double input = half == 0 ? l->e * l->tokens * l->input : size;
      double gather, scatter, back, reduce;

      if (size <= 0)
        continue;
      if (!m->sp)
        {
          if (!megatron_add_calls (m, GROUP_TENSOR, OP_ALL_REDUCE, size, left, &out->tensor[0], &reduce, error)
              || !megatron_add_calls (m, GROUP_TENSOR, OP_ALL_REDUCE, input, 0, &out->tensor[1], &reduce, error)
              || !megatron_add_calls (m, GROUP_TENSOR, OP_ALL_REDUCE, input, m->tp_overlap ? left : shown (reduce, beside[half]), &out->tensor[1],
                                      NULL, error))
            return FALSE;
          continue;
        }
      if (!megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, input, left, &out->tensor[0], &gather, error)
          || !megatron_add_calls (m, GROUP_TENSOR, OP_REDUCE_SCATTER, size, left, &out->tensor[0], &scatter, error)
          || !megatron_add_calls (m, GROUP_TENSOR, OP_REDUCE_SCATTER, input, 0, &out->tensor[1], &back, error)
          || !megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, size, left, &out->tensor[1], NULL, error)
          || !megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, input, m->tp_overlap ? left : shown (gather, beside[half]), &out->tensor[1],
                                  NULL, error)
          || !megatron_add_calls (m, GROUP_TENSOR, OP_REDUCE_SCATTER, input, m->tp_overlap ? left : shown (back, beside[half]),
                                  &out->tensor[1], NULL, error))
        return FALSE;
    }
  return TRUE;
}

/* Keys and values of the other GPUs (cp-comm): a ring of cp - 1 steps beside the
 * blocks of attention, twice as many bytes back; or gathered; or heads for tokens. */
static gboolean
context_calls (const OneLayer *l, LayerCost *out, GError **error)
{
  const Megatron *m = l->m;
  const double c = (double) m->cp, block = l->e * l->tokens * (l->k + l->v), own = l->e * l->tokens;
  double step, back;

  if (m->cp == 1)
    return TRUE;
  if (m->in->spec->cp_comm == CP_COMM_ALL_GATHER)
    return megatron_add_calls (m, GROUP_CONTEXT, OP_ALL_GATHER, c * block, 1, &out->context[0], NULL, error)
           && megatron_add_calls (m, GROUP_CONTEXT, OP_ALL_GATHER, c * block, 1, &out->context[1], NULL, error)
           && megatron_add_calls (m, GROUP_CONTEXT, OP_REDUCE_SCATTER, c * block, 1, &out->context[1], NULL, error);
  if (m->in->spec->cp_comm == CP_COMM_A2A)
    {
      for (guint pass = 0; pass < 2; pass++)
        if (!megatron_add_calls (m, GROUP_CONTEXT, OP_ALL_TO_ALL, own * (l->q + l->context) / 2, 2, &out->context[pass], NULL, error)
            || !megatron_add_calls (m, GROUP_CONTEXT, OP_ALL_TO_ALL, own * (l->k + l->v) / 2, 2, &out->context[pass], NULL, error))
          return FALSE;
      return TRUE;
    }
  return megatron_add_calls (m, GROUP_CONTEXT, OP_SEND_RECV, block, 0, &out->context[0], &step, error)
         && megatron_add_calls (m, GROUP_CONTEXT, OP_SEND_RECV, 2 * block, 0, &out->context[1], &back, error)
         && megatron_add_calls (m, GROUP_CONTEXT, OP_SEND_RECV, block, (c - 1) * shown (step, l->attention / c), &out->context[0], NULL, error)
         && megatron_add_calls (m, GROUP_CONTEXT, OP_SEND_RECV, 2 * block, (c - 1) * shown (back, l->attention_back / c), &out->context[1], NULL, error);
}

/* Routed tokens go to their experts and come back, the busiest GPU's last.  GPUs that
 * share an expert gather its tokens behind that and reduce-scatter what comes of them;
 * nothing runs beside, and the gathered ones stay for the backward pass
 * (core/transformer/moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher). */
static gboolean
expert_calls (const OneLayer *l, LayerCost *out, GError **error)
{
  const Megatron *m = l->m;
  const double sent = l->e * l->sent * l->h, gathered = copies (m) ? 0 : l->e * l->visits * l->h;

  for (guint pass = 0; l->kind == BLOCK_EXPERTS && pass < 2; pass++)
    if (!megatron_add_calls (m, GROUP_EXPERT, OP_ALL_TO_ALL, sent, 2, &out->expert[pass], NULL, error)
        || !megatron_add_calls (m, GROUP_EXPERT_TENSOR, OP_ALL_GATHER, gathered, 1, &out->expert_tensor[pass], NULL, error)
        || !megatron_add_calls (m, GROUP_EXPERT_TENSOR, OP_REDUCE_SCATTER, gathered, 1, &out->expert_tensor[pass], NULL, error))
      return FALSE;
  return TRUE;
}

static OneLayer
layer_of (const Megatron *m, MegatronBlock kind)
{
  const Shape *s = m->shape;
  const gboolean experts = kind == BLOCK_EXPERTS;
  const double rope = (double) s->qk_rope_head_dim, query = (double) shape_query_dim (s), value = (double) s->head_dim;
  OneLayer l = {
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
  l.visits = experts ? l.sent * (copies (m) ? 1 : (double) m->etp) : l.tokens;
  return l;
}

/* Selective, by module; a part of one that is named too runs once. */
static double
modules_again (const OneLayer *l)
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
repeated (const OneLayer *l, double forward)
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
attention_again (const OneLayer *l)
{
  const int recompute = l->m->in->training->recompute;

  return recompute == RECOMPUTE_FULL || (recompute == RECOMPUTE_SELECTIVE && (l->m->modules & MODULE_CORE_ATTENTION) != 0) ? l->attention : 0;
}

static gboolean
layer_cost (OneLayer *l, LayerCost *out, GError **error)
{

  attention_part (l, out);
  ffn_part (l, out);
  residual_part (l, out);
  out->again = repeated (l, out->forward);
  out->attention[0] = l->attention;
  out->attention[1] = l->attention_back + attention_again (l);
  out->whole_attention = l->whole_attention;
  return tensor_calls (l, out, error) && context_calls (l, out, error) && expert_calls (l, out, error);
}

static void
take_calls (const Megatron *m, PipelineWork *work, const MegatronCalls *calls, const char *label)
{
  if (calls->size > 0)
    work->call[work->n_calls++] = (PipelineCall) { megatron_call (m, calls, label), megatron_group (m, calls->group) };
}

/* Word and position embedding: 7.5 activations forward, 6.5 back and the table's
 * gradient. */
static gboolean
embedding (const OneLayer *l, PipelineWork *forward, PipelineWork *backward, MegatronCalls tensor[2], GError **error)
{
  const Megatron *m = l->m;
  const double left = 1 - (m->tp_overlap ? l->llm->value[LLM_TP_OVERLAP] : 0);

  forward->seconds += add (l, 7.5 * l->split);
  backward->seconds += add (l, 6.5 * l->split) + add (l, 8 * megatron_embedding_params (m));
  return megatron_add_calls (m, GROUP_TENSOR, m->sp ? OP_REDUCE_SCATTER : OP_ALL_REDUCE, l->whole, left, &tensor[0], NULL, error)
         && (!m->sp || megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, l->whole, left, &tensor[1], NULL, error));
}

/* Three products, loss, norm. */
static gboolean
output_layer (const OneLayer *l, PipelineWork *forward, PipelineWork *backward, MegatronCalls tensor[2], GError **error)
{
  const Megatron *m = l->m;
  const double columns = megatron_embedding_params (m) / l->h, left = 1 - (m->tp_overlap ? l->llm->value[LLM_TP_OVERLAP] : 0);
  double weight = 0, seconds;

  forward->seconds += llm_stream (l->llm, LLM_NORM, 2 * l->split) + add (l, l->llm->value[LLM_LOSS_BYTES] / 2 * l->tokens * columns)
                      + llm_head (l->llm, l->tokens, columns, l->h);
  weight = llm_head (l->llm, columns, l->h, l->tokens);
  backward->seconds += llm_head (l->llm, l->tokens, l->h, columns) + weight;
  backward->seconds += llm_stream (l->llm, LLM_NORM, 5 * l->split) + add (l, l->llm->value[LLM_LOSS_BYTES] / 2 * l->tokens * columns);
  if (l->llm->value[LLM_ACCUMULATE_BYTES] > 0)
    backward->seconds += add (l, l->llm->value[LLM_ACCUMULATE_BYTES] * megatron_embedding_params (m));
  if (l->llm->value[LLM_ASYNC_BACKWARD] <= 0)
    weight = 0;
  if (!megatron_add_calls (m, GROUP_TENSOR, m->sp ? OP_REDUCE_SCATTER : OP_ALL_REDUCE, l->whole, 0, &tensor[1], &seconds, error)
      || !megatron_add_calls (m, GROUP_TENSOR, m->sp ? OP_REDUCE_SCATTER : OP_ALL_REDUCE, l->whole, shown (seconds, weight), &tensor[1], NULL, error))
    return FALSE;
  return !m->sp || megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, l->whole, left, &tensor[0], NULL, error);
}

/* Embedding of the token ahead, norms of it and of the stream, the product that makes
 * them one, and its column-parallel output gathered; the block is counted with the
 * others, the output layer runs again (core/transformer/multi_token_prediction.py). */
static gboolean
predict_further (const OneLayer *l, PipelineWork *forward, PipelineWork *backward, MegatronCalls tensor[2], GError **error)
{
  const Megatron *m = l->m;
  const double left = 1 - (m->tp_overlap ? l->llm->value[LLM_TP_OVERLAP] : 0);

  forward->seconds += 2 * llm_stream (l->llm, LLM_NORM, 2 * l->split) + product (l, l->tokens, l->h / l->t, 2 * l->h, 1, &backward->seconds, NULL);
  backward->seconds += 2 * llm_stream (l->llm, LLM_NORM, 5 * l->split);
  return embedding (l, forward, backward, tensor, error) && output_layer (l, forward, backward, tensor, error)
         && megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, m->sp ? 2 * l->whole : 0, left, &tensor[0], NULL, error)
         && megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, l->whole, left, &tensor[0], NULL, error)
         && megatron_add_calls (m, GROUP_TENSOR, m->sp ? OP_REDUCE_SCATTER : OP_ALL_REDUCE, 2 * l->whole, left, &tensor[1], NULL, error);
}

static gboolean
edges (const OneLayer *l, guint at, PipelineWork *forward, PipelineWork *backward, MegatronCalls tensor[2], GError **error)
{
  if (at == 0 && !embedding (l, forward, backward, tensor, error))
    return FALSE;
  if (at + 1 < megatron_virtual_stages (l->m))
    return TRUE;
  for (guint64 i = 0; i < l->m->shape->mtp_layers; i++)
    if (!predict_further (l, forward, backward, tensor, error))
      return FALSE;
  return output_layer (l, forward, backward, tensor, error);
}

/* What the host takes longer than the GPU. */
static void
add_host (const Megatron *m, PipelineWork *work, guint at, gboolean back)
{
  const double layers = megatron_blocks (m, at, BLOCK_DENSE) + megatron_blocks (m, at, BLOCK_EXPERTS);
  const guint ends = (at == 0) + (at + 1 == megatron_virtual_stages (m));   /* embedding, head */
  const double *of = m->llm.value;
  const int recompute = m->in->training->recompute;
  const gboolean quick = m->in->spec->host == HOST_CUDA_GRAPH;
  double host = of[back ? LLM_HOST_BACKWARD : LLM_HOST_FORWARD], gpu = work->seconds;

  const double ahead = m->tp == 1 ? 0 : m->sp ? 4 : 2, behind = m->tp == 1 ? 0 : m->sp ? 6 : 2;

  host += of[LLM_HOST_COLLECTIVE] * (back ? behind + (recompute == RECOMPUTE_FULL ? ahead : 0) : ahead);
  if (recompute == RECOMPUTE_FULL)
    host += back ? of[LLM_HOST_RECOMPUTE] + of[LLM_HOST_CHECKPOINT] / 2 : of[LLM_HOST_CHECKPOINT] / 2;
  for (guint i = 0; i < work->n_calls; i++)
    gpu += work->call[i].call.flow.latency + work->call[i].call.call.size / work->call[i].call.flow.cap;
  work->host = quick ? 0 : fmax (host * layers + ends * of[LLM_HOST_MICRO_BATCH] / 4 - gpu, 0);
}

/* `n` layers of a kind more. */
static void
pile_layers (const Megatron *m, const LayerCost *cost, double n, LayerCost *on)
{
  const double twice = m->in->training->recompute == RECOMPUTE_FULL ? n : 0, routed = (m->modules & MODULE_EXPERTS) != 0 ? n : twice;

  on->forward += n * cost->forward;
  on->backward += n * (cost->backward + cost->again);
  on->whole_attention += n * cost->whole_attention;
  for (guint pass = 0; pass < 2; pass++)
    {
      on->attention[pass] += n * cost->attention[pass];
      megatron_pile (&on->tensor[pass], &cost->tensor[pass], n);
      megatron_pile (&on->tensor[pass], &cost->tensor[0], pass * twice);
      megatron_pile (&on->context[pass], &cost->context[pass], n);
      megatron_pile (&on->context[pass], &cost->context[0], pass * twice);
      megatron_pile (&on->expert[pass], &cost->expert[pass], n);
      megatron_pile (&on->expert[pass], &cost->expert[0], pass * routed);
      megatron_pile (&on->expert_tensor[pass], &cost->expert_tensor[pass], n);
      megatron_pile (&on->expert_tensor[pass], &cost->expert_tensor[0], pass * routed);
    }
}

gboolean
megatron_work (const Megatron *m, PipelineWork *forward, PipelineWork *backward, GError **error)
{
  OneLayer layer[N_BLOCKS];
  LayerCost cost[N_BLOCKS] = { { 0 }, { 0 } };

  for (MegatronBlock kind = 0; kind < N_BLOCKS; kind++)
    {
      layer[kind] = layer_of (m, kind);
      if ((kind == BLOCK_EXPERTS ? m->experts : !m->experts || m->shape->dense_layers > 0) && !layer_cost (&layer[kind], &cost[kind], error))
        return FALSE;
    }
  for (guint at = 0; at < megatron_virtual_stages (m); at++)
    {
      LayerCost all = { 0 };

      for (MegatronBlock kind = 0; kind < N_BLOCKS; kind++)
        pile_layers (m, &cost[kind], megatron_blocks (m, at, kind), &all);
      forward[at] = (PipelineWork) { .seconds = all.forward };
      backward[at] = (PipelineWork) { .seconds = all.backward };
      if (!edges (&layer[BLOCK_DENSE], at, &forward[at], &backward[at], all.tensor, error))
        return FALSE;
      for (guint pass = 0; pass < 2; pass++)
        {
          PipelineWork *work = pass == 0 ? &forward[at] : &backward[at];

          work->attention = work->seconds > 0 ? all.attention[pass] / work->seconds : 0;
          work->whole = all.attention[0] > 0 ? all.whole_attention / all.attention[0] : 1;
          take_calls (m, work, &all.tensor[pass], pass == 0 ? "tensor-parallel forward" : "tensor-parallel backward");
          take_calls (m, work, &all.context[pass], pass == 0 ? "context-parallel forward" : "context-parallel backward");
          take_calls (m, work, &all.expert[pass], pass == 0 ? "expert all-to-all forward" : "expert all-to-all backward");
          take_calls (m, work, &all.expert_tensor[pass], pass == 0 ? "expert tensor-parallel forward" : "expert tensor-parallel backward");
          add_host (m, work, at, pass == 1);
        }
    }
  return TRUE;
}
