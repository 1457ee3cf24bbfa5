/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/layers.h"

#include <math.h>
#include <string.h>

#include "base/names.h"

/* cin, cout, hin, win, hout and wout may stand in the table too; nothing reads them yet. */
enum { LAYER, KIND, PARAMS, TENSORS, TENSOR_SIZES, OUT_ELEMS, FLOP, BYTES, M, N, K, KH, KW, STRIDE, GROUPS, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = {
  "layer", "kind", "params", "tensors", "tensor_sizes", "out_elems", "flops_fwd_per_sample",
  "bytes_fwd_per_sample_fp32", "m", "n", "k", "kh", "kw", "stride", "groups",
};

const char *const layer_kind_names[] = {
  "conv", "gemm", "attention", "softmax", "norm", "elementwise", "pool", "embedding", "recurrent", "other", NULL
};

#define MAX_COUNT 1e18   /* of anything in one layer; sums stay exact enough and finite */

typedef struct
{
  GStringChunk *names;
  double       *tensors;
} Storage;

struct LayerList
{
  GStringChunk *names;
  GArray       *layers;    /* Layer; tensors not yet set */
  GArray       *tensors;   /* double */
  guint         noted;     /* tensors of the layers so far */
};

typedef struct
{
  const CsvTable *table;
  guint           column[N_COLUMNS];
  LayerList      *list;
} Reader;

LayerList *
layer_list_new (void)
{
  LayerList *list = g_new0 (LayerList, 1);

  list->names = g_string_chunk_new (4096);
  list->layers = g_array_new (FALSE, TRUE, sizeof (Layer));
  list->tensors = g_array_new (FALSE, FALSE, sizeof (double));
  return list;
}

void
layer_list_free (LayerList *list)
{
  if (list == NULL)
    return;
  if (list->names != NULL)
    g_string_chunk_free (list->names);
  g_array_unref (list->layers);
  g_array_unref (list->tensors);
  g_free (list);
}

void
layer_list_tensor (LayerList *list, double elements)
{
  g_array_append_val (list->tensors, elements);
}

static guint
layer_list_tensors (const LayerList *list)
{
  return list->tensors->len;
}

void
layer_list_add (LayerList *list, const char *name, const Layer *layer)
{
  Layer copy = *layer;

  copy.name = g_string_chunk_insert (list->names, name);
  copy.tied = strstr (name, "(tied)") != NULL;
  copy.n_tensors = list->tensors->len - list->noted;
  copy.params = 0;
  for (guint i = list->noted; i < list->tensors->len; i++)
    copy.params += g_array_index (list->tensors, double, i);
  list->noted = list->tensors->len;
  g_array_append_val (list->layers, copy);
}

static void
fail (const Reader *r, guint row, guint column, GError **error, const char *what)
{
  g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "%s:%u: %s: %s", csv_name (r->table),
               csv_line (r->table, row), column_names[column], what);
}

static const char *
cell (const Reader *r, guint row, guint column)
{
  return csv_text (r->table, row, r->column[column]);
}

/* A whole number that must be there. */
static gboolean
read_count (const Reader *r, guint row, guint column, double *value, GError **error)
{
  if (!csv_number (r->table, row, r->column[column], value, error))
    return FALSE;
  if (isnan (*value))
    {
      fail (r, row, column, error, "is empty; a number is needed");
      return FALSE;
    }
  if (*value < 0 || *value > MAX_COUNT || *value > floor (*value))
    {
      g_autofree char *what
          = g_strdup_printf ("'%s' is out of range; a whole number from 0 to 1e18 is right", cell (r, row, column));
      fail (r, row, column, error, what);
      return FALSE;
    }
  return TRUE;
}

/* "9408+64": the elements of each tensor, as many as `tensors` says, adding up to `params`. */
static gboolean
read_tensors (const Reader *r, guint row, Layer *layer, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (cell (r, row, TENSOR_SIZES), "+", 0);
  const guint n = g_strv_length (parts);
  double count, sum = 0;

  if (!read_count (r, row, TENSORS, &count, error))
    return FALSE;
  if (count > n || count < n || layer_list_tensors (r->list) + n > WORKLOAD_MAX_TENSORS)
    {
      g_autofree char *what = g_strdup_printf ("%u sizes, but column tensors says %s (at most %u in all)", n,
                                               cell (r, row, TENSORS), WORKLOAD_MAX_TENSORS);
      fail (r, row, TENSOR_SIZES, error, what);
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    {
      guint64 size;

      if (!g_ascii_string_to_unsigned (parts[i], 10, 1, (guint64) MAX_COUNT, &size, NULL))
        {
          g_autofree char *what = g_strdup_printf ("'%s' is not a count of elements; '9408+64' is right", parts[i]);
          fail (r, row, TENSOR_SIZES, error, what);
          return FALSE;
        }
      const double elements = (double) size;
      layer_list_tensor (r->list, elements);
      sum += elements;
    }
  if (sum > layer->params || sum < layer->params)
    {
      g_autofree char *what
          = g_strdup_printf ("the sizes add up to %.17g, but column params says %.17g", sum, layer->params);
      fail (r, row, TENSOR_SIZES, error, what);
      return FALSE;
    }
  return TRUE;
}

static gboolean
read_kind (const Reader *r, guint row, Layer *layer, GError **error)
{
  const char *text = cell (r, row, KIND);

  for (guint i = 0; layer_kind_names[i] != NULL; i++)
    {
      if (g_str_equal (layer_kind_names[i], text))
        {
          layer->kind = (LayerKind) i;
          return TRUE;
        }
    }
  g_autofree char *what = names_unknown ("kind", text, layer_kind_names);
  fail (r, row, KIND, error, what);
  return FALSE;
}

static gboolean
read_shape (const Reader *r, guint row, Layer *layer, GError **error)
{
  const guint columns[] = { M, N, K, KH, KW, STRIDE, GROUPS };
  double value[G_N_ELEMENTS (columns)];

  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      if (!csv_number (r->table, row, r->column[columns[i]], &value[i], error))
        return FALSE;
      if (value[i] < 0 || value[i] > MAX_COUNT)
        {
          fail (r, row, columns[i], error, "is out of range; a number from 0 to 1e18, or nothing, is right");
          return FALSE;
        }
    }
  layer->m = value[0];
  layer->n = value[1];
  layer->k = value[2];
  if (layer->kind == LAYER_RECURRENT && !(layer->m > 0 && layer->n > 0))
    {
      fail (r, row, layer->m > 0 ? N : M, error, "is not there; a recurrent layer needs its time steps (m) and gates (n)");
      return FALSE;
    }
  layer->winograd = layer->kind == LAYER_CONV && g_str_equal (cell (r, row, KH), "3")
                    && g_str_equal (cell (r, row, KW), "3") && g_str_equal (cell (r, row, STRIDE), "1")
                    && g_str_equal (cell (r, row, GROUPS), "1");
  layer->depthwise = layer->kind == LAYER_CONV && value[6] > 1 && !(layer->k > value[3] * value[4]);   /* one input channel a group */
  return TRUE;
}

