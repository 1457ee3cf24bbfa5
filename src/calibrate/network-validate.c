/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network-validate.h"

#include <math.h>
#include <string.h>

typedef struct
{
  const NetworkValidation *how;
  Validation *validation;
  GPtrArray  *tables;       /* NetworkTable * */
  guint      *source;       /* of each table in the validation */
  guint      *fitted;       /* rows of each that a fit used */
  Shelf      *shelf;
  GPtrArray  *remarks;
} Work;

static void
skip_row (const Work *work, guint table, const NcclTestsRow *row, const char *reason)
{
  validation_skip (work->validation, work->source[table], row->index, reason);
}

static gboolean
too_small (const Work *work, const NcclTestsRow *row)
{
  return row->size < work->how->min_size;
}

static void
add (const Work *work, guint table, const NcclTestsRow *row, const NetworkPrediction *prediction, const char *parts)
{
  if (!too_small (work, row))
    validation_add (work->validation, work->source[table], row->index, row->time, prediction->time, prediction->lo, prediction->hi, parts);
}

static char *
parts_text (const NetworkPrediction *prediction, const char *what)
{
  const CollectiveFlow *choice = &prediction->choice;

  return g_strdup_printf ("%s; %s%s%s%s", what, choice->algorithm->name, choice->algorithm->protocols ? " " : "",
                          choice->algorithm->protocols ? protocol_names[choice->protocol] : "",
                          prediction->beyond ? "; beyond the fitted ranks" : "");
}

/* Of each series (operation and placement of one file) every fourth size, in order. */
static gboolean
is_fitted (const NetworkSystem *system, guint i, guint first)
{
  const NcclTestsRow *row = g_ptr_array_index (system->rows, i);
  guint before = 0;

  for (guint j = 0; j < system->rows->len; j++)
    {
      const NcclTestsRow *other = g_ptr_array_index (system->rows, j);

      before += g_array_index (system->sources, guint, j) == g_array_index (system->sources, guint, i) && other->op_name == row->op_name
                && other->nodes == row->nodes && other->per_node == row->per_node && other->size < row->size;
    }
  return before % 4 == first;
}

static gboolean
hold_out (Work *work, const NetworkSystem *system, GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  g_autofree gboolean *fitted = g_new0 (gboolean, system->rows->len);
  g_autoptr (NetworkFit) fit = NULL;

  for (guint i = 0; i < system->rows->len; i++)
    if ((fitted[i] = is_fitted (system, i, work->how->hold_out_first)))
      g_ptr_array_add (rows, g_ptr_array_index (system->rows, i));
  if (rows->len >= 3)
    {
      fit = network_fit_new (work->shelf, system->names, rows, error);
      if (fit == NULL)
        return FALSE;
    }
  for (guint i = 0; i < system->rows->len; i++)
    {
      const NcclTestsRow *row = g_ptr_array_index (system->rows, i);
      const guint table = g_array_index (system->sources, guint, i);

      if (fit == NULL)
        skip_row (work, table, row, "too few sizes");
      else if (fitted[i])
        work->fitted[table]++;
      else
        {
          const NetworkPrediction prediction = network_fit_predict (fit, row, TRUE);
          g_autofree char *parts = parts_text (&prediction, "every fourth size of the system");

          add (work, table, row, &prediction, parts);
        }
    }
  return TRUE;
}

/* The fitted installation of the same name; where there is but one, that. */
static const NetworkFit *
fit_for (const GPtrArray *keys, const GPtrArray *fits, const NetworkSystem *system)
{
  for (guint i = 0; i < keys->len; i++)
    if (g_str_equal (((NetworkSystem *) g_ptr_array_index (keys, i))->key, system->key))
      return g_ptr_array_index (fits, i);
  return fits->len == 1 ? g_ptr_array_index (fits, 0) : NULL;
}

static gboolean
is_fit_file (const NetworkValidation *how, const char *path)
{
  for (guint i = 0; how->fit[i] != NULL; i++)
    {
      g_autofree char *one = g_canonicalize_filename (how->fit[i], NULL), *other = g_canonicalize_filename (path, NULL);

      if (g_str_equal (one, other))
        return TRUE;
    }
  return FALSE;
}

/* Of the rows beyond the fitted nodes the one whose protocol matters most. */
static void
name_measurement (const Work *work, const NcclTestsRow *row, double doubt)
{
  g_autofree char *size = row != NULL ? quantity_format (row->size, UNIT_BYTES) : NULL;

  if (row != NULL && doubt > 1.5)
    g_ptr_array_add (work->remarks, g_strdup_printf ("%s on %" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT ": more nodes than were fitted, and where "
                                                     "NCCL leaves LL for Simple there is not known: a factor of up to %.1f; one measurement of %s there would settle it",
                                                     row->op_name, row->nodes, row->per_node, doubt, size));
}

