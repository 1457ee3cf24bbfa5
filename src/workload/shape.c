/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/shape.h"

#include <math.h>

#include "base/csv.h"
#include "base/names.h"
#include "base/origin.h"

const char *const architecture_names[] = { "none", "gpt", "llama", "mpt", "bert", "vit", NULL };
const char *const position_names[] = { "auto", "learned", "rotary", "alibi", "none", NULL };
const char *const norm_names[] = { "auto", "layer", "rms", NULL };
const char *const head_names[] = { "auto", "pre-training", "squad", NULL };
const char *const shape_switch_names[] = { "auto", "yes", "no", NULL };

/* What each architecture is where nothing else is said: Radford and others 2019
 * and their tokenizer, Touvron and others 2023, mosaicml/llm-foundry, Devlin and
 * others 2018, Dosovitskiy and others 2020.  ffn: 4 x hidden, of gated ones 8/3 x
 * hidden rounded up to 256 (meta-llama/llama model.py, multiple_of). */
typedef struct
{
  guint64 vocabulary, sequence, max_sequence;
  int     positions, norm, gated, tied, bias;
  gboolean decoder;
} Defaults;
static const Defaults defaults[N_ARCHITECTURES] = {
  [ARCHITECTURE_GPT] = { 50257, 1024, 0, POSITIONS_LEARNED, NORM_LAYER, SHAPE_NO, SHAPE_YES, SHAPE_YES, TRUE },
  [ARCHITECTURE_LLAMA] = { 32000, 4096, 0, POSITIONS_ROTARY, NORM_RMS, SHAPE_YES, SHAPE_NO, SHAPE_NO, TRUE },
  [ARCHITECTURE_MPT] = { 50368, 2048, 0, POSITIONS_LEARNED, NORM_LAYER, SHAPE_NO, SHAPE_YES, SHAPE_YES, TRUE },
  [ARCHITECTURE_BERT] = { 30522, 512, 512, POSITIONS_LEARNED, NORM_LAYER, SHAPE_NO, SHAPE_YES, SHAPE_YES, FALSE },
  [ARCHITECTURE_VIT] = { 0, 0, 0, POSITIONS_LEARNED, NORM_LAYER, SHAPE_NO, SHAPE_NO, SHAPE_YES, FALSE },
};
static const guint64 default_image = 224, default_patch = 16, default_classes = 1000, default_top_k = 2;
/* DeepSeek-AI 2024 (arXiv 2405.04434, section 3.1.2): V2; V3 has the same. */
static const guint64 default_nope = 128, default_rope = 64, default_value = 128;

/* The counts and choices, once, with their keys and columns. */
typedef struct { const char *key, *column; gsize offset; gboolean vit, bert, decoder; } Field;
#define AT(field) offsetof (Shape, field)
static const Field counts[] = {
  { "hidden", "hidden", AT (hidden), TRUE, TRUE, TRUE },
  { "heads", "heads", AT (heads), TRUE, TRUE, TRUE },
  { "kv-heads", "kv_heads", AT (kv_heads), FALSE, FALSE, TRUE },
  { "head-dim", NULL, AT (head_dim), FALSE, FALSE, TRUE },
  { "layers", "layers", AT (layers), TRUE, TRUE, TRUE },
  { "ffn", "ffn", AT (ffn), TRUE, TRUE, TRUE },
  { "vocabulary", "vocabulary", AT (vocabulary), FALSE, TRUE, TRUE },
  { "sequence", "sequence", AT (sequence), FALSE, TRUE, TRUE },
  { "max-sequence", "max_sequence", AT (max_sequence), FALSE, TRUE, TRUE },
  { "experts", NULL, AT (experts), FALSE, FALSE, TRUE },
  { "top-k", NULL, AT (top_k), FALSE, FALSE, TRUE },
  { "shared-experts", NULL, AT (shared_experts), FALSE, FALSE, TRUE },
  { "dense-layers", NULL, AT (dense_layers), FALSE, FALSE, TRUE },
  { "dense-ffn", NULL, AT (dense_ffn), FALSE, FALSE, TRUE },
  { "q-lora-rank", NULL, AT (q_lora_rank), FALSE, FALSE, TRUE },
  { "kv-lora-rank", NULL, AT (kv_lora_rank), FALSE, FALSE, TRUE },
  { "qk-nope-head-dim", NULL, AT (qk_nope_head_dim), FALSE, FALSE, TRUE },
  { "qk-rope-head-dim", NULL, AT (qk_rope_head_dim), FALSE, FALSE, TRUE },
  { "v-head-dim", NULL, AT (v_head_dim), FALSE, FALSE, TRUE },
  { "mtp-layers", NULL, AT (mtp_layers), FALSE, FALSE, TRUE },
  { "image", "image", AT (image), TRUE, FALSE, FALSE },
  { "patch", "patch", AT (patch), TRUE, FALSE, FALSE },
  { "classes", NULL, AT (classes), TRUE, FALSE, FALSE },
};
static const Field choices[] = {
  { "architecture", "architecture", AT (architecture), TRUE, TRUE, TRUE },
  { "tied", NULL, AT (tied), FALSE, FALSE, TRUE },
  { "gated", NULL, AT (gated), FALSE, FALSE, TRUE },
  { "bias", NULL, AT (bias), FALSE, FALSE, TRUE },
  { "positions", NULL, AT (positions), FALSE, FALSE, TRUE },
  { "norm", NULL, AT (norm), FALSE, FALSE, TRUE },
  { "head", "head", AT (head), FALSE, TRUE, FALSE },
};

