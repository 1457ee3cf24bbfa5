/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/kernel-table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

G_DEFINE_QUARK (lockstep-kernel-table-error-quark, kernel_table_error)

/* A rate of this much of the dense peak is a slip of the source; the clock may
 * go over its nominal value by a little. */
#define RATE_MOST 1.05
/* Winograd and FFT convolutions run fewer FLOP than are counted. */
#define CONV_RATE_MOST 4.0
/* A column that repeats the time as a rate must say the same. */
#define RATE_AGREES 0.05
/* Shares of rows beyond which a whole table is in a wrong unit. */
#define TOO_FAST 0.25
#define TOO_SLOW 0.002
#define HELD_OUT 30u   /* percent */

static const char no_time[] = "no time", unknown_gpu[] = "unknown GPU", unknown_shape[] = "unknown shape",
  too_fast[] = "rate above 1.05 x peak", contradicts[] = "inconsistent with itself", no_peak[] = "no peak rate known",
  no_schema[] = "no table of kernels";

/* How the columns of a schema become a shape. */
typedef struct
{
  const char *const *columns;   /* numbers that it needs, in the order of `dims` */
  const char        *needs;     /* a text column; NULL: none */
  double             rate_most;
  const KernelForm  *form;
  /* The family, borrowed; NULL: unknown shape. */
  const char      *(*shape) (const double *dims, const char *text, const KernelPrecision *precision, KernelShape *out);
} Schema;

static const char *
gemm_shape (const double *d, G_GNUC_UNUSED const char *text, const KernelPrecision *precision, KernelShape *out)
{
  kernel_shape_gemm (out, d[0], d[1], d[2], d[3], precision->in_bytes, precision->out_bytes);
  return d[3] > 1 ? "bmm" : "gemm";
}

static const char *
attention_shape (const double *d, const char *text, const KernelPrecision *precision, KernelShape *out)
{
  if (!g_str_equal (text, "fwd") || d[3] < d[4])
    return NULL;
  kernel_shape_attention (out, d[1], d[2], d[3], d[4], d[5], d[0] > 0, precision->in_bytes);
  return d[0] > 0 ? "attention-causal" : "attention-full";
}

/* w h c n k s r stride_w stride_h p q: a convolution as its implicit matrix
 * product.  The gradients read what the forward pass writes and the reverse. */
static const char *
conv_shape (const double *d, const char *text, const KernelPrecision *precision, KernelShape *out)
{
  const double image = d[0] * d[1], filter = d[5] * d[6], result = d[9] * d[10];
  const double c = d[2], n = d[3], k = d[4];
  const double matrix[3][3] = {
    { n * result, k, c * filter }, { n * image, c, k * filter }, { c * filter, k, n * result }
  };
  static const char *const passes[] = { "fwd", "bwd_data", "bwd_filter" };
  static const char *const families[] = { "conv-fwd", "conv-bwd_data", "conv-bwd_filter" };

  for (gsize i = 0; i < G_N_ELEMENTS (passes); i++)
    if (g_str_equal (text, passes[i]))
      {
        kernel_shape_gemm (out, matrix[i][0], matrix[i][1], matrix[i][2], 1, precision->in_bytes, precision->out_bytes);
        out->flop = 2 * n * result * k * c * filter;
        out->bytes = precision->in_bytes * (n * c * image + k * c * filter + n * k * result);
        out->working_set = out->bytes;
        out->winograd = precision->winograd && fabs (filter - 9) < 0.5 && d[7] < 1.5 && d[8] < 1.5;
        return families[i];
      }
  return NULL;
}

static const char *
stream_shape (const double *d, const char *text, const KernelPrecision *precision, KernelShape *out)
{
  *out = (KernelShape) { .rows = d[0], .cols = d[1], .bytes = d[2], .working_set = d[2], .element = precision->in_bytes };
  return text;
}

static const char *const gemm_columns[] = { "m", "n", "k", "batch", NULL };
static const char *const attention_columns[] = { "causal", "batch", "seq", "heads", "kv_heads", "head_dim", NULL };
static const char *const conv_columns[] = { "w", "h", "c", "n", "k", "s", "r", "stride_w", "stride_h", "p", "q", NULL };
static const char *const stream_columns[] = { "rows", "cols", "bytes", NULL };
static const Schema schemas[] = {
  { conv_columns, "pass", CONV_RATE_MOST, &kernel_gemm, conv_shape },
  { attention_columns, "pass", RATE_MOST, &kernel_attention, attention_shape },
  { gemm_columns, NULL, RATE_MOST, &kernel_gemm, gemm_shape },
  { stream_columns, "op", INFINITY, &kernel_stream, stream_shape },
};

