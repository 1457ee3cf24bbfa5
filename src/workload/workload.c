/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/workload.h"

#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/names.h"
#include "base/origin.h"
#include "workload/generator.h"
#include "workload/layers.h"

const Key workload_keys[] = {
  { .name = "name", .type = KEY_STRING, .offset = offsetof (WorkloadSpec, name),
    .help = "Network to train, one of 'lockstep list workloads'." },
  { .name = "file", .type = KEY_STRING, .offset = offsetof (WorkloadSpec, file),
    .help = "Or a CSV file of layers with the columns of models/workload." },
  { .name = "precision", .type = KEY_CHOICE, .offset = offsetof (WorkloadSpec, precision),
    .choices = precision_names, .default_text = "fp32",
    .help = "Arithmetic of the kernels; tf32 is what frameworks call fp32 where they let TF32 in." },
  { .name = "family", .type = KEY_STRING, .offset = offsetof (WorkloadSpec, family),
    .help = "Class in models/efficiency.csv (default: the workload's own)." },
#define AT(field) offsetof (WorkloadSpec, shape.field)
  { "architecture", KEY_CHOICE, UNIT_NONE, AT (architecture), "none",
    "Or a transformer generated from its shape; beside a name, what differs from it.", .choices = architecture_names },
  { "hidden", KEY_COUNT, UNIT_NONE, AT (hidden), NULL, "Shape: width of the residual stream.", 1, 1e6 },
  { "heads", KEY_COUNT, UNIT_NONE, AT (heads), NULL, "Shape: attention heads.", 1, 1e5 },
  { "kv-heads", KEY_COUNT, UNIT_NONE, AT (kv_heads), NULL, "Shape: key and value heads (grouped queries); without it as many as heads.", 1, 1e5 },
  { "head-dim", KEY_COUNT, UNIT_NONE, AT (head_dim), NULL, "Shape: width of a head; without it hidden over heads.", 1, 1e5 },
  { "layers", KEY_COUNT, UNIT_NONE, AT (layers), NULL, "Shape: transformer blocks.", 1, 1e5 },
  { "ffn", KEY_COUNT, UNIT_NONE, AT (ffn), NULL,
    "Shape: width of the feed-forward part; without it 4 x hidden, of a gated one 8/3 x hidden rounded up to 256.", 1, 1e7 },
  { "vocabulary", KEY_COUNT, UNIT_NONE, AT (vocabulary), NULL, "Shape: tokens; without it the architecture's.", 1, 1e8 },
  { "sequence", KEY_COUNT, UNIT_NONE, AT (sequence), NULL, "Shape: tokens of a sample; without it the name's or the architecture's.", 1, 1e8 },
  { "max-sequence", KEY_COUNT, UNIT_NONE, AT (max_sequence), NULL, "Shape: rows of the table of learned positions; at least the sequence.", 1, 1e8 },
  { "experts", KEY_COUNT, UNIT_NONE, AT (experts), NULL, "Shape: feed-forward experts of a block; without it one, no mixture.", 1, 1e5 },
  { "top-k", KEY_COUNT, UNIT_NONE, AT (top_k), NULL, "Shape: experts that a token visits; without it 2 of several.", 1, 1e5 },
  { "shared-experts", KEY_COUNT, UNIT_NONE, AT (shared_experts), NULL,
    "Shape: experts that all tokens visit besides, run as one of so many times the width; without it none.", 1, 1e4 },
  { "dense-layers", KEY_COUNT, UNIT_NONE, AT (dense_layers), NULL,
    "Shape: blocks at the beginning that have one feed-forward part, no experts; without it none.", 1, 1e5 },
  { "dense-ffn", KEY_COUNT, UNIT_NONE, AT (dense_ffn), NULL, "Shape: width of that part in dense-layers; without it as ffn's default.", 1, 1e7 },
  { "q-lora-rank", KEY_COUNT, UNIT_NONE, AT (q_lora_rank), NULL,
    "Shape, latent attention: width that queries are squeezed to; without it they are not.", 1, 1e6 },
  { "kv-lora-rank", KEY_COUNT, UNIT_NONE, AT (kv_lora_rank), NULL,
    "Shape: multi-head latent attention (DeepSeek), keys and values squeezed to this width; without it other attention.", 1, 1e6 },
  { "qk-nope-head-dim", KEY_COUNT, UNIT_NONE, AT (qk_nope_head_dim), NULL,
    "Shape, latent attention: width of a head's queries and keys without positions; without it 128.", 1, 1e5 },
  { "qk-rope-head-dim", KEY_COUNT, UNIT_NONE, AT (qk_rope_head_dim), NULL,
    "Shape, latent attention: width with rotary positions, of keys one for all heads; without it 64.", 1, 1e5 },
  { "v-head-dim", KEY_COUNT, UNIT_NONE, AT (v_head_dim), NULL, "Shape, latent attention: width of a head's values; without it 128.", 1, 1e5 },
  { "mtp-layers", KEY_COUNT, UNIT_NONE, AT (mtp_layers), NULL,
    "Shape: blocks that predict further tokens (multi-token prediction), behind the others; without it none.", 1, 100 },
  { "tied", KEY_CHOICE, UNIT_NONE, AT (tied), "auto", "Shape: the output layer shares the embedding's weights.", .choices = shape_switch_names },
  { "gated", KEY_CHOICE, UNIT_NONE, AT (gated), "auto", "Shape: feed-forward part with a gate (SwiGLU).", .choices = shape_switch_names },
  { "bias", KEY_CHOICE, UNIT_NONE, AT (bias), "auto", "Shape: linear layers have a bias.", .choices = shape_switch_names },
  { "positions", KEY_CHOICE, UNIT_NONE, AT (positions), "auto", "Shape: how positions enter.", .choices = position_names },
  { "norm", KEY_CHOICE, UNIT_NONE, AT (norm), "auto", "Shape: layer norm (two tensors) or RMS norm (one).", .choices = norm_names },
  { "head", KEY_CHOICE, UNIT_NONE, AT (head), "auto", "Shape, bert: heads of pre-training or of SQuAD.", .choices = head_names },
  { "image", KEY_COUNT, UNIT_NONE, AT (image), NULL, "Shape, vit: edge of the image in pixels; without it 224.", 1, 1e5 },
  { "patch", KEY_COUNT, UNIT_NONE, AT (patch), NULL, "Shape, vit: edge of a patch in pixels; without it 16.", 1, 1e5 },
  { "classes", KEY_COUNT, UNIT_NONE, AT (classes), NULL, "Shape, vit: outputs of the head; without it 1000.", 1, 1e8 },
#undef AT
#define AT(field) offsetof (WorkloadSpec, packing.field)
  { "packing", KEY_CHOICE, UNIT_NONE, AT (kind), "none",
    "What a sequence holds: none, one sample that fills it; concatenated, documents one behind another; document-mask, these with attention "
    "inside each alone; padded, one document and padding; unpadded, one document and nothing.", .choices = packing_names },
  { "document-length", KEY_COUNT, UNIT_NONE, AT (length), NULL, "Mean tokens of a document, before it is cut at the end of a sequence.", 1, 1e9 },
  { "document-length-cv", KEY_QUANTITY, UNIT_SHARE, AT (length_cv), NULL,
    "Spread of document lengths, deviation over mean, lognormal; 0: all the same; without it 1.", 0, 10 },
#undef AT
  { .name = NULL },
};