static guint64 *
count_at (Shape *shape, gsize i)
{
  return (guint64 *) (gpointer) ((char *) shape + counts[i].offset);
}

static int *
choice_at (Shape *shape, gsize i)
{
  return (int *) (gpointer) ((char *) shape + choices[i].offset);
}

gboolean
shape_given (const Shape *keys)
{
  Shape copy = *keys;

  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    if (*count_at (&copy, i) != 0)
      return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (choices); i++)
    if (*choice_at (&copy, i) != 0)
      return TRUE;
  return FALSE;
}

void
shape_merge (Shape *shape, const Shape *keys)
{
  Shape over = *keys;

  /* What follows from another key's default goes with it. */
  if (over.heads != 0 && over.kv_heads == 0 && shape->kv_heads == shape->heads)
    shape->kv_heads = 0;
  if (over.hidden != 0 && over.ffn == 0 && shape->ffn == 4 * shape->hidden)
    shape->ffn = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    if (*count_at (&over, i) != 0)
      *count_at (shape, i) = *count_at (&over, i);
  for (gsize i = 0; i < G_N_ELEMENTS (choices); i++)
    if (*choice_at (&over, i) != 0)
      *choice_at (shape, i) = *choice_at (&over, i);
}

static gboolean
read_choice (const CsvTable *table, guint row, guint column, const char *const *names, int *out, GError **error)
{
  const char *text = csv_text (table, row, column);

  for (int i = 0; names[i] != NULL; i++)
    {
      if (g_str_equal (names[i], text))
        {
          *out = i;
          return TRUE;
        }
    }
  if (*text == '\0')
    return TRUE;
  g_autofree char *what = names_unknown (csv_column_name (table, column), text, names);
  g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "%s:%u: %s", csv_name (table), csv_line (table, row), what);
  return FALSE;
}

static gboolean
read_row (const CsvTable *table, guint row, Shape *out, GError **error)
{
  guint column;

  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      double value;

      if (counts[i].column == NULL)
        continue;
      if (!csv_require (table, counts[i].column, &column, error) || !csv_number_in (table, row, column, 0, 1e9, &value, error))
        return FALSE;
      *count_at (out, i) = isnan (value) ? 0 : (guint64) value;
    }
  return csv_require (table, "architecture", &column, error)
         && read_choice (table, row, column, architecture_names, &out->architecture, error)
         && csv_require (table, "head", &column, error)
         && read_choice (table, row, column, head_names, &out->head, error);
}

gboolean
shape_load (const char *name, Shape *out, gboolean *found, GError **error)
{
  g_autofree char *path = g_build_filename (part_folder (), "workload", "shapes.csv", NULL);
  g_autoptr (CsvTable) table = csv_load (path, error);
  guint column;

  *found = FALSE;
  *out = (Shape) { 0 };
  if (table == NULL || !csv_require (table, "name", &column, error))
    return FALSE;
  for (guint row = 0; row < csv_rows (table) && !*found; row++)
    {
      if (!g_str_equal (csv_text (table, row, column), name))
        continue;
      if (!read_row (table, row, out, error))
        return FALSE;
      *found = TRUE;
    }
  return TRUE;
}

static gboolean
refuse (GError **error, const char *key, char *what)
{
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[workload] %s: %s", key, what);
  g_free (what);
  return FALSE;
}

static gboolean
fits_architecture (const Shape *shape, const Field *field)
{
  switch (shape->architecture)
    {
    case ARCHITECTURE_VIT:
      return field->vit;
    case ARCHITECTURE_BERT:
      return field->bert;
    default:
      return field->decoder;
    }
}

