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

static void
say_time (ClusterValue value, gpointer user, const char *key, double seconds, const Origin *origin)
{
  data_parallel_say (value, user, key, quantity_format (seconds, UNIT_TIME), origin->kind, origin->text);
}

void
data_parallel_say_cost (ClusterValue value, gpointer user, const char *key, const Cost *cost)
{
  static const Cost none = { 0, { ORIGIN_ASSUMED, "this framework has none" } };

  say_time (value, user, key, cost != NULL ? cost->value : none.value, cost != NULL ? &cost->origin : &none.origin);
}

static void
host_values (const StepInput *in, const DataParallel *policy, ClusterValue value, gpointer user)
{
  static const char *const names[] = { [HOST_EAGER] = "eager", [HOST_GRAPH] = "graph", [HOST_CUDA_GRAPH] = "cuda-graph" };
  const int kind = in->spec->host == HOST_AUTO ? policy->host : in->spec->host;
  const HostCosts *host = software_host (in, kind);

  if (in->spec->host == HOST_AUTO)
    data_parallel_say (value, user, "host", g_strdup (names[kind]), ORIGIN_ASSUMED, "the framework's usual way");
  say_time (value, user, "host operator", host->operator_s, &host->origin[HOST_OPERATOR]);
  say_time (value, user, "host step", host->step_s, &host->origin[HOST_STEP]);
  say_time (value, user, "host collective", host->collective_s, &host->origin[HOST_COLLECTIVE]);
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
    data_parallel_say_cost (value, user, "fixed", policy->fixed);
  if (isnan (in->spec->launch))
    data_parallel_say_cost (value, user, "launch of a collective", policy->launch);
  if (isnan (in->spec->slowdown))
    {
      const Cost *slowdown = software_slowdown_cost (in);

      data_parallel_say (value, user, "slowdown", g_strdup_printf ("%.3g", slowdown->value), slowdown->origin.kind, slowdown->origin.text);
    }
  if (in->spec->box_noise)
    data_parallel_say (value, user, "box factor", g_strdup_printf ("%.4f", software_box (in->spec, ranks)), ORIGIN_DERIVED,
         "1 + box + rank-noise sqrt (2 ln N), the same fit");
}
