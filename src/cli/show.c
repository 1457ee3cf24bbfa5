/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "cli/cli.h"
#include "cli/rows.h"
#include "run/tier.h"
#include "run/unused.h"

static void
add_row (Rows *rows, const char *group, const char *key, const char *value, const char *origin)
{
  rows_add (rows, group);
  rows_add (rows, key);
  rows_add (rows, value);
  rows_add (rows, origin);
}

/* A default that is a number says something about the world: it is assumed. */
static gboolean
is_constant (const char *group_name, const char *key_name)
{
  const KeyGroup *group = scenario_group (group_name);
  const Key *key = group != NULL ? key_find (group->keys, key_name) : NULL;

  return key != NULL && (key->type == KEY_NUMBER || key->type == KEY_QUANTITY);
}

/* A key that nobody gives and that has no default stands as "-". */
static void
scenario_row (gpointer user, const char *group, const char *key, const char *text, const char *where)
{
  if (!g_str_equal (where, "default"))
    add_row (user, group, key, *text != '\0' ? text : "-", where);
  else if (*text == '\0')
    add_row (user, group, key, "-", "not given");
  else
    add_row (user, group, key, text, is_constant (group, key) ? "assumed: default" : "default");
}

static void
resolved_row (gpointer user, const char *group, const char *key, const char *text, const Origin *origin)
{
  g_autofree char *from = NULL;

  if (origin != NULL)
    from = g_strconcat (origin_name (origin->kind), origin->text != NULL ? ": " : "", origin->text, NULL);
  add_row (user, group, key, text, from);
}

static void
quantity_row (Rows *rows, const char *key, double value, Unit unit, const Origin *origin)
{
  g_autofree char *text = isfinite (value) ? quantity_format (value, unit) : g_strdup ("-");

  resolved_row (rows, "compute-model", key, text, origin);
}

/* The roofline: t0 + ((F/(ec P))^q + (B/(em W))^q)^(1/q), over the efficiency. */
static void
compute_rows (Rows *rows, const ComputeModel *model)
{
  const Origin *gpu = &model->gpu->origin, *fit = &model->efficiency_origin;

  quantity_row (rows, "peak-tensor", model->peak_tensor, UNIT_FLOP_RATE, &model->gpu->peak_origin[model->precision]);
  quantity_row (rows, "peak-plain", model->peak_plain, UNIT_FLOP_RATE, &model->gpu->peak_origin[PRECISION_FP32]);
  quantity_row (rows, "memory-bandwidth", model->bandwidth, UNIT_RATE, gpu);
  quantity_row (rows, "memory", model->gpu->memory, UNIT_BYTES, gpu);
  quantity_row (rows, "efficiency", model->efficiency, UNIT_NONE, fit);
  quantity_row (rows, "efficiency-low", model->efficiency_low, UNIT_NONE, fit);
  quantity_row (rows, "efficiency-high", model->efficiency_high, UNIT_NONE, fit);
}

static void
count_row (Rows *rows, const char *key, guint64 value)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, value);

  add_row (rows, "batch", key, text, "derived: [training]");
}

static void
workload_rows (Rows *rows, const WorkloadSpec *spec, const Workload *workload)
{
  g_autofree char *origin = spec->file != NULL   ? g_strconcat ("user: ", spec->file, NULL)
                            : spec->name != NULL ? g_strdup_printf ("derived: models/workload/%s.csv", workload->name)
                                                 : g_strdup ("derived: from its shape in [workload]");
  const struct { const char *key; double value; } values[] = {
    { "parameters", workload->params }, { "forward-flop-per-sample", workload->flop }, { "layers", workload->n_layers },
  };

  add_row (rows, "workload-table", "sample", workload->sample, origin);
  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autofree char *text = g_strdup_printf ("%.0f", values[i].value);

      add_row (rows, "workload-table", values[i].key, text, origin);
    }
}

static void
packing_row (Rows *rows, const char *key, double value, const char *origin)
{
  g_autofree char *text = quantity_format (value, UNIT_NONE);

  add_row (rows, "workload-table", key, text, origin);
}

/* What [workload] packing comes to: of a full sequence's work, and its spread over single ones. */
static void
packing_rows (Rows *rows, const Packing *packing)
{
  const char *of = "derived: document-length, document-length-cv, sequence";

  if (packing->length == 0)
    return;
  packing_row (rows, "document-length-cv", packing->length_cv, packing->cv_assumed ? "assumed: texts of the web spread by about their mean" : "user: [workload]");
  packing_row (rows, "attention-work", packing->squares.mean, of);
  packing_row (rows, "attention-work-cv", sqrt (packing->squares.variance) / packing->squares.mean, of);
  packing_row (rows, "document-tokens", packing->tokens.mean, of);
  packing_row (rows, "document-tokens-cv", sqrt (packing->tokens.variance) / packing->tokens.mean, of);
}

/* How `run` plays collectives, unless --tier says so. */
static gboolean
tier_row (Rows *rows, Point *point, GError **error)
{
  g_autoptr (StepGraph) graph = NULL;
  g_autoptr (Messages) messages = NULL;
  g_autofree char *why = NULL;

  tier_choose (point, TIER_STEP_AUTO);
  if (!tier_build (point, &point->input, &graph, &messages, error))
    return FALSE;
  why = tier_reason (point, TIER_STEP_AUTO, graph, messages);
  add_row (rows, "step", "tier", step_tier_names[point->tier], why);
  return TRUE;
}

static gboolean
run_show (Call *call, GError **error)
{
  static const char *const titles[] = { "group", "key", "value", "origin", NULL };
  g_autoptr (Scenario) scenario = call_scenario (call, call->args[0], error);
  g_autoptr (Point) point = scenario != NULL ? point_new (scenario, error) : NULL;
  g_autoptr (Rows) rows = rows_new (titles);
  g_autoptr (GArray) unused = NULL;

  if (scenario == NULL)
    return FALSE;
  if (point == NULL)
    {
      scenario_locate_error (scenario, error);
      return FALSE;
    }
  scenario_values (scenario, scenario_row, rows);
  cluster_values (point->cluster, resolved_row, rows);
  workload_rows (rows, &scenario->workload, point->workload);
  packing_rows (rows, &point->workload->packing);
  compute_rows (rows, &point->compute);
  count_row (rows, "per-gpu", point->input.batch.per_gpu);
  count_row (rows, "accumulation", point->input.batch.accumulation);
  count_row (rows, "global", point->input.batch.global);
  strategy_values (point->strategy, &point->input, resolved_row, rows);
  if (!tier_row (rows, point, error))
    {
      scenario_locate_error (scenario, error);
      return FALSE;
    }
  unused = unused_keys (point);
  call_unused (call, scenario, unused);
  rows_group (rows);
  rows_print (rows, "values", call);
  return TRUE;
}

const Command command_show = {
  .name = "show",
  .summary = "every value that a prediction uses, and its origin",
  .arguments = "SCENARIO",
  .min_args = 1, .max_args = 1,
  .sets = TRUE, .formats = TRUE, .writes = TRUE,
  .details =
    "Prints the scenario as it is read: each key with its value and where it stands (file and\n"
    "line, --set, default), then what follows from it: machine, GPU, transport, efficiencies,\n"
    "with the origin of each (measured, derived, assumed, user).\n"
    "\n"
    "Example:\n"
    "  lockstep show --set cluster.nodes=3 scenarios/ddp-5x8.ini\n",
  .run = run_show,
};
