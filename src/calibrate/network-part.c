/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network-part.h"

#include <math.h>
#include <string.h>

#include "calibrate/fit.h"

/* "A100-SXM4-80GB" "nvswitch" "ib" -> "a100-sxm4-80gb-nvswitch-ib" */
static char *
slug (const NetworkFit *fit, const NcclTestsSystem *names)
{
  g_autofree char *all = g_strjoin ("-", names->gpu, *names->intra != '\0' ? names->intra : fit->model.in_node->name,
                                    fit->nodes > 1 ? (*names->inter != '\0' ? names->inter : fit->model.between->name) : NULL, NULL);
  g_autoptr (GString) out = g_string_new (NULL);

  for (const char *c = all; *c != '\0'; c++)
    if (g_ascii_isalnum (*c) || *c == '.')
      g_string_append_c (out, g_ascii_tolower (*c));
    else if (out->len > 0 && out->str[out->len - 1] != '-')
      g_string_append_c (out, '-');
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static void
append_key (GString *part, const char *key, double value, Unit unit)
{
  g_autofree char *text = NULL;
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (unit == UNIT_TIME || unit == UNIT_RATE)
    {
      /* four digits are more than the fit knows */
      const double round = strtod (g_ascii_formatd (number, sizeof number, "%.4g", value), NULL);

      text = quantity_format_exact (round, unit);
    }
  else
    text = g_strdup (g_ascii_formatd (number, sizeof number, "%.4g", value));
  g_string_append_printf (part, "%s = %s\n", key, text);
}

static void
append_covariance (const NetworkFit *fit, GString *part)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (part, "\n[covariance]\n");
  for (guint i = 0; i < N_SYSTEM; i++)
    {
      const char *comma = "";

      if (!fit->informed[i])
        continue;
      g_string_append_printf (part, "%s = ", system_parameters[i].name);
      for (guint j = 0; j <= i; j++)
        if (fit->informed[j])
          {
            g_string_append_printf (part, "%s%s", comma, g_ascii_formatd (number, sizeof number, "%.3g", fit->covariance[i][j]));
            comma = ", ";
          }
      g_string_append_c (part, '\n');
    }
}

static char *
onset_text (const NetworkModel *model)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < model->n_onsets; i++)
    {
      const SystemOnset *onset = &model->onset[i];
      g_autofree char *size = quantity_format_exact (onset->size, UNIT_BYTES);

      if (onset->size > 0)
        g_string_append_printf (text, "%s%" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT ": %s%s", text->len > 0 ? ", " : "", onset->nodes, onset->per_node,
                                size, onset->ring ? " ring" : "");
    }
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

static void
append_part (const NetworkFit *fit, const NcclTestsSystem *names, const NetworkPlatform *platform, const char *files, GString *part)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *date = g_date_time_format (now, "%Y-%m-%d"), *name = slug (fit, names), *onsets = onset_text (&fit->model);
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (part, "# SPDX-License-Identifier: GPL-3.0-or-later\n# A measured installation, fitted by `lockstep calibrate network`. Do not edit: fit again.\n"
                          "[system]\nname = %s\nsummary = %s, %s%s%s, up to %" G_GUINT64_FORMAT " ranks%s%s\ngpu = %s\nnode-transport = %s\n",
                          name, names->gpu, *names->intra != '\0' ? names->intra : fit->model.in_node->name,
                          fit->nodes > 1 ? " and " : "", fit->nodes > 1 ? (*names->inter != '\0' ? names->inter : fit->model.between->name) : "",
                          fit->ranks, *names->version != '\0' ? ", NCCL " : "", names->version, fit->model.gpu->name, fit->model.in_node->name);
  if (fit->nodes > 1)
    g_string_append_printf (part, "transport = %s\n", fit->model.between->name);
  if (platform->launch != NULL)
    g_string_append_printf (part, "launch = %s\n", platform->launch);
  g_string_append_printf (part, "ranks = %" G_GUINT64_FORMAT "\nnodes = %" G_GUINT64_FORMAT "\nrails = %u\n", fit->ranks, fit->nodes, fit->model.rails);
  append_key (part, "link-rate", fit->model.nominal, UNIT_RATE);
  if (fit->nodes > 1 && !isnan (platform->node_rate))
    append_key (part, "node-rate", platform->node_rate, UNIT_RATE);
  g_string_append_printf (part, "choice = %s\n", fit->model.table ? "table" : "cheapest");
  if (onsets != NULL)
    g_string_append_printf (part, "simple-from = %s\n", onsets);
  g_string_append_printf (part, "files = %s\ndate = %s\n\n[parameters]\n", files, date);
  for (int i = 0; i < N_SYSTEM; i++)
    if (fit->informed[i])
      append_key (part, system_parameters[i].name, fit->values[i], system_parameters[i].unit);
  append_covariance (fit, part);
  g_string_append_printf (part, "\n[residuals]\nrows = %u\n", fit->points->len);
  g_string_append_printf (part, "median = %s\n", g_ascii_formatd (number, sizeof number, "%.3g", fit->median));
  g_string_append_printf (part, "q90 = %s\n", g_ascii_formatd (number, sizeof number, "%.3g", fit->q90));
  g_string_append_printf (part, "\n[origin]\ndefault = measured: %s\n", files);
  if (platform->origin != NULL && !isnan (platform->node_rate))
    g_string_append_printf (part, "node-rate = assumed: %s\n", platform->origin);
}

