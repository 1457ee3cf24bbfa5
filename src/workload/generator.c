/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/generator.h"

#include <math.h>

#include "workload/layers.h"

/* Rows per sample, as counted in models/workload: 2 FLOP a MAC and one an added
 * bias; bytes fp32, inputs read and outputs written, weights left out; attention
 * writes its scores and reads them back; causal attention does half of the
 * products.  FLOP and bytes an element of the other kernels stand below. */
typedef struct
{
  LayerList   *list;
  const Shape *shape;
  guint        layer;         /* block in which the next rows lie; G_MAXUINT: none */
  const char  *prefix;        /* of a block: "h%u." */
  double       s, h, heads, q, kv;   /* tokens; widths of the stream, the heads, what attention gives, values */
  double       query, key;
} Generator;

#define NO_BLOCK G_MAXUINT

static void
add (Generator *g, const char *name, LayerKind kind, double out, double flop, double bytes, double m, double n, double k)
{
  g_autofree char *full = g->layer == NO_BLOCK ? g_strdup (name) : g_strdup_printf ("%s%u.%s", g->prefix, g->layer, name);
  const Layer layer = { .kind = kind, .out_elems = out, .flop = flop, .bytes_fp32 = bytes, .m = m, .n = n, .k = k };

  layer_list_add (g->list, full, &layer);
}

static void
elementwise (Generator *g, const char *name, double out, double flop, double bytes)
{
  add (g, name, LAYER_ELEMENTWISE, out, flop * out, bytes * out, NAN, NAN, NAN);
}

/* One table read, its rows written. */
static void
embedding (Generator *g, const char *name, double params, double flop)
{
  layer_list_tensor (g->list, params);
  add (g, name, LAYER_EMBEDDING, g->s * g->h, flop * g->s * g->h, 8 * g->s * g->h, NAN, NAN, NAN);
}

static void
norm_of (Generator *g, const char *name, double width)
{
  const double out = g->s * width;
  const gboolean rms = g->shape->norm == NORM_RMS;   /* weight, no bias */

  layer_list_tensor (g->list, width);
  if (!rms)
    layer_list_tensor (g->list, width);
  add (g, name, LAYER_NORM, out, (rms ? 4 : 8) * out, 8 * out, NAN, NAN, NAN);
}

static void
norm (Generator *g, const char *name)
{
  norm_of (g, name, g->h);
}

/* m x k by k x n.  `weights`: matrices of that size of which each token meets one
 * in a turn (experts), 0: tied to another layer's. */
static void
gemm (Generator *g, const char *name, double m, double n, double k, double weights, gboolean bias)
{
  for (double i = 0; i < weights; i++)
    {
      layer_list_tensor (g->list, n * k);
      if (bias)
        layer_list_tensor (g->list, n);
    }
  if (weights <= 0 && bias)
    layer_list_tensor (g->list, n);
  add (g, name, LAYER_GEMM, m * n, 2 * m * n * k + (bias && weights > 0 ? m * n : 0), 4 * (m * k + m * n), m, n, k);
}

static void
attention (Generator *g, const char *name, gboolean causal)
{
  const double scores = g->heads * g->s * g->s;
  const double flop = 2 * g->s * g->s * (g->query + g->q);

  add (g, name, LAYER_ATTENTION, g->s * g->q, causal ? flop / 2 : flop, 4 * g->s * (g->query + g->key + g->kv + g->q) + 8 * scores,
       g->s, g->s, (double) g->shape->head_dim);
}

/* Names of the rows of a decoder. */
typedef struct
{
  const char *embed, *prefix, *norm1, *qkv, *q, *k, *v, *attn_out, *norm2, *gate, *up, *down, *final, *head;
  gboolean    softmax;   /* a row of its own */
} DecoderNames;
static const DecoderNames gpt_names = {
  "wte", "h", "ln1", "qkv", NULL, NULL, NULL, "attn_out", "ln2", "fc_gate", "fc_in", "fc_out", "ln_f", "lm_head", TRUE,
};
static const DecoderNames llama_names = {
  "embed", "layer", "attn_norm", NULL, "wq", "wk", "wv", "wo", "ffn_norm", "w_gate", "w_up", "w_down", "norm", "lm_head", FALSE,
};

