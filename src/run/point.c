/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/point.h"
#include "strategy/software.h"
#include <math.h>

guint64
point_gpus (const Point *point)
{
  return cluster_nodes (point->cluster) * cluster_gpus_per_node (point->cluster);
}

static gpointer
load_workload (gconstpointer spec, GError **error)
{
  return workload_load (spec, error);
}

static void
free_workload (gpointer workload)
{
  workload_free (workload);
}

static const Workload *
find_workload (Shelf *parts, const WorkloadSpec *spec, GError **error)
{
  static const ShelfKind kind = { "workload", load_workload, free_workload };
  g_autofree char *key = keys_fingerprint (workload_keys, spec);

  return shelf_get (parts, &kind, key, spec, error);
}

static gpointer
load_costs (gconstpointer what, GError **error)
{
  (void) what;
  return framework_costs_load (error);
}

static void
free_costs (gpointer costs)
{
  framework_costs_free (costs);
}

static const FrameworkCosts *
find_costs (Shelf *parts, GError **error)
{
  static const ShelfKind kind = { "framework", load_costs, free_costs };

  return shelf_get (parts, &kind, "", NULL, error);
}

/* All that a compute model follows from. */
typedef struct
{
  const ComputeSpec *spec;
  const Gpu         *gpu;      /* of the same shelf */
  Precision          precision;
  const char        *family;
} ComputeSource;

static gpointer
load_compute (gconstpointer what, GError **error)
{
  const ComputeSource *source = what;
  g_autofree ComputeModel *model = g_new0 (ComputeModel, 1);

  if (!compute_init (model, source->spec, source->gpu, source->precision, source->family, error))
    return NULL;
  return g_steal_pointer (&model);
}

static gboolean
find_compute (Shelf *parts, const ComputeSource *source, ComputeModel *out, GError **error)
{
  static const ShelfKind kind = { "compute", load_compute, g_free };
  g_autofree char *spec = keys_fingerprint (compute_keys, source->spec);
  g_autofree char *key = g_strdup_printf ("%s\n%s\n%s\n%s", source->gpu->name, precision_names[source->precision],
                                          source->family, spec);
  const ComputeModel *model = shelf_get (parts, &kind, key, source, error);

  if (model != NULL)
    *out = *model;
  return model != NULL;
}

/* With the framework's own tuning where the scenario names none.  Borrowed. */
static ComputeSpec
tuned (const ComputeSpec *spec, const Strategy *strategy)
{
  ComputeSpec out = *spec;

  if (spec->tuning == NULL || g_str_equal (spec->tuning, "auto"))
    out.tuning = (char *) (strategy->tuning != NULL ? strategy->tuning : "plain");
  return out;
}

static gboolean
load_parts (Point *point, Shelf *parts, GError **error)
{
  const Scenario *s = point->scenario;

  if (!strategy_find (s->strategy.kind, &point->strategy, error))
    return FALSE;
  point->cluster = cluster_new_from (parts, &s->cluster, &s->network, &s->reducers, &s->servers, error);
  if (point->cluster == NULL || !cluster_use_system (point->cluster, &s->calibration, error))
    return FALSE;
  if (s->noise.slow_nodes > 0)
    cluster_degrade_nics (point->cluster, s->noise.slow_nic);
  if (cluster_gpu (point->cluster) == NULL)
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                   "[cluster] machine: '%s' has no GPU; training needs a machine with one", s->cluster.machine);
      return FALSE;
    }
  point->workload = find_workload (parts, &s->workload, error);
  point->input.costs = find_costs (parts, error);
  if (point->workload == NULL || point->input.costs == NULL)
    return FALSE;
  const ComputeSpec compute = tuned (&s->compute, point->strategy);
  const ComputeSource source = { &compute, cluster_gpu (point->cluster), (Precision) s->workload.precision,
                                 point->workload->family };
  return find_compute (parts, &source, &point->compute, error);
}

/* The second job must not ask for events without number. */
static const double shortest_round = 1e-4;

static gboolean
add_traffic (Point *point, GError **error)
{
  const TrafficSpec *spec = &point->scenario->traffic;
  Traffic *traffic = &point->traffic;
  const double rate = cluster_reading (point->cluster, spec);

  point->reading = point->scenario->input;
  if (isfinite (rate))
    point->reading.rate = isnan (point->reading.rate) ? rate : MIN (rate, point->reading.rate);
  point->input.input = &point->reading;
  if (!cluster_traffic (point->cluster, spec, (double) point->input.batch.global, strategy_state_bytes (&point->input), traffic))
    return TRUE;
  if (traffic->job_size > 0 && traffic->job_seconds + traffic->job_compute < shortest_round)
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[traffic] job-size: a round of the second job takes %.3g us alone; "
                   "100 us and more are taken; nic-rate is for flows that never end", 1e6 * (traffic->job_seconds + traffic->job_compute));
      return FALSE;
    }
  point->input.traffic = traffic;
  return TRUE;
}

Point *
point_new (const Scenario *scenario, GError **error)
{
  g_autoptr (Shelf) parts = shelf_new ();
  Point *point = point_new_from (parts, scenario, error);

  if (point != NULL)
    point->own_parts = g_steal_pointer (&parts);
  return point;
}

Point *
point_new_from (Shelf *parts, const Scenario *scenario, GError **error)
{
  g_autoptr (Point) point = g_new0 (Point, 1);

  point->scenario = scenario;
  if (!load_parts (point, parts, error) || !noise_check (&scenario->noise, cluster_nodes (point->cluster), point_gpus (point), error))
    return NULL;
  point->input = (StepInput) {
    .cluster = point->cluster,
    .workload = point->workload,
    .compute = &point->compute,
    .spec = &scenario->strategy,
    .training = &scenario->training,
    .input = &scenario->input,
    .collective = &scenario->collective,
    .costs = point->input.costs,
    .noise = !noise_spread (&scenario->noise),
    .uneven = &scenario->noise,
  };
  if (point->strategy->batch != NULL
        ? !point->strategy->batch (&scenario->strategy, &scenario->training, point_gpus (point), &point->input.batch, error)
        : !batch_resolve (&scenario->training, point_gpus (point), &point->input.batch, error))
    return NULL;
  if (!add_traffic (point, error))
    return NULL;
  return g_steal_pointer (&point);
}

void
point_free (Point *point)
{
  if (point == NULL)
    return;
  cluster_free (point->cluster);
  shelf_free (point->own_parts);
  g_free (point);
}
