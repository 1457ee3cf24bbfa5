/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/study.h"
#include "strategy/strategy.h"
#include "study/sets.h"
#include <math.h>

/* One place on the scale axis. */
typedef struct { guint64 nodes, gpus_per_node; } Place;

static guint64
full_node (Shelf *parts, const Scenario *scenario, GError **error)
{
  g_autoptr (Cluster) cluster = cluster_new_from (parts, &scenario->cluster, &scenario->network, NULL, NULL, error);

  return cluster != NULL ? cluster_gpus_per_node (cluster) : 0;
}

static const SweepAxis *
find_axis (const Scenario *scenario, const char *key)
{
  for (guint i = 0; i < scenario->n_axes; i++)
    {
      if (g_str_equal (scenario->axes[i].key, key))
        return &scenario->axes[i];
    }
  return NULL;
}

static void
add_place (GArray *places, guint64 nodes, guint64 gpus_per_node)
{
  const Place place = { nodes, gpus_per_node };

  g_array_append_val (places, place);
}

/* Up to eight nodes each number, above that powers of two and the last. */
static void
default_places (GArray *places, guint64 nodes, guint64 gpus_per_node)
{
  for (guint64 n = 1; n < nodes; n = nodes <= 8 ? n + 1 : 2 * n)
    add_place (places, n, gpus_per_node);
  add_place (places, nodes, gpus_per_node);
}

static gboolean
places_of_gpus (GArray *places, const ScaleOptions *options, guint64 full, GError **error)
{
  for (guint i = 0; i < options->n_gpus; i++)
    {
      const guint64 gpus = options->gpus[i];

      if (gpus <= full)
        add_place (places, 1, gpus);
      else if (gpus % full == 0)
        add_place (places, gpus / full, full);
      else
        {
          g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                       "--gpus: %" G_GUINT64_FORMAT " GPUs do not fill nodes of %" G_GUINT64_FORMAT "; %" G_GUINT64_FORMAT
                       " and %" G_GUINT64_FORMAT " would", gpus, full, gpus / full * full, (gpus / full + 1) * full);
          return FALSE;
        }
    }
  return TRUE;
}

/* The values of an axis, read as its key would be; NULL with an error at its line. */
static GArray *
axis_counts (const Scenario *scenario, const SweepAxis *axis, guint64 otherwise, GError **error)
{
  const guint64 most = (guint64) CLUSTER_MAX_NODES;
  g_autoptr (GArray) counts = g_array_new (FALSE, FALSE, sizeof (guint64));
  guint64 n = otherwise;

  for (guint i = 0; axis != NULL && i < axis->n; i++)
    {
      if (!g_ascii_string_to_unsigned (axis->values[i], 10, 1, most, &n, NULL))
        {
          key_file_error (scenario->file, "sweep", axis->key, error, "'%s' is not a whole number from 1 to %" G_GUINT64_FORMAT,
                          axis->values[i], most);
          return NULL;
        }
      g_array_append_val (counts, n);
    }
  if (axis == NULL)
    g_array_append_val (counts, n);
  return g_steal_pointer (&counts);
}

/* The product of the two scale axes of the scenario's [sweep]. */
static gboolean
places_of_sweep (GArray *places, const Scenario *scenario, const SweepAxis *nodes, const SweepAxis *gpus, guint64 full,
                 GError **error)
{
  g_autoptr (GArray) n_nodes = axis_counts (scenario, nodes, scenario->cluster.nodes, error);
  g_autoptr (GArray) n_gpus = n_nodes != NULL ? axis_counts (scenario, gpus, full, error) : NULL;

  for (guint i = 0; n_gpus != NULL && i < n_nodes->len; i++)
    for (guint k = 0; k < n_gpus->len; k++)
      add_place (places, g_array_index (n_nodes, guint64, i), g_array_index (n_gpus, guint64, k));
  return n_gpus != NULL;
}

static GArray *
find_places (Shelf *parts, const Scenario *scenario, const ScaleOptions *options, GError **error)
{
  const SweepAxis *nodes = find_axis (scenario, "cluster.nodes"), *gpus = find_axis (scenario, "cluster.gpus-per-node");
  const guint64 full = full_node (parts, scenario, error);
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (Place));

  if (full == 0)
    {
      if (error != NULL && *error == NULL)
        g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[cluster] machine: '%s' has no GPU; training needs one",
                     scenario->cluster.machine);
      return NULL;
    }
  if (options->n_gpus > 0)
    {
      if (!places_of_gpus (places, options, full, error))
        return NULL;
    }
  else if (options->n_nodes > 0)
    for (guint i = 0; i < options->n_nodes; i++)
      add_place (places, options->nodes[i], full);
  else if (nodes != NULL || gpus != NULL)
    {
      if (!places_of_sweep (places, scenario, nodes, gpus, full, error))
        return NULL;
    }
  else
    default_places (places, scenario->cluster.nodes, full);
  return g_steal_pointer (&places);
}

/* Where layers are laid out over GPUs, the batch of a GPU is that of a replica, and
 * nothing runs on one of its GPUs. */
