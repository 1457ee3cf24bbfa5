/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* Whole files into memory, with a limit that holds before anything is read. */

/* "-" and "/dev/stdin": standard input, of which at most limit + 1 bytes are
 * taken.  A directory, pipe or device is refused without waiting for it.  On
 * failure NULL and an error of that domain and code: "name: what; what would be
 * right".  Caller frees. */
char *file_read (const char *path, gsize limit, gsize *length, GQuark domain, int code, GError **error);
/* The name as it may stand in a message: "stdin" for "-", control bytes and
 * bad UTF-8 escaped.  Caller frees. */
char *file_display_name (const char *path);
