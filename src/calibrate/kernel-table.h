/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/csv.h"
#include "compute/gpu.h"
#include "compute/kernel-part.h"

/* Tables of measured kernels, one kernel a row: gpu,dtype, its shape, time_us
 * (gemm, bmm, attention, conv, elementwise). */

#define KERNEL_TABLE_ERROR (kernel_table_error_quark ())
typedef enum { KERNEL_TABLE_ERROR_SCHEMA, KERNEL_TABLE_ERROR_UNITS, KERNEL_TABLE_ERROR_MIXED } KernelTableError;
GQuark kernel_table_error_quark (void);

/* Rows of one GPU, precision and kind of kernel. */
typedef struct
{
  Gpu              *gpu;       /* borrowed from the table */
  char             *family;    /* "gemm", "bmm", "attention-causal", "conv-fwd", "gelu", ... */
  char             *dtype;     /* as the table writes it */
  const KernelForm *form;
  KernelDevice      device;
} KernelGroup;

typedef struct
{
  guint        line;           /* row of the CSV */
  guint        group;
  KernelShape  shape;
  double       measured;       /* s */
  guint64      shape_hash, row_hash;   /* of the shape alone; with GPU and time */
  const char  *skip;           /* why it is not used; NULL: used */
} KernelRow;

typedef struct
{
  char      *path, *name;      /* name: without its folder */
  char      *label;            /* of the source: "vidur" of gemm_A100-SXM_fp16_vidur.csv */
  CsvTable  *csv;
  GPtrArray *gpus;
  GPtrArray *groups;           /* KernelGroup * */
  guint      n_rows;
  KernelRow *rows;
} KernelTable;

/* A file that is no table of kernels is an error of KERNEL_TABLE_ERROR_SCHEMA,
 * or with `any_schema` a table whose rows are all skipped;
 * times in a wrong unit, which a rate far from what the GPU can do shows, one of
 * KERNEL_TABLE_ERROR_UNITS. */
KernelTable *kernel_table_load (const char *path, gboolean any_schema, GError **error);
void         kernel_table_free (KernelTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KernelTable, kernel_table_free)
const KernelGroup *kernel_table_group (const KernelTable *table, const KernelRow *row);
/* In the 30 % that --hold-out shapes predicts?  By a hash of the shape alone. */
gboolean     kernel_row_held_out (const KernelRow *row);
/* Were rows of this table among those that the part was fitted to? */
gboolean     kernel_table_feeds (const KernelTable *table, const KernelPart *part);
