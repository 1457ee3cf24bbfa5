/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/megatron-plan.h"
#include <string.h>

gboolean
megatron_refuse (GError **error, const char *where, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "%s: %s", where, text);
  return FALSE;
}

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

/* "2*30" or "2": layers of so many stages. */
static gboolean
read_item (const char *text, guint64 *layers, guint64 *times)
{
  g_autofree char *copy = g_strstrip (g_strdup (text));
  char *star = strchr (copy, '*');

  *times = 1;
  if (star != NULL)
    {
      *star = '\0';
      if (!g_ascii_string_to_unsigned (g_strstrip (star + 1), 10, 1, 100000, times, NULL))
        return FALSE;
    }
  return g_ascii_string_to_unsigned (g_strchomp (copy), 10, 0, 100000, layers, NULL);
}

/* Megatron-Core's pipeline-model-parallel-layout by its numbers: a stage that holds the
 * embedding or the output layer may have no layer besides. */
gboolean
megatron_deal_list (Megatron *m, GError **error)
{
  const char *where = "[strategy] stage-layers", *text = m->in->spec->stage_layers;
  g_auto (GStrv) items = g_strsplit (text, ",", 0);
  const guint64 stages = m->pp * m->v;
  guint64 n = 0, sum = 0;
  gboolean empty = FALSE;

  if (m->in->spec->last_stage_layers > 0 || m->in->spec->account_embedding || m->in->spec->account_loss || m->in->spec->stages_by_cost)
    return megatron_refuse (error, where, "says it all; no last-stage-layers, stages-by-cost, account-for-embedding or -loss beside it");
  m->layers = g_new0 (guint64, stages);
  for (guint i = 0; items[i] != NULL; i++)
    {
      guint64 layers, times;

      if (!read_item (items[i], &layers, &times))
        return megatron_refuse (error, where, "'%s' is no count of layers; counts, or layers * stages, are right, as '1, 2*30, 0'", g_strstrip (items[i]));
      for (guint64 k = 0; k < times && n + k < stages; k++)
        {
          m->layers[n + k] = layers;
          empty = empty || (layers == 0 && n + k > 0 && n + k + 1 < stages);
        }
      n += times;
      sum += layers * times;
    }
  if (n != stages)
    return megatron_refuse (error, where, "has %" G_GUINT64_FORMAT " stages; %" G_GUINT64_FORMAT " are right (pipeline-parallel x virtual-stages)", n, stages);
  if (sum != m->shape->layers)
    return megatron_refuse (error, where, "has %" G_GUINT64_FORMAT " layers; the workload has %" G_GUINT64_FORMAT, sum, m->shape->layers);
  if (empty)
    return megatron_refuse (error, where, "0 layers go with the first and the last stage alone, which have embedding and output layer");
  return TRUE;
}
