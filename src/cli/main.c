/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_errno.h>
#include <signal.h>

#include "base/names.h"
#include "cli/cli.h"

static const Command *const commands[] = {
  &command_run, &command_scale, &command_sweep, &command_compare, &command_collective,
  &command_calibrate, &command_validate, &command_new, &command_check, &command_show, &command_list, &command_plot, NULL
};

static const Command *
find_command (const char *name, GError **error)
{
  static const char *const options[] = { "--help", "--version", "-h", NULL };
  const char *names[G_N_ELEMENTS (commands)] = { NULL };
  g_autofree char *wrong = NULL;

  for (gsize i = 0; commands[i] != NULL; i++)
    {
      if (g_str_equal (commands[i]->name, name))
        return commands[i];
      names[i] = commands[i]->name;
    }
  wrong = name[0] == '-' ? names_unknown ("option", name, options) : names_unknown ("command", name, names);
  usage_error (error, "%s", wrong);
  return NULL;
}

static int
write_results (const Command *command, const char *path, const GString *out, int status)
{
  g_autoptr (GError) error = NULL;

  if (output_write (path, out->str, out->len, &error))
    return status;
  return output_error (command, error);
}

static gboolean
run_noticed (Call *call, GError **error)
{
  g_autoptr (Notice) notice = notice_new (call);

  return call->command->run (call, error);
}

static int
run_command (const Command *command, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  Call call = { .command = command, .out = out };
  int status;

  if (!options_parse (&call, argv, &error))
    status = output_error (command, error);
  else if (call.options.help || call.options.full_help)
    {
      help_command (out, command, call.options.full_help);
      status = write_results (command, NULL, out, STATUS_DONE);
    }
  else if (!run_noticed (&call, &error))
    status = output_error (command, error);
  else if (out->len == 0 && call.options.output == NULL)
    status = call.status;
  else
    status = write_results (command, call.options.output, out, call.status);
  if (call.next != NULL && status == STATUS_DONE)
    call_remark (&call, "%s", call.next);
  options_clear (&call.options);
  g_strfreev (call.args);
  g_free (call.next);
  return status;
}

/* "help", "help COMMAND". */
static int
say_help (const char *name)
{
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  const Command *command = name != NULL ? find_command (name, &error) : NULL;

  if (name != NULL && command == NULL)
    return output_error (NULL, error);
  if (command != NULL)
    help_command (out, command, TRUE);
  else
    help_program (out, commands, TRUE);
  return write_results (NULL, NULL, out, STATUS_DONE);
}

int
main (int argc, char **argv)
{
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  const char *word = argc > 1 ? argv[1] : NULL;
  const Command *command;

  signal (SIGPIPE, SIG_IGN);   /* a closed pipe is an error of write () */
  gsl_set_error_handler_off ();
  if (word == NULL)
    {
      help_program (out, commands, FALSE);
      output_remark (out->str);
      return STATUS_WRONG;
    }
  if (g_str_equal (word, "-h") || g_str_equal (word, "--help"))
    help_program (out, commands, word[1] == '-');
  else if (g_str_equal (word, "--version"))
    g_string_append (out, "lockstep " LOCKSTEP_VERSION "\n");
  else if (g_str_equal (word, "help"))
    return say_help (argv[2]);
  else if ((command = find_command (word, &error)) != NULL)
    return run_command (command, argv + 2);
  else
    return output_error (NULL, error);
  return write_results (NULL, NULL, out, STATUS_DONE);
}
