/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/keys.h"

/* Where a number comes from.  Every value that a prediction uses has one. */
typedef enum { ORIGIN_ASSUMED, ORIGIN_DERIVED, ORIGIN_MEASURED, ORIGIN_USER } OriginKind;
typedef struct { OriginKind kind; const char *text; } Origin;   /* text: file, formula or reason; borrowed from its part */
const char *origin_name (OriginKind kind);
/* FALSE: no such word. */
gboolean    origin_kind (const char *word, OriginKind *out);

/* Part files (models/...) say the origin of a value in their group [origin]:
 * "KEY = measured: data/nccl/x.csv", key "default" for the rest. */
gboolean    origin_read (const KeyFile *part, const char *key, Origin *out, GError **error);

/* The folder of shipped parts: LOCKSTEP_MODELS, else the models/ beside the
 * build or the installed one (compiled in).  A part's path is KIND/NAME.ini;
 * NAME is found through its file name or an `aliases` key (comma list) of its
 * first group.  Unknown: an error with the near names.  Caller frees. */
char       *part_find   (const char *kind, const char *name, GError **error);
/* What may be a name or a file of one's own: a file if it has a folder or ends in .ini. */
gboolean    part_is_file (const char *name);
/* All names of a kind, sorted; g_strfreev. */
char      **part_list   (const char *kind);
const char *part_folder (void);
/* A file of the calibration tables: in LOCKSTEP_CALIBRATION, else in calibration/
 * beside the folder of parts.  Caller frees. */
char       *calibration_path (const char *file);
