/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* The name in the NULL-terminated list nearest to what was typed (optimal
 * string alignment distance, case folded, '_' as '-', at most a third of the
 * length), or NULL.  Borrowed.  O(names x length^2). */
const char *names_nearest (const char *typed, const char *const *names);
/* "unknown KIND 'TYPED'; did you mean 'NEAR'?" or, where none is near,
 * "...; there are: a, b, c" (cut after 12).  Caller frees. */
char       *names_unknown (const char *kind, const char *typed, const char *const *names);
/* "a, b, c" (cut after 12: "and 5 more").  Caller frees. */
char       *names_join    (const char *const *names);
/* What was read, as it may stand in a one-line message: 'text', control bytes
 * and bad UTF-8 escaped, cut after 60 characters.  Caller frees. */
char       *names_quote   (const char *text);
/* Order of two strings by their bytes, given pointers to them: for qsort () and
 * g_ptr_array_sort (). */
int         names_compare (gconstpointer a, gconstpointer b);
