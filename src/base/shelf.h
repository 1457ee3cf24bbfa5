/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* Parts that many runs share: each is read once and never changed, and stays
 * until the shelf goes.  For any number of threads. */
typedef struct Shelf Shelf;

/* A kind of part, one const table where it is read. */
typedef struct
{
  const char    *name;                                     /* "gpu"; two kinds never share one */
  gpointer     (*load) (gconstpointer what, GError **error);   /* must not use the shelf */
  GDestroyNotify free;
} ShelfKind;

Shelf *shelf_new  (void);
void   shelf_free (Shelf *shelf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Shelf, shelf_free)
/* The part under `key`, by load (what) the first time.  Borrowed.  A failure is
 * not kept: the next call tries again. */
gconstpointer shelf_get (Shelf *shelf, const ShelfKind *kind, const char *key, gconstpointer what, GError **error);