/* DeepSeek-AI 2024 (arXiv 2405.04434, section 2.1): queries and, together, keys and
 * values go through a narrow layer and a norm; a part of each key that holds its
 * position is one for all heads and comes past them. */
static void
latent_attention (Generator *g)
{
  const Shape *shape = g->shape;
  const double q_rank = (double) shape->q_lora_rank, rank = (double) shape->kv_lora_rank, rope = (double) shape->qk_rope_head_dim;

  if (q_rank > 0)
    {
      gemm (g, "wq_a", g->s, q_rank, g->h, 1, FALSE);
      norm_of (g, "q_norm", q_rank);
      gemm (g, "wq_b", g->s, g->query, q_rank, 1, FALSE);
    }
  else
    gemm (g, "wq", g->s, g->query, g->h, 1, FALSE);
  gemm (g, "wkv_a", g->s, rank + rope, g->h, 1, FALSE);
  norm_of (g, "kv_norm", rank);
  gemm (g, "wkv_b", g->s, g->heads * (double) shape->qk_nope_head_dim + g->kv, rank, 1, FALSE);
  elementwise (g, "rope", g->s * (g->heads + 1) * rope, 6, 8);
}

static void
decoder_attention (Generator *g, const DecoderNames *names)
{
  const gboolean bias = g->shape->bias == SHAPE_YES;

  norm (g, names->norm1);
  if (g->shape->kv_lora_rank > 0)
    latent_attention (g);
  else if (names->qkv != NULL)
    gemm (g, names->qkv, g->s, g->q + 2 * g->kv, g->h, 1, bias);
  else
    {
      gemm (g, names->q, g->s, g->q, g->h, 1, bias);
      gemm (g, names->k, g->s, g->kv, g->h, 1, bias);
      gemm (g, names->v, g->s, g->kv, g->h, 1, bias);
    }
  if (g->shape->positions == POSITIONS_ROTARY && g->shape->kv_lora_rank == 0)
    elementwise (g, "rope", g->s * (g->q + g->kv), 6, 8);
  attention (g, "attn", TRUE);
  if (names->softmax)
    elementwise (g, "softmax", g->heads * g->s * g->s / 2, 5, 8);
  gemm (g, names->attn_out, g->s, g->h, g->q, 1, bias);
  elementwise (g, "add1", g->s * g->h, 1, 12);
}

/* `experts` of width f that take `tokens` in all; `which`: before their names. */
static void
feed_forward (Generator *g, const DecoderNames *names, const char *which, double tokens, double f, double experts)
{
  const gboolean bias = g->shape->bias == SHAPE_YES, gated = g->shape->gated == SHAPE_YES;
  g_autofree char *gate = g_strconcat (which, names->gate, NULL), *up = g_strconcat (which, names->up, NULL);
  g_autofree char *down = g_strconcat (which, names->down, NULL), *act = g_strconcat (which, gated ? "swiglu" : "gelu", NULL);

  if (gated)
    gemm (g, gate, tokens, f, g->h, experts, bias);
  gemm (g, up, tokens, f, g->h, experts, bias);
  if (gated)
    elementwise (g, act, tokens * f, 6, 12);
  else
    elementwise (g, act, tokens * f, 8, 8);
  gemm (g, down, tokens, g->h, f, experts, bias);
}

/* With experts a router picks top-k of them for each token; shared ones are one
 * wide one that all tokens visit. */
static void
decoder_ffn (Generator *g, const DecoderNames *names, gboolean dense)
{
  const Shape *shape = g->shape;
  const double f = (double) shape->ffn;

  norm (g, names->norm2);
  if (dense)
    feed_forward (g, names, "", g->s, (double) shape->dense_ffn, 1);
  else
    {
      if (shape->experts > 1)
        gemm (g, "router", g->s, (double) shape->experts, g->h, 1, FALSE);
      feed_forward (g, names, "", g->s * (double) shape->top_k, f, (double) shape->experts);
      if (shape->shared_experts > 0)
        {
          feed_forward (g, names, "shared_", g->s, f * (double) shape->shared_experts, 1);
          elementwise (g, "shared_sum", g->s * g->h, 1, 12);
        }
    }
  elementwise (g, "add2", g->s * g->h, 1, 12);
}

