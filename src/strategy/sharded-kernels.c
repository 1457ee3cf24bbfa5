/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/sharded.h"
#include <math.h>
#include <string.h>
#include "compute/llm.h"
#include "strategy/blocks.h"
#include "strategy/packed.h"

/* Transformers in stacks that shard: kernels by shape (models/kernel) and what
 * the stack makes of them (models/llm.csv); all else by the roofline.  Bytes of a
 * row are those of its table, input and output once. */

typedef struct
{
  const StepInput *in;
  LlmModel model;
  double   batch;        /* sequences */
  double   rows;         /* so many full ones have as many tokens */
  gboolean flash;
} Kernels;

/* Bytes of the backward pass a byte of the forward one of rows without a constant
 * of their own: residuals, softmax. */
static const double element_backward = 2;

static double
row_bytes (const Kernels *k, const Layer *layer)
{
  return layer->bytes_fp32 / 4 * k->model.element * (packed_row (k->in, layer) ? k->rows : k->batch);
}

static void
gemm_row (const Kernels *k, const Layer *layer, double *forward, double *backward)
{
  const double m = layer->m * (packed_row (k->in, layer) ? k->rows : k->batch);

  if ((guint64) layer->n == k->in->workload->dims.vocabulary)
    {
      *forward = llm_head (&k->model, m, layer->n, layer->k);
      *backward = llm_head (&k->model, m, layer->k, layer->n) + llm_head (&k->model, layer->n, layer->k, m);
      return;
    }
  *forward = llm_gemm (&k->model, m, layer->n, layer->k, 1) + llm_cast (&k->model, m * layer->k);
  *backward = llm_gemm (&k->model, m, layer->k, layer->n, 1) + llm_gemm (&k->model, layer->n, layer->k, m, 1)
              + llm_cast (&k->model, m * layer->n);
}

/* Experts: each takes its share of the tokens' products. */
static void
expert_rows (const Kernels *k, const Layer *layer, double *forward, double *backward)
{
  const double experts = MAX (layer->n_tensors, 1);
  Layer one = *layer;

  one.m /= experts;
  gemm_row (k, &one, forward, backward);
  *forward *= experts;
  *backward *= experts;
}

/* Of fused kernels over whole sequences. */
static double
whole_attention (const Kernels *k, const Layer *layer)
{
  const double heads = layer->out_elems / layer->m / layer->k;

  return llm_attention (&k->model, k->batch, layer->m, heads, heads, layer->k, layer->flop / (2 * layer->m * layer->n * layer->k * heads));
}

static void
attention_row (const Kernels *k, const Layer *layer, double *forward, double *backward)
{
  const double heads = layer->out_elems / layer->m / layer->k;
  const double causal = 2 * layer->m * layer->n * layer->k * heads;
  const Shape *dims = &k->in->workload->dims;
  const double query = dims->kv_lora_rank > 0 ? (double) shape_query_dim (dims) : layer->k;

  if (k->flash)
    {
      double batch = k->batch;
      const double length = packed_length (k->in, layer->m, &batch);

      *forward = llm_attention (&k->model, batch, length, heads, heads, layer->k, layer->flop / causal);
      *backward = *forward * k->model.value[LLM_FLASH_BACKWARD];
      return;
    }
  *forward = llm_gemm (&k->model, layer->m, layer->n, query, heads * k->batch) + llm_gemm (&k->model, layer->m, layer->k, layer->n, heads * k->batch);
  *backward = 2 * *forward;
}

typedef struct { LlmConstant share, forward, backward; } StreamClass;   /* N_LLM: table's bytes, element_backward */

