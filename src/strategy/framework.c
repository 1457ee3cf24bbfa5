/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/software.h"

#include <math.h>

#include "base/csv.h"
#include "base/origin.h"

/* The reader of models/framework.csv. */

struct FrameworkCosts
{
  CsvTable *table;
  HostCosts host[N_HOSTS];
  Cost      cost[N_COSTS];
};

enum { PART, NAME, VALUE, KIND, ORIGIN, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = { "part", "name", "value", "kind", "origin" };

static const struct { const char *part, *name; } cost_names[N_COSTS] = {
  [COST_SLOWDOWN_FULL] = { "any", "slowdown_full" }, [COST_SLOWDOWN_MIXED] = { "any", "slowdown_mixed" },
  [COST_DDP_FIXED] = { "ddp", "fixed_s" }, [COST_DDP_FIXED_GRAPH] = { "ddp", "fixed_graph_s" }, [COST_DDP_LAUNCH] = { "ddp", "launch_s" },
  [COST_FLAT_FIXED] = { "flat", "fixed_s" }, [COST_FLAT_LAUNCH] = { "flat", "launch_s" },
  [COST_MIRRORED_FIXED] = { "mirrored", "fixed_s" },
  [COST_REPLICATED_FIXED] = { "replicated", "fixed_s" }, [COST_REPLICATED_LAUNCH] = { "replicated", "launch_s" },
  [COST_DATA_PARALLEL_LAUNCH] = { "data-parallel", "launch_s" }, [COST_HOROVOD_LAUNCH] = { "horovod", "launch_s" },
  [COST_FSDP_HOOK] = { "fsdp", "hook_s" }, [COST_ZERO_HOOK] = { "zero", "hook_s" },
};
static const char *const host_parts[N_HOSTS] = { [HOST_EAGER] = "eager", [HOST_GRAPH] = "graph", [HOST_CUDA_GRAPH] = "cuda-graph" };
static const char *const host_names[N_HOST_COSTS] = {
  [HOST_OPERATOR] = "operator_s", [HOST_STEP] = "step_s", [HOST_TENSOR] = "tensor_ops", [HOST_COLLECTIVE] = "collective_s",
};

/* Seconds, factors and counts: more is a slip of units. */
static const double largest = 100;

/* Of the first row of that part and name. */
static gboolean
find_cost (const CsvTable *table, const guint column[N_COLUMNS], const char *part, const char *name, Cost *out, GError **error)
{
  for (guint row = 0; row < csv_rows (table); row++)
    {
      if (!g_str_equal (csv_text (table, row, column[PART]), part) || !g_str_equal (csv_text (table, row, column[NAME]), name))
        continue;
      if (!csv_number_in (table, row, column[VALUE], 0, largest, &out->value, error))
        return FALSE;
      out->origin.text = csv_text (table, row, column[ORIGIN]);
      if (!isnan (out->value) && origin_kind (csv_text (table, row, column[KIND]), &out->origin.kind))
        return TRUE;
      g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "%s:%u: column '%s': '%s'; %s", csv_name (table), csv_line (table, row),
                   column_names[isnan (out->value) ? VALUE : KIND], csv_text (table, row, column[isnan (out->value) ? VALUE : KIND]),
                   isnan (out->value) ? "a number is needed" : "measured, derived and assumed are known");
      return FALSE;
    }
  g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "%s: no row '%s,%s'", csv_name (table), part, name);
  return FALSE;
}

static gboolean
find_host (const CsvTable *table, const guint column[N_COLUMNS], const char *part, HostCosts *out, GError **error)
{
  double *const values[N_HOST_COSTS] = { &out->operator_s, &out->step_s, &out->tensor_ops, &out->collective_s };

  for (guint i = 0; i < N_HOST_COSTS; i++)
    {
      Cost cost;

      if (!find_cost (table, column, part, host_names[i], &cost, error))
        return FALSE;
      *values[i] = cost.value;
      out->origin[i] = cost.origin;
    }
  return TRUE;
}

FrameworkCosts *
framework_costs_load (GError **error)
{
  g_autofree char *path = g_build_filename (part_folder (), "framework.csv", NULL);
  g_autoptr (FrameworkCosts) costs = g_new0 (FrameworkCosts, 1);
  guint column[N_COLUMNS];

  costs->table = csv_load (path, error);
  if (costs->table == NULL)
    return NULL;
  for (guint i = 0; i < N_COLUMNS; i++)
    if (!csv_require (costs->table, column_names[i], &column[i], error))
      return NULL;
  for (int i = HOST_EAGER; i < N_HOSTS; i++)
    if (!find_host (costs->table, column, host_parts[i], &costs->host[i], error))
      return NULL;
  for (guint i = 0; i < N_COSTS; i++)
    if (!find_cost (costs->table, column, cost_names[i].part, cost_names[i].name, &costs->cost[i], error))
      return NULL;
  return g_steal_pointer (&costs);
}

void
framework_costs_free (FrameworkCosts *costs)
{
  if (costs == NULL)
    return;
  csv_free (costs->table);
  g_free (costs);
}

const Cost *
software_cost (const StepInput *in, CostName name)
{
  return &in->costs->cost[name];
}

double
software_settled (double given, const Cost *cost)
{
  return !isnan (given) ? given : cost != NULL ? cost->value : 0;
}

const HostCosts *
software_host (const StepInput *in, int kind)
{
  return &in->costs->host[kind];
}

const Cost *
software_slowdown_cost (const StepInput *in)
{
  const Precision precision = in->compute->precision;
  const gboolean full = precision == PRECISION_FP32 || precision == PRECISION_TF32;

  return software_cost (in, full ? COST_SLOWDOWN_FULL : COST_SLOWDOWN_MIXED);
}

double
software_slowdown (const StepInput *in)
{
  return software_settled (in->spec->slowdown, software_slowdown_cost (in));
}