/* DeepSeek-AI 2024 (arXiv 2412.19437, section 2.2): the stream and the next token's
 * embedding, each behind a norm, through a product to one stream again, a block, a norm
 * and the output layer; table and output layer are the network's own. */
static void
predict_further (Generator *g, const DecoderNames *names, guint i)
{
  const double vocabulary = (double) g->shape->vocabulary;

  add (g, "mtp_embed", LAYER_EMBEDDING, g->s * g->h, 0, 8 * g->s * g->h, NAN, NAN, NAN);
  g->prefix = "mtp";
  g->layer = i;
  norm (g, "hnorm");
  norm (g, "enorm");
  gemm (g, "proj", g->s, g->h, 2 * g->h, 1, FALSE);
  decoder_attention (g, names);
  decoder_ffn (g, names, FALSE);
  g->layer = NO_BLOCK;
  norm (g, "mtp_norm");
  gemm (g, "mtp_head", g->s, vocabulary, g->h, 0, FALSE);
  elementwise (g, "mtp_cross_entropy", g->s * vocabulary, 5, 8);
}

static void
decoder (Generator *g)
{
  const Shape *shape = g->shape;
  const DecoderNames *names = shape->architecture == ARCHITECTURE_LLAMA ? &llama_names : &gpt_names;
  const double vocabulary = (double) shape->vocabulary;
  const gboolean tied = shape->tied == SHAPE_YES;

  g->prefix = names->prefix;
  embedding (g, names->embed, vocabulary * g->h, 0);
  if (shape->positions == POSITIONS_LEARNED)
    embedding (g, "wpe", (double) shape->max_sequence * g->h, 1);
  for (guint i = 0; i < shape->layers; i++)
    {
      g->layer = i;
      decoder_attention (g, names);
      decoder_ffn (g, names, i < shape->dense_layers);
    }
  g->layer = NO_BLOCK;
  norm (g, names->final);
  gemm (g, tied ? "lm_head(tied)" : names->head, g->s, vocabulary, g->h, tied ? 0 : 1, FALSE);
  elementwise (g, "cross_entropy", g->s * vocabulary, 5, 8);
  for (guint i = 0; i < shape->mtp_layers; i++)
    predict_further (g, names, i);
}

static void
bert_block (Generator *g)
{
  const double out = g->s * g->h, f = (double) g->shape->ffn;

  gemm (g, "attn.q", g->s, g->h, g->h, 1, TRUE);
  gemm (g, "attn.k", g->s, g->h, g->h, 1, TRUE);
  gemm (g, "attn.v", g->s, g->h, g->h, 1, TRUE);
  attention (g, "attn.core", FALSE);
  elementwise (g, "attn.softmax_dropout", g->heads * g->s * g->s, 6, 8);
  gemm (g, "attn.out", g->s, g->h, g->h, 1, TRUE);
  elementwise (g, "attn.dropout_add", out, 2, 12);
  norm (g, "attn.ln");
  gemm (g, "ffn.in", g->s, f, g->h, 1, TRUE);
  elementwise (g, "ffn.gelu", g->s * f, 8, 8);
  gemm (g, "ffn.out", g->s, g->h, f, 1, TRUE);
  elementwise (g, "ffn.dropout_add", out, 2, 12);
  norm (g, "ffn.ln");
}

/* The decoder of pre-training runs over all positions. */
static void
bert (Generator *g)
{
  const Shape *shape = g->shape;
  const double vocabulary = (double) shape->vocabulary;

  g->prefix = "layer";
  embedding (g, "emb.word", vocabulary * g->h, 0);
  embedding (g, "emb.position", (double) shape->max_sequence * g->h, 1);
  embedding (g, "emb.type", 2 * g->h, 1);
  norm (g, "emb.ln");
  elementwise (g, "emb.dropout", g->s * g->h, 1, 8);
  for (g->layer = 0; g->layer < shape->layers; g->layer++)
    bert_block (g);
  g->layer = NO_BLOCK;
  gemm (g, "pooler", 1, g->h, g->h, 1, TRUE);
  if (shape->head == HEAD_SQUAD)
    {
      gemm (g, "qa_outputs", g->s, 2, g->h, 1, TRUE);
      return;
    }
  gemm (g, "mlm.transform", g->s, g->h, g->h, 1, TRUE);
  elementwise (g, "mlm.gelu", g->s * g->h, 8, 8);
  norm (g, "mlm.ln");
  gemm (g, "mlm.decoder(tied)", g->s, vocabulary, g->h, 0, TRUE);
  gemm (g, "nsp", 1, 2, g->h, 1, TRUE);
}

