/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/quantity.h"
#include "cli/cli.h"
#include "run/tier.h"

#define MAX_RUNS 1000000u

static const Option options[] = {
  { "timeline", 0, OPTION_FLAG, offsetof (Options, timeline), NULL, "Draws the lanes of one step in text." },
  { "require-fit", 0, OPTION_FLAG, offsetof (Options, require_fit), NULL, "Exit 1 where the memory of a GPU is too small." },
  { "verbose", 0, OPTION_FLAG, offsetof (Options, verbose), NULL, "Adds events, tasks, meetings, solves, checks." },
  { "seed", 0, OPTION_TEXT, offsetof (Options, seed), "N", "Other draws of [noise] and behind the interval; without it 0." },
  { "runs", 0, OPTION_TEXT, offsetof (Options, runs), "N", "Steps that [noise] draws; without it 200." },
  { "tier", 0, OPTION_TEXT, offsetof (Options, tier), "NAME", "auto, flow or message: how collectives are played." },
  { "unfold", 0, OPTION_FLAG, offsetof (Options, unfold), NULL, "Simulates every rank by itself." },
  { NULL, 0, 0, 0, NULL, NULL }
};

static void
check_fit (Call *call, const char *path, const Result *result)
{
  g_autofree char *needs = NULL, *has = NULL, *line = NULL;

  if (!call->options.require_fit || result->memory.fits)
    return;
  needs = memory_format (result->memory.total);
  has = memory_format (result->memory.capacity);
  line = g_strdup_printf ("%s: does not fit: a GPU needs %s and has %s", path, needs, has);
  output_line (line);
  call->status = STATUS_FAILED;
}

static gboolean
read_seed (const char *text, guint64 *seed, GError **error)
{
  *seed = 0;
  if (text == NULL || g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT64, seed, NULL))
    return TRUE;
  usage_error (error, "--seed: '%s' is not a whole number of 0 or more", text);
  return FALSE;
}

static gboolean
read_runs (const char *text, guint *runs, GError **error)
{
  guint64 n = 0;

  if (text != NULL && !g_ascii_string_to_unsigned (text, 10, 1, MAX_RUNS, &n, NULL))
    {
      usage_error (error, "--runs: '%s' is not a whole number from 1 to %u", text, MAX_RUNS);
      return FALSE;
    }
  *runs = (guint) n;
  return TRUE;
}

static gboolean
read_tier (const char *text, StepTier *tier, GError **error)
{
  g_autoptr (GError) wrong = NULL;

  *tier = TIER_STEP_AUTO;
  if (text == NULL || step_tier_find (text, tier, &wrong))
    return TRUE;
  usage_error (error, "--tier: %s", wrong->message);
  return FALSE;
}

/* What makes a run long, if something does. */
static const char *
long_work (const Scenario *scenario, const RunOptions *how)
{
  if (how->tier == TIER_STEP_MESSAGE)
    return "every message of every rank is played, in each what-if again";
  if (scenario->noise.ranks == NOISE_RANKS_EACH || (how->unfold && how->runs > 0))
    return "[noise] is drawn for each rank, in many steps (fewer: --runs), and in each what-if again";
  return how->unfold ? "each rank is simulated by itself, in each what-if again" : NULL;
}

static gboolean
run_run (Call *call, GError **error)
{
  RunOptions run_options = {
    .what_if = TRUE, .one_gpu = TRUE, .interval = TRUE, .monte_carlo = TRUE, .validated = TRUE, .effects = TRUE, .unused = TRUE,
    .sensitivities = call->options.verbose ? SENSITIVITIES_ALWAYS : SENSITIVITIES_WHERE_CHEAP,
    .lanes = call->options.timeline, .unfold = call->options.unfold,
  };
  const Look look = call_look (call);
  g_autoptr (GPtrArray) scenarios = g_ptr_array_new_with_free_func ((GDestroyNotify) scenario_free);
  g_autoptr (GPtrArray) results = g_ptr_array_new_with_free_func ((GDestroyNotify) result_free);

  if (!read_seed (call->options.seed, &run_options.seed, error) || !read_runs (call->options.runs, &run_options.runs, error)
      || !read_tier (call->options.tier, &run_options.tier, error))
    return FALSE;
  for (guint i = 0; i < call->n_args; i++)
    {
      Scenario *scenario = call_scenario (call, call->args[i], error);
      Result *result;

      if (scenario == NULL)
        return FALSE;
      g_ptr_array_add (scenarios, scenario);
      g_atomic_pointer_set (&call->doing, long_work (scenario, &run_options));
      result = run_scenario (scenario, &run_options, error);
      if (result == NULL)
        {
          scenario_locate_error (scenario, error);
          return FALSE;
        }
      g_ptr_array_add (results, result);
    }
  for (guint i = 0; i < call->n_args; i++)
    {
      call_unused (call, scenarios->pdata[i], ((const Result *) results->pdata[i])->unused);
      call_warnings (call, call->args[i], results->pdata[i]);
      check_fit (call, call->args[i], results->pdata[i]);
    }
  report_run (call->out, (Format) call->options.format, (const Scenario *const *) scenarios->pdata,
              (Result *const *) results->pdata, results->len, call->options.timeline, call->options.verbose,
              &look);
  return TRUE;
}

const Command command_run = {
  .name = "run",
  .summary = "one step: its time, where it goes, memory, price",
  .arguments = "SCENARIO...",
  .min_args = 1, .max_args = G_MAXUINT,
  .options = options,
  .sets = TRUE, .formats = TRUE, .writes = TRUE,
  .details =
    "Predicts one training step of each scenario: its time, the throughput, the scaling\n"
    "efficiency, the ledger of losses (it sums to the step), the critical path, what an ideal\n"
    "network or GPU would give, the memory of a GPU and the price.\n"
    "\n"
    "Examples:\n"
    "  lockstep run scenarios/ddp-5x8.ini\n"
    "  lockstep run --set cluster.nodes=3 --timeline scenarios/ddp-5x8.ini\n",
  .run = run_run,
};
