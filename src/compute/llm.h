/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "compute/compute.h"

/* Kernels of large transformers and what their software makes of them: fits of
 * models/kernel by shape, constants of models/llm.csv. */
typedef enum
{
  LLM_EFFICIENCY, LLM_FLASH_EFFICIENCY, LLM_FLASH, LLM_FLASH_BACKWARD, LLM_DROPOUT, LLM_ASYNC_BACKWARD, LLM_TP_OVERLAP,
  LLM_SLICES, LLM_ACCUMULATE_BYTES, LLM_ADD, LLM_NORM, LLM_ACTIVATION,
  LLM_NORM_BYTES, LLM_NORM_BACK, LLM_ROTARY_BYTES, LLM_ROTARY_BACK, LLM_ACTIVATION_BYTES, LLM_ACTIVATION_BACK, LLM_FLOOR, LLM_FP8, LLM_CAST_BYTES, LLM_FP8_HEAD, LLM_LOSS_BYTES, LLM_OPTIMIZER_EXTRA,
  LLM_WHOLE_BYTES, LLM_WHOLE_REDUCE, LLM_BUCKET,
  LLM_HOST_FORWARD, LLM_HOST_BACKWARD, LLM_HOST_RECOMPUTE, LLM_HOST_CHECKPOINT, LLM_HOST_COLLECTIVE,
  LLM_HOST_MICRO_BATCH, LLM_HOST_OPERATOR,
  LLM_EXPERTS_OPERATORS, LLM_EXPERTS_OPERATORS_BACK, LLM_EXPERT_OPERATORS, LLM_EXPERT_OPERATORS_BACK, LLM_EXPERT_OPERATORS_FP8, LLM_EXPERTS_FUSED, LLM_SLOWDOWN, LLM_RANK_NOISE, LLM_FIXED,
  LLM_RESERVE, N_LLM
} LlmConstant;
extern const char *const llm_constant_names[];   /* as in the table; NULL-terminated */
extern const char *const llm_stacks[];           /* "auto" (any), "megatron-2021", ...; NULL-terminated */

typedef struct
{
  double       value[N_LLM], low[N_LLM], high[N_LLM];   /* NAN: not known */
  Origin       origin[N_LLM];        /* text interned */
  gboolean     ideal, fp8;
  double       element;              /* bytes of an activation */
  KernelDevice device;               /* of matrix products */
  KernelDevice half;                 /* of attention: FP8 does not reach it */
  KernelChoice matrix, attention;
} LlmModel;

/* Rates are those of `compute`, so that it may be nudged.  `stack`: an index of llm_stacks. */
gboolean llm_init      (LlmModel *model, const ComputeModel *compute, int stack, GError **error);
/* The constants alone; `without`: a source whose values do not count, as in
 * calibration/software.csv, or NULL. */
gboolean llm_constants (LlmModel *model, int stack, const char *generation, const char *without, GError **error);
/* Constants that leaving that source out takes from elsewhere: "efficiency 0.9, ...".  Caller frees; NULL: none. */
char    *llm_without_text (int stack, const char *generation, const char *without);
/* Seconds of `batch` products m x k by k x n. */
double   llm_gemm      (const LlmModel *model, double m, double n, double k, double batch);
/* The same of the output layer, which may stay in two bytes under FP8. */
double   llm_head      (const LlmModel *model, double m, double n, double k);
/* Of what turns `elements` of two bytes into FP8; 0 in other precisions. */
double   llm_cast      (const LlmModel *model, double elements);
/* Of a kernel that moves bytes; `share`: LLM_ADD, LLM_NORM or LLM_ACTIVATION. */
double   llm_stream    (const LlmModel *model, LlmConstant share, double bytes);
/* Forward, fused: `batch` sequences; `part` of the work (context parallelism). */
double   llm_attention (const LlmModel *model, double batch, double seq, double heads, double kv_heads, double head_dim, double part);
