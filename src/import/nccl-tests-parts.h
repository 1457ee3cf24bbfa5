/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "import/nccl-tests.h"

/* What the three readers share; nobody else includes it. */

/* One pass of one size, as read. */
typedef struct
{
  CollectiveOp op;
  const char  *op_name;
  guint        system, line, index;
  guint64      nodes, per_node;
  double       size;               /* bytes */
  double       time;               /* us */
  double       algbw, busbw;       /* GB/s; NAN: not given */
  double       wrong;              /* wrong elements; NAN: not checked */
  char        *algorithm;          /* borrowed from `texts` */
} Pass;

typedef struct
{
  NcclTests    *tests;
  GArray       *passes;            /* Pass */
  GStringChunk *texts;
  const char   *name;
} Reading;

gboolean read_csv  (Reading *reading, const char *text, gsize length, GError **error);
gboolean read_text (Reading *reading, const char *text, gsize length, GError **error);
gboolean read_json (Reading *reading, const char *text, gsize length, GError **error);

/* Index of an equal one, or of a new one. */
guint    reading_system (Reading *reading, const char *gpu, const char *intra, const char *inter, const char *version, double nic);
void     reading_skip   (Reading *reading, guint line, guint index, NcclTestsReason reason);
void     reading_remark (Reading *reading, guint line, const char *format, ...) G_GNUC_PRINTF (3, 4);
gboolean reading_wrong  (const Reading *reading, guint line, GError **error, const char *format, ...) G_GNUC_PRINTF (4, 5);
