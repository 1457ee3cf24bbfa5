/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report-parts.h"
#include "report/picture.h"
#include "report/plot-pick.h"
#include "report/text.h"
#include "base/csv.h"
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* Text of users reaches gnuplot as data alone: it runs in a fresh folder over
 * files with fixed names, and a title is a field of one of them. */

static const char *const picture_files[] = { "in.csv", "measured.csv", "title.csv", "labels.txt", "out.svg", "out.png" };

static char *
find_script (const char *name, GError **error)
{
  const char *given = g_getenv ("LOCKSTEP_PLOTS");
  const char *folders[] = { given, LOCKSTEP_SOURCE_PLOTS, LOCKSTEP_INSTALLED_PLOTS };

  for (gsize i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      if (folders[i] == NULL || folders[i][0] == '\0')
        continue;
      g_autofree char *relative = g_build_filename (folders[i], name, NULL);
      g_autofree char *path = g_canonicalize_filename (relative, NULL);
      if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&path);
      if (i == 0)
        break;
    }
  g_set_error (error, PLOT_ERROR, PLOT_ERROR_TOOL, "plots/%s not found; LOCKSTEP_PLOTS should name the folder that holds it", name);
  return NULL;
}

/* "out.svg" or "out.png". */
static const char *
output_name (const char *path, GError **error)
{
  g_autofree char *lower = g_ascii_strdown (path, -1);

  if (g_str_has_suffix (lower, ".svg"))
    return "out.svg";
  if (g_str_has_suffix (lower, ".png"))
    return "out.png";
  g_set_error (error, PLOT_ERROR, PLOT_ERROR_INPUT, "%s: no picture format; the name should end in .svg or .png", path);
  return NULL;
}

static gboolean
write_part (const char *folder, const char *name, const char *text, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  return g_file_set_contents (path, text, -1, error);
}

static gboolean
write_parts (const char *folder, const Picture *picture, GError **error)
{
  g_autofree char *clean = text_clean (picture->title);
  g_autofree char *title = g_strdup_printf ("title\n%s\n", g_strdelimit (clean, "\"", '\''));

  return write_part (folder, "in.csv", picture->csv, error) && write_part (folder, "title.csv", title, error)
         && (picture->measured == NULL || write_part (folder, "measured.csv", picture->measured, error))
         && (picture->labels == NULL || write_part (folder, "labels.txt", picture->labels, error));
}

/* The last line that gnuplot said, for a message. */
static char *
last_words (const char *text)
{
  g_autofree char *copy = g_strchomp (g_strdup (text != NULL ? text : ""));
  const char *line = strrchr (copy, '\n');

  return text_clean (line != NULL ? line + 1 : copy);
}

static gboolean
spawn_gnuplot (const char *folder, const char *script, const Picture *picture, const char *output, GError **error)
{
  const char *argv[] = { "gnuplot", "-d", "-c", script, "in.csv", output, picture->measured != NULL ? "measured.csv" : "",
                         "title.csv", picture->labels != NULL ? "labels.txt" : "", NULL };
  g_auto (GStrv) env = g_environ_setenv (g_get_environ (), "LC_ALL", "C", TRUE);
  g_autofree char *said = NULL;
  g_autoptr (GError) problem = NULL;
  int status = 0;

  if (!g_spawn_sync (folder, (char **) argv, env, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &said,
                     &status, &problem))
    {
      const gboolean missing = g_error_matches (problem, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT);
      g_set_error (error, PLOT_ERROR, PLOT_ERROR_TOOL, "gnuplot does not start: %s",
                   missing ? "it is not installed; on Debian: apt-get install gnuplot-nox" : problem->message);
      return FALSE;
    }
  if (!g_spawn_check_wait_status (status, &problem))
    {
      g_autofree char *words = last_words (said);
      g_set_error (error, PLOT_ERROR, PLOT_ERROR_TOOL, "gnuplot failed: %s", words[0] != '\0' ? words : problem->message);
      return FALSE;
    }
  return TRUE;
}

