/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/builder.h"
#include "strategy/sparse.h"
#include <string.h>

/* Tables of embeddings too large for one GPU, dealt out evenly: an owner looks up the
 * rows of all GPUs' samples, which then go all to all; the dense network is
 * data-parallel (Naumov and others 2019, section 3; the same 2020, section 4).  The
 * bottom network runs beside the exchange, forward and backward, and its reader is
 * the interaction of features, or whatever follows the tables.  hybrid: whole tables,
 * and the bottom network on a GPU of its own, before the exchange. */

void
exchange_init (Builder *b)
{
  b->exchange_queue = NO_ROW;
  if (builder_world (b->in) > 1 && b->policy->groups != NULL && sparse_last_table (b->in) != NO_LAYER)
    b->exchange_queue = comm_row (b, "all-to-all");
}

gboolean
exchange_last (const Builder *b, guint layer)
{
  if (b->exchange_queue == NO_ROW)
    return FALSE;
  return layer == (b->in->spec->sparse == SPARSE_HYBRID ? sparse_reader (b->in) - 1 : sparse_last_table (b->in));
}

gboolean
exchange_reader (const Builder *b, guint layer)
{
  return b->exchange_queue != NO_ROW && layer == sparse_reader (b->in);
}

gboolean
exchange_place (Builder *b, guint after, gboolean back, guint *placed, GError **error)
{
  const StepInput *in = b->in;
  double elements = 0;

  for (guint i = 0; i < in->workload->n_layers; i++)
    elements += sparse_owned (in, &in->workload->layers[i]) ? sparse_share (in, i) * in->workload->layers[i].out_elems : 0;
  const Collective call = {
    .op = OP_ALL_TO_ALL, .bytes = (double) in->batch.per_gpu * elements * precision_activation_bytes (in->compute->precision),
    .label = back ? "gradients of embeddings" : "embeddings", .queue = b->exchange_queue, .host = NO_ROW, .after = after,
  };
  return collective_place (b, &call, placed, error);
}

void
exchange_wait (Builder *b, guint placed, guint row)
{
  for (guint i = 0; placed != NO_ROW && i < b->graph->classes->len; i++)
    graph_edge (b->graph, placed + i, row + i);
}
