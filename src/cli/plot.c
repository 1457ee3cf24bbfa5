/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cli.h"

static gboolean
run_plot (Call *call, GError **error)
{
  g_autofree char *path = g_steal_pointer (&call->options.output);   /* the picture, not the text */
  g_autoptr (GError) wrong = NULL;

  if (path == NULL)
    usage_error (error, "no picture is named; give -o FILE.svg or -o FILE.png");
  else if (!g_str_has_suffix (path, ".svg") && !g_str_has_suffix (path, ".png"))
    usage_error (error, "-o: '%s' is no picture that can be drawn; give FILE.svg or FILE.png", path);
  else if (!plot_csv (call->args[0], path, &wrong))
    {
      reword_file_error (path, &wrong);
      g_propagate_error (error, g_steal_pointer (&wrong));
    }
  else
    return TRUE;
  return FALSE;
}

static const Option options[] = {
  { "output", 'o', OPTION_TEXT, offsetof (Options, output), "FILE", "The picture: FILE.svg or FILE.png." },
  { NULL, 0, 0, 0, NULL, NULL }
};

const Command command_plot = {
  .name = "plot",
  .summary = "a picture of a CSV that lockstep wrote",
  .arguments = "FILE.csv -o FILE.svg",
  .min_args = 1, .max_args = 1,
  .options = options,
  .details =
    "Knows by the header of the CSV which picture fits.  Needs gnuplot.\n"
    "\n"
    "Example:\n"
    "  lockstep plot curve.csv -o curve.svg\n",
  .run = run_plot,
};
