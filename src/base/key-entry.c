/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/key-file.h"
#include "base/file.h"

G_DEFINE_QUARK (lockstep-keys-error-quark, keys_error)

static void
key_entry_free (gpointer data)
{
  KeyEntry *entry = data;

  g_free (entry->group);
  g_free (entry->key);
  g_free (entry->value);
  g_free (entry->source);
  g_free (entry);
}

static char *
index_name (const char *group, const char *key)
{
  return key == NULL ? g_strdup (group) : g_strconcat (group, "\n", key, NULL);
}

KeyEntry *
key_entry_add (KeyFile *file, const char *group, const char *key,
               const char *value, const char *source, guint line)
{
  KeyEntry *entry = g_new0 (KeyEntry, 1);

  entry->group = g_strdup (group);
  entry->key = g_strdup (key);
  entry->value = g_strdup (value);
  entry->source = g_strdup (source);
  entry->line = line;
  g_ptr_array_add (file->entries, entry);
  g_hash_table_insert (file->index, index_name (group, key), entry);
  return entry;
}

KeyEntry *
key_entry_find (const KeyFile *file, const char *group, const char *key)
{
  g_autofree char *name = index_name (group, key);

  return g_hash_table_lookup (file->index, name);
}

KeyFile *
key_file_new (const char *name)
{
  KeyFile *file = g_new0 (KeyFile, 1);

  file->name = file_display_name (name);
  file->entries = g_ptr_array_new_with_free_func (key_entry_free);
  file->index = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return file;
}

void
key_file_free (KeyFile *file)
{
  if (file == NULL)
    return;
  g_hash_table_destroy (file->index);
  g_ptr_array_free (file->entries, TRUE);
  g_free (file->preamble);
  g_free (file->name);
  g_free (file);
}
