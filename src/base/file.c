/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_CHUNK 65536u

static gboolean
is_stdin (const char *path)
{
  return g_str_equal (path, "-") || g_str_equal (path, "/dev/stdin");
}

char *
file_display_name (const char *path)
{
  if (is_stdin (path))
    return g_strdup ("stdin");
  if (*path == '\0')
    return g_strdup ("''");
  g_autofree char *utf8 = g_utf8_validate (path, -1, NULL)
    ? g_strdup (path) : g_filename_display_name (path);
  GString *name = g_string_new (NULL);
  for (const char *p = utf8; *p != '\0'; p++)
    if ((guchar) *p < 0x20 || *p == 0x7f)
      g_string_append_printf (name, "\\x%02x", (guchar) *p);
    else
      g_string_append_c (name, *p);
  return g_string_free (name, FALSE);
}

/* Non-blocking, so that a FIFO without a writer does not stop us here. */
static int
open_input (const char *path)
{
  if (is_stdin (path))
    return dup (STDIN_FILENO);
  return open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

static char *
too_large (gsize limit)
{
  return g_strdup_printf ("too large; at most %" G_GSIZE_FORMAT " KiB are read", limit >> 10);
}

static char *
check_kind (const struct stat *st, gboolean is_input, gsize limit)
{
  if (S_ISDIR (st->st_mode))
    return g_strdup ("is a directory; a file is needed");
  if (!is_input && !S_ISREG (st->st_mode))
    return g_strdup ("is a pipe or device; give a regular file, or '-' for standard input");
  if (S_ISREG (st->st_mode) && (uint64_t) st->st_size > limit)
    return too_large (limit);
  return NULL;
}

static char *
read_all (int fd, gsize limit, gsize *length, char **problem)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  while (TRUE)
    {
      const gsize had = bytes->len;
      const gsize want = MIN (READ_CHUNK, limit + 1 - had);

      g_byte_array_set_size (bytes, (guint) (had + want));
      const ssize_t got = read (fd, bytes->data + had, want);
      g_byte_array_set_size (bytes, (guint) (had + (got > 0 ? (gsize) got : 0)));
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        {
          *problem = g_strdup_printf ("cannot be read: %s", g_strerror (errno));
          return NULL;
        }
      if (got == 0)
        break;
      if (bytes->len > limit)
        {
          *problem = too_large (limit);
          return NULL;
        }
    }
  *length = bytes->len;
  g_byte_array_append (bytes, (const guint8 *) "", 1);
  return (char *) g_byte_array_free (g_steal_pointer (&bytes), FALSE);
}

static char *
read_or_say (const char *path, gsize limit, gsize *length, char **problem)
{
  const gboolean input = is_stdin (path);
  struct stat st;

  *length = 0;
  *problem = NULL;
  const int fd = open_input (path);
  if (fd < 0)
    {
      *problem = errno == ENOENT ? g_strdup ("no such file")
                                 : g_strdup_printf ("cannot be opened: %s", g_strerror (errno));
      return NULL;
    }
  if (fstat (fd, &st) != 0)
    *problem = g_strdup_printf ("cannot be opened: %s", g_strerror (errno));
  else
    *problem = check_kind (&st, input, limit);
  char *text = *problem == NULL ? read_all (fd, limit, length, problem) : NULL;
  close (fd);
  return text;
}

char *
file_read (const char *path, gsize limit, gsize *length, GQuark domain, int code, GError **error)
{
  g_autofree char *problem = NULL, *name = file_display_name (path);
  char *text = read_or_say (path, limit, length, &problem);

  if (text == NULL)
    g_set_error (error, domain, code, "%s: %s", name, problem);
  return text;
}
