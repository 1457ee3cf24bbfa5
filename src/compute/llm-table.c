/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/llm.h"

#include <math.h>
#include <string.h>

#include "base/csv.h"

const char *const llm_constant_names[] = {
  "efficiency", "flash-efficiency", "flash-attention", "flash-backward", "dropout", "async-backward", "tp-overlap",
  "slices", "accumulate-bytes", "add-share", "norm-share", "activation-share",
  "norm-bytes", "norm-bytes-back", "rotary-bytes", "rotary-bytes-back", "activation-bytes", "activation-bytes-back",
  "kernel-floor", "fp8-share", "fp8-cast-bytes", "fp8-head", "loss-bytes",
  "optimizer-extra", "whole-gradient-bytes", "whole-gradient-reduce", "bucket-parameters", "host-forward", "host-backward", "host-recompute", "host-checkpoint", "host-collective",
  "host-micro-batch", "host-operator", "experts-operators", "experts-operators-back", "expert-operators", "expert-operators-back", "expert-operators-fp8", "experts-fused", "overlap-slowdown", "rank-noise",
  "fixed", "reserve", NULL
};
const char *const llm_stacks[] = { "auto", "megatron-2021", "megatron-2022", "megatron-core-2023", "megatron-core-2025", "megatron-core-2026",
                                   "llm-foundry-2023", "torchtitan-2024", "torchtitan-2024-eager", "nanotron-2024", NULL };

#define ANY "any"
enum { NAME, STACK, GENERATION, VALUE, LOW, HIGH, KIND, SOURCES, ORIGIN, N_COLUMNS };
static const char *const columns[N_COLUMNS] = { "name", "stack", "generation", "value", "low", "high", "kind", "sources", "origin" };

typedef struct
{
  const CsvTable *table;
  guint           column[N_COLUMNS];
  const char     *stack, *generation;
  const char     *without;   /* a source whose values do not count; NULL: none */
} Query;

static const char *
cell (const Query *q, guint row, guint column)
{
  return csv_text (q->table, row, q->column[column]);
}

/* Software of two years runs alike: 2021-22, 2023-24, ...; 0: the name has no year. */
static guint
years_of (const char *stack)
{
  const char *year = strstr (stack, "-20");

  return year != NULL ? (guint) ((g_ascii_strtoull (year + 1, NULL, 10) + 1) / 2) : 0;
}

/* Where a value is looked for, narrowest first. */
enum { OF_STACK_AND_GENERATION, OF_YEARS_AND_GENERATION, OF_STACK, OF_GENERATION, OF_ALL, N_LEVELS };

static gboolean
row_fits (const Query *q, guint row, guint level)
{
  const char *stack = cell (q, row, STACK), *generation = cell (q, row, GENERATION);
  const char *wanted = level == OF_STACK || level == OF_ALL ? ANY : q->generation;

  if (!g_str_equal (generation, wanted))
    return FALSE;
  if (level == OF_YEARS_AND_GENERATION)
    return years_of (stack) > 0 && years_of (stack) == years_of (q->stack);
  return g_str_equal (stack, level == OF_GENERATION || level == OF_ALL ? ANY : q->stack);
}

/* Rows fitted to steps of sources; those without come after them. */
static gboolean
source_allowed (const Query *q, guint row, gboolean fitted)
{
  g_auto (GStrv) sources = g_strsplit (cell (q, row, SOURCES), " ", -1);

  return (sources[0] != NULL) == fitted && (q->without == NULL || !g_strv_contains ((const char *const *) sources, q->without));
}

typedef struct { double value, low, high; guint row; } Found;

static int
by_value (gconstpointer a, gconstpointer b)
{
  const double x = ((const Found *) a)->value, y = ((const Found *) b)->value;

  return (x > y) - (x < y);
}

/* Several sources: their median, and the widest ends. */
static Found
middle (GArray *found)
{
  const Found *f = (const Found *) (gconstpointer) found->data;
  Found out;

  g_array_sort (found, by_value);
  out = f[found->len / 2];
  if (found->len % 2 == 0)
    out.value = 0.5 * (out.value + f[found->len / 2 - 1].value);
  for (guint i = 0; i < found->len; i++)
    {
      out.low = fmin (out.low, f[i].low);   /* the other where one is not known */
      out.high = fmax (out.high, f[i].high);
    }
  return out;
}

