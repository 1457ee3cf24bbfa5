/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/names.h"
#include "cli/cli.h"
#include "run/unused.h"
#include "scenario/values.h"

/* More points than a picture can show. */
#define MAX_POINTS 1000u
#define MAX_GPUS   100000000u

static const Option options[] = {
  { "nodes", 0, OPTION_TEXT, offsetof (Options, nodes), "LIST", "Numbers of nodes: 1,2,4 or 1..32 x2." },
  { "gpus", 0, OPTION_TEXT, offsetof (Options, gpus), "LIST", "Numbers of GPUs; they fill node after node." },
  { "mode", 0, OPTION_TEXT, offsetof (Options, mode), "weak|strong", "Batch per GPU fixed, or the global batch." },
  { "plot", 0, OPTION_TEXT, offsetof (Options, plot), "FILE", "Where the picture goes: FILE.svg or FILE.png." },
  { NULL, 0, 0, 0, NULL, NULL }
};

static gboolean
read_counts (const char *option, const char *text, guint64 **counts, guint *n, GError **error)
{
  g_autoptr (GError) wrong = NULL;

  if (text == NULL)
    return TRUE;
  *counts = values_counts (text, MAX_GPUS, MAX_POINTS, n, &wrong);
  if (*counts == NULL)
    usage_error (error, "--%s: %s", option, wrong->message);
  return *counts != NULL;
}

/* Fills `scale`; the lists are the caller's. */
static gboolean
read_options (const Options *given, ScaleOptions *scale, GError **error)
{
  static const char *const modes[] = { "weak", "strong", NULL };
  g_autofree char *wrong = NULL;

  if (given->nodes != NULL && given->gpus != NULL)
    usage_error (error, "--nodes and --gpus together; give one of the two");
  else if (given->plot != NULL && !g_str_has_suffix (given->plot, ".svg") && !g_str_has_suffix (given->plot, ".png"))
    usage_error (error, "--plot: '%s' is no picture that can be drawn; give FILE.svg or FILE.png", given->plot);
  else if (given->mode != NULL && !g_strv_contains (modes, given->mode))
    {
      wrong = names_unknown ("mode", given->mode, modes);
      usage_error (error, "--mode: %s", wrong);
    }
  else
    {
      scale->mode = given->mode == NULL ? 0 : g_str_equal (given->mode, "weak") ? 1 : 2;
      return read_counts ("nodes", given->nodes, &scale->nodes, &scale->n_nodes, error) &&
             read_counts ("gpus", given->gpus, &scale->gpus, &scale->n_gpus, error);
    }
  return FALSE;
}

/* Without --plot the picture is a gift: where gnuplot is missing a remark will do. */
static gboolean
draw (Call *call, const Scenario *scenario, const ScaleStudy *study, GError **error)
{
  const Options *given = &call->options;
  const char *title = scenario->title != NULL ? scenario->title : scenario->name;
  g_autofree char *path = given->plot != NULL ? g_strdup (given->plot) : g_strconcat (scenario->name, "-scaling.svg", NULL);
  g_autoptr (GError) wrong = NULL;

  if (plot_scaling (study, title, path, &wrong))
    {
      if (given->format == FORMAT_TABLE && given->output == NULL)
        g_string_append_printf (call->out, "picture: %s\n", path);
      else
        call_remark (call, "picture: %s", path);
      return TRUE;
    }
  reword_file_error (path, &wrong);
  if (given->plot == NULL)
    {
      call_remark (call, "no picture: %s", wrong->message);
      return TRUE;
    }
  g_propagate_error (error, g_steal_pointer (&wrong));
  return FALSE;
}

/* What changes nothing at any size; the caller frees it. */
static GArray *
unused_anywhere (const ScaleStudy *study)
{
  GArray *unused = NULL;

  for (guint i = 0; i < study->n_curves; i++)
    for (guint k = 0; k < study->curves[i].n_points; k++)
      {
        GArray *of_point = study->curves[i].points[k]->unused;

        if (unused == NULL)
          unused = g_array_ref (of_point);
        else
          unused_meet (unused, of_point);
      }
  return unused;
}

static gboolean
run_scale (Call *call, GError **error)
{
  ScaleOptions scale = { 0 };
  g_autofree guint64 *nodes = NULL, *gpus = NULL;
  g_autoptr (Scenario) scenario = NULL;
  g_autoptr (ScaleStudy) study = NULL;
  g_autoptr (GArray) unused = NULL;
  const Look look = call_look (call);
  const gboolean ok = read_options (&call->options, &scale, error);

  nodes = scale.nodes;
  gpus = scale.gpus;
  if (!ok || (scenario = call_scenario (call, call->args[0], error)) == NULL)
    return FALSE;
  study = study_scale (scenario, &scale, error);
  if (study == NULL)
    {
      scenario_locate_error (scenario, error);
      return FALSE;
    }
  unused = unused_anywhere (study);
  call_unused (call, scenario, unused);
  for (guint i = 0; i < study->n_curves; i++)   /* of the largest point: those of the others are milder */
    call_warnings (call, call->args[0], study->curves[i].points[study->curves[i].n_points - 1]);
  report_scale (call->out, (Format) call->options.format, scenario, study, &look);
  return draw (call, scenario, study, error);
}

const Command command_scale = {
  .name = "scale",
  .summary = "the scaling curve, with its picture",
  .arguments = "SCENARIO",
  .min_args = 1, .max_args = 1,
  .options = options,
  .sets = TRUE, .formats = TRUE, .writes = TRUE,
  .details =
    "Runs the scenario at several sizes: those of --nodes or --gpus, else those that its [sweep]\n"
    "gives for cluster.nodes, else 1, 2, ... to its own nodes.  Strong scaling (the global batch\n"
    "stays) where the scenario gives global-batch, weak scaling (the batch of a GPU stays) where\n"
    "it gives batch-per-gpu.  Another key in [sweep] gives one curve for each of its values.\n"
    "Points of [measured] are drawn on top.  Without --plot the picture is NAME-scaling.svg in\n"
    "the current folder.\n"
    "\n"
    "Examples:\n"
    "  lockstep scale scenarios/ddp-5x8.ini\n"
    "  lockstep scale --nodes 1,2,4,8 --mode weak --plot curve.png scenarios/resnet50-dgx-a100.ini\n",
  .run = run_scale,
};
