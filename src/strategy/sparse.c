/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/sparse.h"
#include <math.h>

/* Gradients of embeddings as rows with their indices (tf.IndexedSlices, sparse
 * tensors): each rank's are gathered by all (Horovod tensorflow/__init__.py), so
 * the bytes grow with the ranks, and applied one by one.  A row a lookup,
 * repeated ones too; indices, under 4 % of rows of 64 elements and more, are left
 * out.  A table that a product shares (tied) has a dense gradient. */

/* Does a product share its table? */
static gboolean
is_tied (const Workload *workload, const Layer *layer)
{
  for (guint i = 0; i < workload->n_layers; i++)
    {
      if (workload->layers[i].tied && layer == &workload->layers[0])
        return TRUE;
    }
  return FALSE;
}

gboolean
sparse_layer (const StepInput *in, const Layer *layer)
{
  return in->spec->sparse == SPARSE_ALL_GATHER && layer->kind == LAYER_EMBEDDING && !is_tied (in->workload, layer);
}

/* By the strategies that have the key. */
gboolean
sparse_owned (const StepInput *in, const Layer *layer)
{
  static const char *const kinds[] = { "ddp", "flat", "horovod", NULL };

  return (in->spec->sparse == SPARSE_MODEL_PARALLEL || in->spec->sparse == SPARSE_HYBRID) && in->spec->kind != NULL
         && g_strv_contains (kinds, in->spec->kind) && layer->kind == LAYER_EMBEDDING && !is_tied (in->workload, layer);
}

guint
sparse_last_table (const StepInput *in)
{
  guint last = NO_LAYER;

  for (guint i = 0; i < in->workload->n_layers; i++)
    last = sparse_owned (in, &in->workload->layers[i]) ? i : last;
  return last;
}

guint
sparse_reader (const StepInput *in)
{
  const guint last = sparse_last_table (in);

  for (guint i = last == NO_LAYER ? in->workload->n_layers : last + 1; i < in->workload->n_layers; i++)
    {
      if (g_str_has_prefix (in->workload->layers[i].name, "interact"))
        return i;
    }
  return last == NO_LAYER ? NO_LAYER : last + 1;
}

static double
ranks_of (const StepInput *in)
{
  return (double) (cluster_nodes (in->cluster) * cluster_gpus_per_node (in->cluster));
}

/* Does one GPU have this layer, for all samples? */
static gboolean
is_bottom (const StepInput *in, guint layer)
{
  const guint last = sparse_last_table (in);

  return in->spec->sparse == SPARSE_HYBRID && ranks_of (in) > 1 && last != NO_LAYER && layer > last && layer < sparse_reader (in);
}

/* DeepLearningExamples PyTorch/Recommendation/DLRM, utils/distributed or
 * model/distributed.py as remembered: the bottom network on GPU 0, whole tables on the
 * others, at most their number over that of the GPUs, rounded up. */
double
sparse_share (const StepInput *in, guint layer)
{
  const double ranks = ranks_of (in);
  double tables = 0;

  if (in->spec->sparse != SPARSE_HYBRID || !(ranks > 1))
    return 1;
  if (is_bottom (in, layer))
    return ranks;
  for (guint i = 0; i < in->workload->n_layers; i++)
    tables += sparse_owned (in, &in->workload->layers[i]) ? 1 : 0;
  return sparse_owned (in, &in->workload->layers[layer]) ? ceil (tables / (ranks - 1)) * ranks / tables : 1;
}

double
sparse_tables (const StepInput *in, guint layer)
{
  return sparse_owned (in, &in->workload->layers[layer]) ? sparse_share (in, layer) / ranks_of (in) : 1;
}

void
sparse_pace (const StepInput *in, double *seconds)
{
  double tables = 0, bottom = 0;

  for (guint i = 0; i < in->workload->n_layers; i++)
    {
      tables += sparse_owned (in, &in->workload->layers[i]) ? seconds[i] : 0;
      bottom += is_bottom (in, i) ? seconds[i] : 0;
    }
  for (guint i = 0; i < in->workload->n_layers && bottom > 0; i++)
    {
      if (bottom > tables ? sparse_owned (in, &in->workload->layers[i]) : is_bottom (in, i))
        seconds[i] = 0;
    }
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
      if (sparse_layer (in, &in->workload->layers[i]) || sparse_owned (in, &in->workload->layers[i]) || is_bottom (in, i))
        copy->layers[i].n_tensors = 0;
    }
  return copy;
}

double
sparse_elements (const StepInput *in, const Layer *layer)
{
  return ranks_of (in) * (double) in->batch.per_gpu * layer->out_elems;
}

double
sparse_updated (const StepInput *in, const double *forward)
{
  double elements = in->workload->params;

  for (guint i = 0; i < in->workload->n_layers; i++)
    {
      const Layer *layer = &in->workload->layers[i];

      if (sparse_layer (in, layer))
        elements += sparse_elements (in, layer) - layer->params;
      else if (sparse_owned (in, layer))   /* an owner's share of all ranks' rows */
        elements += (forward[i] > 0 ? (double) in->batch.per_gpu * sparse_share (in, i) * layer->out_elems : 0) - layer->params;
    }
  return elements;
}