static gboolean
draw_in (const char *folder, const Picture *picture, const char *path, GError **error)
{
  const char *output = output_name (path, error);
  g_autofree char *script = output != NULL ? find_script (picture->script, error) : NULL;
  g_autofree char *drawn = NULL, *bytes = NULL;
  gsize length = 0;

  if (script == NULL || !write_parts (folder, picture, error) || !spawn_gnuplot (folder, script, picture, output, error))
    return FALSE;
  drawn = g_build_filename (folder, output, NULL);
  if (!g_file_get_contents (drawn, &bytes, &length, NULL) || length == 0)
    {
      g_set_error (error, PLOT_ERROR, PLOT_ERROR_TOOL, "gnuplot drew nothing");
      return FALSE;
    }
  return file_replace (path, bytes, length, error);
}

gboolean
picture_draw (const Picture *picture, const char *path, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("lockstep-XXXXXX", error);

  if (folder == NULL)
    return FALSE;
  const gboolean ok = draw_in (folder, picture, path, error);
  for (gsize i = 0; i < G_N_ELEMENTS (picture_files); i++)
    {
      g_autofree char *part = g_build_filename (folder, picture_files[i], NULL);
      g_unlink (part);
    }
  g_rmdir (folder);
  return ok;
}

/* Measured points beside one curve; NULL: none. */
static char *
measured_csv (const ScaleStudy *study)
{
  GString *text = g_string_new ("gpus,throughput_samples_per_s,step_time_s\n");
  gboolean any = FALSE;

  for (guint i = 0; study->n_curves == 1 && i < study->curves[0].n_points; i++)
    {
      const Result *point = study->curves[0].points[i];
      const double time = measured_step_time (study, point);

      if (!isfinite (time))
        continue;
      g_string_append_printf (text, "%" G_GUINT64_FORMAT ",", point->gpus);
      csv_append_number (text, (double) point->global_batch / time);
      g_string_append_c (text, ',');
      csv_append_number (text, time);
      g_string_append_c (text, '\n');
      any = TRUE;
    }
  return g_string_free (text, !any);
}

gboolean
plot_scaling (const ScaleStudy *study, const char *title, const char *path, GError **error)
{
  g_autoptr (GString) csv = g_string_new (NULL);
  g_autofree char *measured = measured_csv (study);
  g_autoptr (CsvTable) table = NULL;

  scale_csv (csv, study);
  table = csv_parse ("scale", csv->str, csv->len, error);
  if (table == NULL)
    return FALSE;
  /* a curve is what was asked for, of too many the first ones */
  const char *script = plot_pick (table);
  const Picture picture = { script != NULL ? script : "scaling.gp", csv->str, measured, title, NULL };
  return picture_draw (&picture, path, error);
}

/* The table again, as gnuplot reads it best: no quotes inside a field. */
static char *
plain_csv (const CsvTable *table)
{
  GString *text = g_string_new (NULL);

  for (guint row = 0; row <= csv_rows (table); row++)
    {
      for (guint column = 0; column < csv_columns (table); column++)
        {
          const char *field = row == 0 ? csv_column_name (table, column) : csv_text (table, row - 1, column);
          g_autofree char *clean = text_clean (field);

          if (column > 0)
            g_string_append_c (text, ',');
          csv_append_text (text, g_strdelimit (clean, "\"", '\''));
        }
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

gboolean
plot_csv (const char *csv_path, const char *path, GError **error)
{
  g_autoptr (CsvTable) table = csv_load (csv_path, error);
  g_autofree char *name = g_path_get_basename (csv_path);
  g_autofree char *text = NULL;
  const char *script;

  if (table == NULL)
    return FALSE;
  script = plot_pick (table);
  if (script == NULL || csv_rows (table) == 0)
    {
      const gboolean known = csv_column (table, "scaling_efficiency") >= 0;

      g_set_error (error, PLOT_ERROR, PLOT_ERROR_INPUT, "%s: %s", csv_path, script != NULL ? "no rows; a picture needs some"
                   : known ? "too many points for one picture; name two columns, as in -x nodes -y step_time_s"
                   : "columns of no known table; give the CSV of run, scale, sweep, compare or collective, or name two columns with -x and -y");
      return FALSE;
    }
  if (!plot_check (table, error))
    return FALSE;
  if (g_str_has_suffix (name, ".csv"))
    name[strlen (name) - 4] = '\0';
  text = plain_csv (table);
  const Picture picture = { script, text, NULL, name, NULL };
  return picture_draw (&picture, path, error);
}
