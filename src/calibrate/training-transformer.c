/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "calibrate/training-reading.h"

/* The number behind a word in free text: "layers 48", "VP5", "interleave 3"; 0: none.  Not inside another word. */
static guint64
number_after (const char *text, const char *word)
{
  for (const char *at = strstr (text, word); at != NULL; at = strstr (at + 1, word))
    {
      const char *rest = at + strlen (word);

      rest += strspn (rest, " =");
      if ((at == text || !g_ascii_isalnum (at[-1])) && g_ascii_isdigit (*rest))
        return g_ascii_strtoull (rest, NULL, 10);
    }
  return 0;
}

gboolean
transformer_row (const Reading *r)
{
  return g_strcmp0 (g_hash_table_lookup (r->keys, "strategy.kind"), "megatron") == 0;
}

static void
put_known (Reading *r, const char *key, guint64 value)
{
  if (value > 0)
    reading_put_count (r, key, value);
}

/* From columns of their own, or from the notes. */
void
transformer_shape (Reading *r)
{
  static const struct { const char *key, *name, *other; } dims[] = {
    { "workload.hidden", "hidden", NULL }, { "workload.heads", "heads", NULL }, { "workload.layers", "layers", NULL },
    { "workload.vocabulary", "vocab", "V" },
  };
  const char *notes = reading_cell (r, "notes");

  put_known (r, "workload.sequence", (guint64) reading_number (r, "seq_len"));
  if (g_hash_table_contains (r->keys, "workload.name"))
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (dims); i++)
    {
      guint64 value = (guint64) reading_number (r, dims[i].name);

      if (value == 0)
        value = number_after (notes, dims[i].name);
      if (value == 0 && dims[i].other != NULL)
        value = number_after (notes, dims[i].other);
      put_known (r, dims[i].key, value);
    }
  if (!g_hash_table_contains (r->keys, "workload.architecture") || !g_hash_table_contains (r->keys, "workload.hidden")
      || !g_hash_table_contains (r->keys, "workload.layers"))
    reading_refuse (r, skip_no_shape, "%s", reading_cell (r, "model"));
}

static guint64
degree (Reading *r, const char *column, const char *mark, const char *key)
{
  guint64 value = (guint64) reading_number (r, column);

  if (value == 0)
    value = number_after (reading_cell (r, "strategy"), mark);
  reading_put_count (r, key, MAX (value, 1));
  return g_ascii_strtoull (g_hash_table_lookup (r->keys, key), NULL, 10);
}

/* Where the printed degrees, not the printed GPUs, are the job's. */
static void
take_degrees (Reading *r, guint64 degrees)
{
  TrainingRow *out = r->out;

  out->gpus = degrees * MAX ((guint64) reading_number (r, "dp"), 1);
  out->per_node = MIN (out->per_node, out->gpus);
  out->nodes = out->gpus / out->per_node;
  if (out->nodes * out->per_node != out->gpus)
    reading_refuse (r, skip_inconsistent, "%" G_GUINT64_FORMAT " GPUs of its degrees are no whole nodes", out->gpus);
}

void
transformer_layout (Reading *r)
{
  TrainingRow *out = r->out;
  const guint64 tp = degree (r, "tp", "TP", "strategy.tensor-parallel");
  const guint64 pp = degree (r, "pp", "PP", "strategy.pipeline-parallel");
  const guint64 cp = degree (r, "cp", "CP", "strategy.context-parallel");
  const guint64 chunks = MAX (number_after (reading_cell (r, "strategy"), "VP"), number_after (reading_cell (r, "notes"), "interleave"));
  const guint64 micro = (guint64) reading_number (r, "microbatch");
  const guint64 said = number_after (reading_cell (r, "notes"), "GAS");
  guint64 global = (guint64) reading_number (r, "global_batch"), replicas;

  if (g_strcmp0 (reading_word (r, "gpus"), "layout") == 0)
    take_degrees (r, tp * pp * cp);
  replicas = out->gpus / MAX (tp * pp * cp, 1);
  degree (r, "ep", "EP", "strategy.expert-parallel");
  if (pp > 1 && chunks > 1)
    reading_put_count (r, "strategy.virtual-stages", chunks);
  out->batch = micro > 0 ? micro : MAX ((guint64) reading_word_number (r, "batch", 1), number_after (reading_cell (r, "notes"), "local batch"));
  if (global == 0)   /* one micro-batch a replica */
    global = replicas * out->batch;
  if (out->batch == 0)   /* all of a replica at once */
    out->batch = MAX (global / MAX (replicas, 1), 1);
  if (out->layer)
    global = replicas * out->batch;
  if (replicas * tp * pp * cp != out->gpus || global == 0 || global % (replicas * out->batch) != 0)
    {
      reading_refuse (r, skip_inconsistent, "degrees, micro-batch and global batch do not make a step of %" G_GUINT64_FORMAT " GPUs", out->gpus);
      return;
    }
  out->accumulation = global / (replicas * out->batch);
  if (said > 0 && said != out->accumulation)
    {
      reading_refuse (r, skip_inconsistent, "%" G_GUINT64_FORMAT " micro-batches by its notes, %" G_GUINT64_FORMAT " by its batches", said, out->accumulation);
      return;
    }
  out->samples = (double) global;
  reading_put_count (r, "strategy.micro-batch", out->batch);
  reading_put_count (r, "training.global-batch", global);
}

static double
key_number (const Reading *r, const char *key)
{
  const char *text = g_hash_table_lookup (r->keys, key);

  return text != NULL ? g_ascii_strtod (text, NULL) : 0;
}

/* "72": 72 B s l h^2 (1 + s/6h + V/12lh), Narayanan et al. 2021 without
 * recompute; "6n": 6 N + 12 l h s a token; "6n-causal": attention by half;
 * "6n-products": whole, N without the input table (NeMo utils/flops_formulas.py). */
double
transformer_time (const Reading *r, double samples)
{
  const char *convention = reading_word (r, "flop");
  const double rate = reading_number (r, "tflops_per_gpu") * 1e12, share = reading_number (r, "mfu_pct") / 100;
  const double speed = (rate > 0 ? rate : share * reading_word_number (r, "peak", 0) * 1e12) * (double) r->out->gpus;
  const double h = key_number (r, "workload.hidden"), l = key_number (r, "workload.layers"), s = key_number (r, "workload.sequence");
  const double V = key_number (r, "workload.vocabulary"), N = reading_number (r, "params_M") * 1e6;
  double token;

  if (convention == NULL || !(speed > 0) || !(h > 0 && l > 0 && s > 0))
    return 0;
  if (g_str_equal (convention, "72"))
    token = 72 * l * h * h * (1 + s / (6 * h) + V / (12 * l * h));
  else
    token = 6 * (N - (g_str_equal (convention, "6n-products") ? V * h : 0)) + (g_str_equal (convention, "6n-causal") ? 6 : 12) * l * h * s;
  return samples * s * token / speed;
}
