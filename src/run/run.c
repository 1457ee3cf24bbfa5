/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/run.h"
#include "run/effect.h"
#include "run/findings.h"
#include "run/order.h"
#include "run/quantile.h"
#include "run/sensitivity.h"
#include "run/summary.h"
#include "run/tier.h"
#include "run/uncertainty.h"
#include "run/unused.h"
#include "run/validated.h"
#include <math.h>

/* The step if one thing were ideal, all else as it is. */
static gboolean
what_if (Result *r, const Point *point, const RunOptions *options, const char *name, gboolean network, gboolean gpu, gboolean noise,
         GError **error)
{
  const PlayedOptions how = { network, TRUE, options->runs, options->seed };
  ComputeModel compute = point->compute;
  StepInput input = point->input;
  g_auto (Played) played = { 0 };

  compute.ideal = compute.ideal || gpu;
  input.compute = &compute;
  input.noise = input.noise && !noise;
  input.uneven = noise ? NULL : input.uneven;
  input.traffic = network ? NULL : input.traffic;
  if (!played_step (point, &input, &how, &played, error))
    return FALSE;
  summary_add_time (&r->what_if, &r->n_what_if, name, played.seconds);
  return TRUE;
}

/* Samples that are always there, where the step waits for them. */
static gboolean
ideal_input (Result *r, const Point *point, const RunOptions *options, GError **error)
{
  const InputSpec input = { .rate = NAN, .serial_time = NAN };
  Point with = *point;
  Traffic traffic = point->traffic;

  if (!(r->ledger[CAUSE_INPUT] > 0))
    return TRUE;
  traffic.input_size = 0;
  with.input.input = &input;
  with.input.traffic = point->input.traffic != NULL ? &traffic : NULL;
  return what_if (r, &with, options, "ideal input", FALSE, FALSE, FALSE, error);
}

static gboolean
add_what_ifs (Result *r, const Point *point, const RunOptions *options, GError **error)
{
  return what_if (r, point, options, "ideal network", TRUE, FALSE, FALSE, error)
         && what_if (r, point, options, "ideal GPU", FALSE, TRUE, FALSE, error)
         && ideal_input (r, point, options, error)
         && what_if (r, point, options, "no noise", FALSE, FALSE, TRUE, error)
         && what_if (r, point, options, "ideal network, no noise", TRUE, FALSE, TRUE, error);
}

static void
describe_point (Result *r, const Point *point)
{
  const Scenario *s = point->scenario;

  r->scenario = g_strdup (s->name);
  r->question = g_strdup (s->question);
  r->strategy = g_strdup (point->strategy->name);
  r->workload = g_strdup (point->workload->name);
  r->machine = g_strdup (cluster_machine (point->cluster)->name);
  r->gpu = g_strdup (cluster_gpu (point->cluster)->name);
  r->precision = g_strdup (precision_names[point->compute.precision]);
  r->nodes = cluster_nodes (point->cluster);
  r->gpus_per_node = cluster_gpus_per_node (point->cluster);
  r->gpus = point_gpus (point);
  r->global_batch = point->input.batch.global;
  r->batch_per_gpu = point->input.batch.per_gpu;
  r->accumulation = point->input.batch.accumulation;
  r->reducers = s->reducers.count;
  r->servers = s->servers.count;
  r->step_lo = r->step_hi = r->spread_p50 = r->spread_p95 = r->spread_p99 = NAN;
  r->scaling_efficiency = r->one_gpu_throughput = NAN;
  r->tier = g_strdup (step_tier_names[point->tier]);
}

/* Reducers too few for the workers. */
static void
add_servers (GStrvBuilder *builder, const Point *point)
{
  const char *algorithm = point->scenario->collective.algorithm;
  g_autofree char *pool = g_strcmp0 (algorithm, "reduction-server") == 0 ? cluster_warning (point->cluster) : NULL;

  if (pool != NULL)
    g_strv_builder_add (builder, pool);
}

/* A named algorithm that some of the step's calls cannot use. */
static void
add_unused_algorithm (GStrvBuilder *builder, const Result *r, const Point *point)
{
  const char *name = point->scenario->collective.algorithm;
  const CollectiveAlgorithm *algorithm = NULL;

  if (name == NULL || !collective_find (name, &algorithm, NULL) || algorithm == NULL)
    return;
  for (guint i = 0; i < r->n_collectives; i++)
    {
      CollectiveOp op;
      g_autofree char *text = NULL;

      if (!collective_op_find (r->collectives[i].op, &op, NULL) || (algorithm->ops & op) != 0 || op == OP_BROADCAST)
        continue;
      text = g_strdup_printf ("[collective] algorithm: %s does no %s; NCCL does it by %s", name, r->collectives[i].op,
                              r->collectives[i].algorithm != NULL ? r->collectives[i].algorithm : "its own choice");
      g_strv_builder_add (builder, text);
      return;
    }
}