const char *const workload_families[] = {
  "resnet", "vgg", "efficientnet", "bert", "gnmt", "ncf", "dlrm", "transformer", "other", NULL
};

/* models/workload/index.csv */
enum { NAME, FAMILY, SAMPLE, SAMPLES_PER_EPOCH, ALIASES, N_COLUMNS };
typedef struct { CsvTable *table; guint column[N_COLUMNS]; } Index;

static void
index_clear (Index *index)
{
  csv_free (index->table);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Index, index_clear)

static gboolean
index_load (Index *index, GError **error)
{
  static const char *const columns[N_COLUMNS] = { "name", "family", "sample", "samples_per_epoch", "aliases" };
  g_autofree char *path = g_build_filename (part_folder (), "workload", "index.csv", NULL);

  index->table = csv_load (path, error);
  if (index->table == NULL)
    return FALSE;
  for (guint i = 0; i < N_COLUMNS; i++)
    {
      if (!csv_require (index->table, columns[i], &index->column[i], error))
        return FALSE;
    }
  return TRUE;
}

static const char *
index_cell (const Index *index, guint row, guint column)
{
  return csv_text (index->table, row, index->column[column]);
}

/* "ResNet-50" and "resnet_50" are one name; a dot counts (gpt3_1.3b, gpt3_13b). */
static char *
fold (const char *name)
{
  g_autoptr (GString) folded = g_string_new (NULL);

  for (const char *c = name; *c != '\0'; c++)
    {
      if (*c != '-' && *c != '_' && *c != ' ')
        g_string_append_c (folded, g_ascii_tolower (*c));
    }
  return g_string_free (g_steal_pointer (&folded), FALSE);
}

