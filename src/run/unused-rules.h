/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/point.h"

/* When keys do something, for unused.c alone: elsewhere they are read by nobody. */
typedef struct
{
  const char *group, *keys;                  /* "strategy", "bucket-size first-bucket-size" */
  const char *kinds;                         /* of [strategy] kind that read them; NULL: all */
  gboolean  (*works) (const Point *point);   /* NULL: always */
  const char *why;                           /* that it does nothing; NULL beside kinds */
} UnusedRule;
/* The first that a key breaks is said; group NULL ends.  Those of [strategy] and
 * [training], and those of the other groups. */
extern const UnusedRule unused_of_strategy[], unused_of_others[];

/* Conditions and reasons of both. */
gboolean unused_several_gpus  (const Point *point);
gboolean unused_several_nodes (const Point *point);
gboolean unused_not_megatron  (const Point *point);
#define UNUSED_ONE_GPU  "one GPU has nobody to exchange with"
#define UNUSED_ONE_NODE "all GPUs are in one node"