/* A smaller batch shrinks activations only, and one sample cannot be split. */
static const char *
memory_advice (const Result *r)
{
  const MemoryUse *m = &r->memory;

  if (m->weights + m->gradients + m->optimizer >= m->capacity)
    return "weights, gradients and optimizer states alone are too large: shard them over more GPUs";
  if (r->batch_per_gpu > 1)
    return "a smaller batch of one GPU would need less (batch-per-gpu, or batch-per-gpu-max, which accumulates the rest)";
  return "the batch is one sample already: recompute activations, or shard over more GPUs";
}

static void
add_warnings (Result *r, const Point *point)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  add_servers (builder, point);
  add_unused_algorithm (builder, r, point);
  if (!r->memory.fits)
    {
      g_autofree char *total = memory_format (r->memory.total);
      g_autofree char *capacity = memory_format (r->memory.capacity);
      g_autofree char *text = g_strdup_printf ("does not fit: about %s a GPU, which has %s; %s", total, capacity,
                                               memory_advice (r));

      g_strv_builder_add (builder, text);
    }
  if (!r->steady)
    g_strv_builder_add (builder, "no two steps in twelve were equal: the step time is the mean of the last eight");
  r->warnings = g_strv_builder_end (builder);
}

/* Some twenty replays are not felt up to this many tasks in a step. */
static const guint cheap_tasks = 12500;

static gboolean
want_sensitivities (const RunOptions *options, const Played *played)
{
  const double messages = played->messages != NULL ? messages_count (played->messages) : 0;

  return options->sensitivities == SENSITIVITIES_ALWAYS
         || (options->sensitivities == SENSITIVITIES_WHERE_CHEAP && played->tasks + messages <= cheap_tasks);
}

/* Of single steps: nothing to do with how well their mean is known. */
static void
fill_spread (Result *r, const Played *played)
{
  if (played->lengths == NULL)
    return;
  r->runs = played->steps;
  r->spread_p50 = quantile_at (played->lengths, r->runs, 0.50);
  r->spread_p95 = quantile_at (played->lengths, r->runs, 0.95);
  r->spread_p99 = quantile_at (played->lengths, r->runs, 0.99);
  if (!played->each && played->draws != NULL && (noise_spread (played->spec) || played->graph->spreads->len > 0))
    findings_slowest (r);
}

/* Once more with a step behind, whose input and host are at work in the reported one. */
static gboolean
fill_lanes (Result *r, const Played *played, GError **error)
{
  if (played->lengths == NULL && !execution_run (played->x, execution_steps (played->x) + 1, error))
    return FALSE;
  summary_lanes (r, played->x, &played->window);
  return TRUE;
}

/* Where no call is bound by the line of the NICs, what was made slower with it is the
 * software that carries less. */
static void
name_software (Result *r)
{
  gboolean software = FALSE;

  for (guint i = 0; i < r->n_collectives; i++)
    {
      const char *link = r->collectives[i].link;

      if (link != NULL && g_str_has_prefix (link, "nic-"))
        return;
      software = software || g_strcmp0 (link, "software") == 0;
    }
  for (guint i = 0; software && i < r->n_sensitivity; i++)
    if (g_str_equal (r->sensitivity[i].name, "nic"))
      {
        g_free (r->sensitivity[i].name);
        r->sensitivity[i].name = g_strdup ("software");
      }
}

static gboolean
fill_result (Result *r, const Point *point, const RunOptions *options, GError **error)
{
  const Network *network = cluster_network (point->cluster);
  const PlayedOptions how = { FALSE, FALSE, options->runs, options->seed };
  StepInput input = point->input;
  g_auto (Played) played = { 0 };
  g_autofree guint *kinds = NULL;
  gboolean sensitivities;

  input.unfold = options->unfold;
  if (!played_step (point, &input, &how, &played, error))
    return FALSE;
  r->step_time = played.seconds;
  fill_spread (r, &played);
  r->steady = played.window.steady;
  r->steps = execution_steps (played.x);
  r->events = engine_events (execution_engine (played.x));
  r->tasks = engine_n_tasks (execution_engine (played.x));
  r->meetings = engine_n_meetings (execution_engine (played.x));
  r->solves = network_run_solves (execution_network (played.x));
  r->tier_reason = tier_reason (point, options->tier, played.graph, played.messages);
  r->messages = execution_play (played.x) != NULL ? play_messages (execution_play (played.x)) / r->steps : 0;
  kinds = summary_collectives (r, played.x, &played.window, network);
  summary_ledger (r, &played, kinds);
  findings_others (r, &played, (double) (r->nodes * cluster_machine (point->cluster)->nics));
  summary_rates (r, point);
  point->strategy->memory (&point->input, &r->memory);
  if (point->strategy->stages != NULL && point->scenario->strategy.pipeline_parallel > 1)
    r->stages = point->strategy->stages (&point->input);
  add_warnings (r, point);
  if (!summary_checks (r, &played, network, error) || (options->lanes && !fill_lanes (r, &played, error)))
    return FALSE;
  sensitivities = want_sensitivities (options, &played);
  played_clear (&played);   /* a large graph need not lie beside that of the next run */
  if ((options->what_if && !add_what_ifs (r, point, options, error))
      || (sensitivities && !sensitivity_list (point, &r->sensitivity, &r->n_sensitivity, error)))
    return FALSE;
  name_software (r);
  return TRUE;
}