static gboolean
laid_out (const Scenario *scenario)
{
  const Strategy *strategy;

  return strategy_find (scenario->strategy.kind, &strategy, NULL) && strategy->layout;
}

/* The batch in the mode that was asked for: kept in all, or kept a GPU. */
static void
set_mode (Scenario *point, const Scenario *scenario, gboolean strong, guint64 scenario_gpus)
{
  TrainingSpec *training = &point->training;

  if (strong && training->global_batch == 0)
    {
      training->global_batch = training->batch_per_gpu * MAX (training->accumulation, 1) * scenario_gpus;
      training->batch_per_gpu_max = MAX (training->batch_per_gpu_max, training->batch_per_gpu);
      training->accumulation = 0;
      training->batch_per_gpu = 0;
    }
  else if (!strong && training->global_batch > 0)
    {
      Batch batch;
      const StrategySpec *spec = &point->strategy;
      const guint64 each = spec->tensor_parallel * spec->pipeline_parallel * spec->context_parallel;

      if (laid_out (point))
        {
          training->batch_per_gpu = training->global_batch * each / scenario_gpus;
          training->global_batch = 0;
          return;
        }
      if (!batch_resolve (&scenario->training, scenario_gpus, &batch, NULL))
        return;
      training->batch_per_gpu = batch.per_gpu;
      training->accumulation = batch.accumulation;
      training->global_batch = 0;
    }
}

static gboolean
check_batch (const Scenario *scenario, const GArray *places, GError **error)
{
  g_autofree guint64 *gpus = g_new (guint64, places->len);

  for (guint i = 0; i < places->len; i++)
    {
      const Place *place = &g_array_index (places, Place, i);

      gpus[i] = place->nodes * place->gpus_per_node;
    }
  if (batch_check (&scenario->training, gpus, places->len, error))
    return TRUE;
  scenario_locate_error (scenario, error);
  return FALSE;
}

static void
add_warning (Result *r, const char *text)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  if (r->warnings != NULL)
    g_strv_builder_addv (builder, (const char **) r->warnings);
  g_strv_builder_add (builder, text);
  g_strfreev (r->warnings);
  r->warnings = g_strv_builder_end (builder);
}

static Result *
run_place (Shelf *parts, const Scenario *outer, const Place *place, gboolean strong, guint64 scenario_gpus, GError **error)
{
  const RunOptions options = { .interval = TRUE, .unused = TRUE, .parts = parts };
  const gboolean fewer = outer->servers.colocated == COLOCATED_TRUE && outer->servers.count > place->nodes;   /* at most one a node */
  g_autofree char *nodes = g_strdup_printf ("cluster.nodes=%" G_GUINT64_FORMAT, place->nodes);
  g_autofree char *gpus = g_strdup_printf ("cluster.gpus-per-node=%" G_GUINT64_FORMAT, place->gpus_per_node);
  g_autofree char *servers = g_strdup_printf ("parameter-server.count=%" G_GUINT64_FORMAT, place->nodes);
  const char *const sets[] = { nodes, gpus, fewer ? servers : NULL, NULL };
  g_autoptr (Scenario) point = scenario_with (outer, sets, error);
  Result *r;

  if (point == NULL)
    return NULL;
  set_mode (point, outer, strong, scenario_gpus);
  r = run_scenario (point, &options, error);
  if (r != NULL && fewer)
    {
      g_autofree char *text = g_strdup_printf ("[parameter-server] count: the workers hold one server each, so below %" G_GUINT64_FORMAT
                                               " nodes there are as many as nodes", outer->servers.count);
      add_warning (r, text);
    }
  return r;
}

static Result *
run_alone (Shelf *parts, const Scenario *outer, gboolean strong, guint64 scenario_gpus, GError **error)
{
  const RunOptions options = { .parts = parts };
  g_autoptr (Scenario) point = scenario_with (outer, run_one_gpu_sets, error);

  if (point == NULL)
    return NULL;
  set_mode (point, outer, strong, scenario_gpus);
  return run_scenario (point, &options, error);
}

/* Marginal gain under half of linear: the point before it was the last one worth
 * its GPUs. */
static guint
find_knee (const Curve *curve)
{
  for (guint i = 1; i < curve->n_points; i++)
    {
      const Result *before = curve->points[i - 1], *at = curve->points[i];
      const double linear = (double) at->gpus / (double) before->gpus - 1;

      if (linear > 0 && at->throughput / before->throughput - 1 < linear / 2)
        return i - 1;
    }
  return curve->n_points;
}

static void
set_efficiency (Curve *curve, const char *baseline, const Result *alone)
{
  for (guint i = 0; i < curve->n_points; i++)
    {
      Result *r = curve->points[i];

      r->one_gpu_throughput = alone != NULL ? alone->throughput : NAN;
      r->one_gpu_small = alone != NULL && !alone->memory.fits;
      r->scaling_efficiency = r->throughput_per_gpu / curve->points[0]->throughput_per_gpu;
      g_free (r->efficiency_baseline);
      r->efficiency_baseline = g_strdup (baseline);
    }
}

