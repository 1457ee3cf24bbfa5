/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "compute/kernel-part.h"

/* [compute] model = detailed: a kernel by its own shape, from the fits of
 * models/kernel.  Plain data; the fits live as long as the program. */
typedef struct
{
  KernelDevice device;         /* of the precision's matrix kernels */
  KernelChoice matrix, conv, element, norm, softmax;
} DetailedModel;

/* All fits of models/kernel: read once, never changed, never freed. */
const GPtrArray *detailed_parts (GError **error);
/* `large_rate`: achieved FLOP/s of large matrix products, measured on this GPU;
 * NAN or 0: none.  It rescales what the fits say of the peak. */
gboolean detailed_init   (DetailedModel *model, const Gpu *gpu, Precision precision, double large_rate, GError **error);
/* A matrix product; a convolution as its implicit one. */
double   detailed_matrix (const DetailedModel *model, gboolean conv, const KernelShape *shape);
double   detailed_stream (const DetailedModel *model, const KernelChoice *choice, double bytes);
