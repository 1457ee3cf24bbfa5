/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* Bytes on one GPU by kind. */
typedef struct
{
  double weights, gradients, optimizer, activations, buffers;   /* buffers: communication buckets or packs, workspace, CUDA context */
  double total, capacity, margin;   /* margin: capacity less total */
  gboolean fits;
  const char *note;   /* what the kinds alone do not tell, a sentence; NULL: nothing */
} MemoryUse;

/* The same of one pipeline stage's GPUs, from 1. */
typedef struct { guint stage; MemoryUse use; } MemoryStage;