/* Keys that mean nothing to the architecture would be believed. */
static gboolean
check_keys (Shape *shape, GError **error)
{
  const char *name = architecture_names[shape->architecture];

  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    if (*count_at (shape, i) != 0 && !fits_architecture (shape, &counts[i]))
      return refuse (error, counts[i].key, g_strdup_printf ("does not go with architecture %s%s", name,
                                                            shape->architecture == ARCHITECTURE_VIT && g_str_equal (counts[i].key, "sequence")
                                                              ? "; image and patch give its sequence" : "; leave it out"));
  for (gsize i = 0; i < G_N_ELEMENTS (choices); i++)
    if (*choice_at (shape, i) != 0 && !fits_architecture (shape, &choices[i]))
      return refuse (error, choices[i].key, g_strdup_printf ("does not go with architecture %s; leave it out", name));
  return TRUE;
}

static gboolean
check_heads (Shape *shape, GError **error)
{
  if (shape->kv_lora_rank == 0 && shape->head_dim == 0 && shape->hidden % shape->heads != 0)
    {
      const guint64 below = shape->hidden / shape->heads * shape->heads, above = below + shape->heads;
      g_autofree char *nearest = below > 0 ? g_strdup_printf ("%" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT, below, above)
                                           : g_strdup_printf ("%" G_GUINT64_FORMAT, above);

      return refuse (error, "heads", g_strdup_printf ("hidden %" G_GUINT64_FORMAT " does not divide by %" G_GUINT64_FORMAT
                                                      " heads; hidden %s would, or a head-dim", shape->hidden, shape->heads, nearest));
    }
  if (shape->heads % shape->kv_heads != 0)
    return refuse (error, "kv-heads", g_strdup_printf ("%" G_GUINT64_FORMAT " does not divide the %" G_GUINT64_FORMAT
                                                       " heads; a divisor is right", shape->kv_heads, shape->heads));
  if (shape->top_k > MAX (shape->experts, 1))
    return refuse (error, "top-k", g_strdup_printf ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                                    " experts; at most all of them are right", shape->top_k, MAX (shape->experts, 1)));
  return TRUE;
}

/* Keys of latent attention go together, and in place of those of the other one. */
static gboolean
check_latent (const Shape *shape, GError **error)
{
  const struct { const char *key; guint64 value; } parts[] = {
    { "q-lora-rank", shape->q_lora_rank }, { "qk-nope-head-dim", shape->qk_nope_head_dim },
    { "qk-rope-head-dim", shape->qk_rope_head_dim }, { "v-head-dim", shape->v_head_dim },
  };
  const struct { const char *key; guint64 value, same; } others[] = {
    { "kv-heads", shape->kv_heads, shape->heads }, { "head-dim", shape->head_dim, shape->v_head_dim },
  };

  for (gsize i = 0; shape->kv_lora_rank == 0 && i < G_N_ELEMENTS (parts); i++)
    if (parts[i].value != 0)
      return refuse (error, parts[i].key, g_strdup ("goes with latent attention; a kv-lora-rank makes it so, or leave it out"));
  if (shape->kv_lora_rank == 0)
    return TRUE;
  if (shape->architecture != ARCHITECTURE_LLAMA || (shape->positions != POSITIONS_AUTO && shape->positions != POSITIONS_ROTARY) || shape->bias == SHAPE_YES)
    return refuse (error, "kv-lora-rank", g_strdup ("latent attention goes with architecture llama, positions rotary and no bias"));
  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    if (others[i].value != 0 && others[i].value != others[i].same)
      return refuse (error, others[i].key, g_strdup ("does not go with latent attention (kv-lora-rank); leave it out"));
  return TRUE;
}

static gboolean
check_mixture (const Shape *shape, GError **error)
{
  const gboolean experts = shape->experts > 1;

  if (shape->shared_experts > 0 && !experts)
    return refuse (error, "shared-experts", g_strdup ("stand beside routed ones; give experts, or leave it out"));
  if (shape->dense_layers > 0 && !experts)
    return refuse (error, "dense-layers", g_strdup ("all layers are dense without experts; give experts, or leave it out"));
  if (shape->dense_ffn > 0 && shape->dense_layers == 0)
    return refuse (error, "dense-ffn", g_strdup ("is the width of dense-layers, and there are none; ffn is that of all others"));
  if (shape->dense_layers >= shape->layers && shape->dense_layers > 0)
    return refuse (error, "dense-layers", g_strdup_printf ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " layers leave none with experts; at most %"
                                                           G_GUINT64_FORMAT " are right", shape->dense_layers, shape->layers, shape->layers - 1));
  return TRUE;
}