#define MAX_DIMS 12u
typedef struct
{
  const Schema *schema;
  guint         dims[MAX_DIMS], n_dims, text, gpu, dtype, time;
  int           tflops;
} Columns;

static const Schema *
find_schema (const CsvTable *csv, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (schemas); i++)
    {
      guint missing = schemas[i].needs != NULL && csv_column (csv, schemas[i].needs) < 0;

      for (gsize c = 0; schemas[i].columns[c] != NULL; c++)
        missing += csv_column (csv, schemas[i].columns[c]) < 0;
      if (missing == 0)
        return &schemas[i];
    }
  g_set_error (error, KERNEL_TABLE_ERROR, KERNEL_TABLE_ERROR_SCHEMA,
               "%s: no table of kernels; beside gpu, dtype and time_us it needs the columns m,n,k,batch (matrix product), "
               "causal,batch,seq,heads,kv_heads,head_dim,pass (attention), rows,cols,bytes,op (element-wise) or "
               "those of a convolution", csv_name (csv));
  return NULL;
}

static gboolean
find_columns (const CsvTable *csv, Columns *columns, GError **error)
{
  columns->schema = find_schema (csv, error);
  if (columns->schema == NULL || !csv_require (csv, "gpu", &columns->gpu, error) ||
      !csv_require (csv, "dtype", &columns->dtype, error) || !csv_require (csv, "time_us", &columns->time, error))
    {
      if (columns->schema != NULL && error != NULL)
        {
          (*error)->domain = KERNEL_TABLE_ERROR;
          (*error)->code = KERNEL_TABLE_ERROR_SCHEMA;
        }
      return FALSE;
    }
  for (guint i = 0; columns->schema->columns[i] != NULL; i++)
    columns->dims[columns->n_dims++] = (guint) csv_column (csv, columns->schema->columns[i]);
  columns->text = columns->schema->needs != NULL ? (guint) csv_column (csv, columns->schema->needs) : 0;
  columns->tflops = csv_column (csv, "tflops");
  return TRUE;
}

/* FNV-1a, then the finalizer of splitmix64, so that all bits depend on all. */
static guint64
hash_text (const char *text)
{
  guint64 h = 0xcbf29ce484222325u;

  for (const char *p = text; *p != '\0'; p++)
    h = (h ^ (guchar) *p) * 0x100000001b3u;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}

static Gpu *
table_gpu (KernelTable *table, const char *name)
{
  Gpu *gpu;

  for (guint i = 0; i < table->groups->len; i++)
    {
      const KernelGroup *group = table->groups->pdata[i];

      if (g_str_equal (name, group->gpu->name))
        return group->gpu;
    }
  gpu = gpu_load (name, NULL);
  for (guint i = 0; gpu != NULL && i < table->gpus->len; i++)
    if (g_str_equal (gpu->name, ((Gpu *) table->gpus->pdata[i])->name))
      {
        gpu_free (gpu);
        return table->gpus->pdata[i];
      }
  if (gpu != NULL)
    g_ptr_array_add (table->gpus, gpu);
  return gpu;
}

static void
group_free (gpointer data)
{
  KernelGroup *group = data;

  g_free (group->family);
  g_free (group->dtype);
  g_free (group);
}

static guint
find_group (KernelTable *table, Gpu *gpu, const char *family, const KernelPrecision *precision, const KernelForm *form)
{
  for (guint i = 0; i < table->groups->len; i++)
    {
      const KernelGroup *group = table->groups->pdata[i];

      if (group->gpu == gpu && g_str_equal (group->family, family) && g_str_equal (group->dtype, precision->name))
        return i;
    }
  KernelGroup *group = g_new0 (KernelGroup, 1);

  group->gpu = gpu;
  group->family = g_strdup (family);
  group->dtype = g_strdup (precision->name);
  group->form = form;
  group->device = kernel_device (gpu, precision);
  g_ptr_array_add (table->groups, group);
  return table->groups->len - 1;
}

/* What the row says about itself: time, rate, and both against the peak. */
static const char *
check_rate (const Columns *columns, const KernelRow *row, const KernelDevice *device, double tflops)
{
  const double rate = row->shape.flop / row->measured;

  if (row->shape.flop > 0 && rate > columns->schema->rate_most * device->peak)
    return too_fast;
  if (tflops > 0 && row->shape.flop > 0 && fabs (rate / (tflops * 1e12) - 1) > RATE_AGREES)
    return contradicts;
  return NULL;
}

