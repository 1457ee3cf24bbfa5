/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/megatron-plan.h"

/* nanotron: blocks fill a stage up to and with the one that takes the sum of their
 * costs to the stage's share; a block costs the weights of its products, the output
 * layer its own (models/base.py, build_model; models/llama.py,
 * get_block_compute_costs).  The output layer stays on the last stage. */
void
megatron_deal_by_cost (Megatron *m)
{
  const Shape *s = m->shape;
  const double h = (double) s->hidden, ways = m->gated ? 3 : 2;
  const double block = 4 * (double) (s->heads * s->head_dim) * h + ways * h * (double) s->ffn, head = h * (double) s->vocabulary;
  const double whole = block * (double) s->layers + head;
  guint64 stage = 0;

  m->layers = g_new0 (guint64, m->pp);
  for (guint64 i = 0; i < s->layers; i++)
    {
      m->layers[stage]++;
      while (stage + 1 < m->pp && block * (double) (i + 1) >= whole / (double) m->pp * (double) (stage + 1))
        stage++;
    }
}
