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
  guint64 nvlink_links;              /* 0: none, or not known */
  double  pcie;                      /* bytes/s one way of its slot; NAN: not known */
  double  l2;                        /* bytes; NAN: not known */
  guint64 sms;                       /* 0: not known */
  char   *kernels_of;                /* the GPU whose measured kernels stand for its own; NULL: none */
  double  kernels_rate;              /* factor on the share of the peak that they reach */
  double  issue_share;               /* of the fp32 peak, where instructions do not pair */
  Origin  origin;                    /* of the figures */
  Origin  peak_origin[N_PRECISIONS]; /* where a peak is not the part's own figure, what stands in for it */
  KeyFile *part;
} Gpu;
/* By file name or alias; unknown: an error with the near names. */
Gpu  *gpu_load (const char *name, GError **error);
void  gpu_free (Gpu *gpu);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Gpu, gpu_free)
extern const Key gpu_keys[];
/* FALSE and an error ("[workload] precision: ...") that names what would do. */
gboolean gpu_require (const Gpu *gpu, Precision precision, GError **error);
