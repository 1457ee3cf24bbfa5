/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/batch.h"

guint64
batch_greatest_divisor (guint64 a, guint64 b)
{
  while (b != 0)
    {
      const guint64 rest = a % b;

      a = b;
      b = rest;
    }
  return a;
}

/* The least common multiple, or 0 where it would exceed 2^53. */
static guint64
common_multiple (guint64 a, guint64 b)
{
  const guint64 part = a / batch_greatest_divisor (a, b);

  return part > (G_GUINT64_CONSTANT (1) << 53) / b ? 0 : part * b;
}

static gboolean
refuse (GError **error, const TrainingSpec *spec, const guint64 *gpus, guint n, guint64 unit)
{
  const guint64 below = spec->global_batch / unit * unit;
  g_autoptr (GString) counts = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (counts, "%s%" G_GUINT64_FORMAT, i == 0 ? "" : i + 1 == n ? " and " : ", ", gpus[i]);
  g_string_append (counts, " GPUs");
  if (spec->accumulation > 1)
    g_string_append_printf (counts, " in %" G_GUINT64_FORMAT " micro-steps", spec->accumulation);
  if (below == 0)
    g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                 "[training] global-batch: %" G_GUINT64_FORMAT " does not divide over %s; %" G_GUINT64_FORMAT
                 " is the least that does", spec->global_batch, counts->str, unit);
  else
    g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                 "[training] global-batch: %" G_GUINT64_FORMAT " does not divide over %s; %" G_GUINT64_FORMAT
                 " and %" G_GUINT64_FORMAT " would", spec->global_batch, counts->str, below, below + unit);
  return FALSE;
}

gboolean
batch_check (const TrainingSpec *spec, const guint64 *gpus, guint n, GError **error)
{
  const guint64 micro = MAX (spec->accumulation, 1);
  guint64 unit = micro;

  if (spec->global_batch == 0)
    return TRUE;
  for (guint i = 0; i < n && unit != 0; i++)
    unit = common_multiple (unit, gpus[i] * micro);
  if (unit == 0)
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                   "[training] global-batch: no batch divides over all of these numbers of GPUs; "
                   "choose numbers with a common multiple");
      return FALSE;
    }
  if (spec->global_batch % unit != 0)
    return refuse (error, spec, gpus, n, unit);
  return TRUE;
}

/* The smallest number of micro-steps that divides the batch of one GPU into
 * parts of at most `most`.  O(sqrt (batch)). */
static guint64
smallest_accumulation (guint64 batch, guint64 most)
{
  guint64 part = 1;   /* the largest divisor of at most `most` */

  if (most == 0 || batch <= most)
    return 1;
  for (guint64 i = 1; i * i <= batch; i++)
    {
      if (batch % i != 0)
        continue;
      if (i <= most)
        part = MAX (part, i);
      if (batch / i <= most)
        part = MAX (part, batch / i);
    }
  return batch / part;
}

static void
split (const TrainingSpec *spec, guint64 each, Batch *out)
{
  out->accumulation = spec->accumulation > 0 ? spec->accumulation
                                             : smallest_accumulation (each, spec->batch_per_gpu_max);
  out->per_gpu = each / out->accumulation;
}

gboolean
batch_resolve (const TrainingSpec *spec, guint64 gpus, Batch *out, GError **error)
{
  if (!batch_check (spec, &gpus, 1, error))
    return FALSE;
  if (spec->global_batch > 0)
    split (spec, spec->global_batch / gpus, out);
  else if (spec->accumulation > 0)
    *out = (Batch) { .per_gpu = spec->batch_per_gpu, .accumulation = spec->accumulation };
  else
    split (spec, spec->batch_per_gpu, out);
  out->global = out->per_gpu * out->accumulation * gpus;
  return TRUE;
}
