/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/names.h"
#include "collective/flow.h"

/* What operations and algorithms are; which one runs: choice.c. */

G_DEFINE_QUARK (collective-error-quark, collective_error)

const CollectiveAlgorithm collective_automatic = { .name = "auto" };

static const struct { CollectiveOp op; const char *name; } ops[] = {
  { OP_ALL_REDUCE, "all-reduce" }, { OP_REDUCE_SCATTER, "reduce-scatter" }, { OP_ALL_GATHER, "all-gather" },
  { OP_BROADCAST, "broadcast" }, { OP_ALL_TO_ALL, "all-to-all" }, { OP_SEND_RECV, "send-recv" },
};

void
collective_unknown (GError **error, const char *kind, const char *typed, const char *const *names)
{
  g_autofree char *message = names_unknown (kind, typed, names);

  g_set_error_literal (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNKNOWN, message);
}

const char *
collective_paths (const CollectiveAlgorithm *algorithm)
{
  return algorithm != NULL ? algorithm->paths : "nccl";
}

gboolean
collective_on_gpu (const CollectiveAlgorithm *algorithm)
{
  return algorithm == NULL || algorithm->on_gpu;
}

const char *
collective_op_name (CollectiveOp op)
{
  for (gsize i = 0; i < G_N_ELEMENTS (ops); i++)
    if (ops[i].op == op)
      return ops[i].name;
  g_return_val_if_reached ("?");
}

gboolean
collective_op_find (const char *name, CollectiveOp *op, GError **error)
{
  const char *names[G_N_ELEMENTS (ops) + 1] = { NULL };

  for (gsize i = 0; i < G_N_ELEMENTS (ops); i++)
    {
      names[i] = ops[i].name;
      if (g_str_equal (ops[i].name, name))
        {
          *op = ops[i].op;
          return TRUE;
        }
    }
  collective_unknown (error, "operation", name, names);
  return FALSE;
}

double
collective_bus_factor (CollectiveOp op, guint64 n_ranks)
{
  const double n = (double) n_ranks;

  switch (op)
    {
    case OP_ALL_REDUCE:
      return 2 * (n - 1) / n;
    case OP_REDUCE_SCATTER:
    case OP_ALL_GATHER:
    case OP_ALL_TO_ALL:
      return (n - 1) / n;
    default:
      return 1;
    }
}
