/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* Numbers for people, in the C locale.  NAN gives "".  Caller frees. */
char *text_fixed   (double value, int decimals);          /* "12.35" */
char *text_number  (double value);                        /* 4 figures, never an exponent below 1e9: "5963", "87.13", "0.00412" */
char *text_percent (double share, int decimals);          /* "54.1 %" */
char *text_change  (double share);                        /* "+5.1 %" */
char *text_ms      (double seconds, double largest);      /* milliseconds, as many decimals as give `largest` 4 figures */
char *text_time    (double seconds);                      /* "161.3 ms", "34.4 min", "2.1 d" */
char *text_time_as (double seconds, double like);         /* in the unit of `like`, beside which it stands */
char *text_three   (double value);                        /* 3 figures where it has no more before the point: "25.6" */
char *text_bytes   (double bytes);                        /* "25.6 MB", 3 figures */
char *text_bar     (double share, guint width);           /* '#' */
/* Without control characters, for a line or a cell. */
char *text_clean   (const char *text);
/* Lines of at most `width` columns, the first of at most `first`: broken at blanks, but not
 * behind a number, and behind the bars of choices.  A longer word has a line of its own.
 * One line at least.  Caller frees. */
GPtrArray *text_lines (const char *text, guint first, guint width);
/* The same behind what the last line of `out` has already; later lines are indented. */
void  text_wrap    (GString *out, const char *text, guint indent, guint width);
