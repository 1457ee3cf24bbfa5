/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/origin.h"
#include "base/names.h"
#include <string.h>

static const char *const origin_names[] = {
  [ORIGIN_ASSUMED] = "assumed",
  [ORIGIN_DERIVED] = "derived",
  [ORIGIN_MEASURED] = "measured",
  [ORIGIN_USER] = "user",
  NULL,
};

const char *
origin_name (OriginKind kind)
{
  return origin_names[kind];
}

gboolean
origin_kind (const char *word, OriginKind *out)
{
  for (int i = 0; origin_names[i] != NULL; i++)
    {
      if (!g_str_equal (origin_names[i], word))
        continue;
      *out = (OriginKind) i;
      return TRUE;
    }
  return FALSE;
}

gboolean
origin_read (const KeyFile *part, const char *key, Origin *out, GError **error)
{
  const char *named = key_file_get (part, "origin", key) ? key : "default";
  const char *text = key_file_get (part, "origin", named);

  if (text == NULL)
    {
      key_file_error (part, "origin", key, error,
                      "missing; say where the value comes from, as in '%s = measured: data/nccl/x.csv'", key);
      return FALSE;
    }
  const gsize length = strcspn (text, ":");
  g_autofree char *kind = g_strchomp (g_strndup (text, length));
  const char *rest = text[length] == ':' ? text + length + 1 + strspn (text + length + 1, " \t") : "";
  if (origin_kind (kind, &out->kind))
    {
      if (*rest == '\0')
        {
          key_file_error (part, "origin", named, error,
                          "no source; write '%s: file, formula or reason'", kind);
          return FALSE;
        }
      out->text = rest;
      return TRUE;
    }
  g_autofree char *unknown = names_unknown ("origin", kind, origin_names);
  key_file_error (part, "origin", named, error, "%s", unknown);
  return FALSE;
}
