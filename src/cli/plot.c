/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "cli/cli.h"

/* FALSE with no error: no columns are named. */
static gboolean
read_columns (const Options *given, PlotColumns *columns, GError **error)
{
  static const char *const axes[] = { "x", "y", "xy", NULL };

  *columns = (PlotColumns) { given->x, given->y, given->by, FALSE, FALSE };
  if (given->log != NULL && !g_strv_contains (axes, given->log))
    usage_error (error, "--log: '%s' names no axis; give x, y or xy", given->log);
  else if ((given->x == NULL) != (given->y == NULL))
    usage_error (error, "-%s names one column; give -x and -y, or neither", given->x != NULL ? "x" : "y");
  else if (given->x == NULL && (given->by != NULL || given->log != NULL))
    usage_error (error, "'--%s' goes with columns; give -x and -y", given->by != NULL ? "by" : "log");
  else
    {
      columns->log_x = given->log != NULL && given->log[0] == 'x';
      columns->log_y = given->log != NULL && strchr (given->log, 'y') != NULL;
      return given->x != NULL;
    }
  return FALSE;
}

static gboolean
draw (Call *call, const char *path, GError **error)
{
  GError *wrong = NULL;
  PlotColumns columns;
  const gboolean two = read_columns (&call->options, &columns, &wrong);

  if (wrong == NULL && (two ? plot_columns (call->args[0], &columns, path, &wrong) : plot_csv (call->args[0], path, &wrong)))
    return TRUE;
  reword_file_error (path, &wrong);
  g_propagate_error (error, wrong);
  return FALSE;
}

static gboolean
run_plot (Call *call, GError **error)
{
  g_autofree char *path = g_steal_pointer (&call->options.output);   /* the picture, not the text */

  if (path == NULL)
    usage_error (error, "no picture is named; give -o FILE.svg or -o FILE.png");
  else if (!g_str_has_suffix (path, ".svg") && !g_str_has_suffix (path, ".png"))
    usage_error (error, "-o: '%s' is no picture that can be drawn; give FILE.svg or FILE.png", path);
  else
    return draw (call, path, error);
  return FALSE;
}

static const Option options[] = {
  { "output", 'o', OPTION_TEXT, offsetof (Options, output), "FILE", "The picture: FILE.svg or FILE.png." },
  { "x", 'x', OPTION_TEXT, offsetof (Options, x), "COLUMN", "The column along the picture; text too." },
  { "y", 'y', OPTION_TEXT, offsetof (Options, y), "COLUMN", "The column that goes up." },
  { "by", 0, OPTION_TEXT, offsetof (Options, by), "COLUMN", "A line for each of its values." },
  { "log", 0, OPTION_TEXT, offsetof (Options, log), "x|y|xy", "Logarithmic axes." },
  { NULL, 0, 0, 0, NULL, NULL }
};

const Command command_plot = {
  .name = "plot",
  .summary = "a picture of a CSV that lockstep wrote",
  .arguments = "FILE.csv [-x COLUMN -y COLUMN] -o FILE.svg",
  .min_args = 1, .max_args = 1,
  .options = options,
  .details =
    "Knows by the header of the CSV which picture fits; -x and -y name any two columns instead.\n"
    "Then there is a line for each value of --by, or of the other swept keys where these are\n"
    "few.  Needs gnuplot.\n"
    "\n"
    "Examples:\n"
    "  lockstep plot curve.csv -o curve.svg\n"
    "  lockstep plot sweep.csv -x gpus -y throughput_samples_per_s --by strategy.bucket-size --log xy -o sweep.svg\n",
  .run = run_plot,
};
