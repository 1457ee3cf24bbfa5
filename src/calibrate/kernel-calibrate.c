/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/kernel-calibrate.h"

#include <math.h>

#include "calibrate/kernel-fit.h"

typedef struct { const char *reason; guint n; } Reason;

/* "FILE: 3 of 100 rows left out: rate above 1.05 x peak (2), no time (1)". */
static void
remark_skipped (const KernelTable *table, GPtrArray *remarks)
{
  g_autoptr (GArray) reasons = g_array_new (FALSE, FALSE, sizeof (Reason));
  g_autoptr (GString) text = g_string_new (NULL);
  guint skipped = 0;

  for (guint i = 0; i < table->n_rows; i++)
    {
      guint at = 0;

      if (table->rows[i].skip == NULL)
        continue;
      while (at < reasons->len && g_array_index (reasons, Reason, at).reason != table->rows[i].skip)
        at++;
      if (at == reasons->len)
        g_array_append_val (reasons, ((Reason) { table->rows[i].skip, 0 }));
      g_array_index (reasons, Reason, at).n++;
      skipped++;
    }
  if (skipped == 0)
    return;
  g_string_append_printf (text, "%s: %u of %u rows left out:", table->name, skipped, table->n_rows);
  for (guint i = 0; i < reasons->len; i++)
    g_string_append_printf (text, "%s %s (%u)", i ? "," : "", g_array_index (reasons, Reason, i).reason,
                            g_array_index (reasons, Reason, i).n);
  g_ptr_array_add (remarks, g_strdup (text->str));
}

/* A part is of one GPU. */
static gboolean
check_gpu (KernelTable *const *tables, guint n, const char **gpu, GError **error)
{
  *gpu = NULL;
  for (guint t = 0; t < n; t++)
    for (guint g = 0; g < tables[t]->groups->len; g++)
      {
        const char *name = ((const KernelGroup *) tables[t]->groups->pdata[g])->gpu->name;

        if (*gpu != NULL && !g_str_equal (*gpu, name))
          {
            g_set_error (error, KERNEL_TABLE_ERROR, KERNEL_TABLE_ERROR_MIXED, "%s: rows of %s beside rows of %s; "
                         "calibrate one GPU at a time", tables[t]->name, name, *gpu);
            return FALSE;
          }
        *gpu = name;
      }
  if (*gpu == NULL)
    g_set_error (error, KERNEL_TABLE_ERROR, KERNEL_TABLE_ERROR_SCHEMA, "%s: no usable row", tables[0]->name);
  return *gpu != NULL;
}

static void
append_report (GString *report, const KernelPart *part)
{
  char median[32], q90[32], bias[32];

  g_string_append_printf (report, "%s.%s.%s: %s, %" G_GUINT64_FORMAT " rows, residual median %s%% p90 %s%%, sum %s%%\n", part->family,
                          part->dtype, part->label, part->form->name, part->rows,
                          g_ascii_formatd (median, sizeof median, "%.1f", part->median * 100),
                          g_ascii_formatd (q90, sizeof q90, "%.1f", part->q90 * 100),
                          g_ascii_formatd (bias, sizeof bias, "%+.1f", part->bias * 100));
}

static const KernelPart *
part_of (const GPtrArray *parts, const KernelTable *table, const KernelGroup *group)
{
  for (guint i = 0; i < parts->len; i++)
    {
      const KernelPart *part = parts->pdata[i];

      if (g_str_equal (part->family, group->family) && g_str_equal (part->dtype, group->dtype) &&
          g_str_equal (part->label, table->label))
        return part;
    }
  return NULL;
}

static void
append_points (GString *points, const GPtrArray *parts, const KernelTable *table)
{
  for (guint i = 0; i < table->n_rows; i++)
    {
      const KernelRow *row = &table->rows[i];
      const KernelGroup *group = row->skip == NULL ? kernel_table_group (table, row) : NULL;
      const KernelPart *part = group != NULL ? part_of (parts, table, group) : NULL;

      if (part == NULL)
        continue;
      g_string_append_printf (points, "%s.%s.%s,", part->family, part->dtype, part->label);
      csv_append_number (points, row->measured);
      g_string_append_c (points, ',');
      csv_append_number (points, part->form->seconds (part->values, &group->device, &row->shape));
      g_string_append_c (points, '\n');
    }
}

gboolean
kernel_calibrate (const char *const *paths, GString *text, GString *report, GString *points, GPtrArray *remarks, GError **error)
{
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func ((GDestroyNotify) kernel_table_free);
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify) kernel_part_free);
  const char *gpu;

  for (gsize i = 0; paths[i] != NULL; i++)
    {
      KernelTable *table = kernel_table_load (paths[i], FALSE, error);

      if (table == NULL)
        return FALSE;
      g_ptr_array_add (tables, table);
      remark_skipped (table, remarks);
    }
  if (!check_gpu ((KernelTable *const *) tables->pdata, tables->len, &gpu, error) ||
      !kernel_fit_all ((KernelTable *const *) tables->pdata, tables->len, NULL, FALSE, TRUE, parts, error))
    return FALSE;
  if (parts->len == 0)
    {
      g_set_error (error, KERNEL_TABLE_ERROR, KERNEL_TABLE_ERROR_SCHEMA, "%s: too few rows of any kernel for a fit",
                   ((const KernelTable *) tables->pdata[0])->name);
      return FALSE;
    }
  kernel_part_head (text, parts->pdata[0]);
  g_string_append (points, "fit,measured_s,fitted_s\n");
  for (guint i = 0; i < parts->len; i++)
    {
      kernel_part_append (text, parts->pdata[i]);
      append_report (report, parts->pdata[i]);
    }
  for (guint i = 0; i < tables->len; i++)
    append_points (points, parts, tables->pdata[i]);
  return TRUE;
}
