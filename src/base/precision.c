/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/precision.h"
#include <stddef.h>

const char *const precision_names[] = {
  [PRECISION_FP32] = "fp32",
  [PRECISION_TF32] = "tf32",
  [PRECISION_MIXED_FP16] = "mixed-fp16",
  [PRECISION_MIXED_BF16] = "mixed-bf16",
  [PRECISION_FP16] = "fp16",
  [PRECISION_BF16] = "bf16",
  [PRECISION_FP8] = "fp8",
  [N_PRECISIONS] = NULL,
};
