/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/study.h"
#include "base/names.h"
#include "strategy/price.h"
#include <math.h>

/* Wire bytes each way a byte of message: on a node's NICs, or on a GPU's link
 * where there is one node. */
static double
wire_bytes (const CollectiveFlow *flow, const RankGroup *group)
{
  if (group->n_nodes > 1)
    return flow->nic_bytes;
  return flow->n_loads > 0 ? flow->load[0].bytes : 0;
}

static gboolean
fill_row (CollectiveRow *row, CollectiveCall *call, const Cluster *cluster, GError **error)
{
  CollectiveFlow flow;
  RankGroup group;
  gboolean on_gpu;

  if (!price_call (cluster, call, &group, &flow, &on_gpu, error))
    return FALSE;
  row->op = collective_op_name (call->op);
  row->size = call->size;
  row->time = collective_estimate (&flow, cluster_network (cluster), call->size);
  row->algbw = row->time > 0 ? call->size / row->time : NAN;
  row->busbw = row->algbw * collective_bus_factor (call->op, group.n_ranks);
  row->wire = row->algbw * wire_bytes (&flow, &group);
  row->algorithm = flow.algorithm != NULL ? flow.algorithm->name : "none";
  row->protocol = protocol_names[flow.protocol];
  row->time_lo = row->time_hi = NAN;
  return TRUE;
}

static gboolean
find_protocol (const char *name, Protocol *out, GError **error)
{
  g_autofree char *unknown = NULL;

  *out = PROTOCOL_AUTO;
  for (int i = 0; name != NULL && protocol_names[i] != NULL; i++)
    {
      *out = (Protocol) i;
      if (g_str_equal (protocol_names[i], name))
        return TRUE;
    }
  if (name == NULL)
    return TRUE;
  unknown = names_unknown ("protocol", name, protocol_names);
  g_set_error_literal (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNKNOWN, unknown);
  return FALSE;
}

CollectiveTable *
study_collective (const char *op, const Cluster *cluster, const char *algorithm, const char *protocol,
                  const double *sizes, guint n_sizes, GError **error)
{
  g_autoptr (CollectiveTable) table = g_new0 (CollectiveTable, 1);
  CollectiveCall call = { 0 };

  if (!collective_op_find (op, &call.op, error)
      || !collective_find (algorithm != NULL ? algorithm : "auto", &call.algorithm, error)
      || !find_protocol (protocol, &call.protocol, error))
    return NULL;
  table->machine = g_strdup (cluster_machine (cluster)->name);
  table->gpu = cluster_gpu (cluster) != NULL ? g_strdup (cluster_gpu (cluster)->name) : NULL;
  table->nodes = cluster_nodes (cluster);
  table->ranks = table->nodes * cluster_gpus_per_node (cluster);
  table->note = cluster_warning (cluster);
  table->rows = g_new0 (CollectiveRow, MAX (n_sizes, 1));
  for (; table->n < n_sizes; table->n++)
    {
      call.size = sizes[table->n];
      if (!fill_row (&table->rows[table->n], &call, cluster, error))
        return NULL;
    }
  return g_steal_pointer (&table);
}

void
collective_table_free (CollectiveTable *table)
{
  if (table == NULL)
    return;
  g_free (table->machine);
  g_free (table->gpu);
  g_free (table->note);
  g_free (table->rows);
  g_free (table);
}