static void
vit_block (Generator *g)
{
  const double f = (double) g->shape->ffn;

  norm (g, "ln1");
  gemm (g, "qkv", g->s, 3 * g->h, g->h, 1, TRUE);
  attention (g, "attn", FALSE);
  gemm (g, "proj", g->s, g->h, g->h, 1, TRUE);
  elementwise (g, "add1", g->s * g->h, 1, 12);
  norm (g, "ln2");
  gemm (g, "fc1", g->s, f, g->h, 1, TRUE);
  elementwise (g, "gelu", g->s * f, 8, 8);
  gemm (g, "fc2", g->s, g->h, f, 1, TRUE);
  elementwise (g, "add2", g->s * g->h, 1, 12);
}

static void
vit (Generator *g)
{
  const Shape *shape = g->shape;
  const double image = (double) shape->image, patch = (double) shape->patch, classes = (double) shape->classes;
  const double patches = g->s - 1, k = 3 * patch * patch;   /* RGB */

  g->prefix = "block";
  layer_list_tensor (g->list, k * g->h);
  layer_list_tensor (g->list, g->h);
  add (g, "patch_embed", LAYER_CONV, patches * g->h, 2 * patches * g->h * k, 4 * (3 * image * image + patches * g->h), patches, g->h, k);
  layer_list_tensor (g->list, g->h);
  add (g, "cls", LAYER_EMBEDDING, g->h, 0, 4 * g->h, NAN, NAN, NAN);
  embedding (g, "pos", g->s * g->h, 1);
  for (g->layer = 0; g->layer < shape->layers; g->layer++)
    vit_block (g);
  g->layer = NO_BLOCK;
  norm (g, "ln");
  gemm (g, "head", 1, classes, g->h, 1, TRUE);
}

/* Refused before memory is spent; the largest block has 17 rows, latent attention 4
 * more and shared experts 5. */
static gboolean
check_size (const Shape *shape, GError **error)
{
  const guint block = 17 + (shape->kv_lora_rank > 0 ? 4 : 0) + (shape->shared_experts > 0 ? 5 : 0);
  const double blocks = (double) (shape->layers + shape->mtp_layers), rows = block * blocks + 10 + 7.0 * (double) shape->mtp_layers;
  const double tensors = 6.0 * blocks * (double) shape->experts;

  if (rows <= WORKLOAD_MAX_LAYERS && tensors <= WORKLOAD_MAX_TENSORS)
    return TRUE;
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[workload] layers: %" G_GUINT64_FORMAT " make too many rows or tensors; "
               "at most %u layers, and %u tensors over all experts, are taken", shape->layers, WORKLOAD_MAX_LAYERS / block - 1, WORKLOAD_MAX_TENSORS);
  return FALSE;
}

gboolean
generator_fill (Workload *workload, const Shape *shape, GError **error)
{
  Generator g = {
    .shape = shape, .layer = NO_BLOCK, .s = (double) shape->sequence, .h = (double) shape->hidden,
    .heads = (double) shape->heads, .q = (double) (shape->heads * shape->head_dim), .kv = (double) (shape->kv_heads * shape->head_dim),
    .query = (double) (shape->heads * shape_query_dim (shape)), .key = (double) (shape->kv_heads * shape_query_dim (shape)),
  };

  if (!check_size (shape, error))
    return FALSE;
  g.list = layer_list_new ();
  switch (shape->architecture)
    {
    case ARCHITECTURE_BERT:
      bert (&g);
      break;
    case ARCHITECTURE_VIT:
      vit (&g);
      break;
    default:
      decoder (&g);
    }
  layer_list_end (g.list, workload);
  layer_list_free (g.list);
  workload->family = g_strdup (shape->architecture == ARCHITECTURE_BERT ? "bert" : "transformer");
  workload->sample = shape->architecture == ARCHITECTURE_VIT
                       ? g_strdup_printf ("%" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT "x3 image", shape->image, shape->image)
                       : g_strdup_printf ("sequence of %" G_GUINT64_FORMAT, shape->sequence);
  return TRUE;
}
