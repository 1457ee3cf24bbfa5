/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/kernel-fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit.h"

/* ln residual at which a row begins to count as far off: the gap between two
 * releases of one library is 3 to 5 % in the median. */
#define SCALE 0.06
#define SCALE_LEAST 0.003   /* the clock's own */
/* Half of a normal variate's values lie within this many deviations. */
#define NORMAL_MEDIAN 0.6745
#define FEWEST_ROWS 8u
#define MANY_ROWS 2000u   /* so many leave one minimum: other starts gained 0.3 points at most */
#define BINS 6u   /* of predicted time, for the spread */

typedef struct
{
  const KernelForm   *form;
  KernelDevice        device;
  GPtrArray          *rows;       /* const KernelRow * */
  GArray             *measured;   /* double */
} Sample;

static double
model (const double *values, guint row, gpointer user)
{
  const Sample *sample = user;
  const KernelRow *r = sample->rows->pdata[row];

  return sample->form->seconds (values, &sample->device, &r->shape);
}

static gboolean
same_group (const KernelGroup *a, const KernelGroup *b)
{
  return g_str_equal (a->gpu->name, b->gpu->name) && g_str_equal (a->family, b->family) && g_str_equal (a->dtype, b->dtype);
}

static void
collect (KernelTable *const *tables, guint n_tables, const KernelGroup *group, gboolean (*use) (const KernelRow *row), Sample *sample)
{
  for (guint t = 0; t < n_tables; t++)
    for (guint i = 0; i < tables[t]->n_rows; i++)
      {
        const KernelRow *row = &tables[t]->rows[i];

        if (row->skip != NULL || (use != NULL && !use (row)) || !same_group (kernel_table_group (tables[t], row), group))
          continue;
        g_ptr_array_add (sample->rows, (gpointer) row);
        g_array_append_val (sample->measured, row->measured);
      }
}

static int
compare_hashes (const void *a, const void *b)
{
  const guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return (x > y) - (x < y);
}

static void
set_sketch (KernelPart *part, const GPtrArray *rows)
{
  g_autofree guint64 *hashes = g_new (guint64, rows->len);

  for (guint i = 0; i < rows->len; i++)
    hashes[i] = ((const KernelRow *) rows->pdata[i])->row_hash;
  qsort (hashes, rows->len, sizeof *hashes, compare_hashes);
  for (guint i = 0; i < rows->len && part->n_sketch < KERNEL_MAX_SKETCH; i++)
    if (part->n_sketch == 0 || hashes[i] != part->sketch[part->n_sketch - 1])
      part->sketch[part->n_sketch++] = hashes[i];
}

typedef struct { double seconds, residual; } Spread;

static int
compare_spreads (const void *a, const void *b)
{
  const double x = ((const Spread *) a)->seconds, y = ((const Spread *) b)->seconds;

  return (x > y) - (x < y);
}

/* q90 of |residual| in bins of equal counts, by predicted time. */
static void
set_spread (KernelPart *part, Sample *sample, const FitResult *result)
{
  const guint n = result->n_rows, bins = MAX (MIN (BINS, n / 40), 1);
  g_autofree Spread *sorted = g_new (Spread, n);
  g_autofree double *some = g_new (double, n);
  double measured = 0, predicted = 0;

  for (guint i = 0; i < n; i++)
    {
      sorted[i] = (Spread) { model (result->values, i, sample), fabs (result->residuals[i]) };
      predicted += sorted[i].seconds;
      measured += g_array_index (sample->measured, double, i);
    }
  part->bias = predicted / measured - 1;
  qsort (sorted, n, sizeof *sorted, compare_spreads);
  for (guint bin = 0; bin < bins; bin++)
    {
      const guint from = bin * n / bins, to = (bin + 1) * n / bins;

      for (guint i = from; i < to; i++)
        some[i - from] = sorted[i].residual;
      part->spread_to[bin] = sorted[to - 1].seconds;
      part->spread[bin] = fit_quantile (some, to - from, 0.9);
    }
  part->n_spread = bins;
}

static void
set_sources (KernelPart *part, KernelTable *const *tables, guint n_tables, const KernelGroup *group)
{
  g_autoptr (GString) names = g_string_new (NULL);
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();

  for (guint t = 0; t < n_tables; t++)
    for (guint g = 0; g < tables[t]->groups->len; g++)
      if (same_group (tables[t]->groups->pdata[g], group))
        g_string_append_printf (names, "%s%s", names->len ? ", " : "", tables[t]->name);
  part->sources = g_strdup (names->str);
  part->date = g_date_time_format (now, "%Y-%m-%d");
}

static KernelPart *
part_from (const Sample *sample, const FitResult *result, const KernelGroup *group, const char *label, gboolean keep_residuals)
{
  KernelPart *part = g_new0 (KernelPart, 1);
  const guint n = sample->rows->len;

  part->gpu = g_strdup (group->gpu->name);
  part->family = g_strdup (group->family);
  part->dtype = g_strdup (group->dtype);
  part->label = g_strdup (label);
  part->form = sample->form;
  part->bandwidth = group->device.bandwidth;
  part->rows = n;
  part->median = result->median;
  part->q90 = result->q90;
  memcpy (part->values, result->values, result->n_parameters * sizeof (double));
  memcpy (part->covariance, result->covariance, (gsize) result->n_parameters * result->n_parameters * sizeof (double));
  set_sketch (part, sample->rows);
  if (keep_residuals)
    {
      g_autofree const KernelShape **shapes = g_new (const KernelShape *, n);

      for (guint i = 0; i < n; i++)
        shapes[i] = &((const KernelRow *) sample->rows->pdata[i])->shape;
      part->residuals = kernel_residuals_new (sample->form, shapes, result->residuals, n);
    }
  return part;
}