static gboolean
check_vit (const Shape *shape, GError **error)
{
  if (shape->image % shape->patch == 0)
    return TRUE;
  return refuse (error, "image", g_strdup_printf ("%" G_GUINT64_FORMAT " does not divide into patches of %" G_GUINT64_FORMAT
                                                  "; a multiple of the patch is right", shape->image, shape->patch));
}

static void
fill (guint64 *field, guint64 value)
{
  *field = *field != 0 ? *field : value;
}

static void
choose (int *field, int value)
{
  *field = *field != 0 ? *field : value;
}

static guint64
plain_ffn (const Shape *shape)
{
  return shape->gated == SHAPE_YES ? (8 * shape->hidden / 3 + 255) / 256 * 256 : 4 * shape->hidden;
}

static void
fill_latent (Shape *shape)
{
  fill (&shape->qk_nope_head_dim, default_nope);
  fill (&shape->qk_rope_head_dim, default_rope);
  fill (&shape->v_head_dim, default_value);
  shape->head_dim = shape->v_head_dim;
}

guint64
shape_query_dim (const Shape *shape)
{
  return shape->kv_lora_rank > 0 ? shape->qk_nope_head_dim + shape->qk_rope_head_dim : shape->head_dim;
}

static void
fill_defaults (Shape *shape, const Defaults *d)
{
  choose (&shape->positions, d->positions);
  choose (&shape->norm, d->norm);
  choose (&shape->gated, d->gated);
  choose (&shape->tied, d->tied);
  choose (&shape->bias, d->bias);
  choose (&shape->head, HEAD_PRE_TRAINING);
  fill (&shape->ffn, plain_ffn (shape));
  if (shape->dense_layers > 0)
    fill (&shape->dense_ffn, plain_ffn (shape));
  fill (&shape->kv_heads, shape->heads);
  fill (&shape->vocabulary, d->vocabulary);
  fill (&shape->experts, 1);
  fill (&shape->top_k, shape->experts > 1 ? MIN (default_top_k, shape->experts) : 1);
  if (shape->architecture == ARCHITECTURE_VIT)
    {
      fill (&shape->image, default_image);
      fill (&shape->patch, default_patch);
      fill (&shape->classes, default_classes);
    }
  fill (&shape->sequence, d->sequence);
  /* A longer sequence needs a longer table. */
  shape->max_sequence = MAX (MAX (shape->max_sequence, d->max_sequence), shape->sequence);
}

gboolean
shape_settle (Shape *shape, GError **error)
{
  if (shape->architecture == ARCHITECTURE_NONE)
    return refuse (error, "architecture", g_strdup ("missing; a shape needs one of gpt, llama, mpt, bert, vit"));
  if (shape->hidden == 0 || shape->heads == 0 || shape->layers == 0)
    return refuse (error, shape->hidden == 0 ? "hidden" : shape->heads == 0 ? "heads" : "layers",
                   g_strdup ("missing; a shape needs hidden, heads and layers"));
  if (!check_keys (shape, error) || !check_latent (shape, error) || !check_mixture (shape, error))
    return FALSE;
  fill_defaults (shape, &defaults[shape->architecture]);
  if (!check_heads (shape, error))
    return FALSE;
  if (shape->kv_lora_rank > 0)
    fill_latent (shape);
  fill (&shape->head_dim, shape->hidden / shape->heads);
  if (shape->architecture != ARCHITECTURE_VIT)
    return TRUE;
  if (!check_vit (shape, error))
    return FALSE;
  shape->sequence = (shape->image / shape->patch) * (shape->image / shape->patch) + 1;   /* and the class token */
  return TRUE;
}

char *
shape_text (const Shape *shape)
{
  GString *text = g_string_new (architecture_names[shape->architecture]);

  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      Shape copy = *shape;

      if (fits_architecture (shape, &counts[i]) && *count_at (&copy, i) > (counts[i].offset == AT (top_k) || counts[i].offset == AT (experts)))
        g_string_append_printf (text, ", %s %" G_GUINT64_FORMAT, counts[i].key, *count_at (&copy, i));
    }
  if (!defaults[shape->architecture].decoder)
    return g_string_free (text, FALSE);
  g_string_append_printf (text, ", positions %s, norm %s, gated %s, tied %s, bias %s", position_names[shape->positions],
                          norm_names[shape->norm], shape_switch_names[shape->gated], shape_switch_names[shape->tied],
                          shape_switch_names[shape->bias]);
  return g_string_free (text, FALSE);
}
