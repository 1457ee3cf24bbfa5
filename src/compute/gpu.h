/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/origin.h"
#include "base/precision.h"


/* models/gpu/NAME.ini */
typedef struct
{
  char   *name, *generation;         /* generation: "Volta" */
  double  peak[N_PRECISIONS];        /* FLOP/s, dense; NAN: the GPU cannot */
  double  memory_bandwidth;          /* bytes/s */
  double  memory;                    /* bytes */
  double  nvlink;                    /* bytes/s one way, all links; 0: none */
  double  pcie;                      /* bytes/s one way of its slot */
  double  l2;                        /* bytes; NAN: not known */
  guint64 sms;
  Origin  origin;                    /* of the figures */
  KeyFile *part;
} Gpu;
Gpu  *gpu_load (const char *name, GError **error);
void  gpu_free (Gpu *gpu);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Gpu, gpu_free)
