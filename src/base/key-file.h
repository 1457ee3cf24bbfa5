/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/keys.h"

/* Inside of a KeyFile, for key-entry.c, key-scan.c, key-file.c and keys.c only. */

typedef struct
{
  char *group, *key;    /* key NULL: the head of a group */
  char *value;          /* as typed, without the blanks around it */
  char *source;         /* display name of the file, or "--set" */
  guint line;           /* 0: none */
} KeyEntry;

struct KeyFile
{
  char       *name;
  char       *preamble;
  GPtrArray  *entries;  /* KeyEntry, in the order of the file, heads among them */
  GHashTable *index;    /* "group\nkey" or "group" -> KeyEntry, borrowed */
};

KeyFile  *key_file_new   (const char *name);   /* empty; `name` as messages show it */
KeyEntry *key_entry_add  (KeyFile *file, const char *group, const char *key,
                          const char *value, const char *source, guint line);
KeyEntry *key_entry_find (const KeyFile *file, const char *group, const char *key);
gboolean  key_name_valid (const char *name, gboolean is_group);

/* Lines of the text into entries (values still NULL); the error has the line.
 * Gives what GKeyFile is to read; caller frees. */
char     *key_scan       (KeyFile *file, const char *text, GError **error);