/* A line a placement and operation: how far the fit is off. */
static void
append_report (const NetworkFit *fit, GString *report, GString *points)
{
  g_autofree double *errors = g_new (double, MAX (fit->points->len, 1));

  g_string_append (points, "fit,measured_s,fitted_s\n");
  for (guint i = 0, end; i < fit->points->len; i = end)
    {
      const NcclTestsRow *first = g_array_index (fit->points, NetworkPoint, i).row;
      guint n = 0;

      for (end = i; end < fit->points->len; end++)
        {
          const NetworkPoint *point = &g_array_index (fit->points, NetworkPoint, end);

          if (point->row->op_name != first->op_name || point->row->nodes != first->nodes || point->row->per_node != first->per_node)
            break;
          errors[n++] = fabs (point->residual);
          g_string_append_printf (points, "%s.%" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT ",", first->op_name, first->nodes, first->per_node);
          csv_append_number (points, point->row->time);
          g_string_append_c (points, ',');
          csv_append_number (points, point->row->time * exp (-point->residual));
          g_string_append_c (points, '\n');
        }
      g_string_append_printf (report, "%s %" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT ": rows %u | median %.1f%% p90 %.1f%%\n", first->op_name, first->nodes,
                              first->per_node, n, 100 * fit_quantile (errors, n, 0.5), 100 * fit_quantile (errors, n, 0.9));
    }
}

static gboolean
one_system (const GPtrArray *systems, GError **error)
{
  if (systems->len == 1)
    return TRUE;
  if (systems->len == 0)
    g_set_error (error, NCCL_TESTS_ERROR, NCCL_TESTS_ERROR_INPUT, "no usable row in the files");
  else
    g_set_error (error, NCCL_TESTS_ERROR, NCCL_TESTS_ERROR_INPUT, "rows of %u installations, among them '%s' and '%s'; fit one at a time",
                 systems->len, ((NetworkSystem *) g_ptr_array_index (systems, 0))->key, ((NetworkSystem *) g_ptr_array_index (systems, 1))->key);
  return FALSE;
}

gboolean
network_calibrate (const char *const *paths, GString *part, GString *report, GString *points, GPtrArray *remarks, GError **error)
{
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func ((GDestroyNotify) network_table_free);
  g_autoptr (GPtrArray) systems = NULL;
  g_autoptr (GString) files = g_string_new (NULL);
  g_autoptr (Shelf) shelf = shelf_new ();
  g_autoptr (NetworkFit) fit = NULL;
  g_auto (NetworkPlatform) platform = { 0 };
  const NetworkSystem *system;

  for (guint i = 0; paths[i] != NULL; i++)
    {
      NetworkTable *table = network_table_load (paths[i], error);
      g_autofree char *base = g_path_get_basename (paths[i]);

      if (table == NULL)
        return FALSE;
      g_ptr_array_add (tables, table);
      g_string_append_printf (files, "%s%s", i > 0 ? ", " : "", base);
      for (guint j = 0; j < table->tests->remarks->len; j++)
        g_ptr_array_add (remarks, g_strdup (g_ptr_array_index (table->tests->remarks, j)));
    }
  systems = network_systems (tables);
  if (!one_system (systems, error))
    return FALSE;
  system = g_ptr_array_index (systems, 0);
  fit = network_platform_find (paths[0], &platform, error) ? network_fit_new (shelf, system->names, system->rows, error) : NULL;
  if (fit == NULL)
    return FALSE;
  append_part (fit, system->names, &platform, files->str, part);
  append_report (fit, report, points);
  return TRUE;
}
