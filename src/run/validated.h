/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/shelf.h"
#include "run/point.h"

/* The line of models/validated.csv nearest to this hardware, as a sentence with
 * the error there: the GPU itself and as many nodes (none, one, several), else
 * its generation, else nothing near.  NULL with an error where the table cannot
 * be read.  Caller frees. */
char *validated_nearest (const Point *point, Shelf *parts, GError **error);
