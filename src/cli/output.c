/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/names.h"
#include "cli/cli.h"
#include "engine/engine.h"
#include "report/table.h"

G_DEFINE_QUARK (lockstep-cli-error-quark, cli_error)

/* write () until all is out; an error says where it went. */
static gboolean
write_all (int fd, const char *where, const char *text, gsize length, GError **error)
{
  while (length > 0)
    {
      const ssize_t n = write (fd, text, length);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        {
          g_set_error (error, CLI_ERROR, CLI_ERROR_OUTPUT, "%s: cannot write the results: %s", where, g_strerror (errno));
          return FALSE;
        }
      text += n;
      length -= (gsize) n;
    }
  return TRUE;
}

/* GLib names the temporary file; people named another. */
void
reword_file_error (const char *path, GError **error)
{
  const char *reason = *error != NULL ? strrchr ((*error)->message, ':') : NULL;
  char *message;

  if (reason == NULL || (*error)->domain != G_FILE_ERROR)
    return;
  message = g_strconcat (path, ": cannot be written", reason, NULL);
  g_free ((*error)->message);
  (*error)->message = message;
}

gboolean
output_write (const char *path, const char *text, gsize length, GError **error)
{
  g_autoptr (GError) wrong = NULL;

  if (path == NULL)
    return write_all (STDOUT_FILENO, "standard output", text, length, error);
  if (file_replace (path, text, length, &wrong))
    return TRUE;
  reword_file_error (path, &wrong);
  g_propagate_error (error, g_steal_pointer (&wrong));
  return FALSE;
}

void
output_remark (const char *text)
{
  write_all (STDERR_FILENO, "standard error", text, strlen (text), NULL);
}

void
output_line (const char *text)
{
  g_autofree char *clean = text_clean (text);
  g_autofree char *line = g_strconcat (clean, "\n", NULL);

  output_remark (line);
}

void
call_remark (const Call *call, const char *format, ...)
{
  g_autofree char *text = NULL, *line = NULL;
  va_list args;

  if (call->options.quiet)
    return;
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  line = g_strconcat ("remark: ", text, NULL);
  output_line (line);
}

void
call_warnings (const Call *call, const char *path, const Result *result)
{
  if (call->options.format == FORMAT_TABLE)
    return;
  for (gsize i = 0; result->warnings != NULL && result->warnings[i] != NULL; i++)
    call_remark (call, "%s: %s", path, result->warnings[i]);
}

/* Narrower or wider terminals show tables no better. */
static const guint least_width = 72, most_width = 200;

Look
call_look (const Call *call)
{
  const char *no_colour = g_getenv ("NO_COLOR"), *term = g_getenv ("TERM");
  struct winsize size;
  Look look = look_plain;

  if (call->options.output != NULL || call->options.format != FORMAT_TABLE || !isatty (STDOUT_FILENO))
    return look;
  look.colour = (no_colour == NULL || *no_colour == '\0') && g_strcmp0 (term, "dumb") != 0;
  if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    look.width = CLAMP (size.ws_col, least_width, most_width);
  return look;
}

void
usage_error (GError **error, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, CLI_ERROR, CLI_ERROR_USAGE, text);
}

const void *
kind_find (const char *what, const char *name, const void *rows, gsize n, gsize size, GError **error)
{
  g_autofree const char **names = g_new0 (const char *, n + 1);
  g_autofree char *wrong = NULL;

  for (gsize i = 0; i < n; i++)
    {
      const void *row = (const char *) rows + i * size;

      names[i] = *(const char *const *) row;
      if (g_str_equal (names[i], name))
        return row;
    }
  wrong = names_unknown (what, name, names);
  usage_error (error, "%s", wrong);
  return NULL;
}

static int
status_of (const GError *error)
{
  if (g_error_matches (error, RUN_ERROR, RUN_ERROR_CHECK))
    return STATUS_BUG;
  if (g_error_matches (error, ENGINE_ERROR, ENGINE_ERROR_DEADLOCK) || g_error_matches (error, PLOT_ERROR, PLOT_ERROR_TOOL) ||
      g_error_matches (error, CLI_ERROR, CLI_ERROR_OUTPUT) ||
      g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOSPC) || g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_IO))
    return STATUS_FAILED;
  return STATUS_WRONG;
}

int
output_error (const Command *command, const GError *error)
{
  const gboolean usage = g_error_matches (error, CLI_ERROR, CLI_ERROR_USAGE);
  const gboolean bare = usage || g_error_matches (error, CLI_ERROR, CLI_ERROR_OUTPUT);
  g_autofree char *line = g_strconcat (bare ? "lockstep" : "", bare && usage && command ? " " : "",
                                       bare && usage && command ? command->name : "", bare ? ": " : "",
                                       error->message, NULL);
  g_autofree char *hint = g_strdup_printf ("Try 'lockstep %s%s-h'.", command ? command->name : "", command ? " " : "");

  output_line (line);
  if (usage)
    output_line (hint);
  return status_of (error);
}