static StreamClass
stream_class (const Layer *layer)
{
  if (layer->kind == LAYER_NORM)
    return (StreamClass) { LLM_NORM, LLM_NORM_BYTES, LLM_NORM_BACK };
  if (layer_is_softmax (layer))
    return (StreamClass) { LLM_NORM, N_LLM, N_LLM };
  if (strstr (layer->name, "gelu") != NULL || strstr (layer->name, "swiglu") != NULL)
    return (StreamClass) { LLM_ACTIVATION, LLM_ACTIVATION_BYTES, LLM_ACTIVATION_BACK };
  if (strstr (layer->name, "rope") != NULL)
    return (StreamClass) { LLM_ADD, LLM_ROTARY_BYTES, LLM_ROTARY_BACK };
  return (StreamClass) { LLM_ADD, N_LLM, N_LLM };
}

static void
stream_row (const Kernels *k, const Layer *layer, double *forward, double *backward)
{
  const double bytes = row_bytes (k, layer);
  const StreamClass class = stream_class (layer);

  if (k->flash && layer_is_softmax (layer))
    {
      *forward = *backward = 0;
      return;
    }
  if (strstr (layer->name, "cross_entropy") != NULL)
    {
      /* a third before, two thirds behind */
      *forward = llm_stream (&k->model, LLM_ADD, layer->out_elems * k->rows * k->model.value[LLM_LOSS_BYTES] / 3);
      *backward = 2 * *forward;
      return;
    }
  *forward = llm_stream (&k->model, class.share, bytes * (class.forward < N_LLM ? k->model.value[class.forward] : 1));
  *backward = llm_stream (&k->model, class.share, bytes * (class.backward < N_LLM ? k->model.value[class.backward] : element_backward));
}

static void
price_row (const Kernels *k, const Layer *layer, double *forward, double *backward)
{
  if (layer_scores (layer) > 0)
    attention_row (k, layer, forward, backward);
  else if (layer->kind == LAYER_GEMM && layer->m > 0 && layer->n_tensors > 2)
    expert_rows (k, layer, forward, backward);
  else if (layer->kind == LAYER_GEMM && layer->m > 0)
    gemm_row (k, layer, forward, backward);
  else if (layer->kind == LAYER_NORM || layer->kind == LAYER_ELEMENTWISE || layer->kind == LAYER_SOFTMAX || layer->kind == LAYER_EMBEDDING)
    stream_row (k, layer, forward, backward);
}

/* The efficiencies are those of whole nodes at work: box and noise of the other
 * tables are in them, but for the slowest of many ranks. */
static double
noise (const Kernels *k)
{
  const double ranks = (double) builder_world (k->in);

  if (!k->in->noise || !k->in->spec->box_noise || ranks < 2)
    return 1;
  return 1 + k->model.value[LLM_RANK_NOISE] * sqrt (2 * log (ranks));
}

/* torch.utils.checkpoint stops once it has what the backward pass reads
 * (checkpoint.py, early_stop; FSDP's wrapper uses it): a product whose output goes
 * straight into the block's last residual does not run again.  DeepSpeed's own
 * checkpointing runs it. */
static gboolean
stops_early (const Kernels *k, const guint *blocks, guint layer)
{
  const Workload *workload = k->in->workload;
  guint last = layer;

  if (!g_str_equal (k->in->spec->kind, "fsdp") || k->in->training->recompute != RECOMPUTE_FULL)
    return FALSE;
  while (last + 1 < workload->n_layers && blocks[last + 1] == blocks[layer])
    last++;
  return last - layer <= 1 && workload->layers[last].kind == LAYER_ELEMENTWISE
         && strstr (workload->layers[last].name, "add") != NULL;
}

/* A pass of n layers to no less than `least`; layers that take no time share it evenly. */
static void
stretch (double *seconds, guint n, double least)
{
  double sum = 0;

  for (guint i = 0; i < n; i++)
    sum += seconds[i];
  for (guint i = 0; sum < least && i < n; i++)
    seconds[i] = sum > 0 ? seconds[i] * (least / sum) : least / n;
}

