/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/data-parallel.h"
#include <math.h>

/* A value that the scenario leaves to the framework, said with its reason. */
void
data_parallel_say (ClusterValue value, gpointer user, const char *key, char *text, OriginKind kind, const char *why)
{
  const Origin origin = { kind, why };

  value (user, "strategy", key, text, &origin);
  g_free (text);
}

static char *
time_text (double seconds)
{
  return quantity_format (seconds, UNIT_TIME);
}

static void
host_values (const StepInput *in, const DataParallel *policy, ClusterValue value, gpointer user)
{
  static const char *const names[] = { [HOST_EAGER] = "eager", [HOST_GRAPH] = "graph", [HOST_CUDA_GRAPH] = "cuda-graph" };
  const int kind = in->spec->host == HOST_AUTO ? policy->host : in->spec->host;
  const HostCosts *host = software_host (kind);

  if (in->spec->host == HOST_AUTO)
    data_parallel_say (value, user, "host", g_strdup (names[kind]), ORIGIN_ASSUMED, "the framework's usual way");
  data_parallel_say (value, user, "host operator", time_text (host->operator_s), ORIGIN_ASSUMED, "one operator forward, two backward a layer; reports of 5 to 10 us eager, 1 us in a graph");
  data_parallel_say (value, user, "host step", time_text (host->step_s), ORIGIN_ASSUMED, "outside the operators");
  data_parallel_say (value, user, "host collective", time_text (host->collective_s), ORIGIN_ASSUMED, "eager less graph time of a tiny all-reduce, 14 to 39 us");
  data_parallel_say (value, user, "host drives", g_strdup (policy->one_process ? "all GPUs of a node" : "one GPU"), ORIGIN_DERIVED, "processes of the framework");
}

void
data_parallel_values (const StepInput *in, const DataParallel *policy, ClusterValue value, gpointer user)
{
  const guint64 ranks = cluster_nodes (in->cluster) * cluster_gpus_per_node (in->cluster);

  host_values (in, policy, value, user);
  data_parallel_say (value, user, "optimizer traffic", g_strdup_printf ("%g B a parameter", software_optimizer_traffic (in->training->optimizer)),
       ORIGIN_DERIVED, "fp32 weights, gradients and state read and written once");
  if (ranks < 2 || policy->groups == NULL)
    return;
  data_parallel_say (value, user, "gradient", g_strdup_printf ("%g B a parameter", software_gradient_bytes (in->spec, in->compute->precision, policy->half)),
       ORIGIN_DERIVED, policy->half ? "this stack's gradients are in two bytes under mixed precision" : "gradients have the parameters' type: fp32 under mixed precision");
  data_parallel_say (value, user, "groups of gradients", g_strdup_printf ("%u", policy->groups->len), ORIGIN_DERIVED, "buckets or packs in ready order");
  if (isnan (in->spec->fixed))
    data_parallel_say (value, user, "fixed", time_text (policy->fixed), ORIGIN_ASSUMED, "left over in published tables of this framework");
  if (isnan (in->spec->launch))
    data_parallel_say (value, user, "launch of a collective", time_text (policy->launch), ORIGIN_ASSUMED, "on the communication stream");
  if (isnan (in->spec->slowdown))
    data_parallel_say (value, user, "slowdown", g_strdup_printf ("%.3g", software_slowdown (in->spec, in->compute->precision)), ORIGIN_DERIVED,
         "fit over 609 rows of published data-parallel training; 1.0 to 2.0 in mixed precision");
  if (in->spec->box_noise)
    data_parallel_say (value, user, "box factor", g_strdup_printf ("%.4f", software_box (in->spec, ranks)), ORIGIN_DERIVED,
         "1 + box + rank-noise sqrt (2 ln N), the same fit");
}
