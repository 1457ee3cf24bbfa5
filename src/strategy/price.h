/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/cluster.h"
#include "collective/collective.h"

/* The flow of a call among all GPUs of the cluster, over the paths that its
 * algorithm uses.  `on_gpu`: its kernels run on the GPUs and slow others. */
gboolean price_call (const Cluster *cluster, const CollectiveCall *call, RankGroup *group,
                     CollectiveFlow *out, gboolean *on_gpu, GError **error);
/* The group of all GPUs; the same for any group. */
RankGroup price_all  (const Cluster *cluster);
gboolean price_group (const Cluster *cluster, const CollectiveCall *call, RankGroup *group,
                      CollectiveFlow *out, gboolean *on_gpu, GError **error);
