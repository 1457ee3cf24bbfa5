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
      if (sparse_layer (in, &in->workload->layers[i]))
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
    }
  return elements;
}
