/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "report/report.h"
#include "scenario/scenario.h"

/* The command line: parses, calls, prints.  Only this folder prints. */

/* Exit statuses. */
enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_WRONG = 2, STATUS_BUG = 70 };

#define CLI_ERROR (cli_error_quark ())
typedef enum
{
  CLI_ERROR_USAGE,    /* a wrong command line: a hint follows, exit 2 */
  CLI_ERROR_OUTPUT,   /* results could not be written: exit 1 */
} CliError;
GQuark cli_error_quark (void);

/* What the options of all commands fill. */
typedef struct
{
  int      format;              /* Format */
  char    *output;              /* NULL: standard output */
  gboolean quiet, help, full_help;
  char   **sets;                /* NULL-terminated; never NULL */
  /* of single commands */
  gboolean timeline, require_fit, force, verbose, unfold, allow_unequal_batch;
  char    *nodes, *gpus, *mode, *plot, *jobs, *seed, *runs;
  gboolean catalogue, bags, intervals;
  char    *hold_out, *rows;
  char   **fit, **where;        /* NULL: none */
  char    *anchor, *min_size;
  char    *x, *y, *by, *log;    /* plot */
  char    *machine, *gpus_per_node, *sizes, *algorithm, *protocol, *tier, *chunks;
  gboolean steps;
} Options;

typedef enum
{
  OPTION_FLAG,      /* gboolean */
  OPTION_TEXT,      /* char * */
  OPTION_REPEATED,  /* char **, grows */
  OPTION_FORMAT,    /* int */
} OptionType;
typedef struct
{
  const char *name;             /* "set", without dashes; NULL ends a table */
  char        letter;           /* 0: none */
  OptionType  type;
  gsize       offset;           /* in Options */
  const char *argument;         /* "FILE"; NULL: none */
  const char *help;             /* one line, ends with a full stop */
} Option;

typedef struct Command Command;
/* One call of a command. */
typedef struct
{
  const Command *command;
  Options        options;
  guint          n_args;
  char         **args;          /* NULL-terminated */
  GString       *out;           /* the results: written at the end, whole */
  int            status;        /* STATUS_DONE unless the command says otherwise */
  const char    *doing;         /* what may take long, for the notice; atomic; NULL: nothing to add */
  char          *next;          /* a remark for when the results are written; NULL: none */
} Call;

/* A command: one file, one const table. */
struct Command
{
  const char   *name, *summary;
  const char   *arguments;      /* "SCENARIO..." */
  guint         min_args, max_args;
  const Option *options;        /* its own; ends with { NULL } */
  gboolean      sets, formats, writes;   /* takes --set; --format; -o */
  gboolean      progress;       /* says itself how far it is */
  const char   *details;        /* paragraphs of --help */
  gboolean    (*run) (Call *call, GError **error);
};
extern const Command command_run, command_scale, command_sweep, command_new, command_compare, command_collective,
  command_check, command_show, command_list, command_plot, command_calibrate, command_validate;

/* options.c.  `argv` behind the command's name.  Errors are of CLI_ERROR_USAGE. */
gboolean options_parse  (Call *call, char **argv, GError **error);
void     options_clear  (Options *options);
/* The n-th option that a command takes, its own and the common ones; NULL: no more. */
const Option *command_option (const Command *command, guint n);

/* notice.c */
/* One remark if the command still runs after two seconds, or twenty where stderr is no
 * terminal.  NULL: none will be said. */
typedef struct Notice Notice;
Notice *notice_new  (Call *call);
void    notice_free (Notice *notice);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Notice, notice_free)

/* help.c */
void help_program (GString *out, const Command *const *commands, gboolean full);   /* NULL-terminated */
void help_command (GString *out, const Command *command, gboolean full);

/* output.c */
/* The whole text to standard output, or to a file by rename. */
gboolean output_write (const char *path, const char *text, gsize length, GError **error);
/* "PATH: cannot be written: REASON", where the error is one of writing a file. */
void     reword_file_error (const char *path, GError **error);
/* Text as it is to stderr. */
void     output_remark (const char *text);
/* One line on stderr; control characters become '?'. */
void     output_line  (const char *text);
/* "remark: ..." on stderr, unless --quiet. */
void     call_remark  (const Call *call, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* The warnings of a result as remarks, where the form of the results has no room for them. */
void     call_warnings (const Call *call, const char *path, const Result *result);
/* The keys among `unused` (of UnusedKey; NULL: none) as remarks with where they stand. */
void     call_unused  (const Call *call, const Scenario *scenario, const GArray *unused);
/* How the results are laid out: as the terminal is that they go to. */
Look     call_look    (const Call *call);
/* Says an error and gives its exit status; `command` NULL: none yet. */
int      output_error (const Command *command, const GError *error);
/* The row of a table whose first member is that name; NULL, with the names that there are: none. */
const void *kind_find (const char *what, const char *name, const void *rows, gsize n, gsize size, GError **error);
void     usage_error  (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* scenario.c */
/* Loads with the call's --set.  What only people write, not tables, is checked too. */
Scenario *call_scenario (const Call *call, const char *path, GError **error);
