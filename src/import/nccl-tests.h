/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "collective/collective.h"

/* Measured collectives: what nccl-tests prints (text of any age, JSON of -J), or a
 * tidy table of such rows.  Sizes by its convention, times checked against the
 * bandwidths beside them. */

#define NCCL_TESTS_ERROR (nccl_tests_error_quark ())
typedef enum { NCCL_TESTS_ERROR_INPUT } NcclTestsError;
GQuark nccl_tests_error_quark (void);

#define NCCL_TESTS_MAX_BYTES (64u << 20)
#define NCCL_TESTS_MAX_ROWS  1000000u
#define NCCL_TESTS_MAX_LINE  65536u

/* Why a row is not used: a fixed list. */
typedef enum
{
  NCCL_TESTS_NO_TIME, NCCL_TESTS_NO_SIZE, NCCL_TESTS_INCONSISTENT, NCCL_TESTS_WRONG_RESULT, NCCL_TESTS_TRUNCATED,
  NCCL_TESTS_OTHER_KERNEL, NCCL_TESTS_N_REASONS
} NcclTestsReason;
extern const char *const nccl_tests_reasons[];

/* What it ran on, as the file says; texts "" where it does not. */
typedef struct
{
  char  *gpu, *intra, *inter, *version;
  double nic;          /* bytes/s of a node's cards; NAN: not given */
} NcclTestsSystem;

typedef struct
{
  CollectiveOp op;
  const char  *op_name;        /* as nccl-tests calls it; "reduce" runs as a broadcast backwards */
  guint        system;         /* in systems[] */
  guint64      nodes, per_node;
  double       size;           /* bytes */
  double       time;           /* s: geometric mean of the passes, the least where they differ by more than 28 % */
  double       noise;          /* |ln| of their ratio; NAN: one pass */
  guint        line, index;    /* of the first pass; index: row of the table, or number of the pass */
  char        *algorithm;      /* forced: "Ring"; NULL: not said */
} NcclTestsRow;

typedef struct { guint line, index; NcclTestsReason reason; } NcclTestsSkip;

typedef struct
{
  char       *name;            /* as given */
  GArray     *rows;            /* NcclTestsRow, by (system, op, nodes, per_node, size) */
  GPtrArray  *systems;         /* NcclTestsSystem * */
  GArray     *skips;           /* NcclTestsSkip */
  GPtrArray  *remarks;         /* char *: what was trimmed and why, a line each */
  guint       n_read;          /* measurements, used or not */
} NcclTests;

/* "-": standard input.  Errors and remarks are "file:line: what; what would be right". */
NcclTests *nccl_tests_load  (const char *path, GError **error);
NcclTests *nccl_tests_parse (const char *name, const char *text, gsize length, GError **error);
void       nccl_tests_free  (NcclTests *tests);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NcclTests, nccl_tests_free)
/* Operation by any of its spellings ("alltoall_perf", "all_reduce", "SendRecv").  FALSE: none. */
gboolean   nccl_tests_op    (const char *text, CollectiveOp *op, const char **name);