const char *const run_one_gpu_sets[] = {
  "cluster.nodes=1", "cluster.gpus-per-node=1", "cluster.placement=packed", "collective.algorithm=auto",
  "reduction-server.count=0", "parameter-server.count=0", "noise.slow-ranks=0", "noise.slow-nodes=0",
  "traffic.nic-rate=0 B/s", "traffic.uplink-rate=0 B/s", "traffic.job-size=0 B", "traffic.checkpoint-steps=0", NULL
};

/* One GPU alone, at its mean: the same batch a GPU in weak mode, the same global batch in
 * strong mode. */
static gboolean
add_one_gpu (Result *r, const Scenario *scenario, Shelf *parts, GError **error)
{
  g_autoptr (Scenario) one = scenario_with (scenario, run_one_gpu_sets, error);
  g_autoptr (Point) point = one != NULL ? point_new_from (parts, one, error) : NULL;
  const PlayedOptions how = { .no_ledger = TRUE };
  g_auto (Played) played = { 0 };
  MemoryUse memory;

  if (point == NULL)
    return FALSE;
  point->input.uneven = NULL;
  point->input.traffic = NULL;
  point->input.even = TRUE;
  if (!played_step (point, &point->input, &how, &played, error))
    return FALSE;
  r->one_gpu_throughput = (double) point->input.batch.global / played.seconds;
  point->strategy->memory (&point->input, &memory);
  r->one_gpu_small = !memory.fits;
  r->scaling_efficiency = r->throughput_per_gpu / r->one_gpu_throughput;
  r->efficiency_baseline = g_strdup ("one GPU");
  return TRUE;
}

static Result *
run_point (const Scenario *scenario, const RunOptions *options, GError **error)
{
  g_autoptr (Shelf) own = options->parts == NULL ? shelf_new () : NULL;
  Shelf *parts = own != NULL ? own : options->parts;
  g_autoptr (Point) point = point_new_from (parts, scenario, error);
  g_autoptr (Result) r = NULL;

  if (point == NULL)
    return NULL;
  tier_choose (point, options->tier);
  r = g_new0 (Result, 1);
  describe_point (r, point);
  /* intervals are those of the flows' fits */
  if (!fill_result (r, point, options, error)
      || (options->interval && point->tier == TIER_STEP_FLOW && !uncertainty_fill (r, point, parts, options->monte_carlo, options->seed, error))
      || (options->one_gpu && !point->strategy->layout && !add_one_gpu (r, scenario, parts, error)))
    return NULL;
  if (options->what_if && !findings_traffic (r, point, options, error))
    return NULL;
  if (options->what_if && (!findings_uneven (r, point, options, parts, error) || !findings_packing (r, point, options, parts, error)))
    return NULL;
  r->unused = options->unused ? unused_keys (point) : NULL;
  if (options->effects && point->tier == TIER_STEP_FLOW && r->tasks <= cheap_tasks * r->steps && !effect_remarks (r, scenario, parts, error))
    return NULL;
  if (options->effects && !order_remark (r, scenario, point->cluster, parts, error))
    return NULL;
  if (options->validated && (r->validated = validated_nearest (point, parts, error)) == NULL)
    return NULL;
  return g_steal_pointer (&r);
}

/* What the engine says has no key to blame, but a scenario. */
static void
name_file (const Scenario *scenario, GError **error)
{
  char *message;

  if (error == NULL || *error == NULL || ((*error)->domain != ENGINE_ERROR && (*error)->domain != RUN_ERROR))
    return;
  message = g_strdup_printf ("%s: %s", key_file_name (scenario->file), (*error)->message);
  g_free ((*error)->message);
  (*error)->message = message;
}

Result *
run_scenario (const Scenario *scenario, const RunOptions *options, GError **error)
{
  Result *r = run_point (scenario, options, error);

  if (r == NULL)
    {
      scenario_locate_error (scenario, error);
      name_file (scenario, error);
    }
  return r;
}
