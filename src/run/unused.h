/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/point.h"

/* A key that a scenario gives and that changes nothing there. */
typedef struct { const char *group, *key, *why; } UnusedKey;   /* static and interned texts */

/* Those of a point that its own file or the command line gives, an array of UnusedKey that the caller frees: by conditions alone,
 * nothing is run.  None that changes anything is among them; some that happen to change
 * nothing (a bucket larger than all gradients) are not. */
GArray *unused_keys (const Point *point);
/* Keeps of `keys` what is among `others` too, with the reason there: of several points,
 * what is unused at all of them. */
void    unused_meet (GArray *keys, const GArray *others);
gboolean unused_has (const GArray *keys, const char *group, const char *key);
