/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/names.h"
#include "cli/cli.h"
#include "cli/rows.h"
#include "collective/collective.h"
#include "network/transport.h"
#include "report/text.h"
#include "strategy/strategy.h"

typedef struct
{
  const char *name;
  gboolean  (*list) (Call *call, GError **error);
} Kind;

static const char *const summary_titles[] = { "name", "summary", NULL };

/* An empty list would only hide that the folder is not there. */
static char **
list_parts (const char *kind, GError **error)
{
  g_auto (GStrv) names = part_list (kind);
  g_autofree char *folder = names_quote (part_folder ());

  if (names[0] != NULL)
    return g_steal_pointer (&names);
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_READ, "the folder of parts %s has no %s; set LOCKSTEP_MODELS to the models/ of lockstep",
               folder, kind);
  return NULL;
}

static gboolean
list_machines (Call *call, GError **error)
{
  static const char *const titles[] = { "name", "gpus", "gpu", "link", "nics", "nic-bandwidth", "vcpus", "price", "price-date", "summary", NULL };
  static const char *const said[] = { "gpus", "gpu", "link", "nics", "nic-bandwidth", "vcpus", "price-date" };
  g_autoptr (Rows) rows = rows_new (titles);
  g_auto (GStrv) names = list_parts ("machine", error);

  if (names == NULL)
    return FALSE;
  for (gsize i = 0; names[i] != NULL; i++)
    {
      g_autoptr (Machine) machine = machine_load (names[i], error);
      const MachineInfo *info = machine != NULL ? machine_info (machine) : NULL;

      if (info == NULL)
        return FALSE;
      rows_add (rows, names[i]);
      rows_take (rows, g_strdup_printf ("%" G_GUINT64_FORMAT, info->gpus));
      rows_add (rows, info->gpu);
      rows_add (rows, info->gpus > 1 ? info->gpu_link : NULL);
      rows_take (rows, g_strdup_printf ("%" G_GUINT64_FORMAT, info->nics));
      rows_take (rows, isfinite (info->nic_bandwidth) ? quantity_format (info->nic_bandwidth, UNIT_RATE) : NULL);
      rows_take (rows, info->vcpus > 0 ? g_strdup_printf ("%" G_GUINT64_FORMAT, info->vcpus) : NULL);
      rows_take (rows, isfinite (info->price_per_hour) ? quantity_format (info->price_per_hour, UNIT_MONEY_RATE) : NULL);
      rows_add (rows, info->price_date);
      rows_add (rows, info->summary);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (said); i++)   /* in the summary's words */
    rows_hide (rows, said[i]);
  rows_print (rows, "machines", call);
  return TRUE;
}

/* The fastest matrix rate that the GPU has a figure for. */
static char *
best_peak (const Gpu *gpu)
{
  static const Precision order[] = { PRECISION_BF16, PRECISION_FP16, PRECISION_MIXED_BF16, PRECISION_MIXED_FP16, PRECISION_FP32 };

  for (gsize i = 0; i < G_N_ELEMENTS (order); i++)
    if (isfinite (gpu->peak[order[i]]))
      {
        g_autofree char *rate = quantity_format (gpu->peak[order[i]], UNIT_FLOP_RATE);

        return g_strconcat (rate, " ", precision_names[order[i]], NULL);
      }
  return NULL;
}

static gboolean
list_gpus (Call *call, GError **error)
{
  static const char *const titles[] = { "name", "generation", "memory", "memory-bandwidth", "peak", "nvlink", "pcie", NULL };
  g_autoptr (Rows) rows = rows_new (titles);
  g_auto (GStrv) names = list_parts ("gpu", error);

  if (names == NULL)
    return FALSE;
  rows_hide (rows, "pcie");   /* of its generation; no page has room for it */
  for (gsize i = 0; names[i] != NULL; i++)
    {
      g_autoptr (Gpu) gpu = gpu_load (names[i], error);

      if (gpu == NULL)
        return FALSE;
      rows_add (rows, names[i]);
      rows_add (rows, gpu->generation);
      rows_take (rows, quantity_format (gpu->memory, UNIT_BYTES));
      rows_take (rows, quantity_format (gpu->memory_bandwidth, UNIT_RATE));
      rows_take (rows, best_peak (gpu));
      rows_take (rows, gpu->nvlink > 0 ? quantity_format (gpu->nvlink, UNIT_RATE) : NULL);
      rows_take (rows, isfinite (gpu->pcie) ? quantity_format (gpu->pcie, UNIT_RATE) : NULL);
    }
  rows_print (rows, "gpus", call);
  return TRUE;
}

