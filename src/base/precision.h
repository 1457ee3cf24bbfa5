/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

typedef enum { PRECISION_FP32, PRECISION_TF32, PRECISION_MIXED_FP16, PRECISION_MIXED_BF16, PRECISION_FP16, PRECISION_BF16, PRECISION_FP8, N_PRECISIONS } Precision;
extern const char *const precision_names[];   /* "fp32", "tf32", "mixed-fp16", "mixed-bf16", "fp16", "bf16", "fp8", NULL */