static gboolean
fill_curve (Curve *curve, Shelf *parts, const Scenario *scenario, const SetPoint *outer, const GArray *places, gboolean strong,
            const char *baseline, GError **error)
{
  g_autoptr (Scenario) base = scenario_with (scenario, (const char *const *) outer->sets, error);
  g_autoptr (Result) alone = NULL;
  guint64 scenario_gpus;

  if (base == NULL || (scenario_gpus = base->cluster.nodes * full_node (parts, base, error)) == 0
      || (strong && !laid_out (base) && !check_batch (base, places, error)))
    return FALSE;
  curve->n_swept = outer->n;
  curve->keys = g_strdupv (outer->keys);
  curve->values = g_strdupv (outer->values);
  curve->points = g_new0 (Result *, places->len);
  for (; curve->n_points < places->len; curve->n_points++)
    {
      const Place *place = &g_array_index (places, Place, curve->n_points);

      curve->points[curve->n_points] = run_place (parts, base, place, strong, scenario_gpus, error);
      if (curve->points[curve->n_points] == NULL)
        return FALSE;
    }
  if (!laid_out (base))
    {
      alone = run_alone (parts, base, strong, scenario_gpus, error);
      if (alone == NULL)
        return FALSE;
    }
  set_efficiency (curve, baseline, alone);
  curve->knee = find_knee (curve);
  return TRUE;
}

/* Throughput of the last point over the first. */
static double
gain (const Curve *curve)
{
  return curve->points[curve->n_points - 1]->throughput / curve->points[0]->throughput;
}

/* Where the gain passes 1 along one numeric outer key: log-linear between the
 * two values around it. */
static void
find_crossing (ScaleStudy *study)
{
  study->crossing = NAN;
  if (study->n_curves < 2 || study->curves[0].n_swept != 1 || study->curves[0].n_points < 2)
    return;
  for (guint i = 1; i < study->n_curves; i++)
    {
      const Curve *a = &study->curves[i - 1], *b = &study->curves[i];
      const double x = g_ascii_strtod (a->values[0], NULL), y = g_ascii_strtod (b->values[0], NULL);
      const double from = gain (a) - 1, to = gain (b) - 1;

      if (x <= 0 || y <= 0 || from * to > 0 || (from >= 0 && from <= 0))
        continue;
      study->crossing = exp (log (x) + (log (y) - log (x)) * from / (from - to));
      study->crossing_key = g_strdup (a->keys[0]);
      study->crossing_text = g_strdup_printf ("%" G_GUINT64_FORMAT " GPUs %s %" G_GUINT64_FORMAT " GPU%s at %s = %.3g",
                                              a->points[a->n_points - 1]->gpus, from < 0 ? "overtake" : "fall behind",
                                              a->points[0]->gpus, a->points[0]->gpus == 1 ? "" : "s",
                                              a->keys[0], study->crossing);
      return;
    }
}

static char *
name_baseline (const Place *place)
{
  const guint64 gpus = place->nodes * place->gpus_per_node;

  return g_strdup_printf ("%" G_GUINT64_FORMAT " node%s (%" G_GUINT64_FORMAT " GPU%s)", place->nodes,
                          place->nodes == 1 ? "" : "s", gpus, gpus == 1 ? "" : "s");
}

ScaleStudy *
study_scale (const Scenario *scenario, const ScaleOptions *options, GError **error)
{
  static const char *const scale_keys[] = { "cluster.nodes", "cluster.gpus-per-node", NULL };
  g_autoptr (Shelf) parts = shelf_new ();
  g_autoptr (ScaleStudy) study = g_new0 (ScaleStudy, 1);
  g_autoptr (GArray) places = find_places (parts, scenario, options, error);
  g_autoptr (GPtrArray) outer = NULL;

  if (places == NULL)
    {
      scenario_locate_error (scenario, error);
      return NULL;
    }
  outer = sets_product (scenario, scale_keys, error);
  if (outer == NULL)
    return NULL;
  study->strong = options->mode == 0 ? scenario->training.global_batch > 0 : options->mode == 2;
  study->baseline = name_baseline (&g_array_index (places, Place, 0));
  study->curves = g_new0 (Curve, outer->len);
  for (guint i = 0; i < outer->len; i++)
    {
      study->n_curves = i + 1;
      if (!fill_curve (&study->curves[i], parts, scenario, g_ptr_array_index (outer, i), places, study->strong,
                       study->baseline, error))
        {
          set_point_locate_error (scenario, g_ptr_array_index (outer, i), error);
          return NULL;
        }
    }
  find_crossing (study);
  study->n_measured = scenario->n_measured;
  study->measured = scenario->measured;
  return g_steal_pointer (&study);
}

void
scale_study_free (ScaleStudy *study)
{
  if (study == NULL)
    return;
  for (guint i = 0; i < study->n_curves; i++)
    {
      Curve *curve = &study->curves[i];

      for (guint k = 0; curve->points != NULL && k < curve->n_points; k++)
        result_free (curve->points[k]);
      g_free (curve->points);
      g_strfreev (curve->keys);
      g_strfreev (curve->values);
    }
  g_free (study->curves);
  g_free (study->baseline);
  g_free (study->crossing_key);
  g_free (study->crossing_text);
  g_free (study);
}
