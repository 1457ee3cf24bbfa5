/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/packing.h"
#include <math.h>

const char *const packing_names[] = { "none", "concatenated", "document-mask", "padded", "unpadded", NULL };

/* Texts of the web spread by about their mean; assumed. */
static const double usual_cv = 1;
/* Places at which a sequence may start in a document of one length for all: more are as good as any. */
static const guint64 most_phases = 10000;

static gboolean
wrong (GError **error, KeysError code, const char *key, const char *what)
{
  g_set_error (error, KEYS_ERROR, code, "[workload] %s: %s", key, what);
  return FALSE;
}

static gboolean
check (const PackingSpec *spec, guint64 sequence, GError **error)
{
  const char *unused = "has no effect with packing = none; concatenated gives the same step, document-mask, padded and unpadded read it";

  if (spec->kind == PACKING_NONE && spec->length > 0)
    return wrong (error, KEYS_ERROR_VALUE, "document-length", unused);
  if (spec->kind == PACKING_NONE && spec->length_cv > 0)
    return wrong (error, KEYS_ERROR_VALUE, "document-length-cv", unused);
  if (spec->kind == PACKING_NONE)
    return TRUE;
  if (sequence == 0)
    return wrong (error, KEYS_ERROR_VALUE, "packing", "the workload is no transformer of tokens whose sequence is known; leave it out, or give an "
                  "architecture and its shape");
  if (spec->length == 0 && spec->length_cv > 0)
    return wrong (error, KEYS_ERROR_MISSING, "document-length", "missing beside document-length-cv; give the mean length in tokens, as 1024");
  if (spec->length == 0 && spec->kind != PACKING_CONCATENATED)
    return wrong (error, KEYS_ERROR_MISSING, "document-length", "missing; this packing needs the mean length of a document in tokens, as 1024");
  return TRUE;
}

static guint64
greatest_divisor (guint64 a, guint64 b)
{
  return b == 0 ? a : greatest_divisor (b, a % b);
}

gboolean
packing_settle (Packing *out, const PackingSpec *spec, guint64 sequence, GError **error)
{
  const Moments whole = { 1, 0, 0 };

  if (!check (spec, sequence, error))
    return FALSE;
  *out = (Packing) { spec->kind, spec->length, spec->length_cv, isnan (spec->length_cv), whole, whole };
  if (spec->length == 0)
    return TRUE;
  if (out->cv_assumed)
    out->length_cv = usual_cv;
  const Documents documents = { (double) spec->length / (double) sequence, out->length_cv };

  if (spec->kind == PACKING_DOCUMENT_MASK)
    out->squares = documents_squares (&documents, MIN (spec->length / greatest_divisor (spec->length, sequence), most_phases));
  if (spec->kind == PACKING_PADDED || spec->kind == PACKING_UNPADDED)
    out->tokens = documents_power (&documents, 1);
  if (spec->kind == PACKING_UNPADDED)
    out->squares = documents_power (&documents, 2);
  return TRUE;
}
