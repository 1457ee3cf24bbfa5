/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/data-parallel.h"

/* Gradients of embeddings as rows with their indices (tf.IndexedSlices, sparse
 * tensors): each rank's are gathered by all (Horovod tensorflow/__init__.py), so
 * the bytes grow with the ranks, and applied one by one.  A row a lookup,
 * repeated ones too; indices, under 4 % of rows of 64 elements and more, are left
 * out.  A table that a product shares (tied) has a dense gradient. */

gboolean
sparse_layer (const StepInput *in, const Layer *layer)
{
  return in->spec->sparse == SPARSE_ALL_GATHER && layer->kind == LAYER_EMBEDDING && !sparse_shared (in->workload, layer);
}

gboolean
sparse_shared (const Workload *workload, const Layer *layer)
{
  for (guint i = 0; i < workload->n_layers; i++)
    {
      if (workload->layers[i].tied && layer == &workload->layers[0])
        return TRUE;
    }
  return FALSE;
}

/* By the strategies that have the key. */
gboolean
sparse_owned (const StepInput *in, const Layer *layer)
{
  static const char *const kinds[] = { "ddp", "flat", "horovod", NULL };

  return in->spec->sparse == SPARSE_MODEL_PARALLEL && in->spec->kind != NULL && g_strv_contains (kinds, in->spec->kind) && layer->kind == LAYER_EMBEDDING && !sparse_shared (in->workload, layer);
}

double
sparse_owned_params (const StepInput *in)
{
  double params = 0;

  for (guint i = 0; i < in->workload->n_layers; i++)
    params += sparse_owned (in, &in->workload->layers[i]) ? in->workload->layers[i].params : 0;
  return params;
}

const Workload *
sparse_rest (const StepInput *in, Workload *copy)
{
  *copy = *in->workload;
  copy->layers = NULL;
  if (in->spec->sparse == SPARSE_DENSE)
    return in->workload;
  copy->layers = g_memdup2 (in->workload->layers, sizeof (Layer) * in->workload->n_layers);
  for (guint i = 0; i < copy->n_layers; i++)
    {
      if (sparse_layer (in, &in->workload->layers[i]) || sparse_owned (in, &in->workload->layers[i]))
        copy->layers[i].n_tensors = 0;
    }
  return copy;
}

double
sparse_elements (const StepInput *in, const Layer *layer)
{
  const double ranks = (double) (cluster_nodes (in->cluster) * cluster_gpus_per_node (in->cluster));

  return ranks * (double) in->batch.per_gpu * layer->out_elems;
}

double
sparse_updated (const StepInput *in)
{
  double elements = in->workload->params;

  for (guint i = 0; i < in->workload->n_layers; i++)
    {
      const Layer *layer = &in->workload->layers[i];

      if (sparse_layer (in, layer))
        elements += sparse_elements (in, layer) - layer->params;
      else if (sparse_owned (in, layer))   /* an owner's share of all ranks' rows */
        elements += (double) in->batch.per_gpu * layer->out_elems - layer->params;
    }
  return elements;
}
