/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/kernel-validate.h"

#include <math.h>

#include "calibrate/kernel-fit.h"

static const char too_few[] = "too few sizes";

static gboolean
not_held_out (const KernelRow *row)
{
  return !kernel_row_held_out (row);
}

/* Which parts may predict this table. */
typedef struct
{
  const KernelTable *table;
  GHashTable        *feeds;   /* part -> was this table part of its fit? */
} Fed;

static gboolean
not_fed (const KernelPart *part, gpointer user)
{
  Fed *fed = user;
  gpointer known;

  if (!g_hash_table_lookup_extended (fed->feeds, part, NULL, &known))
    {
      known = GINT_TO_POINTER (kernel_table_feeds (fed->table, part));
      g_hash_table_insert (fed->feeds, (gpointer) part, known);
    }
  return !GPOINTER_TO_INT (known);
}

static void
predict_row (Validation *validation, guint source, const KernelTable *table, const KernelRow *row, const KernelChoice *choice,
             const char *parts)
{
  double half;
  const double seconds = kernel_predict (choice, &kernel_table_group (table, row)->device, &row->shape, &half);

  validation_add (validation, source, row->line, row->measured, seconds, seconds * exp (-half), seconds * exp (half), parts);
}

/* What predictions are made from. */
typedef struct
{
  const GPtrArray *parts;
  const GPtrArray *catalogue;    /* where `parts` have nothing; NULL: none */
  gboolean         held_out;     /* the rows left out of the fit, and them alone */
  gboolean         any_source;   /* a fit stands for a table of whatever source */
} Knowledge;

static void
choose (const Knowledge *knowledge, const KernelTable *table, const KernelGroup *group, Fed *fed, KernelChoice *out)
{
  const char *label = knowledge->any_source ? NULL : table->label;

  kernel_choose (knowledge->parts, group->gpu->name, group->family, group->dtype, label, group->form,
                 knowledge->held_out ? NULL : not_fed, fed, out);
  if (out->level == KERNEL_LEVEL_ASSUMED && knowledge->catalogue != NULL)
    kernel_choose (knowledge->catalogue, group->gpu->name, group->family, group->dtype, table->label, group->form, not_fed, fed, out);
}

static void
predict_table (Validation *validation, guint source, const KernelTable *table, const Knowledge *knowledge)
{
  g_autoptr (GHashTable) feeds = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autofree KernelChoice *choices = g_new (KernelChoice, MAX (table->groups->len, 1));
  Fed fed = { table, feeds };

  for (guint g = 0; g < table->groups->len; g++)
    {
      choose (knowledge, table, table->groups->pdata[g], &fed, &choices[g]);
      g_ptr_array_add (texts, kernel_choice_text (&choices[g]));
    }
  for (guint i = 0; i < table->n_rows; i++)
    {
      const KernelRow *row = &table->rows[i];

      if (row->skip != NULL)
        validation_skip (validation, source, row->line, row->skip);
      else if (knowledge->held_out && !kernel_row_held_out (row))
        validation_fitted (validation, source, 1);
      else if (knowledge->held_out && choices[row->group].level != KERNEL_LEVEL_SAME)
        validation_skip (validation, source, row->line, too_few);
      else
        predict_row (validation, source, table, row, &choices[row->group], texts->pdata[row->group]);
    }
}

/* Each table by a fit of 70 % of its own shapes. */
static gboolean
hold_out (Validation *validation, guint source, KernelTable *table, GError **error)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify) kernel_part_free);

  if (!kernel_fit_all (&table, 1, not_held_out, TRUE, FALSE, parts, error))
    return FALSE;
  predict_table (validation, source, table, &(Knowledge) { .parts = parts, .held_out = TRUE, .any_source = TRUE });
  return TRUE;
}

static gboolean
fit_files (const char *const *paths, GPtrArray *keep, GPtrArray *parts, GError **error)
{
  g_autoptr (GPtrArray) tables = g_ptr_array_new ();

  for (gsize i = 0; paths[i] != NULL; i++)
    {
      KernelTable *table = kernel_table_load (paths[i], FALSE, error);

      if (table == NULL)
        return FALSE;
      g_ptr_array_add (tables, table);
      g_ptr_array_add (keep, table);
    }
  return kernel_fit_all ((KernelTable *const *) tables->pdata, tables->len, NULL, TRUE, FALSE, parts, error);
}

gboolean
kernel_validate (const char *const *paths, const KernelValidation *how, Validation *validation, GPtrArray *keep, GError **error)
{
  const gboolean fit = how->fit != NULL && how->fit[0] != NULL;
  g_autoptr (GPtrArray) fitted = g_ptr_array_new_with_free_func ((GDestroyNotify) kernel_part_free);
  g_autoptr (GPtrArray) catalogue = how->hold_out_shapes ? NULL : kernel_parts_load (error);
  const Knowledge knowledge = { .parts = fit ? fitted : catalogue, .catalogue = fit ? catalogue : NULL, .any_source = fit };

  if ((catalogue == NULL && !how->hold_out_shapes) || (fit && !fit_files (how->fit, keep, fitted, error)))
    return FALSE;
  for (gsize i = 0; paths[i] != NULL; i++)
    {
      KernelTable *table = kernel_table_load (paths[i], TRUE, error);

      if (table == NULL)
        return FALSE;
      g_ptr_array_add (keep, table);
      const guint source = validation_source (validation, table->name, table->csv);
      if (!how->hold_out_shapes)
        predict_table (validation, source, table, &knowledge);
      else if (!hold_out (validation, source, table, error))
        return FALSE;
    }
  return TRUE;
}
