/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/nccl-tests-parts.h"

#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/names.h"

enum { OP, NODES, PER_NODE, RANKS, GPU, SIZE, TIME, N_NEEDED };
static const char *const needed[] = { "collective", "nodes", "gpus_per_node", "ranks", "gpu", "size_bytes", "time_us" };
enum { INTRA, INTER, NIC, VERSION, ALGORITHM, ALGBW, BUSBW, N_OPTIONAL };
static const char *const optional[] = { "intra_link", "inter_link", "nic_gbps_per_node", "nccl_version", "algo", "algbw_GBps", "busbw_GBps" };

typedef struct { guint at[N_NEEDED]; int more[N_OPTIONAL]; } Columns;

static const char *
more_text (const CsvTable *table, guint row, int column)
{
  return column >= 0 ? csv_text (table, row, (guint) column) : "";
}

/* Ranks, bytes, us and GB/s all lie far below that. */
static const double largest = 1e15;

static gboolean
number (const CsvTable *table, guint row, int column, double *value, GError **error)
{
  *value = NAN;
  return column < 0 || csv_number_in (table, row, (guint) column, 0, largest, value, error);
}

/* nccl-tests runs NCCL; a framework's own kernels follow other rules. */
static gboolean
is_other_kernel (const char *algorithm)
{
  return strstr (algorithm, "custom") != NULL || strstr (algorithm, "_eager") != NULL || strstr (algorithm, "_graph") != NULL;
}

static gboolean
read_row (Reading *reading, const CsvTable *table, const Columns *columns, guint row, GError **error)
{
  const char *algorithm = more_text (table, row, columns->more[ALGORITHM]);
  Pass pass = { .line = csv_line (table, row), .index = row, .wrong = NAN };
  double nodes, per_node, ranks, nic;

  if (!number (table, row, (int) columns->at[NODES], &nodes, error) || !number (table, row, (int) columns->at[PER_NODE], &per_node, error)
      || !number (table, row, (int) columns->at[RANKS], &ranks, error) || !number (table, row, (int) columns->at[SIZE], &pass.size, error)
      || !number (table, row, (int) columns->at[TIME], &pass.time, error) || !number (table, row, columns->more[NIC], &nic, error)
      || !number (table, row, columns->more[ALGBW], &pass.algbw, error) || !number (table, row, columns->more[BUSBW], &pass.busbw, error))
    return FALSE;
  if (!nccl_tests_op (csv_text (table, row, columns->at[OP]), &pass.op, &pass.op_name))
    {
      g_autofree char *read = names_quote (csv_text (table, row, columns->at[OP]));

      return reading_wrong (reading, pass.line, error, "collective %s is none; write all_reduce, all_gather, reduce_scatter, alltoall, "
                            "broadcast, reduce or sendrecv", read);
    }
  if (!(nodes >= 1 && nodes <= 1e5 && per_node >= 1 && per_node <= 1024 && fabs (nodes - rint (nodes)) + fabs (per_node - rint (per_node)) <= 0))
    return reading_wrong (reading, pass.line, error, "nodes and gpus_per_node are whole, 1 to 100000 and 1 to 1024");
  if (is_other_kernel (algorithm))
    {
      reading_skip (reading, pass.line, row, NCCL_TESTS_OTHER_KERNEL);
      return TRUE;
    }
  if (fabs (nodes * per_node - ranks) > 0 || ranks < 2)
    {
      reading_remark (reading, pass.line, "%g ranks on %g nodes of %g GPUs; the row is left out", ranks, nodes, per_node);
      reading_skip (reading, pass.line, row, NCCL_TESTS_INCONSISTENT);
      return TRUE;
    }
  pass.nodes = (guint64) nodes;
  pass.per_node = (guint64) per_node;
  pass.algorithm = *algorithm != '\0' ? g_string_chunk_insert_const (reading->texts, algorithm) : NULL;
  pass.system = reading_system (reading, csv_text (table, row, columns->at[GPU]), more_text (table, row, columns->more[INTRA]),
                                more_text (table, row, columns->more[INTER]), more_text (table, row, columns->more[VERSION]), nic * 1e9 / 8);
  if (reading->tests->systems->len > 1000)
    return reading_wrong (reading, pass.line, error, "more than 1000 systems in one table; give a file for each");
  g_array_append_val (reading->passes, pass);
  return TRUE;
}

gboolean
read_csv (Reading *reading, const char *text, gsize length, GError **error)
{
  g_autoptr (CsvTable) table = csv_parse (reading->name, text, length, error);
  Columns columns;

  if (table == NULL)
    return FALSE;
  for (int i = 0; i < N_NEEDED; i++)
    if (!csv_require (table, needed[i], &columns.at[i], error))
      return FALSE;
  for (int i = 0; i < N_OPTIONAL; i++)
    columns.more[i] = csv_column (table, optional[i]);
  if (csv_rows (table) > NCCL_TESTS_MAX_ROWS)
    return reading_wrong (reading, 0, error, "more than %u rows", NCCL_TESTS_MAX_ROWS);
  for (guint row = 0; row < csv_rows (table); row++)
    if (!read_row (reading, table, &columns, row, error))
      return FALSE;
  return TRUE;
}