/* "56 %"; nothing where there is none. */
static char *
share (double value)
{
  return isfinite (value) ? g_strdup_printf ("%.0f %%", 100 * value) : NULL;
}

static gboolean
list_transports (Call *call, GError **error)
{
  static const char *const titles[] = { "name", "place", "hop-ll", "hop-simple", "line-one-gpu", "line-several-gpus", "cap", "summary", NULL };
  static const char *const places[] = { "node", "between", "both" };
  g_autoptr (Rows) rows = rows_new (titles);
  g_auto (GStrv) names = list_parts ("transport", error);

  if (names == NULL)
    return FALSE;
  for (gsize i = 0; names[i] != NULL; i++)
    {
      g_autoptr (Transport) t = transport_load (names[i], error);
      const gboolean between = t != NULL && t->place != TRANSPORT_IN_NODE;

      if (t == NULL)
        return FALSE;
      rows_add (rows, names[i]);
      rows_add (rows, places[t->place]);
      rows_take (rows, quantity_format (t->hop[PROTOCOL_LL], UNIT_TIME));
      rows_take (rows, quantity_format (t->hop[PROTOCOL_SIMPLE], UNIT_TIME));
      rows_take (rows, between ? share (t->efficiency_one) : NULL);
      rows_take (rows, between ? share (t->efficiency_several) : NULL);
      rows_take (rows, isfinite (t->cap) ? quantity_format (t->cap, UNIT_RATE) : NULL);
      rows_add (rows, t->summary);
    }
  rows_print (rows, "transports", call);
  return TRUE;
}

static gboolean
list_workloads (Call *call, GError **error)
{
  static const char *const titles[] = { "name", "family", "parameters", "tensors", "forward-gflop", "sample", NULL };
  g_autoptr (Rows) rows = rows_new (titles);
  g_auto (GStrv) names = workload_list (error);

  for (gsize i = 0; names != NULL && names[i] != NULL; i++)
    {
      const WorkloadSpec spec = { .name = names[i] };
      g_autoptr (Workload) workload = workload_load (&spec, error);

      if (workload == NULL)
        return FALSE;
      rows_add (rows, workload->name);
      rows_add (rows, workload->family);
      rows_take (rows, g_strdup_printf ("%.0f", workload->params));
      rows_take (rows, g_strdup_printf ("%u", workload->n_tensors));
      rows_take (rows, text_number (1e-9 * workload->flop));
      rows_add (rows, workload->sample);
    }
  rows_print (rows, "workloads", call);
  return names != NULL;
}

static gboolean
list_strategies (Call *call, G_GNUC_UNUSED GError **error)
{
  g_autoptr (Rows) rows = rows_new (summary_titles);

  for (const Strategy *const *strategy = strategy_list (); *strategy != NULL; strategy++)
    {
      rows_add (rows, (*strategy)->name);
      rows_add (rows, (*strategy)->summary);
    }
  rows_print (rows, "strategies", call);
  return TRUE;
}

