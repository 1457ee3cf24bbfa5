/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"
#include "strategy/builder.h"
#include "strategy/tensorflow.h"
#include <math.h>
#include <stdlib.h>

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
price_box (const StepInput *in, Arena *arena, GraphCall *call, GError **error)
{
  const double gpus = (double) cluster_gpus_per_node (in->cluster);
  Paths paths;

  (void) arena;
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

typedef struct { guint index; double bytes; } Variable;

static int
larger_first (gconstpointer a, gconstpointer b)
{
  const Variable *x = a, *y = b;

  return x->bytes > y->bytes ? -1 : x->bytes < y->bytes ? 1 : (x->index > y->index) - (x->index < y->index);
}

/* The largest first, each to the least loaded server. */
static void
deal_out (Variable *variables, guint n, guint32 homes, uint32_t *home)
{
  g_autofree double *load = g_new0 (double, homes);

  qsort (variables, n, sizeof *variables, larger_first);
  for (guint i = 0; i < n; i++)
    {
      guint32 least = 0;

      for (guint32 k = 1; k < homes; k++)
        least = load[k] < load[least] ? k : least;
      home[variables[i].index] = least;
      load[least] += variables[i].bytes;
    }
}

/* All of a step's, whole. */
static Variables *
variables_of (const StepInput *in, Arena *arena, const Paths *paths)
{
  const double element = software_gradient_bytes (in->spec, in->compute->precision, FALSE);
  const guint n = in->workload->n_tensors;
  Variables *v = arena_array (arena, Variables, 1);
  double *bytes = arena_array (arena, double, n);
  uint32_t *home = arena_array (arena, uint32_t, n);
  g_autofree Variable *order = g_new (Variable, n);
  guint at = 0;

  for (guint i = 0; i < in->workload->n_layers; i++)
    for (guint t = 0; t < in->workload->layers[i].n_tensors && at < n; t++, at++)
      {
        bytes[at] = in->workload->layers[i].tensors[t] * element;
        order[at] = (Variable) { at, bytes[at] };
      }
  *v = (Variables) { .n = at, .bytes = bytes, .home = home, .on_workers = paths->servers == 0 || paths->server_colocated };
  v->homes = (uint32_t) (paths->servers > 0 ? paths->servers : cluster_nodes (in->cluster));
  deal_out (order, at, v->homes, home);
  return v;
}

/* Message by message: all push, then, when every variable is applied, all pull (the
 * queue of tokens of tf_cnn_benchmarks' variable_mgr). */
static void
give_parts (const StepInput *in, Arena *arena, const Paths *paths, double staged, GraphCall *call)
{
  const double g = (double) call->group.per_node;
  Variables *v = variables_of (in, arena, paths);
  GraphPart *parts = arena_array (arena, GraphPart, 2);

  v->one_a_node = paths->server_local_reduction;
  v->efficiency = in->spec->rpc_efficiency;
  v->endpoint = in->spec->endpoint_rate;
  v->part = in->spec->replicated_variables && !v->one_a_node ? 1 / g : 1;
  for (guint i = 0; i < 2; i++)
    {
      parts[i] = (GraphPart) { .call = call->call, .group = call->group, .count = 1, .together = i == 1, .seconds = i == 0 ? staged : 0 };
      parts[i].call.algorithm = i == 0 ? &collective_push : &collective_pull;
      parts[i].call.protocol = PROTOCOL_SIMPLE;
      parts[i].call.variables = v;
    }
  call->parts = parts;
  call->n_parts = 2;
}

/* T = max (g S (n - 1)/n over half of the RPCs' share of a NIC, 2 S_big (N - g)/
 * endpoint) + g S/copies; fitted over Horovod's 2017 table of four nodes.  S_big,
 * the largest variable, sits on one server, which everybody asks.  With copies of
 * the variables in each node the first loses its g; the second, as measured, not. */
static gboolean
price_servers (const StepInput *in, Arena *arena, GraphCall *call, GError **error)
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
  give_parts (in, arena, &paths, g * size / spec->host_copy_rate, call);
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
