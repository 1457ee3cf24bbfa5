/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/names.h"
#include "cli/cli.h"

static const Option set_option = {
  "set", 0, OPTION_REPEATED, offsetof (Options, sets), "GROUP.KEY=VALUE", "Beats the file's value; may be repeated."
};
static const Option format_option = {
  "format", 0, OPTION_FORMAT, offsetof (Options, format), "table|csv|json", "Form of the results."
};
static const Option output_option = {
  "output", 'o', OPTION_TEXT, offsetof (Options, output), "FILE", "Writes the results to FILE, whole or not at all."
};
static const Option quiet_option = {
  "quiet", 0, OPTION_FLAG, offsetof (Options, quiet), NULL, "No remarks on standard error."
};
static const Option short_help_option = {
  "h", 'h', OPTION_FLAG, offsetof (Options, help), NULL, "Short help."
};
static const Option help_option = {
  "help", 0, OPTION_FLAG, offsetof (Options, full_help), NULL, "Full help."
};

const Option *
command_option (const Command *command, guint n)
{
  const Option *common[] = {
    command->sets ? &set_option : NULL, command->formats ? &format_option : NULL,
    command->writes ? &output_option : NULL, &quiet_option, &short_help_option, &help_option,
  };

  for (const Option *option = command->options; option != NULL && option->name != NULL; option++)
    if (n-- == 0)
      return option;
  for (gsize i = 0; i < G_N_ELEMENTS (common); i++)
    if (common[i] != NULL && n-- == 0)
      return common[i];
  return NULL;
}

static const Option *
find_long (const Command *command, const char *name, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const Option *option;
  const char *near;

  for (guint i = 0; (option = command_option (command, i)) != NULL; i++)
    {
      if (option != &short_help_option && g_str_equal (option->name, name))
        return option;
      g_ptr_array_add (names, (gpointer) option->name);
    }
  g_ptr_array_add (names, NULL);
  near = names_nearest (name, (const char *const *) names->pdata);
  if (near != NULL)
    usage_error (error, "unknown option '--%s'; did you mean '--%s'?", name, near);
  else
    usage_error (error, "unknown option '--%s'", name);
  return NULL;
}

static const Option *
find_letter (const Command *command, char letter, GError **error)
{
  const Option *option;

  for (guint i = 0; (option = command_option (command, i)) != NULL; i++)
    if (option->letter == letter)
      return option;
  usage_error (error, "unknown option '-%c'", letter);
  return NULL;
}

static gboolean
store_format (int *format, const char *text, GError **error)
{
  g_autofree char *wrong = NULL;

  for (int i = 0; i < N_FORMATS; i++)
    if (g_str_equal (format_names[i], text))
      {
        *format = i;
        return TRUE;
      }
  wrong = names_unknown ("format", text, format_names);
  usage_error (error, "--format: %s", wrong);
  return FALSE;
}

static gboolean
store (Options *options, const Option *option, const char *text, GError **error)
{
  gpointer field = (char *) options + option->offset;
  char **texts;
  guint n;

  switch (option->type)
    {
    case OPTION_FLAG:
      *(gboolean *) field = TRUE;
      return TRUE;
    case OPTION_FORMAT:
      return store_format (field, text, error);
    case OPTION_REPEATED:
      texts = *(char ***) field;
      n = texts != NULL ? g_strv_length (texts) : 0;
      texts = g_renew (char *, texts, n + 2);
      texts[n] = g_strdup (text);
      texts[n + 1] = NULL;
      *(char ***) field = texts;
      return TRUE;
    case OPTION_TEXT:
      if (*(char **) field != NULL)
        {
          usage_error (error, "'--%s' given twice", option->name);
          return FALSE;
        }
      *(char **) field = g_strdup (text);
      return TRUE;
    }
  g_assert_not_reached ();
}

