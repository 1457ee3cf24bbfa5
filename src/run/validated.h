/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/shelf.h"
#include "run/point.h"

/* What a step is like, for the comparison with published ones: words of
 * models/validated.csv. */
typedef struct
{
  const char *strategy;   /* "replicas", "servers", "sharded" (ZeRO, FSDP), "split" (Megatron); the first too on one GPU */
  const char *networks;   /* "images", "sequences", "experts" (mixtures of them), "recommenders" */
  const char *nodes;      /* "none" (one GPU), "one", "several" */
} ValidatedKind;
ValidatedKind validated_kind (const Point *point);

/* The line of models/validated.csv nearest to this point, as a sentence with
 * the error there: of lines with its GPU or its generation the one that agrees
 * in strategy, else in networks, the GPU itself, the nodes; of equals that with
 * the most rows.  What differs is said; no line of the generation: that there is
 * none.  NULL with an error where the table cannot be read.  Caller frees. */
char *validated_nearest (const Point *point, Shelf *parts, GError **error);
