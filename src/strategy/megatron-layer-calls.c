/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/megatron-layer.h"

/* The collectives of a transformer layer as Megatron-LM calls them, and what of each
 * shows beside the kernels. */

double
layer_shown (double call, double beside)
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
tensor_calls (const MegatronLayer *l, LayerCost *out, GError **error)
{
  const Megatron *m = l->m;
  const gboolean async = l->llm->value[LLM_ASYNC_BACKWARD] > 0;
  const double left = 1 - (m->tp_overlap ? l->llm->value[LLM_TP_OVERLAP] : 0);
  const double beside[2] = { async ? l->qkv_grad : 0, async ? l->up_grad : 0 };
  const gboolean apart = l->kind == BLOCK_EXPERTS && !layer_copies (m);   /* experts have calls of their own */

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
              || !megatron_add_calls (m, GROUP_TENSOR, OP_ALL_REDUCE, input, m->tp_overlap ? left : layer_shown (reduce, beside[half]), &out->tensor[1],
                                      NULL, error))
            return FALSE;
          continue;
        }
      if (!megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, input, left, &out->tensor[0], &gather, error)
          || !megatron_add_calls (m, GROUP_TENSOR, OP_REDUCE_SCATTER, size, left, &out->tensor[0], &scatter, error)
          || !megatron_add_calls (m, GROUP_TENSOR, OP_REDUCE_SCATTER, input, 0, &out->tensor[1], &back, error)
          || !megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, size, left, &out->tensor[1], NULL, error)
          || !megatron_add_calls (m, GROUP_TENSOR, OP_ALL_GATHER, input, m->tp_overlap ? left : layer_shown (gather, beside[half]), &out->tensor[1],
                                  NULL, error)
          || !megatron_add_calls (m, GROUP_TENSOR, OP_REDUCE_SCATTER, input, m->tp_overlap ? left : layer_shown (back, beside[half]),
                                  &out->tensor[1], NULL, error))
        return FALSE;
    }
  return TRUE;
}

/* Keys and values of the other GPUs (cp-comm): a ring of cp - 1 steps beside the
 * blocks of attention, twice as many bytes back; or gathered; or heads for tokens. */
static gboolean
context_calls (const MegatronLayer *l, LayerCost *out, GError **error)
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
         && megatron_add_calls (m, GROUP_CONTEXT, OP_SEND_RECV, block, (c - 1) * layer_shown (step, l->attention / c), &out->context[0], NULL, error)
         && megatron_add_calls (m, GROUP_CONTEXT, OP_SEND_RECV, 2 * block, (c - 1) * layer_shown (back, l->attention_back / c), &out->context[1], NULL, error);
}

/* There or back.  A token goes to each expert it visits; or once to each node with some
 * of them and from there on to their GPUs as it comes, so that the slower leg shows
 * (DeepEP: normal kernels; HybridEP). */
static gboolean
exchange (const MegatronLayer *l, MegatronCalls *calls, GError **error)
{
  const Megatron *m = l->m;
  const guint64 boxes = megatron_expert_boxes (m);
  const double sent = l->e * l->sent * l->h, token = sent / (double) m->shape->top_k;
  const double near = token * megatron_visited (m, m->ep), far = token * megatron_visited (m, boxes);
  double slow[2] = { 0, 0 };

  if (!m->send_once)
    return megatron_add_calls (m, GROUP_EXPERT, OP_ALL_TO_ALL, sent, 2, calls, NULL, error);
  if (boxes == 1)
    return megatron_add_calls (m, GROUP_EXPERT, OP_ALL_TO_ALL, near, 2, calls, NULL, error);
  if (!megatron_add_calls (m, GROUP_EXPERT, OP_ALL_TO_ALL, far, 0, calls, &slow[0], error)
      || !megatron_add_calls (m, GROUP_EXPERT_NODE, OP_ALL_TO_ALL, near, 0, calls, &slow[1], error))
    return FALSE;
  return slow[0] >= slow[1] ? megatron_add_calls (m, GROUP_EXPERT, OP_ALL_TO_ALL, far, 2, calls, NULL, error)
                            : megatron_add_calls (m, GROUP_EXPERT_NODE, OP_ALL_TO_ALL, near, 2, calls, NULL, error);
}

/* Routed tokens go to their experts and come back, the busiest GPU's last.  GPUs that
 * share an expert gather its tokens behind that and reduce-scatter what comes of them;
 * nothing runs beside, and the gathered ones stay for the backward pass
 * (core/transformer/moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher). */
static gboolean
expert_calls (const MegatronLayer *l, LayerCost *out, GError **error)
{
  const Megatron *m = l->m;
  const double gathered = layer_copies (m) ? 0 : l->e * l->visits * l->h;

  for (guint pass = 0; l->kind == BLOCK_EXPERTS && pass < 2; pass++)
    if (!exchange (l, &out->expert[pass], error)
        || !megatron_add_calls (m, GROUP_EXPERT_TENSOR, OP_ALL_GATHER, gathered, 1, &out->expert_tensor[pass], NULL, error)
        || !megatron_add_calls (m, GROUP_EXPERT_TENSOR, OP_REDUCE_SCATTER, gathered, 1, &out->expert_tensor[pass], NULL, error))
      return FALSE;
  return TRUE;
}

gboolean
megatron_layer_calls (const MegatronLayer *l, LayerCost *out, GError **error)
{
  return tensor_calls (l, out, error) && context_calls (l, out, error) && expert_calls (l, out, error);
}
