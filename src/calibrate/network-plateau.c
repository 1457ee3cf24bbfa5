/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "calibrate/network-part.h"

/* An all-reduce so large that only rates count. */
static const double large = 4.0 * (1 << 30);
/* No ring or tree of several nodes moves more over their NICs than a ring's bus bandwidth,
 * but for the tree of two nodes; 0.97 is the best that was seen. */
static const double most_of_several = 0.97;

static NcclTestsRow
large_row (guint64 nodes, guint64 per_node)
{
  return (NcclTestsRow) { .op = OP_ALL_REDUCE, .op_name = "all_reduce", .nodes = nodes, .per_node = per_node, .size = large };
}

/* Bytes/s of bus bandwidth by these values. */
static double
bus_rate (const NetworkModel *model, const double *values, const NcclTestsRow *row)
{
  const RankGroup group = network_row_group (row);
  Paths base;

  network_model_paths (model, &group, &base);
  return row->size / network_model_time (model, &base, values, row, NULL) * collective_bus_factor (row->op, group.n_ranks);
}

/* Nominal bytes/s of the NICs of a node; NAN: nobody says it. */
static gboolean
line_of (const System *system, double *line, GError **error)
{
  g_auto (GStrv) files = g_strsplit (system->files != NULL ? system->files : "", ",", 0);

  *line = system->node_rate;
  for (guint i = 0; files[i] != NULL && isnan (*line); i++)
    {
      g_auto (NetworkPlatform) platform = { 0 };

      if (!network_platform_find (g_strstrip (files[i]), &platform, error))
        return FALSE;
      *line = platform.node_rate;
    }
  return TRUE;
}

double
network_plateau_share (Shelf *shelf, const System *system, guint64 nodes, GError **error)
{
  const NcclTestsSystem names = { system->gpu, system->node_transport != NULL ? system->node_transport : (char *) "", system->transport, (char *) "", NAN };
  const NcclTestsRow row = large_row (system->nodes, system->ranks / MAX (system->nodes, 1));
  g_auto (NetworkModel) model = { 0 };
  double values[N_SYSTEM], line;

  if (system->nodes < 2 || isnan (system->value[SYSTEM_BN]) || !line_of (system, &line, error) || isnan (line))
    return NAN;
  if (!network_model_init (&model, shelf, &names, 0, error))
    return NAN;
  model.rails = (guint) MAX (system->rails, 1);
  model.table = system->table;
  memcpy (model.onset, system->onset, sizeof model.onset);
  model.n_onsets = system->n_onsets;
  memcpy (values, system->value, sizeof values);
  const double share = bus_rate (&model, values, &row) / (line * fmin (1, (double) row.per_node / (double) model.rails));
  return nodes > 2 && share > most_of_several ? most_of_several : share;
}

/* The value of one parameter with which the row reaches `wanted`. */
static void
solve (NetworkFit *fit, SystemParameter p, double low, double high, const NcclTestsRow *row, double wanted)
{
  for (guint i = 0; i < 60; i++)
    {
      const double middle = sqrt (low * high);

      fit->values[p] = middle;
      *(bus_rate (&fit->model, fit->values, row) < wanted ? &low : &high) = middle;
    }
}

/* Rings, which NCCL takes for large sizes; trees of two nodes would need half as many
 * bytes between them: they are taken to be no faster, but where more was seen than rings
 * can do. */
void
network_plateau_set (NetworkFit *fit, const RankGroup *group, double node_rate, double share)
{
  static char ring[] = "ring";
  const NcclTestsRow open = large_row (group->n_nodes, group->per_node);
  const double wanted = share * node_rate * fmin (1, (double) group->per_node / (double) fit->model.rails);
  const double before = fit->values[SYSTEM_BN];
  NcclTestsRow rings = open;

  rings.algorithm = ring;
  solve (fit, SYSTEM_BN, node_rate / 1e3, 4 * node_rate, share <= 1 ? &rings : &open, wanted);
  if (share <= 1 && bus_rate (&fit->model, fit->values, &open) > 1.01 * wanted)
    solve (fit, SYSTEM_FT, 0.05, fit->values[SYSTEM_FT], &open, 1.01 * wanted);
  fit->values[SYSTEM_FPP] *= before / fit->values[SYSTEM_BN];   /* its few channels limit a pair, not the line */
}
