/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/quantity.h"

/* Ini text behind tables of keys: parse, default, range, --set, help, lines.
 * GKeyFile reads the text; what it swallows silently (a group or key given
 * twice, text behind a value, no line numbers) is checked here first. */

typedef enum
{
  KEY_STRING,    /* char *, owned by the struct; NULL: not given */
  KEY_CHOICE,    /* int, index in choices[] */
  KEY_BOOLEAN,   /* gboolean: true | false */
  KEY_COUNT,     /* guint64, whole, 0 allowed only where min is 0 */
  KEY_NUMBER,    /* double without unit */
  KEY_QUANTITY,  /* double in SI, unit mandatory */
} KeyType;

typedef struct
{
  const char *name;
  KeyType     type;
  Unit        unit;           /* KEY_QUANTITY */
  gsize       offset;         /* of the field in the group's struct */
  const char *default_text;   /* as it would stand in a file; NULL: none (string NULL, quantity and number NAN, count 0) */
  const char *help;           /* one line, ends with a full stop */
  double      min, max;       /* inclusive; both 0: (0, 1e18] for quantities and numbers, [1, 1e9] for counts */
  const char *const *choices; /* KEY_CHOICE, NULL-terminated */
  gboolean    required;
} Key;

/* A group of a file: which struct its keys fill. */
typedef struct
{
  const char *name;   /* "cluster" */
  const char *help;   /* one line */
  const Key  *keys;   /* ends with { NULL } ; NULL: the group takes any key (sweep, measured) */
  gsize       size;   /* of the struct */
} KeyGroup;

#define KEYS_ERROR (keys_error_quark ())
typedef enum { KEYS_ERROR_READ, KEYS_ERROR_SYNTAX, KEYS_ERROR_UNKNOWN, KEYS_ERROR_VALUE, KEYS_ERROR_MISSING } KeysError;
GQuark keys_error_quark (void);

/* Limits of every ini file. */
#define KEYS_MAX_BYTES (1u << 20)
#define KEYS_MAX_LINE  4096u
#define KEYS_MAX_KEYS  4096u

typedef struct KeyFile KeyFile;

/* "-": standard input.  Refuses directories, pipes and devices, more than KEYS_MAX_BYTES (without
 * reading the rest), NUL and other control bytes, text that is not UTF-8, a
 * group or key given twice (naming the first line), a '#' behind a value, an
 * empty file.  Trailing blanks and CR LF are trimmed.  Every message is
 * "file:line: [group] key: what; what would be right". */
KeyFile    *key_file_load   (const char *path, GError **error);
KeyFile    *key_file_parse  (const char *name, const char *text, gsize length, GError **error);
void        key_file_free   (KeyFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KeyFile, key_file_free)
const char *key_file_name   (const KeyFile *file);
/* The comment lines before the first group, '#' and one blank taken off, the
 * licence line left out.  Borrowed. */
const char *key_file_preamble (const KeyFile *file);

/* "group.key=value" of the command line; beats the file.  Where it came from
 * is then "--set". */
gboolean    key_file_set    (KeyFile *file, const char *assignment, GError **error);
/* Puts the values of `below` under those of `file` (include). */
void        key_file_merge  (KeyFile *file, const KeyFile *below);

/* Every group and key must stand in the tables (NULL name ends). */
gboolean    key_file_check  (const KeyFile *file, const KeyGroup *groups, GError **error);
/* Fills the zeroed struct at `out`: file values over defaults.  On failure the
 * struct is cleared. */
gboolean    key_file_read   (const KeyFile *file, const KeyGroup *group, gpointer out, GError **error);
/* Frees the strings of a struct that key_file_read filled. */
void        keys_clear      (const Key *keys, gpointer out);

/* Text of one value or NULL: as typed, borrowed until key_file_set. */
const char *key_file_get    (const KeyFile *file, const char *group, const char *key);
/* Names of a group's keys in the order of the file; caller frees with g_strfreev. */
char      **key_file_keys   (const KeyFile *file, const char *group);
/* Names of the groups in the order of the file; caller frees with g_strfreev. */
char      **key_file_groups (const KeyFile *file);
/* "a.ini:14", "--set", or "default".  Caller frees. */
char       *key_file_where  (const KeyFile *file, const char *group, const char *key);
/* An error at one value, in the form above: "WHERE: [group] key: MESSAGE"; of a
 * key that is not given, at the head of its group.  Group or key may be NULL. */
void        key_file_error  (const KeyFile *file, const char *group, const char *key,
                             GError **error, const char *format, ...) G_GNUC_PRINTF (5, 6);

/* One value as it would stand in a file, from the struct.  Caller frees. */
char       *key_format      (const Key *key, gconstpointer from);
const Key  *key_find        (const Key *keys, const char *name);
/* All values of a struct as one text: equal texts, equal values, to the bit.
 * To look things up by; not for people.  Caller frees. */
char       *keys_fingerprint (const Key *keys, gconstpointer from);