static void
predict_by (Work *work, const GPtrArray *keys, const GPtrArray *fits, const NetworkSystem *system)
{
  const NetworkFit *fit = fit_for (keys, fits, system);
  const NcclTestsRow *doubtful = NULL;
  double doubt = 1;

  for (guint i = 0; i < system->rows->len; i++)
    {
      const NcclTestsRow *row = g_ptr_array_index (system->rows, i);
      const guint table = g_array_index (system->sources, guint, i);

      if (fit == NULL)
        skip_row (work, table, row, "no fit of this system");
      else if (is_fit_file (work->how, ((NetworkTable *) g_ptr_array_index (work->tables, table))->tests->name))
        work->fitted[table]++;
      else
        {
          const NetworkPrediction prediction = network_fit_predict (fit, row, FALSE);
          g_autofree char *parts = parts_text (&prediction, "fitted files");

          add (work, table, row, &prediction, parts);
          if (!too_small (work, row) && prediction.doubt > doubt)
            {
              doubt = prediction.doubt;
              doubtful = row;
            }
        }
    }
  name_measurement (work, doubtful, doubt);
}

static gboolean
by_fits (Work *work, const GPtrArray *systems, GError **error)
{
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func ((GDestroyNotify) network_table_free);
  g_autoptr (GPtrArray) fits = g_ptr_array_new_with_free_func ((GDestroyNotify) network_fit_free);
  g_autoptr (GPtrArray) keys = NULL;

  for (guint i = 0; work->how->fit[i] != NULL; i++)
    {
      NetworkTable *table = network_table_load (work->how->fit[i], error);

      if (table == NULL)
        return FALSE;
      g_ptr_array_add (tables, table);
    }
  keys = network_systems (tables);
  for (guint i = 0; i < keys->len; i++)
    {
      const NetworkSystem *system = g_ptr_array_index (keys, i);
      NetworkFit *fit = network_fit_new (work->shelf, system->names, system->rows, error);

      if (fit == NULL)
        return FALSE;
      g_ptr_array_add (fits, fit);
    }
  for (guint i = 0; i < systems->len; i++)
    predict_by (work, keys, fits, g_ptr_array_index (systems, i));
  return TRUE;
}

static void
add_skips (const Work *work)
{
  for (guint t = 0; t < work->tables->len; t++)
    {
      const NetworkTable *table = g_ptr_array_index (work->tables, t);

      for (guint i = 0; i < table->tests->skips->len; i++)
        {
          const NcclTestsSkip *skip = &g_array_index (table->tests->skips, NcclTestsSkip, i);

          validation_skip (work->validation, work->source[t], skip->index, nccl_tests_reasons[skip->reason]);
        }
      for (guint i = 0; i < table->tests->remarks->len; i++)
        g_ptr_array_add (work->remarks, g_strdup (g_ptr_array_index (table->tests->remarks, i)));
    }
}

static gboolean
predict_all (Work *work, GError **error)
{
  g_autoptr (GPtrArray) systems = network_systems (work->tables);

  if (work->how->fit != NULL && work->how->fit[0] != NULL)
    return by_fits (work, systems, error);
  for (guint i = 0; i < systems->len; i++)
    if (!hold_out (work, g_ptr_array_index (systems, i), error))
      return FALSE;
  return TRUE;
}

gboolean
network_validate (const char *const *paths, const NetworkValidation *how, Validation *validation, GPtrArray *keep,
                  GPtrArray *remarks, GError **error)
{
  g_autoptr (Shelf) shelf = shelf_new ();
  const guint n = g_strv_length ((char **) paths);
  g_autofree guint *source = g_new0 (guint, n), *fitted = g_new0 (guint, n);
  Work work = { .how = how, .validation = validation, .tables = keep, .source = source, .fitted = fitted, .shelf = shelf, .remarks = remarks };

  for (guint i = 0; i < n; i++)
    {
      NetworkTable *table = network_table_load (paths[i], error);
      g_autofree char *name = g_path_get_basename (paths[i]);

      if (table == NULL)
        return FALSE;
      g_ptr_array_add (keep, table);
      source[i] = validation_source (validation, name, table->csv);
    }
  add_skips (&work);
  if (!predict_all (&work, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (fitted[i] > 0)
      validation_fitted (validation, source[i], fitted[i]);
  return TRUE;
}
