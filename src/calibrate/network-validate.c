/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network-part.h"

#include <math.h>
#include <string.h>

typedef struct { NetworkFit *fit; char *what; } Catalogue;

typedef struct
{
  GHashTable *catalogues;   /* file and system -> Catalogue */
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
  return g_strdup_printf ("%s%s", what, prediction->beyond ? ", beyond the fitted ranks" : "");
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

/* Where the protocols differ, beyond the fitted nodes: between these sizes. */
typedef struct { const NcclTestsRow *first, *last; double most; } Doubt;

static void
note_doubt (Doubt *doubt, const NcclTestsRow *row, double factor)
{
  static const double worth_asking = 1.5, least_size = 512 << 10;   /* no onset was seen below */

  if (factor < worth_asking || row->size < least_size || row->op != OP_ALL_REDUCE)
    return;
  if (doubt->first == NULL || row->size < doubt->first->size)
    doubt->first = row;
  if (doubt->last == NULL || row->size > doubt->last->size)
    doubt->last = row;
  doubt->most = fmax (doubt->most, factor);
}

/* The middle of the doubtful sizes halves them. */
static void
name_measurement (const Work *work, const Doubt *doubt)
{
  g_autofree char *first = NULL, *last = NULL, *middle = NULL;

  if (doubt->first == NULL)
    return;
  first = quantity_format (doubt->first->size, UNIT_BYTES);
  last = quantity_format (doubt->last->size, UNIT_BYTES);
  middle = quantity_format (exp2 (rint (log2 (doubt->first->size * doubt->last->size) / 2)), UNIT_BYTES);
  g_ptr_array_add (work->remarks,
                   g_strdup_printf ("%s on %" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT ": more nodes than were fitted, and the size from which NCCL takes Simple "
                                    "there is not known: up to a factor %.1f from %s to %s; one measured time of %s there would settle most of it",
                                    doubt->first->op_name, doubt->first->nodes, doubt->first->per_node, doubt->most, first, last, middle));
}

static void
predict_by (Work *work, const GPtrArray *keys, const GPtrArray *fits, const NetworkSystem *system)
{
  const NetworkFit *fit = fit_for (keys, fits, system);
  Doubt doubt = { 0 };

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
          note_doubt (&doubt, row, prediction.doubt);
        }
    }
  name_measurement (work, &doubt);
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

/* A file's rows by parts that never saw it. */
static gboolean
by_catalogue (Work *work, const NetworkSystem *system, GError **error)
{
  for (guint i = 0; i < system->rows->len; i++)
    {
      const NcclTestsRow *row = g_ptr_array_index (system->rows, i);
      const guint t = g_array_index (system->sources, guint, i);
      const char *path = ((NetworkTable *) g_ptr_array_index (work->tables, t))->tests->name;
      g_autofree char *key = g_strdup_printf ("%s %s %" G_GUINT64_FORMAT, path, system->key, row->nodes > 1 ? row->per_node : 0);
      Catalogue *catalogue = g_hash_table_lookup (work->catalogues, key);
      NetworkPrediction prediction;
      g_autofree char *parts = NULL;

      if (catalogue == NULL)
        {
          const RankGroup group = network_row_group (row);

          catalogue = g_new0 (Catalogue, 1);
          g_hash_table_insert (work->catalogues, g_steal_pointer (&key), catalogue);
          catalogue->fit = network_catalogue (work->shelf, system->names, path, &group, &catalogue->what, error);
          if (catalogue->fit == NULL)
            return FALSE;
        }
      prediction = network_fit_predict (catalogue->fit, row, FALSE);
      parts = parts_text (&prediction, catalogue->what);
      add (work, t, row, &prediction, parts);
    }
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
    if (!(work->how->hold_out_sizes ? hold_out : by_catalogue) (work, g_ptr_array_index (systems, i), error))
      return FALSE;
  return TRUE;
}

static void
catalogue_free (gpointer data)
{
  Catalogue *catalogue = data;

  network_fit_free (catalogue->fit);
  g_free (catalogue->what);
  g_free (catalogue);
}

gboolean
network_validate (const char *const *paths, const NetworkValidation *how, Validation *validation, GPtrArray *keep,
                  GPtrArray *remarks, GError **error)
{
  g_autoptr (Shelf) shelf = shelf_new ();
  const guint n = g_strv_length ((char **) paths);
  g_autofree guint *source = g_new0 (guint, n), *fitted = g_new0 (guint, n);
  g_autoptr (GHashTable) catalogues = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, catalogue_free);
  Work work = { .catalogues = catalogues, .how = how, .validation = validation, .tables = keep, .source = source, .fitted = fitted, .shelf = shelf, .remarks = remarks };

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
