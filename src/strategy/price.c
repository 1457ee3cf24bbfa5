/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/price.h"

RankGroup
price_all (const Cluster *cluster)
{
  return (RankGroup) {
    .n_ranks = cluster_nodes (cluster) * cluster_gpus_per_node (cluster),
    .n_nodes = cluster_nodes (cluster),
    .per_node = cluster_gpus_per_node (cluster),
    .twins_per_node = 1,
  };
}

gboolean
price_group (const Cluster *cluster, const CollectiveCall *call, RankGroup *group,
             CollectiveFlow *out, gboolean *on_gpu, GError **error)
{
  Paths paths;

  cluster_fold_group (cluster, collective_paths (call->algorithm), group);
  *on_gpu = collective_on_gpu (call->algorithm);
  return cluster_paths (cluster, collective_paths (call->algorithm), group, &paths, error)
         && collective_flow (call, group, &paths, cluster_network (cluster), out, error);
}

gboolean
price_call (const Cluster *cluster, const CollectiveCall *call, RankGroup *group,
            CollectiveFlow *out, gboolean *on_gpu, GError **error)
{
  *group = price_all (cluster);
  return price_group (cluster, call, group, out, on_gpu, error);
}
