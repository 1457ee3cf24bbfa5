/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "cli/cli.h"
#include "report/text.h"

/* Where the words about options begin. */
static const guint option_column = 29;

static const char program_details[] =
  "A SCENARIO is a file of groups and keys ('lockstep list keys'), or '-' for standard input.\n"
  "Results go to standard output, remarks and errors to standard error.\n"
  "Colour only on a terminal; NO_COLOR switches it off.\n"
  "\n"
  "Options of most commands:\n"
  "  --set GROUP.KEY=VALUE     beats the file's value; may be repeated\n"
  "  --format table|csv|json   form of the results\n"
  "  -o, --output FILE         writes the results to FILE, whole or not at all\n"
  "  --quiet                   no remarks on standard error\n"
  "\n"
  "Exit status:\n"
  "  0   done\n"
  "  1   a run failed: a deadlock, no room in memory with --require-fit, a missing tool\n"
  "  2   a wrong command line or input\n"
  "  70  a self-check failed: a bug of lockstep\n"
  "\n"
  "Environment:\n"
  "  LOCKSTEP_MODELS   the folder with the parts (GPUs, machines, transports, workloads)\n";

void
help_program (GString *out, const Command *const *commands, gboolean full)
{
  g_string_append (out, "usage: lockstep COMMAND [options] ARGUMENTS\n"
                        "Predicts the step time of distributed training, where it goes and what would change it.\n\n");
  for (gsize i = 0; commands[i] != NULL; i++)
    g_string_append_printf (out, "  %-11s %s\n", commands[i]->name, commands[i]->summary);
  g_string_append_c (out, '\n');
  if (full)
    g_string_append (out, program_details);
  else
    g_string_append (out, "'lockstep COMMAND -h' for one command, 'lockstep --help' for more, 'lockstep --version'.\n");
}

static void
append_option (GString *out, const Option *option)
{
  g_autofree char *left = NULL;
  const char *argument = option->argument ? option->argument : "";
  const char *blank = option->argument ? " " : "";

  if (option->letter != 0 && option->name[1] == '\0')
    left = g_strdup_printf ("-%c%s%s", option->letter, blank, argument);
  else if (option->letter != 0)
    left = g_strdup_printf ("-%c, --%s%s%s", option->letter, option->name, blank, argument);
  else
    left = g_strdup_printf ("--%s%s%s", option->name, blank, argument);
  if (strlen (left) + 3 > option_column)   /* a line of its own */
    g_string_append_printf (out, "  %s\n%*s", left, (int) option_column, "");
  else
    g_string_append_printf (out, "  %-*s", (int) option_column - 2, left);
  text_wrap (out, option->help, option_column, look_plain.width);
}

void
help_command (GString *out, const Command *command, gboolean full)
{
  const Option *option;

  g_string_append_printf (out, "usage: lockstep %s [options] %s\n%s\n\n", command->name, command->arguments,
                          command->summary);
  for (guint i = 0; (option = command_option (command, i)) != NULL; i++)
    append_option (out, option);
  if (full && command->details != NULL)
    g_string_append_printf (out, "\n%s", command->details);
}
