/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/packed.h"
#include "strategy/blocks.h"
#include <math.h>

static const Moments whole = { 1, 0, 0 };
/* Spreads below this are dust of sums. */
static const double nothing = 1e-6;

static gboolean
cut_up (const StepInput *in)
{
  const int kind = in->workload->packing.kind;

  return kind == PACKING_DOCUMENT_MASK || kind == PACKING_UNPADDED;
}

gboolean
packed_fused (const StepInput *in)
{
  return cut_up (in) && in->training->attention != ATTENTION_UNFUSED;
}

static const Moments *
of_attention (const StepInput *in)
{
  return packed_fused (in) ? &in->workload->packing.squares : &whole;
}

static const Moments *
of_tokens (const StepInput *in)
{
  return in->workload->packing.kind == PACKING_UNPADDED ? &in->workload->packing.tokens : &whole;
}

/* FLOP of attention over those of full sequences. */
static double
packed_attention (const StepInput *in)
{
  return of_attention (in)->mean;
}

double
packed_tokens (const StepInput *in)
{
  return of_tokens (in)->mean;
}

gboolean
packed_row (const StepInput *in, const Layer *layer)
{
  if (layer_scores (layer) > 0 || layer_is_softmax (layer))
    return packed_fused (in);
  return !(layer->m <= 1);   /* a pooler's; NAN: no product */
}

double
packed_work (const StepInput *in, const Layer *layer)
{
  if (layer_scores (layer) > 0)
    return packed_attention (in);
  return packed_row (in, layer) ? packed_tokens (in) : 1;
}

double
packed_length (const StepInput *in, double sequence, double *batch)
{
  const double share = packed_attention (in) / packed_tokens (in);

  *batch *= packed_tokens (in) / share;
  return sequence * share;
}

gboolean
packed_uneven (const StepInput *in)
{
  return of_attention (in)->variance > 0 || of_tokens (in)->variance > 0;
}

/* The time goes with a power of the work: 1 where kernels are as efficient over
 * documents as over whole sequences. */
static double
power_of (double work, double longer)
{
  return work < 1 && longer > 1 ? log (longer) / -log (work) : 0;
}

guint
packed_spread (const StepInput *in, StepGraph *graph, double attention, double longer, double sequences)
{
  const Moments *parts[] = { of_attention (in), of_tokens (in) };
  const double shares[] = { attention, 1 - attention }, powers[] = { power_of (parts[0]->mean, longer), 1 };
  GraphSpread spread = { 0, 0, 0 };

  if (in->even)
    return 0;
  /* one and the same documents: deviations add up, and roots of third moments */
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      spread.deviation += shares[i] * powers[i] * sqrt (parts[i]->variance / sequences) / parts[i]->mean;
      spread.third_root += shares[i] * powers[i] * cbrt (parts[i]->third / (sequences * sequences)) / parts[i]->mean;
      spread.most += shares[i] * pow (parts[i]->mean, -powers[i]);
    }
  return spread.deviation > nothing ? graph_spread (graph, &spread) : 0;
}
