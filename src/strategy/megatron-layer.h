/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/megatron-plan.h"

/* Between megatron-layer.c, megatron-layer-calls.c and megatron-work.c. */

/* A transformer layer as one GPU computes it. */
typedef struct
{
  const Megatron *m;
  const LlmModel *llm;
  gboolean fused;              /* products now come with their casts and gates */
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
} MegatronLayer;

/* Of one layer, or of all of a virtual stage. */
typedef struct
{
  double forward, backward, again;   /* s of kernels; again: recomputed */
  double attention[2], whole_attention;   /* of them attention, with what of it is recomputed; forward over whole sequences */
  MegatronCalls tensor[2], context[2], expert[2], expert_tensor[2];   /* nothing hides them: forward, backward */
} LayerCost;

MegatronLayer megatron_layer_of    (const Megatron *m, MegatronBlock kind);
/* Prices its kernels and collectives; notes in the layer what either needs of the other. */
gboolean      megatron_layer_cost  (MegatronLayer *layer, LayerCost *out, GError **error);
/* The collectives alone, once the kernels are priced. */
gboolean      megatron_layer_calls (const MegatronLayer *layer, LayerCost *out, GError **error);

/* s to stream so many bytes, as an addition does. */
double   layer_add     (const MegatronLayer *layer, double bytes);
/* s of `batch` products of m x k by k x n; *back grows by their two gradients',
 * *weight: that of the weight's (may be NULL). */
double   layer_product (const MegatronLayer *layer, double m, double n, double k, double batch, double *back, double *weight);
/* Operators of a layer of experts beside a dense one's: router, dispatcher, and what
 * is launched for each expert of a GPU. */
double   megatron_expert_operators (const Megatron *m, gboolean back);
/* What share of a collective shows beside a kernel; both in s. */
double   layer_shown   (double call, double beside);
/* Each tensor-parallel GPU has all tokens, outside its parts of a layer too. */
static inline gboolean
layer_copies (const Megatron *m)
{
  return m->tp > 1 && !m->sp;
}
