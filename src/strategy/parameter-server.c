/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/builder.h"
#include "strategy/tensorflow.h"
#include <math.h>

/* TensorFlow 1 with variables on parameter servers, synchronous: whole variables,
 * the largest first to the least loaded server, one push and one pull each in every
 * step, over gRPC between nodes.  In one box the variables lie on its CPU. */

static gboolean
alone (const StepInput *in)
{
  return cluster_nodes (in->cluster) < 2;
}

static gboolean
server_paths (const StepInput *in, RankGroup *group, Paths *paths, GError **error)
{
  *group = (RankGroup) {
    .n_ranks = builder_world (in),
    .n_nodes = cluster_nodes (in->cluster),
    .per_node = cluster_gpus_per_node (in->cluster),
    .twins_per_node = 1,
  };
  return cluster_paths (in->cluster, "grpc", group, paths, error);
}

/* S/rate of the CPU + g S/rate of the copies; fitted over one box of K80 and P100. */
static gboolean
price_box (const StepInput *in, GraphCall *call, GError **error)
{
  const double gpus = (double) cluster_gpus_per_node (in->cluster);
  Paths paths;

  if (!server_paths (in, &call->group, &paths, error))
    return FALSE;
  call->flow = (CollectiveFlow) { .cap = INFINITY, .protocol = PROTOCOL_SIMPLE };
  call->flow.latency = call->call.size * (1 / in->spec->variable_rate + gpus / in->spec->host_copy_rate);
  return TRUE;
}

/* Push and pull follow each other, so each has the wire half of the time: bytes
 * of both at the share that RPCs reach, where a card sends in both; else half.
 * Servers on the workers: a node sends g S (n - 1)/n as worker and as much as
 * server.  Others: g S a worker; the busiest server holds `busiest` of all. */
static void
load_nics (const Paths *paths, const RankGroup *group, double copies, double busiest, double efficiency, CollectiveFlow *flow)
{
  const gboolean colocated = paths->servers == 0 || paths->server_colocated;
  const double n = (double) group->n_nodes, links = paths->between.links, servers = (double) paths->servers;
  const double bytes = colocated ? 2 * (n - 1) / n * copies : copies;
  const LinkLoad worker = { .bytes = bytes / links, .efficiency = colocated ? efficiency : efficiency / 2 };
  const LinkLoad server = { .bytes = n * copies / servers, .efficiency = efficiency / 2 / (servers * busiest) };

  flow->nic_bytes = bytes;
  flow->load[flow->n_loads] = worker;
  flow->load[flow->n_loads++].link = paths->between.out;
  flow->load[flow->n_loads] = worker;
  flow->load[flow->n_loads++].link = paths->between.in;
  if (colocated)
    return;
  flow->load[flow->n_loads] = server;
  flow->load[flow->n_loads++].link = paths->server_out;
  flow->load[flow->n_loads] = server;
  flow->load[flow->n_loads++].link = paths->server_in;
}

/* T = max (g S (n - 1)/n over half of the RPCs' share of a NIC, 2 S_big (N - g)/
 * endpoint) + g S/copies; fitted over Horovod's 2017 table of four nodes.  S_big,
 * the largest variable, sits on one server, which everybody asks.  With copies of
 * the variables in each node the first loses its g; the second, as measured, not. */
static gboolean
price_servers (const StepInput *in, GraphCall *call, GError **error)
{
  const StrategySpec *spec = in->spec;
  const RankGroup *group = &call->group;
  CollectiveFlow *flow = &call->flow;
  Paths paths;

  if (!server_paths (in, &call->group, &paths, error))
    return FALSE;
  const gboolean colocated = paths.servers == 0 || paths.server_colocated;
  const double size = call->call.size, g = (double) group->per_node, pushes = paths.server_local_reduction ? 1 : g;
  const double copies = spec->replicated_variables ? 1 : pushes;
  const double busiest = fmax (1 / (double) MAX (paths.servers, 1), call->call.largest / size);
  const double askers = ((double) group->n_nodes - (colocated ? 1 : 0)) * pushes;

  *flow = (CollectiveFlow) { .protocol = PROTOCOL_SIMPLE, .messages = 2 * in->workload->n_tensors * copies };
  flow->cap = spec->endpoint_rate * size / (2 * call->call.largest * askers);
  if (!colocated)
    flow->cap = fmin (flow->cap, paths.server_sum / ((double) group->n_nodes * copies * busiest));
  flow->latency = 2 * paths.between.hop[PROTOCOL_SIMPLE] + paths.server_latency + g * size / spec->host_copy_rate;
  load_nics (&paths, group, copies, busiest, spec->rpc_efficiency, flow);
  return TRUE;
}

/* The layer whose backward pass leaves `share` of the step's compute to come. */
static guint
layer_before_end (const StepInput *in, double share)
{
  g_autofree double *forward = data_parallel_forward (in);
  g_autofree double *backward = data_parallel_backward (in, forward);
  double all = 0, left = 0;
  guint layer = 0;

  for (guint i = 0; i < in->workload->n_layers; i++)
    all += forward[i] + backward[i];
  while (layer + 1 < in->workload->n_layers && left + backward[layer] <= share * all)
    left += backward[layer++];
  return layer;
}

/* In a box each variable travels as soon as its gradient is there.  Between nodes
 * next to nothing hides push and pull, as measured: all variables at once, late. */
static GArray *
variables (const StepInput *in)
{
  const double element = software_gradient_bytes (in->spec, in->compute->precision, FALSE);
  GArray *groups = alone (in) ? buckets_by_size (in->workload, element, 0, 0) : buckets_by_pack (in->workload, element, 0);

  if (!alone (in) && groups->len > 0)
    g_array_index (groups, Bucket, 0).last = layer_before_end (in, in->spec->rpc_overlap);
  return groups;
}

static DataParallel
policy (const StepInput *in)
{
  return (DataParallel) {
    .one_process = TRUE,
    .host = HOST_GRAPH,
    .always_sync = TRUE,
    .view = TRUE,
    .remote_update = TRUE,
    .groups = variables (in),
    .price = alone (in) ? price_box : price_servers,
  };
}

static gboolean
build (const StepInput *in, StepGraph *graph, GError **error)
{
  const DataParallel servers = policy (in);
  g_autoptr (GArray) groups = servers.groups;

  return data_parallel_build (in, &servers, graph, error);
}

/* The optimizer's state lies with the variables. */
static void
memory (const StepInput *in, MemoryUse *out)
{
  data_parallel_memory (in, 0, out);
  if (builder_world (in) == 1)
    return;
  out->total -= out->optimizer;
  out->optimizer = 0;
  out->fits = out->total <= out->capacity;
}

static void
values (const StepInput *in, ClusterValue value, gpointer user)
{
  const DataParallel servers = policy (in);
  g_autoptr (GArray) groups = servers.groups;

  data_parallel_values (in, &servers, value, user);
  if (builder_world (in) < 2)
    return;
  data_parallel_say (value, user, "variables", g_strdup (alone (in) ? "on the CPU of the box" : "on servers: one a worker, or [parameter-server] count"),
                     ORIGIN_ASSUMED, "TensorFlow 1, tf_cnn_benchmarks parameter_server");
  data_parallel_say (value, user, "optimizer", g_strdup ("with the variables"), ORIGIN_DERIVED, "gradients are applied where the variables lie");
}

const Strategy strategy_parameter_server = {
  .name = "parameter-server",
  .summary = "TensorFlow 1, variables on servers (or the CPU of one box): push and pull of each variable over gRPC, synchronous",
  .tuning = "graph",
  .build = build,
  .memory = memory,
  .values = values,
};
