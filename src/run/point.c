/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/point.h"

guint64
point_gpus (const Point *point)
{
  return cluster_nodes (point->cluster) * cluster_gpus_per_node (point->cluster);
}

static gboolean
load_parts (Point *point, GError **error)
{
  const Scenario *s = point->scenario;

  if (!strategy_find (s->strategy.kind, &point->strategy, error))
    return FALSE;
  point->cluster = cluster_new (&s->cluster, &s->network, &s->reducers, &s->servers, error);
  if (point->cluster == NULL)
    return FALSE;
  if (cluster_gpu (point->cluster) == NULL)
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                   "[cluster] machine: '%s' has no GPU; training needs a machine with one", s->cluster.machine);
      return FALSE;
    }
  point->workload = workload_load (&s->workload, error);
  return point->workload != NULL
         && compute_init (&point->compute, &s->compute, cluster_gpu (point->cluster),
                          (Precision) s->workload.precision, point->workload->family, error);
}

Point *
point_new (const Scenario *scenario, GError **error)
{
  g_autoptr (Point) point = g_new0 (Point, 1);

  point->scenario = scenario;
  if (!load_parts (point, error))
    return NULL;
  point->input = (StepInput) {
    .cluster = point->cluster,
    .workload = point->workload,
    .compute = &point->compute,
    .spec = &scenario->strategy,
    .training = &scenario->training,
    .input = &scenario->input,
    .collective = &scenario->collective,
    .noise = TRUE,
  };
  if (!batch_resolve (&scenario->training, point_gpus (point), &point->input.batch, error))
    return NULL;
  return g_steal_pointer (&point);
}

void
point_free (Point *point)
{
  if (point == NULL)
    return;
  cluster_free (point->cluster);
  workload_free (point->workload);
  g_free (point);
}
