/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/megatron-plan.h"
#include <math.h>

/* Parameters of one GPU. */

double
megatron_blocks (const Megatron *m, guint virtual_stage, MegatronBlock kind)
{
  const gboolean last = virtual_stage + 1 == megatron_virtual_stages (m);
  const guint64 dense = m->experts ? m->shape->dense_layers : m->shape->layers;
  const guint64 here = m->layers[virtual_stage], further = last && (kind == BLOCK_EXPERTS) == m->experts ? m->shape->mtp_layers : 0;
  guint64 before = 0;

  for (guint at = 0; at < virtual_stage; at++)
    before += m->layers[at];
  const guint64 plain = dense > before ? MIN (dense - before, here) : 0;
  return (double) ((kind == BLOCK_DENSE ? plain : here - plain) + further);
}

double
megatron_ffn (const Megatron *m, MegatronBlock kind)
{
  return (double) (kind == BLOCK_DENSE && m->experts ? m->shape->dense_ffn : m->shape->ffn);
}

/* Key and value heads of one GPU; fewer than GPUs: each has a copy. */
static double
kv_heads (const Megatron *m)
{
  return fmax ((double) m->shape->kv_heads / (double) m->tp, 1);
}

/* Products and norms of latent attention: what squeezes is whole on each GPU
 * (core/transformer/multi_latent_attention.py), what widens and gives is split. */
static double
latent_params (const Megatron *m)
{
  const Shape *s = m->shape;
  const double h = (double) s->hidden, heads = (double) s->heads / (double) m->tp, rank = (double) s->kv_lora_rank, q_rank = (double) s->q_lora_rank;
  const double query = heads * (double) shape_query_dim (s), value = heads * (double) s->v_head_dim, rope = (double) s->qk_rope_head_dim;
  const double queries = q_rank > 0 ? h * q_rank + q_rank + q_rank * query : h * query;

  return queries + h * (rank + rope) + rank + rank * (heads * (double) s->qk_nope_head_dim + value) + value * h;
}

static double
attention_params (const Megatron *m)
{
  const Shape *s = m->shape;
  const double h = (double) s->hidden, d = (double) s->head_dim, q = (double) s->heads / (double) m->tp * d, qkv = q + 2 * kv_heads (m) * d;

  if (s->kv_lora_rank > 0)
    return latent_params (m);
  return h * qkv + q * h + (s->bias == SHAPE_YES ? qkv + h : 0);
}

/* Of a plain feed-forward part, and of what all tokens visit beside experts. */
static double
ffn_params (const Megatron *m, double width)
{
  const double h = (double) m->shape->hidden, f = width / (double) m->tp, ways = m->gated ? 2 : 1;

  return width > 0 ? (ways + 1) * h * f + (m->shape->bias == SHAPE_YES ? ways * f + h : 0) : 0;
}

double
megatron_block_params (const Megatron *m, MegatronBlock kind)
{
  const Shape *s = m->shape;
  const double h = (double) s->hidden, norms = (s->norm == NORM_RMS ? 2 : 4) * h;

  if (kind == BLOCK_DENSE)
    return attention_params (m) + ffn_params (m, megatron_ffn (m, kind)) + norms;
  return attention_params (m) + h * (double) s->experts + ffn_params (m, (double) (s->shared_experts * s->ffn)) + norms;
}

double
megatron_expert_params (const Megatron *m)
{
  const Shape *s = m->shape;
  const double h = (double) s->hidden, f = (double) s->ffn / (double) m->etp, ways = m->gated ? 2 : 1;

  return (double) (s->experts / m->ep) * ((ways + 1) * h * f + (s->bias == SHAPE_YES ? ways * f + h : 0));
}

/* The table is padded to 128 rows a GPU (make-vocab-size-divisible-by). */
double
megatron_embedding_params (const Megatron *m)
{
  const double rows = ceil ((double) m->shape->vocabulary / (128 * (double) m->tp)) * 128;

  return rows * (double) m->shape->hidden;
}

/* What predicts further tokens has norms and a product of its own besides a block, and
 * looks its tokens up: the last stage has the table too (core/transformer/
 * multi_token_prediction.py). */
static double
further_params (const Megatron *m)
{
  const Shape *s = m->shape;
  const double h = (double) s->hidden, norm = (s->norm == NORM_RMS ? 1 : 2) * h;

  if (s->mtp_layers == 0)
    return 0;
  return (double) s->mtp_layers * (3 * norm + 2 * h * h / (double) m->tp) + (m->pp > 1 && s->tied != SHAPE_YES ? megatron_embedding_params (m) : 0);
}

static double
edge_params (const Megatron *m, guint virtual_stage)
{
  const Shape *s = m->shape;
  const gboolean first = virtual_stage == 0, last = virtual_stage + 1 == megatron_virtual_stages (m);
  const double table = megatron_embedding_params (m), norm = (s->norm == NORM_RMS ? 1 : 2) * (double) s->hidden;
  const double positions = s->positions == POSITIONS_LEARNED ? (double) s->max_sequence * (double) s->hidden : 0;

  return (first ? table + positions : 0) + (last ? norm + (m->pp > 1 || s->tied != SHAPE_YES ? table : 0) + further_params (m) : 0);
}

void
megatron_chunk_params (const Megatron *m, guint virtual_stage, double *dense, double *experts)
{
  *dense = edge_params (m, virtual_stage);
  for (MegatronBlock kind = 0; kind < N_BLOCKS; kind++)
    *dense += megatron_blocks (m, virtual_stage, kind) * megatron_block_params (m, kind);
  *experts = megatron_blocks (m, virtual_stage, BLOCK_EXPERTS) * megatron_expert_params (m);
}

void
megatron_stage_params (const Megatron *m, guint stage, double *dense, double *experts)
{
  *dense = *experts = 0;
  for (guint chunk = 0; chunk < m->v; chunk++)
    {
      double one, its;

      megatron_chunk_params (m, chunk * (guint) m->pp + stage, &one, &its);
      *dense += one;
      *experts += its;
    }
}