static gboolean
row_has_name (const Index *index, guint row, const char *folded)
{
  g_autofree char *name = fold (index_cell (index, row, NAME));
  g_auto (GStrv) aliases = g_strsplit (index_cell (index, row, ALIASES), ",", 0);
  gboolean found = g_str_equal (name, folded);

  for (guint i = 0; aliases[i] != NULL && !found; i++)
    {
      g_autofree char *alias = fold (aliases[i]);
      found = *alias != '\0' && g_str_equal (alias, folded);
    }
  return found;
}

static char **
index_names (const Index *index)
{
  const guint n = csv_rows (index->table);
  char **names = g_new0 (char *, n + 1);

  for (guint i = 0; i < n; i++)
    names[i] = g_strdup (index_cell (index, i, NAME));
  return names;
}

static gboolean
index_find (const Index *index, const char *name, guint *row, GError **error)
{
  g_autofree char *folded = fold (name);

  for (*row = 0; *row < csv_rows (index->table); (*row)++)
    {
      if (row_has_name (index, *row, folded))
        return TRUE;
    }
  g_auto (GStrv) names = index_names (index);
  g_autofree char *message = names_unknown ("workload", name, (const char *const *) names);
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_UNKNOWN, "[workload] name: %s", message);
  return FALSE;
}

static gboolean
read_layers (Workload *workload, const char *path, GError **error)
{
  g_autoptr (CsvTable) table = csv_load (path, error);

  return table != NULL && layers_read (workload, table, error);
}

static gboolean
load_table (Workload *workload, GError **error)
{
  g_autofree char *file = g_strconcat (workload->name, ".csv", NULL);
  g_autofree char *path = g_build_filename (part_folder (), "workload", file, NULL);

  return read_layers (workload, path, error);
}

static gboolean
generate (Workload *workload, Shape *shape, GError **error)
{
  if (!shape_settle (shape, error) || !generator_fill (workload, shape, error))
    return FALSE;
  workload->shape = shape_text (shape);
  workload->dims = *shape;
  return TRUE;
}

/* A shipped transformer with another sequence or another shape. */
static gboolean
load_changed (Workload *workload, const Shape *keys, GError **error)
{
  Shape shape, others = *keys;
  gboolean found;
  char *name;

  if (!shape_load (workload->name, &shape, &found, error))
    return FALSE;
  if (!found)
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                   "[workload] name: '%s' is a fixed table of layers; sequence and the other shape keys go with the names of "
                   "models/workload/shapes.csv, or with an architecture and no name", workload->name);
      return FALSE;
    }
  shape_merge (&shape, keys);
  if (!generate (workload, &shape, error))
    return FALSE;
  others.sequence = 0;
  name = shape_given (&others) ? g_strdup_printf ("%s (own shape)", workload->name)
                               : g_strdup_printf ("%s (sequence %" G_GUINT64_FORMAT ")", workload->name, shape.sequence);
  g_free (workload->name);
  workload->name = name;
  return TRUE;
}

/* A table that the generator makes too has a shape. */
static gboolean
load_dims (Workload *workload, GError **error)
{
  Shape shape;
  gboolean found;

  if (!shape_load (workload->name, &shape, &found, error) || (found && !shape_settle (&shape, error)))
    return FALSE;
  if (found)
    workload->dims = shape;
  return TRUE;
}

static gboolean
load_shipped (Workload *workload, const WorkloadSpec *spec, GError **error)
{
  g_auto (Index) index = { 0 };
  guint row;

  if (!index_load (&index, error) || !index_find (&index, spec->name, &row, error)
      || !csv_number_in (index.table, row, index.column[SAMPLES_PER_EPOCH], 1, 1e15, &workload->samples_per_epoch, error))
    return FALSE;
  workload->name = g_strdup (index_cell (&index, row, NAME));
  if (shape_given (&spec->shape))
    return load_changed (workload, &spec->shape, error);
  workload->family = g_strdup (index_cell (&index, row, FAMILY));
  workload->sample = g_strdup (index_cell (&index, row, SAMPLE));
  return load_table (workload, error) && load_dims (workload, error);
}

