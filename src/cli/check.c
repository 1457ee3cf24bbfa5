/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cli.h"
#include "run/point.h"

static gboolean
check_one (const Call *call, const char *path, GError **error)
{
  g_autoptr (Scenario) scenario = call_scenario (call, path, error);
  g_autoptr (Point) point = scenario != NULL ? point_new (scenario, error) : NULL;

  if (scenario != NULL && point == NULL)
    scenario_locate_error (scenario, error);
  return point != NULL;
}

/* Every file is checked, whatever is wrong in those before. */
static gboolean
run_check (Call *call, G_GNUC_UNUSED GError **error)
{
  for (guint i = 0; i < call->n_args; i++)
    {
      g_autoptr (GError) wrong = NULL;

      if (check_one (call, call->args[i], &wrong))
        {
          if (!call->options.quiet)
            g_string_append_printf (call->out, "%s: ok\n", call->args[i]);
        }
      else
        call->status = output_error (call->command, wrong);
    }
  return TRUE;
}

const Command command_check = {
  .name = "check",
  .summary = "reads scenarios without running them",
  .arguments = "FILE...",
  .min_args = 1, .max_args = G_MAXUINT,
  .sets = TRUE,
  .details =
    "Reads each scenario and everything that it names (machines, GPUs, workload, strategy), and\n"
    "says 'ok' or the first thing that is wrong, with file and line.  Exit 2 if any is wrong.\n"
    "\n"
    "Example:\n"
    "  lockstep check scenarios/*.ini\n",
  .run = run_check,
};
