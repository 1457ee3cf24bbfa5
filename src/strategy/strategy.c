/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/strategy.h"
#include "base/names.h"
#include "strategy/fsdp.h"
#include "strategy/horovod.h"
#include "strategy/megatron.h"
#include "strategy/pytorch.h"
#include "strategy/tensorflow.h"
#include "strategy/zero.h"


static const Strategy *const strategies[] = {
  &strategy_single, &strategy_mirrored, &strategy_multi_worker_mirrored, &strategy_ddp, &strategy_flat,
  &strategy_horovod, &strategy_replicated, &strategy_data_parallel, &strategy_parameter_server,
  &strategy_zero, &strategy_fsdp, &strategy_megatron, NULL
};

const Strategy *const *
strategy_list (void)
{
  return strategies;
}

gboolean
strategy_find (const char *name, const Strategy **out, GError **error)
{
  const char *names[G_N_ELEMENTS (strategies)] = { NULL };
  g_autofree char *unknown = NULL;

  for (guint i = 0; strategies[i] != NULL; i++)
    {
      names[i] = strategies[i]->name;
      if (g_str_equal (names[i], name))
        {
          *out = strategies[i];
          return TRUE;
        }
    }
  unknown = names_unknown ("strategy", name, names);
  g_set_error (error, STRATEGY_ERROR, STRATEGY_ERROR_UNKNOWN, "[strategy] kind: %s", unknown);
  return FALSE;
}

gboolean
strategy_build (const Strategy *strategy, const StepInput *in, StepGraph *graph, GError **error)
{
  const guint64 nodes = cluster_nodes (in->cluster), gpus = nodes * cluster_gpus_per_node (in->cluster);

  if (strategy->max_gpus > 0 && gpus > strategy->max_gpus)
    {
      g_set_error (error, STRATEGY_ERROR, STRATEGY_ERROR_UNSUITED,
                   "[strategy] kind: %s runs on %" G_GUINT64_FORMAT " GPU, not on %" G_GUINT64_FORMAT
                   "; '%s' runs on several", strategy->name, strategy->max_gpus, gpus, strategy->instead);
      return FALSE;
    }
  if (strategy->max_nodes > 0 && nodes > strategy->max_nodes)
    {
      g_set_error (error, STRATEGY_ERROR, STRATEGY_ERROR_UNSUITED,
                   "[strategy] kind: %s runs on %" G_GUINT64_FORMAT " node, not on %" G_GUINT64_FORMAT
                   "; '%s' runs on several", strategy->name, strategy->max_nodes, nodes, strategy->instead);
      return FALSE;
    }
  if (gpus == 0)
    {
      g_set_error_literal (error, STRATEGY_ERROR, STRATEGY_ERROR_UNSUITED,
                           "[cluster] machine: it has no GPU; training needs one");
      return FALSE;
    }
  graph->traffic = in->traffic;
  return strategy->build (in, graph, error);
}

void
strategy_values (const Strategy *strategy, const StepInput *in, ClusterValue value, gpointer user)
{
  const Origin derived = { ORIGIN_DERIVED, "generated from the shape" };

  if (in->workload->shape != NULL)
    value (user, "workload", "shape", in->workload->shape, &derived);
  strategy->values (in, value, user);
}
