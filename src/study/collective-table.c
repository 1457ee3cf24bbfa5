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
  row->time_lo = flow.spread > 1 ? row->time / flow.spread : NAN;
  row->time_hi = flow.spread > 1 ? row->time * flow.spread : NAN;
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

/* Each rank with each, or with one: no order of ranks is better than another. */
static gboolean
in_pairs (const char *op)
{
  CollectiveOp code;

  return collective_op_find (op, &code, NULL) && (code == OP_ALL_TO_ALL || code == OP_SEND_RECV);
}

gboolean
study_collective_order (CollectiveTable *table, const Cluster *cluster, const Cluster *best, const CollectiveHow *how, GError **error)
{
  const CollectiveRow *row = table->n > 0 ? &table->rows[table->n - 1] : NULL;
  g_autoptr (CollectiveTable) other = NULL;
  g_autofree char *note = table->note, *size = NULL, *text = NULL, *gain = NULL;
  const char *word = cluster_leaf_word (cluster);
  guint64 made, needed;

  table->note = g_strdup (note);
  if (row == NULL || in_pairs (row->op) || !cluster_crossings (cluster, &made, &needed))
    return TRUE;
  other = study_collective (row->op, best, how->algorithm, how->protocol, &row->size, 1, error);
  if (other == NULL || !study_collective_tier (other, best, how->tier, how->chunks, error))
    return FALSE;
  size = quantity_format (row->size, UNIT_BYTES);
  gain = other->rows[0].busbw > row->busbw * (1 + 1e-6)
           ? g_strdup_printf ("is %.4g GB/s instead of %.4g", other->rows[0].busbw / 1e9, row->busbw / 1e9)
           : g_strdup_printf ("stays %.4g GB/s", row->busbw / 1e9);
  text = g_strdup_printf ("the nodes in the order of their ranks go from %s to %s %" G_GUINT64_FORMAT " times, where %" G_GUINT64_FORMAT
                          " would do; with [cluster] rank-order = by-leaf busbw at %s (%s) %s", word, word, made, needed, size,
                          other->rows[0].algorithm, gain);
  g_free (table->note);
  table->note = note != NULL ? g_strdup_printf ("%s; %s", note, text) : g_steal_pointer (&text);
  return TRUE;
}

/* Why an algorithm's bus bandwidth is not its wire's: busbw counts the bytes of a ring. */
static const struct { const char *algorithm, *why; } reasons[] = {
  { "tree", "between two nodes a tree sends each byte once each way, a ring 2(n-1)/n times" },
  { "nvls", "NVSwitch adds, so a GPU sends (n+1)/n of the bytes each way, in a ring 2(n-1)/n" },
  { "nvls-tree", "NVSwitch adds inside the nodes and, between two, a tree sends each byte once each way, a ring 2(n-1)/n times" },
  { "switch-reduction", "the switches add, so each byte passes a NIC once each way, in a ring 2(n-1)/n times" },
  { "reduction-server", "the servers add, so each byte passes a NIC once each way, in a ring 2(n-1)/n times" },
};

/* Bytes/s one way of a node's NICs, or in one node of a GPU's link. */
static double
line_rate (const CollectiveTable *table, const Cluster *cluster, const char **what)
{
  const Network *network = cluster_network (cluster);

  *what = table->nodes > 1 ? "the NICs of a node carry" : "the link of a GPU carries";
  for (Id i = 1; i <= network_n_links (network); i++)
    {
      const LinkClass *link = network_link (network, i);

      if (table->nodes > 1 && g_str_equal (link->name, "nic-out"))
        return link->capacity * (double) link->multiplicity / (double) table->nodes;
      if (table->nodes < 2 && (g_str_equal (link->name, "nvlink") || g_str_equal (link->name, "pcie")))
        return link->capacity;
    }
  return NAN;
}

static const CollectiveRow *
best_of (const CollectiveTable *table, const char *algorithm)
{
  const CollectiveRow *best = NULL;

  for (guint i = 0; i < table->n; i++)
    if (g_str_equal (table->rows[i].algorithm, algorithm) && (best == NULL || table->rows[i].busbw > best->busbw))
      best = &table->rows[i];
  return best;
}

char *
study_collective_explain (const CollectiveTable *table, const Cluster *cluster)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const char *what;
  const double line = line_rate (table, cluster, &what);

  for (gsize i = 0; i < G_N_ELEMENTS (reasons); i++)
    {
      const CollectiveRow *best = best_of (table, reasons[i].algorithm);

      if (best == NULL || !(best->busbw > best->wire))
        continue;
      g_string_append_printf (text, "%s%s: busbw counts the bytes of a ring, but %s; so it may show more than the wire carries: "
                              "%.4g GB/s of busbw is %.4g GB/s on the wire", text->len > 0 ? ". " : "", reasons[i].algorithm,
                              reasons[i].why, best->busbw / 1e9, best->wire / 1e9);
      if (isfinite (line))
        g_string_append_printf (text, ", and %s %.4g GB/s", what, line / 1e9);
    }
  return text->len > 0 ? g_strdup_printf ("%s.", text->str) : NULL;
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