/* One option at **argv; moves *argv to the last word that it took. */
static gboolean
take_option (Call *call, char ***argv, GError **error)
{
  const char *word = **argv;
  const gboolean is_long = word[1] == '-';
  const char *equals = is_long ? strchr (word, '=') : NULL;
  g_autofree char *name = is_long ? equals ? g_strndup (word + 2, (gsize) (equals - word - 2)) : g_strdup (word + 2) : NULL;
  const Option *option = is_long ? find_long (call->command, name, error) : find_letter (call->command, word[1], error);
  const char *value = equals != NULL ? equals + 1 : !is_long && word[2] != '\0' ? word + 2 : NULL;

  if (option == NULL)
    return FALSE;
  if (option->type == OPTION_FLAG && value != NULL)
    {
      usage_error (error, is_long ? "'--%s' takes no value" : "'-%s' takes no value", option->name);
      return FALSE;
    }
  if (option->type != OPTION_FLAG && value == NULL)
    value = *++*argv;
  if (option->type != OPTION_FLAG && (value == NULL || *value == '\0'))
    {
      usage_error (error, "'--%s' needs a value: --%s %s", option->name, option->name, option->argument);
      return FALSE;
    }
  return store (&call->options, option, value, error);
}

static gboolean
count_args (const Call *call, GError **error)
{
  const Command *command = call->command;

  if (call->n_args >= command->min_args && call->n_args <= command->max_args)
    return TRUE;
  if (call->n_args > command->max_args)
    usage_error (error, "'%s' is one argument too many; usage: lockstep %s %s",
                 call->args[command->max_args], command->name, command->arguments);
  else
    usage_error (error, "%s missing; usage: lockstep %s %s",
                 call->n_args == 0 ? "an argument is" : "another argument is", command->name, command->arguments);
  return FALSE;
}

gboolean
options_parse (Call *call, char **argv, GError **error)
{
  g_autoptr (GPtrArray) args = g_ptr_array_new_with_free_func (g_free);
  gboolean only_args = FALSE;

  call->options.sets = g_new0 (char *, 1);
  for (; *argv != NULL; argv++)
    {
      const char *word = *argv;

      if (only_args || word[0] != '-' || word[1] == '\0')
        g_ptr_array_add (args, g_strdup (word));
      else if (g_str_equal (word, "--"))
        only_args = TRUE;
      else if (!take_option (call, &argv, error))
        return FALSE;
    }
  call->n_args = args->len;
  g_ptr_array_add (args, NULL);
  g_ptr_array_set_free_func (args, NULL);
  call->args = (char **) g_ptr_array_free (g_steal_pointer (&args), FALSE);
  return call->options.help || call->options.full_help || count_args (call, error);
}

void
options_clear (Options *options)
{
  g_clear_pointer (&options->sets, g_strfreev);
  g_clear_pointer (&options->output, g_free);
  g_clear_pointer (&options->nodes, g_free);
  g_clear_pointer (&options->gpus, g_free);
  g_clear_pointer (&options->mode, g_free);
  g_clear_pointer (&options->plot, g_free);
  g_clear_pointer (&options->jobs, g_free);
  g_clear_pointer (&options->seed, g_free);
  g_clear_pointer (&options->runs, g_free);
  g_clear_pointer (&options->x, g_free);
  g_clear_pointer (&options->y, g_free);
  g_clear_pointer (&options->by, g_free);
  g_clear_pointer (&options->log, g_free);
  g_clear_pointer (&options->machine, g_free);
  g_clear_pointer (&options->gpus_per_node, g_free);
  g_clear_pointer (&options->sizes, g_free);
  g_clear_pointer (&options->algorithm, g_free);
  g_clear_pointer (&options->protocol, g_free);
  g_clear_pointer (&options->tier, g_free);
  g_clear_pointer (&options->chunks, g_free);
  g_clear_pointer (&options->hold_out, g_free);
  g_clear_pointer (&options->rows, g_free);
  g_clear_pointer (&options->fit, g_strfreev);
  g_clear_pointer (&options->where, g_strfreev);
  g_clear_pointer (&options->anchor, g_free);
}
