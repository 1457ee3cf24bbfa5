/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "calibrate/training-step.h"
#include "calibrate/validate.h"

/* `lockstep validate training`: measured steps against predicted ones. */
typedef enum
{
  ANCHOR_SMALLEST,    /* one efficiency fitted to the smallest-scale row of each group */
  ANCHOR_FULL_NODE,   /* to its row of one full node; rows of several nodes are predicted */
  ANCHOR_NONE,        /* models/efficiency.csv without the row's own source */
} TrainingAnchor;
extern const char *const training_anchor_names[];   /* "smallest", "full-node", "none", NULL */

typedef struct
{
  TrainingAnchor anchor;
  const char *const *where;   /* conditions of calibrate/rules.h; NULL-terminated or NULL */
} TrainingValidation;

/* The tables join `keep` (CsvTable *, freed with it), which must live as long as
 * the validation.  `remarks`: lines for people, or NULL. */
gboolean training_validate (const char *const *paths, const TrainingValidation *how, Validation *validation, GPtrArray *keep,
                            GString *remarks, GError **error);

/* A row with its table; also for `calibrate step`. */
typedef struct
{
  guint        table, row;
  guint        source;        /* of the validation: the table's, or of rows set apart */
  TrainingRow *read;
  guint        anchor;        /* index of the item that it is predicted from; itself: it is one; G_MAXUINT: none */
  gboolean     serves;        /* another item is predicted from it */
  double       efficiency;    /* of an anchor */
  TrainingStep step;          /* of an anchor, at that efficiency */
} TrainingItem;
/* Rows of all tables that meet the conditions.  Array of TrainingItem. */
/* A table of measured steps: refused where the columns that say what a row is are
 * missing.  Caller frees. */
CsvTable *training_table  (const char *path, GError **error);
GArray  *training_items   (const TrainingReader *reader, GPtrArray *tables, const char *const *where, GError **error);
void     training_anchors (GArray *items, TrainingAnchor anchor);
