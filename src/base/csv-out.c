/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/csv.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 16

void
csv_append_text (GString *line, const char *text)
{
  const gsize length = strlen (text);

  /* On the way in a blank at an end would be trimmed, '#' taken for a comment,
   * a byte order mark lost. */
  if (length == 0 || (strpbrk (text, ",\"\r\n") == NULL && strchr ("# \t\xef", text[0]) == NULL
                      && strchr (" \t", text[length - 1]) == NULL))
    {
      g_string_append (line, text);
      return;
    }
  g_string_append_c (line, '"');
  for (const char *p = text; *p != '\0'; p++)
    {
      if (*p == '"')
        g_string_append_c (line, '"');
      g_string_append_c (line, *p);
    }
  g_string_append_c (line, '"');
}

void
csv_append_number (GString *line, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (isfinite (value))
    g_string_append (line, g_ascii_formatd (text, sizeof text, "%.9g", value));
}

static gboolean
write_in_place (const char *path, const char *data, gsize length, GError **error)
{
  const int fd = open (path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  int problem = fd < 0 ? errno : 0;

  for (gsize done = 0; problem == 0 && done < length;)
    {
      const ssize_t n = write (fd, data + done, length - done);

      if (n >= 0)
        done += (gsize) n;
      else if (errno != EINTR)
        problem = errno;
    }
  if (fd >= 0)
    close (fd);
  if (problem == 0)
    return TRUE;
  g_set_error (error, G_FILE_ERROR, (int) g_file_error_from_errno (problem), "cannot be written: %s", g_strerror (problem));
  return FALSE;
}

/* The file behind symbolic links: the rename must not replace the link. */
static char *
link_target (const char *path)
{
  char *target = g_strdup (path);

  for (int i = 0; i < LINKS_MAX && g_file_test (target, G_FILE_TEST_IS_SYMLINK); i++)
    {
      g_autofree char *next = g_file_read_link (target, NULL);
      g_autofree char *folder = g_path_get_dirname (target);

      if (next == NULL)
        break;
      g_free (target);
      target = g_path_is_absolute (next) ? g_steal_pointer (&next) : g_build_filename (folder, next, NULL);
    }
  return target;
}

gboolean
file_replace (const char *path, const char *data, gsize length, GError **error)
{
  g_autofree char *name = file_display_name (path);
  g_autofree char *target = link_target (path);
  g_autoptr (GError) problem = NULL;
  struct stat st;

  if (stat (path, &st) == 0 && S_ISDIR (st.st_mode))
    g_set_error (&problem, G_FILE_ERROR, G_FILE_ERROR_ISDIR, "is a directory; name a file");
  else if (stat (path, &st) == 0 && !S_ISREG (st.st_mode))
    write_in_place (path, data, length, &problem);
  else
    g_file_set_contents_full (target, data, (gssize) length, G_FILE_SET_CONTENTS_CONSISTENT, 0666, &problem);
  if (problem == NULL)
    return TRUE;
  g_set_error (error, problem->domain, problem->code, "%s: %s", name, problem->message);
  return FALSE;
}