static gboolean
read_layer (const Reader *r, guint row, GError **error)
{
  const char *name = cell (r, row, LAYER);
  Layer layer = { 0 };

  if (*name == '\0')
    {
      fail (r, row, LAYER, error, "is empty; a layer needs a name");
      return FALSE;
    }
  if (!read_kind (r, row, &layer, error) || !read_count (r, row, PARAMS, &layer.params, error)
      || !read_tensors (r, row, &layer, error) || !read_count (r, row, OUT_ELEMS, &layer.out_elems, error)
      || !read_count (r, row, FLOP, &layer.flop, error) || !read_count (r, row, BYTES, &layer.bytes_fp32, error)
      || !read_shape (r, row, &layer, error))
    return FALSE;
  layer_list_add (r->list, name, &layer);
  return TRUE;
}

/* Running mean and variance of each channel and num_batches_tracked of each
 * layer (torch.nn.BatchNorm2d).  A network with convolutions and no attention
 * normalises over the batch; the others have layer norms, which keep nothing. */
static double
batch_norm_buffers (const Workload *workload)
{
  gboolean conv = FALSE, attention = FALSE;
  double buffers = 0;

  for (guint i = 0; i < workload->n_layers; i++)
    {
      const Layer *layer = &workload->layers[i];

      conv |= layer->kind == LAYER_CONV;
      attention |= layer->kind == LAYER_ATTENTION;
      if (layer->kind == LAYER_NORM)
        buffers += layer->params + 1;   /* weight and bias: as many as mean and variance */
    }
  return conv && !attention ? buffers : 0.0;
}

static void
sum_up (Workload *workload, Storage *storage)
{
  const double *tensors = storage->tensors;

  for (guint i = 0; i < workload->n_layers; i++)
    {
      Layer *layer = &workload->layers[i];

      layer->tensors = tensors;
      tensors += layer->n_tensors;
      workload->params += layer->params;
      workload->flop += layer->flop;
      workload->out_elems += layer->out_elems;
      workload->n_tensors += layer->n_tensors;
    }
  workload->buffers = batch_norm_buffers (workload);
}

void
layer_list_end (LayerList *list, Workload *workload)
{
  Storage *storage = g_new0 (Storage, 1);

  storage->names = g_steal_pointer (&list->names);
  workload->storage = storage;
  workload->n_layers = list->layers->len;
  workload->layers = (Layer *) (gpointer) g_array_steal (list->layers, NULL);
  storage->tensors = (double *) (gpointer) g_array_steal (list->tensors, NULL);
  sum_up (workload, storage);
}

static gboolean
find_columns (Reader *r, GError **error)
{
  for (guint i = 0; i < N_COLUMNS; i++)
    {
      const int column = csv_column (r->table, column_names[i]);

      if (column < 0)
        {
          g_set_error (error, CSV_ERROR, CSV_ERROR_COLUMN,
                       "%s:1: column '%s' is missing; a table of layers has the columns of models/workload/resnet50.csv",
                       csv_name (r->table), column_names[i]);
          return FALSE;
        }
      r->column[i] = (guint) column;
    }
  return TRUE;
}

gboolean
layers_read (Workload *workload, const CsvTable *table, GError **error)
{
  g_autoptr (LayerList) list = layer_list_new ();
  Reader r = { .table = table, .list = list };

  if (!find_columns (&r, error))
    return FALSE;
  if (csv_rows (table) == 0 || csv_rows (table) > WORKLOAD_MAX_LAYERS)
    {
      g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "%s:1: %u layers; 1 to %u are right", csv_name (table),
                   csv_rows (table), WORKLOAD_MAX_LAYERS);
      return FALSE;
    }
  for (guint row = 0; row < csv_rows (table); row++)
    {
      if (!read_layer (&r, row, error))
        return FALSE;
    }
  layer_list_end (list, workload);
  return TRUE;
}

void
layers_clear (Workload *workload)
{
  Storage *storage = workload->storage;

  g_free (workload->layers);
  if (storage == NULL)
    return;
  g_string_chunk_free (storage->names);
  g_free (storage->tensors);
  g_free (storage);
}