static gboolean
list_algorithms (Call *call, G_GNUC_UNUSED GError **error)
{
  static const CollectiveOp ops[] = {
    OP_ALL_REDUCE, OP_REDUCE_SCATTER, OP_ALL_GATHER, OP_BROADCAST, OP_ALL_TO_ALL, OP_SEND_RECV
  };
  static const char *const titles[] = { "name", "operations", "messages", "summary", NULL };
  g_autoptr (Rows) rows = rows_new (titles);

  for (const CollectiveAlgorithm *const *algorithm = collective_algorithms (); *algorithm != NULL; algorithm++)
    {
      GString *can = g_string_new (NULL);

      for (gsize i = 0; i < G_N_ELEMENTS (ops); i++)
        if ((*algorithm)->ops & ops[i])
          g_string_append_printf (can, "%s%s", can->len ? " " : "", collective_op_name (ops[i]));
      rows_add (rows, (*algorithm)->name);
      rows_take (rows, g_string_free (can, FALSE));
      rows_add (rows, (*algorithm)->steps != NULL ? "yes" : "no");
      rows_add (rows, (*algorithm)->summary);
    }
  rows_print (rows, "algorithms", call);
  return TRUE;
}

static char *
key_kind (const Key *key)
{
  g_autofree char *choices = NULL;

  switch (key->type)
    {
    case KEY_CHOICE:
      return g_strjoinv ("|", (char **) key->choices);
    case KEY_BOOLEAN:
      return g_strdup ("true|false");
    case KEY_COUNT:
      return g_strdup ("count");
    case KEY_NUMBER:
      return g_strdup ("number");
    case KEY_QUANTITY:
      return g_strdup (unit_name (key->unit));
    default:
      return g_strdup ("text");
    }
}

static void
list_group (Rows *rows, const KeyGroup *group)
{
  if (group->keys == NULL)
    {
      rows_take (rows, g_strconcat (group->name, ".*", NULL));
      rows_add (rows, "list");
      rows_add (rows, NULL);
      rows_add (rows, group->help);
      return;
    }
  for (const Key *key = group->keys; key->name != NULL; key++)
    {
      rows_take (rows, g_strconcat (group->name, ".", key->name, NULL));
      rows_take (rows, key_kind (key));
      rows_add (rows, key->required ? "(required)" : key->default_text);
      rows_add (rows, key->help);
    }
}

static gboolean
list_keys (Call *call, GError **error)
{
  static const char *const titles[] = { "key", "type", "default", "help", NULL };
  g_autoptr (Rows) rows = rows_new (titles);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *wrong = NULL;
  const char *wanted = call->n_args > 1 ? call->args[1] : NULL;
  gboolean found = wanted == NULL;

  for (const KeyGroup *group = scenario_groups (); group->name != NULL; group++)
    {
      g_ptr_array_add (names, (gpointer) group->name);
      if (wanted != NULL && !g_str_equal (wanted, group->name))
        continue;
      found = TRUE;
      list_group (rows, group);
    }
  g_ptr_array_add (names, NULL);
  if (found)
    {
      rows_print (rows, "keys", call);
      return TRUE;
    }
  wrong = names_unknown ("group", wanted, (const char *const *) names->pdata);
  usage_error (error, "%s", wrong);
  return FALSE;
}

static const Kind kinds[] = {
  { "machines", list_machines }, { "gpus", list_gpus }, { "transports", list_transports },
  { "workloads", list_workloads }, { "strategies", list_strategies }, { "algorithms", list_algorithms },
  { "keys", list_keys },
};

static gboolean
run_list (Call *call, GError **error)
{
  const Kind *kind = kind_find ("list", call->args[0], kinds, G_N_ELEMENTS (kinds), sizeof kinds[0], error);

  if (kind == NULL)
    return FALSE;
  if (call->n_args == 1 || kind->list == list_keys)
    return kind->list (call, error);
  usage_error (error, "'%s' is one argument too many; only 'list keys' takes another", call->args[1]);
  return FALSE;
}

const Command command_list = {
  .name = "list",
  .summary = "what there is: machines, gpus, transports, workloads, ...",
  .arguments = "machines|gpus|transports|workloads|strategies|algorithms|keys [GROUP]",
  .min_args = 1, .max_args = 2,
  .formats = TRUE, .writes = TRUE,
  .details =
    "One row each.  'list keys' shows every key of a scenario file with its type, default and\n"
    "meaning; 'list keys network' those of one group.  Of machines --format csv has more columns.\n",
  .run = run_list,
};