static const char *
read_dims (const KernelTable *table, const Columns *columns, guint line, double *dims, GString *key)
{
  g_string_truncate (key, 0);
  for (guint i = 0; i < columns->n_dims; i++)
    {
      const gboolean flag = g_str_equal (columns->schema->columns[i], "causal");

      if (!csv_number (table->csv, line, columns->dims[i], &dims[i], NULL) || !(dims[i] > 0 || (flag && dims[i] > -1)))
        return unknown_shape;
      g_string_append (key, csv_text (table->csv, line, columns->dims[i]));
      g_string_append_c (key, ',');
    }
  if (columns->schema->needs != NULL)
    g_string_append (key, csv_text (table->csv, line, columns->text));
  return NULL;
}

/* By name, once a run of equal names. */
typedef struct { const char *name; Gpu *gpu; } LastGpu;

static const char *
read_row (KernelTable *table, const Columns *columns, guint line, KernelRow *row, LastGpu *last, GString *key)
{
  const char *gpu_name = csv_text (table->csv, line, columns->gpu), *dtype = csv_text (table->csv, line, columns->dtype);
  const KernelPrecision *precision = kernel_precision (dtype);
  const char *skip, *family;
  double time = NAN, tflops = NAN, dims[MAX_DIMS];

  if (last->name == NULL || !g_str_equal (last->name, gpu_name))
    *last = (LastGpu) { gpu_name, table_gpu (table, gpu_name) };
  if (last->gpu == NULL)
    return unknown_gpu;
  skip = read_dims (table, columns, line, dims, key);
  if (skip != NULL || precision == NULL)
    return unknown_shape;
  family = columns->schema->shape (dims, columns->schema->needs ? csv_text (table->csv, line, columns->text) : "", precision, &row->shape);
  if (family == NULL || *family == '\0')
    return unknown_shape;
  if (!csv_number (table->csv, line, columns->time, &time, NULL) || !(time > 0))
    return no_time;
  row->group = find_group (table, last->gpu, family, precision, columns->schema->form);
  row->measured = time * 1e-6;
  row->shape_hash = hash_text (key->str);
  g_string_append_printf (key, ",%s,%s,%s", last->gpu->name, dtype, csv_text (table->csv, line, columns->time));
  row->row_hash = hash_text (key->str);
  const KernelGroup *group = table->groups->pdata[row->group];
  if (row->shape.flop > 0 && !(group->device.peak > 0))
    return no_peak;
  if (columns->tflops >= 0 && !csv_number (table->csv, line, (guint) columns->tflops, &tflops, NULL))
    return contradicts;
  return check_rate (columns, row, &group->device, tflops);
}