/* Shares of a rate are above 0, and above 1 where stacks move fewer bytes than are counted;
 * all else is a count of bytes, of seconds, or of one of two ways. */
static gboolean
read_value (const Query *q, const char *name, guint row, guint column, double *out, GError **error)
{
  const gboolean share = g_str_has_suffix (name, "efficiency") || g_str_has_suffix (name, "-share");

  if (!csv_number_in (q->table, row, q->column[column], share ? 1e-3 : 0, share ? 4 : 1e12, out, error))
    return FALSE;
  if (column != VALUE || !isnan (*out))
    return TRUE;
  g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "%s:%u: column 'value': is empty; a number is needed", csv_name (q->table),
               csv_line (q->table, row));
  return FALSE;
}

static gboolean
find_rows (const Query *q, const char *name, guint level, gboolean fitted, GArray *found, GError **error)
{
  for (guint row = 0; row < csv_rows (q->table); row++)
    {
      Found f = { .row = row };

      if (!g_str_equal (cell (q, row, NAME), name) || !row_fits (q, row, level) || !source_allowed (q, row, fitted))
        continue;
      if (!read_value (q, name, row, VALUE, &f.value, error) || !read_value (q, name, row, LOW, &f.low, error)
          || !read_value (q, name, row, HIGH, &f.high, error))
        return FALSE;
      g_array_append_val (found, f);
    }
  return TRUE;
}

static gboolean
read_constant (LlmModel *model, const Query *q, LlmConstant i, GError **error)
{
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (Found));

  for (guint step = 0; step < 2 * N_LEVELS && found->len == 0; step++)
    if (!find_rows (q, llm_constant_names[i], step / 2, step % 2 == 0, found, error))
      return FALSE;
  if (found->len == 0)
    {
      g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "%s: no row '%s' for any stack and generation%s%s", csv_name (q->table),
                   llm_constant_names[i], q->without != NULL ? " without source " : "", q->without != NULL ? q->without : "");
      return FALSE;
    }
  const Found f = middle (found);
  OriginKind kind = ORIGIN_ASSUMED;
  g_autofree char *more = found->len > 1 ? g_strdup_printf ("; median of %u", found->len) : g_strdup ("");
  g_autofree char *text = g_strdup_printf ("models/llm.csv: %s, %s: %s%s", cell (q, f.row, STACK), cell (q, f.row, GENERATION),
                                           cell (q, f.row, ORIGIN), more);

  origin_kind (cell (q, f.row, KIND), &kind);
  model->origin[i] = (Origin) { kind, g_intern_string (text) };
  model->value[i] = f.value;
  model->low[i] = f.low;
  model->high[i] = f.high;
  return TRUE;
}

gboolean
llm_constants (LlmModel *model, int stack, const char *generation, const char *without, GError **error)
{
  g_autofree char *path = g_build_filename (part_folder (), "llm.csv", NULL);
  g_autoptr (CsvTable) table = csv_load (path, error);
  Query q = { .table = table, .stack = stack == 0 ? ANY : llm_stacks[stack], .generation = generation, .without = without };

  if (table == NULL)
    return FALSE;
  for (guint i = 0; i < N_COLUMNS; i++)
    if (!csv_require (table, columns[i], &q.column[i], error))
      return FALSE;
  for (guint i = 0; i < N_LLM; i++)
    if (!read_constant (model, &q, (LlmConstant) i, error))
      return FALSE;
  return TRUE;
}

char *
llm_without_text (int stack, const char *generation, const char *without)
{
  LlmModel all = { 0 }, rest = { 0 };
  g_autoptr (GString) text = g_string_new (NULL);

  if (!llm_constants (&all, stack, generation, NULL, NULL) || !llm_constants (&rest, stack, generation, without, NULL))
    return NULL;
  for (guint i = 0; i < N_LLM; i++)
    if (all.origin[i].text != rest.origin[i].text)   /* interned */
      g_string_append_printf (text, "%s%s %g", text->len > 0 ? ", " : "", llm_constant_names[i], rest.value[i]);
  return text->len > 0 ? g_strdup (text->str) : NULL;
}
