/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "calibrate/network-fit.h"
#include "calibrate/validate.h"

/* Of every four sizes the third is fitted: about as many are left beyond either end. */
#define NETWORK_HOLD_OUT_FIRST 2u

/* Measured collectives against predictions: sizes left out, other files fitted, or
 * only parts that never saw the file. */
typedef struct
{
  gboolean hold_out_sizes, catalogue;
  const char *const *fit;      /* NULL: none */
  double   min_size;           /* bytes; 0: all */
  guint    hold_out_first;     /* which of every four sizes is fitted first */
} NetworkValidation;

/* A file, as read. */
typedef struct
{
  NcclTests *tests;
  CsvTable  *csv;              /* NULL: a log */
  char      *site;             /* whose machine, from SOURCES.csv beside the file; "" not said */
} NetworkTable;
NetworkTable *network_table_load (const char *path, GError **error);
void          network_table_free (NetworkTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NetworkTable, network_table_free)

/* Rows of one installation, over the files. */
typedef struct
{
  char       *key;
  const NcclTestsSystem *names;
  GPtrArray  *rows;            /* const NcclTestsRow * */
  GArray     *sources;         /* guint: index of each row's table */
} NetworkSystem;
/* NetworkSystem *, in the order of the files; `tables` of NetworkTable *. */
GPtrArray  *network_systems (const GPtrArray *tables);

/* `keep`: what the validation borrows (NetworkTable *).  `remarks`: char *. */
gboolean network_validate (const char *const *paths, const NetworkValidation *how, Validation *validation, GPtrArray *keep,
                           GPtrArray *remarks, GError **error);
