/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/names.h"
#include "base/origin.h"
#include <string.h>

#define SUFFIX ".ini"

/* The environment, else the source tree that this was built from, else where
 * it was installed. */
const char *
part_folder (void)
{
  const char *folder = g_getenv ("LOCKSTEP_MODELS");

  if (folder != NULL && *folder != '\0')
    return folder;
  if (g_file_test (LOCKSTEP_MODELS_DIR, G_FILE_TEST_IS_DIR))
    return LOCKSTEP_MODELS_DIR;
  return LOCKSTEP_INSTALLED_MODELS_DIR;
}

char *
calibration_path (const char *file)
{
  const char *folder = g_getenv ("LOCKSTEP_CALIBRATION");

  if (folder != NULL && *folder != '\0')
    return g_build_filename (folder, file, NULL);
  return g_build_filename (part_folder (), "..", "calibration", file, NULL);
}

char **
part_list (const char *kind)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *folder = g_build_filename (part_folder (), kind, NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, SUFFIX) && name[0] != '.')
      g_ptr_array_add (names, g_strndup (name, strlen (name) - strlen (SUFFIX)));
  g_ptr_array_sort (names, names_compare);
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&names), FALSE);
}

static char *
part_path (const char *kind, const char *name)
{
  g_autofree char *file = g_strconcat (name, SUFFIX, NULL);

  return g_build_filename (part_folder (), kind, file, NULL);
}

/* `aliases` may stand in any group; by habit it is the first. */
static char **
part_aliases (const char *path)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree char *group = NULL, *list = NULL;

  if (g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL))
    group = g_key_file_get_start_group (file);
  if (group != NULL)
    list = g_key_file_get_value (file, group, "aliases", NULL);
  char **aliases = g_strsplit (list == NULL ? "" : list, ",", -1);
  for (char **a = aliases; *a != NULL; a++)
    g_strstrip (*a);
  return aliases;
}

static gboolean
name_is_safe (const char *name)
{
  return *name != '\0' && *name != '.' && strpbrk (name, "/\\") == NULL
         && strstr (name, "..") == NULL && strlen (name) < 200;
}

gboolean
part_is_file (const char *name)
{
  return strchr (name, '/') != NULL || g_str_has_suffix (name, ".ini");
}

static char *
unknown_part (const char *kind, const char *name, const GPtrArray *known)
{
  if (known->len > 1)
    return names_unknown (kind, name, (const char *const *) known->pdata);
  g_autofree char *quoted = names_quote (name);
  g_autofree char *folder = names_quote (part_folder ());
  return g_strdup_printf ("unknown %s %s; the folder of parts %s has none, set LOCKSTEP_MODELS "
                          "to the models/ of lockstep", kind, quoted, folder);
}

char *
part_find (const char *kind, const char *name, GError **error)
{
  const gboolean safe = name_is_safe (name);
  g_autofree char *direct = safe ? part_path (kind, name) : NULL;

  if (safe && g_file_test (direct, G_FILE_TEST_IS_REGULAR))
    return g_steal_pointer (&direct);
  g_auto (GStrv) parts = part_list (kind);
  g_autoptr (GPtrArray) known = g_ptr_array_new_with_free_func (g_free);
  for (char **part = parts; *part != NULL; part++)
    if (g_ascii_strcasecmp (*part, name) == 0)
      return part_path (kind, *part);
  for (char **part = parts; *part != NULL; part++)
    {
      g_autofree char *path = part_path (kind, *part);
      g_auto (GStrv) aliases = part_aliases (path);

      g_ptr_array_add (known, g_strdup (*part));
      for (char **alias = aliases; *alias != NULL; alias++)
        {
          if (g_ascii_strcasecmp (*alias, name) == 0)
            return g_steal_pointer (&path);
          g_ptr_array_add (known, g_strdup (*alias));
        }
    }
  g_ptr_array_add (known, NULL);
  g_autofree char *problem = unknown_part (kind, name, known);
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_UNKNOWN, "%s", problem);
  return NULL;
}
