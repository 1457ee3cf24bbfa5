/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cli.h"
#include "run/unused.h"
#include "study/sets.h"

/* More points than that of a [sweep] are not looked at. */
static const guint most_points = 1000;

/* What is unused at every point of [sweep] that can be read, the others are for `sweep`
 * to refuse; NULL: no such point. */
static GArray *
unused_in_sweep (const Scenario *scenario, Shelf *parts)
{
  static const char *const no_keys[] = { NULL };
  const guint n = scenario->n_axes > 0 ? sets_count (scenario, no_keys, NULL) : 0;
  GArray *unused = NULL;

  for (guint i = 0; i < MIN (n, most_points) && (unused == NULL || unused->len > 0); i++)
    {
      g_autoptr (SetPoint) set = sets_at (scenario, no_keys, i);
      g_autoptr (Scenario) with = scenario_with (scenario, (const char *const *) set->sets, NULL);
      g_autoptr (Point) point = with != NULL ? point_new_from (parts, with, NULL) : NULL;
      g_autoptr (GArray) others = point != NULL ? unused_keys (point) : NULL;

      if (others != NULL && unused != NULL)
        unused_meet (unused, others);
      else if (others != NULL)
        unused = g_array_ref (others);
    }
  return unused;
}

/* Builds the step too: some things only that finds. */
static gboolean
check_scenario (const Call *call, const Scenario *scenario, GError **error)
{
  g_autoptr (Shelf) parts = shelf_new ();
  g_autoptr (Point) point = point_new_from (parts, scenario, error);
  g_autoptr (StepGraph) graph = graph_new ();
  g_autoptr (GArray) unused = NULL;

  if (point == NULL || !strategy_build (point->strategy, &point->input, graph, error))
    return FALSE;
  unused = unused_in_sweep (scenario, parts);
  if (unused == NULL)
    unused = unused_keys (point);
  call_unused (call, scenario, unused);
  return TRUE;
}

static gboolean
check_one (const Call *call, const char *path, GError **error)
{
  g_autoptr (Scenario) scenario = call_scenario (call, path, error);

  if (scenario == NULL || check_scenario (call, scenario, error))
    return scenario != NULL;
  scenario_locate_error (scenario, error);
  return FALSE;
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
