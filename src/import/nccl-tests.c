/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/nccl-tests-parts.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/names.h"

const char *const nccl_tests_reasons[] = {
  "no time", "no size", "inconsistent with itself", "wrong results", "truncated", "not NCCL's kernel", NULL
};

/* Printed with two decimals; times with four digits. */
static const double print_step = 0.0101, print_share = 0.02;
/* Passes further apart: one was disturbed, and disturbances are slow. */
static const double passes_apart = 1.28;

static void
system_free (gpointer data)
{
  NcclTestsSystem *system = data;

  g_free (system->gpu);
  g_free (system->intra);
  g_free (system->inter);
  g_free (system->version);
  g_free (system);
}

static void
row_clear (gpointer data)
{
  g_free (((NcclTestsRow *) data)->algorithm);
}

void
nccl_tests_free (NcclTests *tests)
{
  if (tests == NULL)
    return;
  g_free (tests->name);
  g_array_unref (tests->rows);
  g_ptr_array_unref (tests->systems);
  g_array_unref (tests->skips);
  g_ptr_array_unref (tests->remarks);
  g_free (tests);
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* size/time over the printed algbw: 1, or the same factor in all rows where a
 * column has another unit than its name says. */
static gboolean
check_units (const Reading *reading, GError **error)
{
  g_autoptr (GArray) ratios = g_array_new (FALSE, FALSE, sizeof (double));
  double ratio;

  for (guint i = 0; i < reading->passes->len; i++)
    {
      const Pass *pass = &g_array_index (reading->passes, Pass, i);

      ratio = pass->size / (pass->time * 1e3) / pass->algbw;
      /* below, print steps hide it; a rate of nothing beside a time that is there says nothing */
      if (pass->time > 0 && pass->algbw >= 0.05 && isfinite (ratio))
        g_array_append_val (ratios, ratio);
    }
  if (ratios->len < 3)
    return TRUE;
  g_array_sort (ratios, compare_doubles);
  ratio = g_array_index (ratios, double, ratios->len / 2);
  if (fabs (log (ratio)) < 0.2)
    return TRUE;
  return reading_wrong (reading, 0, error, "size/time is %.3g times the algorithm bandwidth beside it in most rows, a mistake of units; "
                        "times are in us, sizes in bytes, bandwidths in GB/s (1e9 bytes)", ratio);
}

static gboolean
differs (double printed, double computed)
{
  return isfinite (printed) && fabs (printed - computed) > print_step + print_share * computed;
}

/* FALSE: the pass is not to be used. */
static gboolean
check_pass (Reading *reading, const Pass *pass)
{
  const guint64 ranks = pass->nodes * pass->per_node;
  const double factor = collective_bus_factor (pass->op, ranks);
  const double algbw = pass->size / (pass->time * 1e3);
  const double base = isfinite (pass->algbw) && pass->algbw > 0.5 ? pass->algbw : algbw;
  NcclTestsReason reason;

  if (!(pass->size > 0))
    reason = NCCL_TESTS_NO_SIZE;   /* all-gather on many ranks begins with empty rows */
  else if (!(pass->time > 0) || !isfinite (pass->time))
    {
      reason = NCCL_TESTS_NO_TIME;
      reading_remark (reading, pass->line, "no time above zero; the row is left out");
    }
  else if (pass->wrong > 0)
    {
      reason = NCCL_TESTS_WRONG_RESULT;
      reading_remark (reading, pass->line, "%g wrong elements in the result; the row is left out", pass->wrong);
    }
  else if (differs (pass->algbw, algbw))
    {
      reason = NCCL_TESTS_INCONSISTENT;
      reading_remark (reading, pass->line, "algbw %.4g GB/s, but size/time is %.4g; the row is left out", pass->algbw, algbw);
    }
  else if (differs (pass->busbw, base * factor))
    {
      reason = NCCL_TESTS_INCONSISTENT;
      reading_remark (reading, pass->line, "busbw %.4g GB/s, but algbw times %.4g for %s on %" G_GUINT64_FORMAT " ranks is %.4g; the row is left out",
                      pass->busbw, factor, pass->op_name, ranks, base * factor);
    }
  else
    return TRUE;
  reading_skip (reading, pass->line, pass->index, reason);
  return FALSE;
}

static int
compare_passes (gconstpointer a, gconstpointer b)
{
  const Pass *x = a, *y = b;

#define BY(field) if (x->field != y->field) return x->field < y->field ? -1 : 1
  BY (system);
  if (!g_str_equal (x->op_name, y->op_name))
    return strcmp (x->op_name, y->op_name);
  BY (nodes);
  BY (per_node);
  if (x->size < y->size || x->size > y->size)
    return x->size < y->size ? -1 : 1;
  BY (line);
#undef BY
  return 0;
}

static gboolean
same_point (const Pass *a, const Pass *b)
{
  return a->system == b->system && a->op_name == b->op_name && a->nodes == b->nodes && a->per_node == b->per_node
         && !(a->size < b->size) && !(a->size > b->size) && g_strcmp0 (a->algorithm, b->algorithm) == 0;
}

static void
merge (Reading *reading)
{
  const Pass *passes = (const Pass *) (gpointer) reading->passes->data;

  g_array_sort (reading->passes, compare_passes);
  for (guint i = 0, end; i < reading->passes->len; i = end)
    {
      double least = INFINITY, most = 0, sum = 0;
      NcclTestsRow row = { .op = passes[i].op, .op_name = passes[i].op_name, .system = passes[i].system, .nodes = passes[i].nodes,
                           .per_node = passes[i].per_node, .size = passes[i].size, .line = passes[i].line, .index = passes[i].index,
                           .algorithm = g_strdup (passes[i].algorithm) };

      for (end = i; end < reading->passes->len && same_point (&passes[i], &passes[end]); end++)
        {
          least = fmin (least, passes[end].time);
          most = fmax (most, passes[end].time);
          sum += log (passes[end].time);
        }
      row.noise = end - i > 1 ? log (most / least) : NAN;
      row.time = 1e-6 * (most > passes_apart * least ? least : exp (sum / (end - i)));
      g_array_append_val (reading->tests->rows, row);
    }
}

static gboolean
read_any (Reading *reading, const char *text, gsize length, GError **error)
{
  const char *start = text;

  while (start < text + length && g_ascii_isspace (*start))
    start++;
  if (start == text + length)
    return reading_wrong (reading, 0, error, "empty; give what nccl-tests prints, or a table of it");
  if (*start == '{')
    return read_json (reading, text, length, error);
  while (start < text + length && *start == '#')
    {
      const char *end = memchr (start, '\n', text + length - start);

      start = end != NULL ? end + 1 : text + length;
    }
  if (g_ascii_strncasecmp (start, "collective,", MIN (11, text + length - start)) == 0 && text + length - start >= 11)
    return read_csv (reading, text, length, error);
  return read_text (reading, text, length, error);
}

NcclTests *
nccl_tests_parse (const char *name, const char *text, gsize length, GError **error)
{
  g_autoptr (NcclTests) tests = g_new0 (NcclTests, 1);
  g_autoptr (GArray) passes = g_array_new (FALSE, TRUE, sizeof (Pass));
  g_autofree char *shown = file_display_name (name);
  Reading reading = { .tests = tests, .passes = passes, .name = shown };
  guint kept = 0;
  gboolean fine;

  tests->name = g_strdup (name);
  tests->rows = g_array_new (FALSE, TRUE, sizeof (NcclTestsRow));
  g_array_set_clear_func (tests->rows, row_clear);
  tests->systems = g_ptr_array_new_with_free_func (system_free);
  tests->skips = g_array_new (FALSE, FALSE, sizeof (NcclTestsSkip));
  tests->remarks = g_ptr_array_new_with_free_func (g_free);
  reading.texts = g_string_chunk_new (256);
  fine = read_any (&reading, text, length, error) && check_units (&reading, error);
  for (guint i = 0; fine && i < passes->len; i++)
    if (check_pass (&reading, &g_array_index (passes, Pass, i)))
      g_array_index (passes, Pass, kept++) = g_array_index (passes, Pass, i);
  if (fine)
    {
      tests->n_read = passes->len + tests->skips->len - (passes->len - kept);
      g_array_set_size (passes, kept);
      merge (&reading);
    }
  g_string_chunk_free (reading.texts);
  return fine ? g_steal_pointer (&tests) : NULL;
}

NcclTests *
nccl_tests_load (const char *path, GError **error)
{
  gsize length;
  g_autofree char *text = file_read (path, NCCL_TESTS_MAX_BYTES, &length, NCCL_TESTS_ERROR, NCCL_TESTS_ERROR_INPUT, error);

  return text != NULL ? nccl_tests_parse (path, text, length, error) : NULL;
}
