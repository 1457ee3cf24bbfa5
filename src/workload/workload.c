/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/workload.h"

#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/names.h"
#include "base/origin.h"
#include "workload/layers.h"

const Key workload_keys[] = {
  { .name = "name", .type = KEY_STRING, .offset = offsetof (WorkloadSpec, name),
    .help = "Network to train, one of 'lockstep list workloads'." },
  { .name = "file", .type = KEY_STRING, .offset = offsetof (WorkloadSpec, file),
    .help = "Or a CSV file of layers with the columns of models/workload." },
  { .name = "precision", .type = KEY_CHOICE, .offset = offsetof (WorkloadSpec, precision),
    .choices = precision_names, .default_text = "fp32",
    .help = "Arithmetic of the kernels; tf32 is what frameworks call fp32 where they let TF32 in." },
  { .name = "family", .type = KEY_STRING, .offset = offsetof (WorkloadSpec, family),
    .help = "Class in models/efficiency.csv (default: the workload's own)." },
  { .name = NULL },
};

const char *const workload_families[] = {
  "resnet", "vgg", "efficientnet", "bert", "gnmt", "ncf", "transformer", "other", NULL
};

/* models/workload/index.csv */
enum { NAME, FAMILY, SAMPLE, SAMPLES_PER_EPOCH, ALIASES, N_COLUMNS };
typedef struct { CsvTable *table; guint column[N_COLUMNS]; } Index;

static void
index_clear (Index *index)
{
  csv_free (index->table);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Index, index_clear)

static gboolean
index_load (Index *index, GError **error)
{
  static const char *const columns[N_COLUMNS] = { "name", "family", "sample", "samples_per_epoch", "aliases" };
  g_autofree char *path = g_build_filename (part_folder (), "workload", "index.csv", NULL);

  index->table = csv_load (path, error);
  if (index->table == NULL)
    return FALSE;
  for (guint i = 0; i < N_COLUMNS; i++)
    {
      if (!csv_require (index->table, columns[i], &index->column[i], error))
        return FALSE;
    }
  return TRUE;
}

static const char *
index_cell (const Index *index, guint row, guint column)
{
  return csv_text (index->table, row, index->column[column]);
}

/* "ResNet-50" and "resnet_50" are one name; a dot counts (gpt3_1.3b, gpt3_13b). */
static char *
fold (const char *name)
{
  g_autoptr (GString) folded = g_string_new (NULL);

  for (const char *c = name; *c != '\0'; c++)
    {
      if (*c != '-' && *c != '_' && *c != ' ')
        g_string_append_c (folded, g_ascii_tolower (*c));
    }
  return g_string_free (g_steal_pointer (&folded), FALSE);
}

static gboolean
row_has_name (const Index *index, guint row, const char *folded)
{
  g_autofree char *name = fold (index_cell (index, row, NAME));
  g_auto (GStrv) aliases = g_strsplit (index_cell (index, row, ALIASES), ",", 0);
  gboolean found = g_str_equal (name, folded);

  for (guint i = 0; aliases[i] != NULL && !found; i++)
    {
      g_autofree char *alias = fold (aliases[i]);
      found = *alias != '\0' && g_str_equal (alias, folded);
    }
  return found;
}

static char **
index_names (const Index *index)
{
  const guint n = csv_rows (index->table);
  char **names = g_new0 (char *, n + 1);

  for (guint i = 0; i < n; i++)
    names[i] = g_strdup (index_cell (index, i, NAME));
  return names;
}

static gboolean
index_find (const Index *index, const char *name, guint *row, GError **error)
{
  g_autofree char *folded = fold (name);

  for (*row = 0; *row < csv_rows (index->table); (*row)++)
    {
      if (row_has_name (index, *row, folded))
        return TRUE;
    }
  g_auto (GStrv) names = index_names (index);
  g_autofree char *message = names_unknown ("workload", name, (const char *const *) names);
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_UNKNOWN, "[workload] name: %s", message);
  return FALSE;
}

static gboolean
read_layers (Workload *workload, const char *path, GError **error)
{
  g_autoptr (CsvTable) table = csv_load (path, error);

  return table != NULL && layers_read (workload, table, error);
}

static gboolean
load_shipped (Workload *workload, const char *name, GError **error)
{
  g_auto (Index) index = { 0 };
  guint row;

  if (!index_load (&index, error) || !index_find (&index, name, &row, error)
      || !csv_number (index.table, row, index.column[SAMPLES_PER_EPOCH], &workload->samples_per_epoch, error))
    return FALSE;
  workload->name = g_strdup (index_cell (&index, row, NAME));
  workload->family = g_strdup (index_cell (&index, row, FAMILY));
  workload->sample = g_strdup (index_cell (&index, row, SAMPLE));
  g_autofree char *file = g_strconcat (workload->name, ".csv", NULL);
  g_autofree char *path = g_build_filename (part_folder (), "workload", file, NULL);
  return read_layers (workload, path, error);
}

static gboolean
load_file (Workload *workload, const char *path, GError **error)
{
  if (!read_layers (workload, path, error))
    return FALSE;
  g_autofree char *base = g_path_get_basename (path);
  workload->name = g_str_has_suffix (base, ".csv") ? g_strndup (base, strlen (base) - strlen (".csv"))
                                                   : g_strdup (base);
  workload->family = g_strdup ("other");
  for (guint i = 0; i < workload->n_layers; i++)
    {
      if (workload->layers[i].kind == LAYER_ATTENTION)
        {
          g_free (workload->family);
          workload->family = g_strdup ("transformer");
          break;
        }
    }
  workload->sample = g_strdup ("sample");
  workload->samples_per_epoch = NAN;
  return TRUE;
}

static gboolean
override_family (Workload *workload, const char *family, GError **error)
{
  if (!g_strv_contains (workload_families, family))
    {
      g_autofree char *message = names_unknown ("family", family, workload_families);
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_UNKNOWN, "[workload] family: %s", message);
      return FALSE;
    }
  g_free (workload->family);
  workload->family = g_strdup (family);
  return TRUE;
}

Workload *
workload_load (const WorkloadSpec *spec, GError **error)
{
  g_autoptr (Workload) workload = g_new0 (Workload, 1);

  if ((spec->name == NULL) == (spec->file == NULL))
    {
      g_set_error (error, KEYS_ERROR, spec->name == NULL ? KEYS_ERROR_MISSING : KEYS_ERROR_VALUE,
                   "[workload] %s: %s; give a name ('lockstep list workloads') or a file of layers",
                   spec->name == NULL ? "name" : "file", spec->name == NULL ? "missing" : "stands beside a name");
      return NULL;
    }
  if (spec->name != NULL ? !load_shipped (workload, spec->name, error) : !load_file (workload, spec->file, error))
    return NULL;
  if (spec->family != NULL && !override_family (workload, spec->family, error))
    return NULL;
  return g_steal_pointer (&workload);
}

void
workload_free (Workload *workload)
{
  if (workload == NULL)
    return;
  layers_clear (workload);
  g_free (workload->name);
  g_free (workload->family);
  g_free (workload->sample);
  g_free (workload);
}

char **
workload_list (GError **error)
{
  g_auto (Index) index = { 0 };

  return index_load (&index, error) ? index_names (&index) : NULL;
}