/* What is searched: all but the numbers that no row of the sample knows of. */
static void
set_parameters (const Sample *sample, FitParameter *out)
{
  gboolean winograd = FALSE;

  for (guint i = 0; i < sample->rows->len; i++)
    winograd |= ((const KernelRow *) sample->rows->pdata[i])->shape.winograd;
  for (guint i = 0; i < sample->form->n_parameters; i++)
    {
      const KernelParameter *p = &sample->form->parameters[i];
      const gboolean known = !g_str_equal (p->name, "winograd") || winograd;

      out[i] = (FitParameter) { p->name, p->centre, known ? p->sd : 0 };
    }
}

/* Again on the scale that the rows turn out to have: large element-wise kernels
 * repeat to 0.3 %, and what is far off them is far off at 3 %. */
static FitResult *
solve (FitProblem *problem, GError **error)
{
  g_autoptr (FitResult) first = fit_solve (problem, error);

  if (first == NULL || first->median / NORMAL_MEDIAN > SCALE / 2)
    return g_steal_pointer (&first);
  problem->scale = fmax (first->median / NORMAL_MEDIAN, SCALE_LEAST);
  return fit_solve (problem, error);
}

/* One fit over the rows of all tables that belong to the group's GPU, family and
 * precision, and that `use` (NULL: all) wants.  NULL without error: fewer rows
 * than a fit is worth (counted in n_rows). */
static KernelPart *
fit_form (KernelTable *const *tables, guint n_tables, const KernelGroup *group, const KernelForm *form,
          gboolean (*use) (const KernelRow *row), gboolean keep_residuals, guint *n_rows, GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  g_autoptr (GArray) measured = g_array_new (FALSE, FALSE, sizeof (double));
  Sample sample = { form, group->device, rows, measured };
  FitParameter parameters[KERNEL_MAX_PARAMETERS];
  FitProblem problem = { .parameters = parameters, .n_parameters = form->n_parameters, .scale = SCALE, .model = model, .user = &sample };
  g_autoptr (FitResult) result = NULL;
  KernelPart *part;

  collect (tables, n_tables, group, use, &sample);
  *n_rows = rows->len;
  if (rows->len < FEWEST_ROWS)
    return NULL;
  set_parameters (&sample, parameters);
  problem.n_rows = rows->len;
  problem.n_starts = rows->len > MANY_ROWS ? 1 : 0;
  problem.measured = (const double *) (gpointer) measured->data;
  result = solve (&problem, error);
  if (result == NULL)
    {
      g_prefix_error (error, "%s.%s of %s: ", group->family, group->dtype, group->gpu->name);
      return NULL;
    }
  part = part_from (&sample, result, group, tables[0]->label, keep_residuals);
  set_spread (part, &sample, result);
  set_sources (part, tables, n_tables, group);
  return part;
}

static gboolean
has_fit (const GPtrArray *parts, guint from, const KernelGroup *group, const char *label)
{
  for (guint i = from; i < parts->len; i++)
    {
      const KernelPart *part = parts->pdata[i];

      if (g_str_equal (part->gpu, group->gpu->name) && g_str_equal (part->family, group->family) &&
          g_str_equal (part->dtype, group->dtype) && g_str_equal (part->label, label))
        return TRUE;
    }
  return FALSE;
}

static gboolean
fit_group (KernelTable *const *tables, guint n_tables, const KernelGroup *group, gboolean (*use) (const KernelRow *row),
           gboolean keep_residuals, gboolean rooflines, GPtrArray *parts, GError **error)
{
  const KernelForm *forms[] = { group->form, rooflines && group->form == &kernel_gemm ? &kernel_roofline : NULL };

  for (gsize i = 0; i < G_N_ELEMENTS (forms) && forms[i] != NULL; i++)
    {
      GError *wrong = NULL;
      guint n_rows;
      KernelPart *part = fit_form (tables, n_tables, group, forms[i], use, keep_residuals && i == 0, &n_rows, &wrong);

      if (wrong != NULL)
        {
          g_propagate_error (error, wrong);
          return FALSE;
        }
      if (part == NULL)
        continue;
      if (i > 0)
        {
          char *label = g_strconcat (part->label, "-roofline", NULL);

          g_free (part->label);
          part->label = label;
        }
      g_ptr_array_add (parts, part);
    }
  return TRUE;
}

gboolean
kernel_fit_all (KernelTable *const *tables, guint n_tables, gboolean (*use) (const KernelRow *row),
                gboolean keep_residuals, gboolean rooflines, GPtrArray *parts, GError **error)
{
  const guint from = parts->len;

  for (guint t = 0; t < n_tables; t++)
    {
      g_autoptr (GPtrArray) same = g_ptr_array_new ();

      for (guint other = t; other < n_tables; other++)
        if (g_str_equal (tables[other]->label, tables[t]->label))
          g_ptr_array_add (same, tables[other]);
      for (guint g = 0; g < tables[t]->groups->len; g++)
        {
          const KernelGroup *group = tables[t]->groups->pdata[g];

          if (!has_fit (parts, from, group, tables[t]->label) &&
              !fit_group ((KernelTable *const *) same->pdata, same->len, group, use, keep_residuals, rooflines, parts, error))
            return FALSE;
        }
    }
  return TRUE;
}
