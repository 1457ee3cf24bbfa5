/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "calibrate/network-part.h"

/* "owner/repository:folder/one/two/..." -> what tells machines apart: folders whose
 * name is no version and no count of nodes. */
static char *
site_of (const char *source)
{
  g_auto (GStrv) parts = g_strsplit (source, ":", 2);
  g_auto (GStrv) folders = parts[0] != NULL && parts[1] != NULL ? g_strsplit (parts[1], "/", -1) : NULL;
  g_autoptr (GString) site = g_string_new (parts[0]);
  guint taken = 0;

  for (guint i = 0; folders != NULL && folders[i] != NULL && folders[i + 1] != NULL && taken < 2; i++)
    {
      if (g_str_has_prefix (folders[i], "nccl") || (folders[i][0] == 'n' && g_ascii_isdigit (folders[i][1])))
        continue;
      g_string_append_printf (site, "/%s", folders[i]);
      taken++;
    }
  return g_string_free (g_steal_pointer (&site), FALSE);
}

static char *
find_site (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path), *base = g_path_get_basename (path);
  g_autofree char *list = g_build_filename (folder, "SOURCES.csv", NULL);
  g_autoptr (CsvTable) table = g_file_test (list, G_FILE_TEST_IS_REGULAR) ? csv_load (list, NULL) : NULL;
  const int file = table != NULL ? csv_column (table, "file") : -1, source = table != NULL ? csv_column (table, "source") : -1;

  for (guint row = 0; file >= 0 && source >= 0 && row < csv_rows (table); row++)
    if (g_str_equal (csv_text (table, row, (guint) file), base))
      return site_of (csv_text (table, row, (guint) source));
  return g_strdup ("");
}

/* The link in the node, where the table does not say it. */
static gboolean
fill_links (NetworkTable *table, const char *path, GError **error)
{
  g_auto (NetworkPlatform) platform = { 0 };

  if (!network_platform_find (path, &platform, error))
    return FALSE;
  for (guint i = 0; platform.intra != NULL && i < table->tests->systems->len; i++)
    {
      NcclTestsSystem *system = g_ptr_array_index (table->tests->systems, i);

      if (*system->intra == '\0')
        {
          g_free (system->intra);
          system->intra = g_strdup (platform.intra);
        }
    }
  return TRUE;
}

/* A rack whose GPUs one NVLink domain joins is one box, whatever its trays are called. */
static void
fold_racks (NetworkTable *table)
{
  static const guint64 rack = 72;

  for (guint i = 0; i < table->tests->rows->len; i++)
    {
      NcclTestsRow *row = &g_array_index (table->tests->rows, NcclTestsRow, i);
      const NcclTestsSystem *system = g_ptr_array_index (table->tests->systems, row->system);

      if (row->nodes > 1 && *system->inter == '\0' && strstr (system->intra, "nvl72") != NULL && row->nodes * row->per_node <= rack)
        {
          row->per_node *= row->nodes;
          row->nodes = 1;
        }
    }
}

/* One installation in one table: its rows of one node name no network. */
static void
join_nodes (NetworkTable *table)
{
  const GPtrArray *systems = table->tests->systems;

  for (guint i = 0; i < systems->len; i++)
    {
      NcclTestsSystem *one = g_ptr_array_index (systems, i);

      for (guint j = 0; j < systems->len && *one->inter == '\0'; j++)
        {
          const NcclTestsSystem *other = g_ptr_array_index (systems, j);

          if (*other->inter == '\0' || !g_str_equal (one->gpu, other->gpu) || !g_str_equal (one->intra, other->intra))
            continue;
          g_free (one->inter);
          one->inter = g_strdup (other->inter);
        }
    }
}

NetworkTable *
network_table_load (const char *path, GError **error)
{
  g_autoptr (NetworkTable) table = g_new0 (NetworkTable, 1);

  table->tests = nccl_tests_load (path, error);
  if (table->tests == NULL)
    return NULL;
  table->site = find_site (path);
  if (!fill_links (table, path, error))
    return NULL;
  join_nodes (table);
  fold_racks (table);
  if (g_str_has_suffix (path, ".csv"))
    table->csv = csv_load (path, NULL);
  return g_steal_pointer (&table);
}

void
network_table_free (NetworkTable *table)
{
  if (table == NULL)
    return;
  nccl_tests_free (table->tests);
  csv_free (table->csv);
  g_free (table->site);
  g_free (table);
}

static void
system_free_rows (gpointer data)
{
  NetworkSystem *system = data;

  g_free (system->key);
  g_ptr_array_unref (system->rows);
  g_array_unref (system->sources);
  g_free (system);
}

static NetworkSystem *
find (GPtrArray *systems, const char *key, const NcclTestsSystem *names)
{
  NetworkSystem *system;

  for (guint i = 0; i < systems->len; i++)
    {
      system = g_ptr_array_index (systems, i);
      if (g_str_equal (system->key, key))
        return system;
    }
  system = g_new0 (NetworkSystem, 1);
  system->key = g_strdup (key);
  system->names = names;
  system->rows = g_ptr_array_new ();
  system->sources = g_array_new (FALSE, FALSE, sizeof (guint));
  g_ptr_array_add (systems, system);
  return system;
}

/* Whose machine it is tells more than the library's version, where it is known. */
GPtrArray *
network_systems (const GPtrArray *tables)
{
  GPtrArray *systems = g_ptr_array_new_with_free_func (system_free_rows);

  for (guint t = 0; t < tables->len; t++)
    {
      const NetworkTable *table = g_ptr_array_index (tables, t);

      for (guint i = 0; i < table->tests->rows->len; i++)
        {
          const NcclTestsRow *row = &g_array_index (table->tests->rows, NcclTestsRow, i);
          const NcclTestsSystem *names = g_ptr_array_index (table->tests->systems, row->system);
          g_autofree char *key = g_strjoin (" ", names->gpu, names->intra, names->inter,
                                            *table->site != '\0' ? table->site : names->version, NULL);
          NetworkSystem *system = find (systems, key, names);

          g_ptr_array_add (system->rows, (gpointer) row);
          g_array_append_val (system->sources, t);
        }
    }
  return systems;
}
