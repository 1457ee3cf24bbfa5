/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/blocks.h"
#include "strategy/packed.h"
#include <string.h>

/* Length of the name of its block, 0: in none. */
static gsize
block_length (const char *name)
{
  const char *dot = strchr (name, '.');

  return dot != NULL && dot > name && g_ascii_isdigit (dot[-1]) ? (gsize) (dot - name) + 1 : 0;
}

guint *
blocks_find (const Workload *workload)
{
  guint *blocks = g_new (guint, MAX (workload->n_layers, 1));

  for (guint i = 0; i < workload->n_layers; i++)
    {
      const char *name = workload->layers[i].name;
      const gsize length = block_length (name);

      if (length == 0)
        blocks[i] = NO_BLOCK;
      else if (i > 0 && blocks[i - 1] != NO_BLOCK && strncmp (workload->layers[i - 1].name, name, length) == 0)
        blocks[i] = blocks[i - 1];
      else
        blocks[i] = i;
    }
  return blocks;
}

gboolean
blocks_transformer (const Workload *workload)
{
  for (guint i = 0; i < workload->n_layers; i++)
    {
      if (layer_scores (&workload->layers[i]) > 0)
        return TRUE;
    }
  return FALSE;
}

/* PyTorch's scaled_dot_product_attention (2.0, 2023) and the stacks that shard
 * weights use fused kernels in half precision; DDP, Horovod and TensorFlow
 * tables of transformers are older than they are. */
gboolean
blocks_flash (const StepInput *in)
{
  const char *kind = in->spec->kind;

  if (in->training->attention != ATTENTION_AUTO)
    return in->training->attention == ATTENTION_FLASH;
  if (packed_fused (in))
    return TRUE;
  return precision_activation_bytes (in->compute->precision) <= 2 && kind != NULL
         && (g_str_equal (kind, "fsdp") || g_str_equal (kind, "zero"));
}

/* The first product of a block is kept, the second is not, ... (torchtitan
 * models/llama3/parallelize_llama.py, selective activation checkpointing by op). */
static gboolean
kept_product (const Workload *workload, const guint *blocks, guint i)
{
  guint products = 0;

  for (guint k = blocks[i]; k <= i; k++)
    products += workload->layers[k].kind == LAYER_GEMM;
  return workload->layers[i].kind == LAYER_GEMM && products % 2 == 1;
}

gboolean
blocks_recomputed (const StepInput *in, const guint *blocks, guint i)
{
  const Layer *layer = &in->workload->layers[i];

  if (blocks[i] == NO_BLOCK)
    return FALSE;
  switch (in->training->recompute)
    {
    case RECOMPUTE_FULL:
      return TRUE;
    case RECOMPUTE_SELECTIVE:
      return layer_scores (layer) > 0 || layer_is_softmax (layer);
    case RECOMPUTE_PER_OP:
      return layer_scores (layer) <= 0 && !kept_product (in->workload, blocks, i);
    default:
      return FALSE;
    }
}
