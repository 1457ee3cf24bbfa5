/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cli.h"

static const Option options[] = {
  { "allow-unequal-batch", 0, OPTION_FLAG, offsetof (Options, allow_unequal_batch), NULL,
    "Compares in spite of different global batches." },
  { NULL, 0, 0, 0, NULL, NULL }
};

static gboolean
run_compare (Call *call, GError **error)
{
  g_autoptr (GPtrArray) scenarios = g_ptr_array_new_with_free_func ((GDestroyNotify) scenario_free);
  g_autoptr (Comparison) comparison = NULL;
  const Look look = call_look (call);

  for (guint i = 0; i < call->n_args; i++)
    {
      Scenario *scenario = call_scenario (call, call->args[i], error);

      if (scenario == NULL)
        return FALSE;
      g_ptr_array_add (scenarios, scenario);
    }
  comparison = study_compare ((Scenario *const *) scenarios->pdata, scenarios->len,
                              call->options.allow_unequal_batch, error);
  if (comparison == NULL)
    return FALSE;
  for (guint i = 0; i < comparison->n; i++)
    {
      call_unused (call, scenarios->pdata[i], comparison->results[i]->unused);
      call_warnings (call, call->args[i], comparison->results[i]);
    }
  report_compare (call->out, (Format) call->options.format, (const Scenario *const *) scenarios->pdata, comparison,
                  &look);
  return TRUE;
}

const Command command_compare = {
  .name = "compare",
  .summary = "scenarios side by side, ranked, with reasons",
  .arguments = "SCENARIO SCENARIO...",
  .min_args = 2, .max_args = G_MAXUINT,
  .options = options,
  .sets = TRUE, .formats = TRUE, .writes = TRUE,
  .details =
    "Says what differs in the input and what differs in the result, and ranks the scenarios by\n"
    "throughput.  Unequal global batches train differently and are refused without\n"
    "--allow-unequal-batch.  --set holds for every scenario.\n"
    "\n"
    "Example:\n"
    "  lockstep compare scenarios/ddp-5x8.ini scenarios/ddp-5x8-reduction-server.ini\n",
  .run = run_compare,
};
