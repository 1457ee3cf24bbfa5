/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/megatron-layer.h"
#include <math.h>

/* What a virtual stage does with one micro-batch: its layers, the ends of the
 * network, and what the host takes longer. */

static void
take_calls (const Megatron *m, PipelineWork *work, const MegatronCalls *calls, const char *label)
{
  if (calls->size > 0)
    work->call[work->n_calls++] = (PipelineCall) { megatron_call (m, calls, label), megatron_group (m, calls->group) };
}

/* Word and position embedding: 7.5 activations forward, 6.5 back and the table's
 * gradient. */
static gboolean
embedding (const MegatronLayer *l, PipelineWork *forward, PipelineWork *backward, MegatronCalls tensor[2], GError **error)
{
  const Megatron *m = l->m;
  const double left = 1 - (m->tp_overlap ? l->llm->value[LLM_TP_OVERLAP] : 0);

  forward->seconds += layer_add (l, 7.5 * l->split);
  backward->seconds += layer_add (l, 6.5 * l->split) + layer_add (l, 8 * megatron_embedding_params (m));
  return megatron_add_calls (m, GROUP_TENSOR, m->sp ? OP_REDUCE_SCATTER : OP_ALL_REDUCE, l->whole, left, &tensor[0], NULL, error)
         && (!m->sp || megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, l->whole, left, &tensor[1], NULL, error));
}

/* Three products, loss, norm. */
static gboolean
output_layer (const MegatronLayer *l, PipelineWork *forward, PipelineWork *backward, MegatronCalls tensor[2], GError **error)
{
  const Megatron *m = l->m;
  const double columns = megatron_embedding_params (m) / l->h, left = 1 - (m->tp_overlap ? l->llm->value[LLM_TP_OVERLAP] : 0);
  double weight = 0, seconds;

  forward->seconds += llm_stream (l->llm, LLM_NORM, 2 * l->split) + layer_add (l, l->llm->value[LLM_LOSS_BYTES] / 2 * l->tokens * columns)
                      + llm_head (l->llm, l->tokens, columns, l->h);
  weight = llm_head (l->llm, columns, l->h, l->tokens);
  backward->seconds += llm_head (l->llm, l->tokens, l->h, columns) + weight;
  backward->seconds += llm_stream (l->llm, LLM_NORM, 5 * l->split) + layer_add (l, l->llm->value[LLM_LOSS_BYTES] / 2 * l->tokens * columns);
  if (l->llm->value[LLM_ACCUMULATE_BYTES] > 0)
    backward->seconds += layer_add (l, l->llm->value[LLM_ACCUMULATE_BYTES] * megatron_embedding_params (m));
  if (l->llm->value[LLM_ASYNC_BACKWARD] <= 0)
    weight = 0;
  if (!megatron_add_calls (m, GROUP_TENSOR, m->sp ? OP_REDUCE_SCATTER : OP_ALL_REDUCE, l->whole, 0, &tensor[1], &seconds, error)
      || !megatron_add_calls (m, GROUP_TENSOR, m->sp ? OP_REDUCE_SCATTER : OP_ALL_REDUCE, l->whole, layer_shown (seconds, weight), &tensor[1], NULL, error))
    return FALSE;
  return !m->sp || megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, l->whole, left, &tensor[0], NULL, error);
}

/* Embedding of the token ahead, norms of it and of the stream, the product that makes
 * them one, and its column-parallel output gathered; the block is counted with the
 * others, the output layer runs again (core/transformer/multi_token_prediction.py). */
static gboolean
predict_further (const MegatronLayer *l, PipelineWork *forward, PipelineWork *backward, MegatronCalls tensor[2], GError **error)
{
  const Megatron *m = l->m;
  const double left = 1 - (m->tp_overlap ? l->llm->value[LLM_TP_OVERLAP] : 0);

  forward->seconds += 2 * llm_stream (l->llm, LLM_NORM, 2 * l->split) + layer_product (l, l->tokens, l->h / l->t, 2 * l->h, 1, &backward->seconds, NULL);
  backward->seconds += 2 * llm_stream (l->llm, LLM_NORM, 5 * l->split);
  return embedding (l, forward, backward, tensor, error) && output_layer (l, forward, backward, tensor, error)
         && megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, m->sp ? 2 * l->whole : 0, left, &tensor[0], NULL, error)
         && megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, l->whole, left, &tensor[0], NULL, error)
         && megatron_add_calls (m, GROUP_TENSOR, m->sp ? OP_REDUCE_SCATTER : OP_ALL_REDUCE, 2 * l->whole, left, &tensor[1], NULL, error);
}

static gboolean
edges (const MegatronLayer *l, guint at, PipelineWork *forward, PipelineWork *backward, MegatronCalls tensor[2], GError **error)
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
  const double routed = megatron_blocks (m, at, BLOCK_EXPERTS), layers = megatron_blocks (m, at, BLOCK_DENSE) + routed;
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
  host = host * layers + routed * megatron_expert_operators (m, back) * of[LLM_HOST_OPERATOR];
  work->host = quick ? 0 : fmax (host + ends * of[LLM_HOST_MICRO_BATCH] / 4 - gpu, 0);
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
  MegatronLayer layer[N_BLOCKS];
  LayerCost cost[N_BLOCKS] = { { 0 }, { 0 } };

  for (MegatronBlock kind = 0; kind < N_BLOCKS; kind++)
    {
      layer[kind] = megatron_layer_of (m, kind);
      if ((kind == BLOCK_EXPERTS ? m->experts : !m->experts || m->shape->dense_layers > 0) && !megatron_layer_cost (&layer[kind], &cost[kind], error))
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