static guint
count_blocks (const Workload *workload)
{
  g_autofree guint *blocks = blocks_find (workload);
  guint n = 0;

  for (guint i = 0; i < workload->n_layers; i++)
    n += blocks[i] == i;
  return n;
}

/* Activations leave the GPU beside the forward pass and return beside the backward
 * pass: either is no shorter than its copies. */
static gboolean
pace_copies (Sharded *s, GError **error)
{
  const StepInput *in = s->b.in;
  const double slot = cluster_gpu (in->cluster)->pcie, rate = isnan (in->training->offload_rate) ? slot : in->training->offload_rate;

  if (memory_offloaded (in) == 0)
    return TRUE;
  if (memory_offloaded (in) > count_blocks (in->workload))
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[training] offload-activations: %" G_GUINT64_FORMAT " of %u blocks; give 0 to %u",
                   memory_offloaded (in), count_blocks (in->workload), count_blocks (in->workload));
      return FALSE;
    }
  if (isnan (rate))
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[training] offload-rate: nobody says how fast a %s reaches its host; give a rate",
                   cluster_gpu (in->cluster)->name);
      return FALSE;
    }
  const double copies = memory_offloaded_bytes (in) / rate;
  stretch (s->b.forward, in->workload->n_layers, copies);
  stretch (s->b.backward, in->workload->n_layers, copies);
  return TRUE;
}

gboolean
sharded_kernels (Sharded *s, GError **error)
{
  const StepInput *in = s->b.in;
  const Workload *workload = in->workload;
  g_autofree guint *blocks = blocks_find (workload);
  Kernels k = { .in = in, .batch = (double) in->batch.per_gpu, .rows = (double) in->batch.per_gpu * packed_tokens (in), .flash = blocks_flash (in) };

  s->b.forward = data_parallel_forward (in);
  s->b.backward = data_parallel_backward (in, s->b.forward);
  s->b.whole = data_parallel_whole (in, s->b.forward);
  s->slowdown = software_slowdown (in);
  if (!blocks_transformer (workload))
    return TRUE;
  if (!llm_init (&k.model, in->compute, in->spec->stack, error))
    return FALSE;
  s->slowdown = k.model.value[LLM_SLOWDOWN];
  s->b.noise = noise (&k);
  for (guint i = 0; i < workload->n_layers; i++)
    {
      price_row (&k, &workload->layers[i], &s->b.forward[i], &s->b.backward[i]);
      if (blocks_recomputed (in, blocks, i) && !stops_early (&k, blocks, i))
        s->b.backward[i] += s->b.forward[i];
      if (k.flash && layer_scores (&workload->layers[i]) > 0 && s->b.forward[i] > 0)
        s->b.whole = whole_attention (&k, &workload->layers[i]) / s->b.forward[i];
    }
  return pace_copies (s, error);
}

void
sharded_values (const StepInput *in, ClusterValue value, gpointer user)
{
  static const LlmConstant shown[] = { LLM_EFFICIENCY, LLM_FLASH_EFFICIENCY, LLM_SLOWDOWN, LLM_RANK_NOISE };
  LlmModel model;

  data_parallel_say (value, user, "memory reserve", quantity_format (memory_reserve (), UNIT_BYTES), ORIGIN_ASSUMED,
                     "CUDA context, workspaces and NCCL; 0.6 to 1.2 GB seen");
  if (!blocks_transformer (in->workload) || !llm_init (&model, in->compute, in->spec->stack, NULL))
    return;
  data_parallel_say (value, user, "attention kernels", g_strdup (blocks_flash (in) ? "flash" : "unfused"), ORIGIN_DERIVED, "[training] attention");
  for (gsize i = 0; i < G_N_ELEMENTS (shown); i++)
    {
      const LlmConstant k = shown[i];

      data_parallel_say (value, user, llm_constant_names[k], g_strdup_printf ("%.3g", model.value[k]), model.origin[k].kind, model.origin[k].text);
    }
}