static gboolean
load_shape (Workload *workload, const Shape *keys, GError **error)
{
  Shape shape = *keys;

  if (!generate (workload, &shape, error))
    return FALSE;
  workload->name = g_strdup_printf ("%s h%" G_GUINT64_FORMAT " l%" G_GUINT64_FORMAT,
                                    architecture_names[shape.architecture], shape.hidden, shape.layers);
  workload->samples_per_epoch = NAN;
  return TRUE;
}

static gboolean
load_file (Workload *workload, const char *path, GError **error)
{
  if (!read_layers (workload, path, error))
    return FALSE;
  g_autofree char *base = g_path_get_basename (path);
  workload->name = g_str_has_suffix (base, ".csv") ? g_strndup (base, strlen (base) - strlen (".csv"))
                                                   : g_strdup (base);
  workload->family = g_strdup ("other");
  for (guint i = 0; i < workload->n_layers; i++)
    {
      if (workload->layers[i].kind == LAYER_ATTENTION)
        {
          g_free (workload->family);
          workload->family = g_strdup ("transformer");
          break;
        }
    }
  workload->sample = g_strdup ("sample");
  workload->samples_per_epoch = NAN;
  return TRUE;
}

static gboolean
override_family (Workload *workload, const char *family, GError **error)
{
  if (!g_strv_contains (workload_families, family))
    {
      g_autofree char *message = names_unknown ("family", family, workload_families);
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_UNKNOWN, "[workload] family: %s", message);
      return FALSE;
    }
  g_free (workload->family);
  workload->family = g_strdup (family);
  return TRUE;
}

static gboolean
check_source (const WorkloadSpec *spec, GError **error)
{
  const gboolean shape = shape_given (&spec->shape);

  if (spec->name != NULL && spec->file != NULL)
    g_set_error_literal (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[workload] file: stands beside a name; give one of them");
  else if (spec->file != NULL && shape)
    g_set_error_literal (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                         "[workload] file: its layers are fixed; shape keys go with a name or an architecture");
  else if (spec->name == NULL && spec->file == NULL && !shape)
    g_set_error_literal (error, KEYS_ERROR, KEYS_ERROR_MISSING, "[workload] name: missing; give a name ('lockstep list "
                         "workloads'), a file of layers, or an architecture and its shape");
  else
    return TRUE;
  return FALSE;
}

Workload *
workload_load (const WorkloadSpec *spec, GError **error)
{
  g_autoptr (Workload) workload = g_new0 (Workload, 1);
  gboolean ok;

  if (!check_source (spec, error))
    return NULL;
  if (spec->name != NULL)
    ok = load_shipped (workload, spec, error);
  else if (spec->file != NULL)
    {
      ok = load_file (workload, spec->file, error);
      if (!ok && error != NULL && g_error_matches (*error, CSV_ERROR, CSV_ERROR_READ))
        g_prefix_error (error, "[workload] file: ");
    }
  else
    ok = load_shape (workload, &spec->shape, error);
  ok = ok && packing_settle (&workload->packing, &spec->packing,
                             workload->dims.architecture == ARCHITECTURE_VIT ? 0 : workload->dims.sequence, error);
  if (!ok || (spec->family != NULL && !override_family (workload, spec->family, error)))
    return NULL;
  return g_steal_pointer (&workload);
}

void
workload_free (Workload *workload)
{
  if (workload == NULL)
    return;
  layers_clear (workload);
  g_free (workload->name);
  g_free (workload->family);
  g_free (workload->sample);
  g_free (workload->shape);
  g_free (workload);
}

char **
workload_list (GError **error)
{
  g_auto (Index) index = { 0 };

  return index_load (&index, error) ? index_names (&index) : NULL;
}

double
layer_scores (const Layer *layer)
{
  if (layer->kind != LAYER_ATTENTION || !(layer->n > 0) || !(layer->k > 0))
    return 0;
  return layer->out_elems * layer->n / layer->k;   /* heads x queries x keys */
}

gboolean
layer_is_softmax (const Layer *layer)
{
  return layer->kind == LAYER_SOFTMAX || (layer->kind == LAYER_ELEMENTWISE && strstr (layer->name, "softmax") != NULL);
}
