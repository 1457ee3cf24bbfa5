/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/sources.h"

#include "base/csv.h"
#include "base/names.h"
#include "base/origin.h"

/* Which column of which table; a cell may hold several, with blanks between. */
static const struct { const char *file, *column; } tables[] = { { "efficiency.csv", "source" }, { "llm.csv", "sources" } };

static gboolean
add_sources (GPtrArray *known, const char *file, const char *column_name, GError **error)
{
  g_autofree char *path = g_build_filename (part_folder (), file, NULL);
  g_autoptr (CsvTable) table = csv_load (path, error);
  guint column;

  if (table == NULL || !csv_require (table, column_name, &column, error))
    return FALSE;
  for (guint row = 0; row < csv_rows (table); row++)
    {
      g_auto (GStrv) names = g_strsplit (csv_text (table, row, column), " ", -1);

      for (guint i = 0; names[i] != NULL; i++)
        if (*names[i] != '\0' && !g_ptr_array_find_with_equal_func (known, names[i], g_str_equal, NULL))
          g_ptr_array_add (known, g_strdup (names[i]));
    }
  return TRUE;
}

gboolean
source_check (const char *name, GError **error)
{
  g_autoptr (GPtrArray) known = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *read = NULL, *list = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++)
    if (!add_sources (known, tables[i].file, tables[i].column, error))
      return FALSE;
  if (g_ptr_array_find_with_equal_func (known, name, g_str_equal, NULL))
    return TRUE;
  g_ptr_array_sort (known, names_compare);
  g_ptr_array_add (known, NULL);
  read = names_quote (name);
  list = g_strjoinv (", ", (char **) known->pdata);
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_UNKNOWN, "unknown source %s; there are: %s", read, list);
  return FALSE;
}
