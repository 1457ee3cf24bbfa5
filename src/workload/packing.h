/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/keys.h"
#include "workload/documents.h"

/* How samples of unequal lengths come to sequences of one length. */
enum { PACKING_NONE, PACKING_CONCATENATED, PACKING_DOCUMENT_MASK, PACKING_PADDED, PACKING_UNPADDED };
extern const char *const packing_names[];

/* Keys of [workload]. */
typedef struct
{
  int     kind;
  guint64 length;      /* mean, tokens; 0: not given */
  double  length_cv;   /* NAN: not given */
} PackingSpec;

/* What it makes of the work of one sequence, over that of a full one. */
typedef struct
{
  int     kind;
  guint64 length;
  double  length_cv;
  gboolean cv_assumed;
  Moments squares;     /* of attention: pairs of tokens in one document */
  Moments tokens;      /* that are a document's: below 1 where one document is one sequence */
} Packing;

/* `sequence`: tokens, 0: the workload has none.  Errors are "[workload] key: ...". */
gboolean packing_settle (Packing *out, const PackingSpec *spec, guint64 sequence, GError **error);