static int
compare_doubles (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* A time in ms or ns instead of us shows as a rate no GPU can do, or that none
 * would be bought for. */
static gboolean
check_units (const KernelTable *table, GError **error)
{
  g_autofree double *share = g_new (double, MAX (table->n_rows, 1));
  guint timed = 0, fast = 0, n = 0;

  for (guint i = 0; i < table->n_rows; i++)
    {
      const KernelRow *row = &table->rows[i];

      timed += row->skip == NULL || row->skip == too_fast;
      fast += row->skip == too_fast;
      if (row->skip == NULL)
        {
          const KernelDevice *device = &kernel_table_group (table, row)->device;
          const double ideal = fmax (row->shape.flop > 0 ? row->shape.flop / device->peak : 0, row->shape.bytes / device->bandwidth);

          if (ideal > 1e-5)
            share[n++] = ideal / row->measured;
        }
    }
  qsort (share, n, sizeof (double), compare_doubles);
  if (timed > 0 && fast > TOO_FAST * timed)
    g_set_error (error, KERNEL_TABLE_ERROR, KERNEL_TABLE_ERROR_UNITS, "%s: %u of %u rows are faster than the GPU's peak; "
                 "is time_us in microseconds?", table->name, fast, timed);
  else if (n > 0 && share[n / 2] < TOO_SLOW)
    g_set_error (error, KERNEL_TABLE_ERROR, KERNEL_TABLE_ERROR_UNITS, "%s: half of the large kernels run below %g %% of what "
                 "the GPU can do; is time_us in microseconds?", table->name, TOO_SLOW * 100);
  else if (n > 0 && share[n / 2] > 20)   /* no flop to judge by: bytes, which a cache may serve a few times faster */
    g_set_error (error, KERNEL_TABLE_ERROR, KERNEL_TABLE_ERROR_UNITS, "%s: half of the large kernels move bytes over 20 times "
                 "faster than the GPU's memory; is time_us in microseconds?", table->name);
  else
    return TRUE;
  return FALSE;
}

/* "vidur" of "gemm_A100-SXM_fp16_vidur.csv"; only letters that a group's name takes. */
static char *
label_of (const char *name)
{
  const char *dot = strrchr (name, '.'), *start;
  g_autofree char *stem = g_strndup (name, dot != NULL ? (gsize) (dot - name) : strlen (name));

  start = strrchr (stem, '_');
  return g_strcanon (g_ascii_strdown (start != NULL && start[1] != '\0' ? start + 1 : stem, -1),
                     G_CSET_a_2_z G_CSET_DIGITS "-", '-');
}

/* Beyond any kernel: 1e15 bytes or elements, 1e12 us are 12 days, an exaFLOP/s is 1e6. */
static const double largest_dim = 1e15, longest_us = 1e12, fastest_tflops = 1e6;

/* What is no number, or none that can be, is a slip and no row to pass over; nothing, or 0, is. */
static gboolean
check_numbers (const CsvTable *csv, const Columns *columns, GError **error)
{
  double value;

  for (guint line = 0; line < csv_rows (csv); line++)
    {
      for (guint i = 0; i < columns->n_dims; i++)
        if (!csv_number_in (csv, line, columns->dims[i], 0, largest_dim, &value, error))
          return FALSE;
      if (!csv_number_in (csv, line, columns->time, 0, longest_us, &value, error)
          || (columns->tflops >= 0 && !csv_number_in (csv, line, (guint) columns->tflops, 0, fastest_tflops, &value, error)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_rows (KernelTable *table, const Columns *columns, GError **error)
{
  g_autoptr (GString) key = g_string_new (NULL);
  LastGpu last = { NULL, NULL };

  if (columns != NULL && !check_numbers (table->csv, columns, error))
    return FALSE;
  for (guint i = 0; i < table->n_rows; i++)
    {
      table->rows[i].line = i;
      table->rows[i].skip = columns != NULL ? read_row (table, columns, i, &table->rows[i], &last, key) : no_schema;
    }
  return columns == NULL || check_units (table, error);
}

KernelTable *
kernel_table_load (const char *path, gboolean any_schema, GError **error)
{
  g_autoptr (KernelTable) table = g_new0 (KernelTable, 1);
  g_autoptr (GError) wrong = NULL;
  gboolean kernels;
  Columns columns = { 0 };

  table->path = g_strdup (path);
  table->name = g_path_get_basename (path);
  table->label = label_of (table->name);
  table->gpus = g_ptr_array_new_with_free_func ((GDestroyNotify) gpu_free);
  table->groups = g_ptr_array_new_with_free_func (group_free);
  table->csv = csv_load (path, error);
  if (table->csv == NULL)
    return NULL;
  kernels = find_columns (table->csv, &columns, &wrong);
  if (!kernels && !any_schema)
    {
      g_propagate_error (error, g_steal_pointer (&wrong));
      return NULL;
    }
  table->n_rows = csv_rows (table->csv);
  table->rows = g_new0 (KernelRow, MAX (table->n_rows, 1));
  return read_rows (table, kernels ? &columns : NULL, error) ? g_steal_pointer (&table) : NULL;
}

void
kernel_table_free (KernelTable *table)
{
  if (table == NULL)
    return;
  g_free (table->path);
  g_free (table->name);
  g_free (table->label);
  csv_free (table->csv);
  g_ptr_array_unref (table->gpus);
  g_ptr_array_unref (table->groups);
  g_free (table->rows);
  g_free (table);
}

const KernelGroup *
kernel_table_group (const KernelTable *table, const KernelRow *row)
{
  return table->groups->pdata[row->group];
}

gboolean
kernel_row_held_out (const KernelRow *row)
{
  return row->shape_hash % 100 < HELD_OUT;
}

gboolean
kernel_table_feeds (const KernelTable *table, const KernelPart *part)
{
  for (guint i = 0; i < table->n_rows; i++)
    if (table->rows[i].skip == NULL && kernel_part_has_row (part, table->rows[i].row_hash))
      return TRUE;
  return FALSE;
}
