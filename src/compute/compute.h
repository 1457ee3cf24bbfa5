/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "compute/gpu.h"

typedef enum { KERNEL_GEMM, KERNEL_CONV, KERNEL_ATTENTION, KERNEL_ELEMENTWISE, KERNEL_NORM, KERNEL_SOFTMAX, KERNEL_POOL, KERNEL_EMBEDDING, KERNEL_OPTIMIZER, N_KERNEL_CLASSES } KernelClass;

/* [compute] */
enum { COMPUTE_ROOFLINE, COMPUTE_IDEAL };
typedef struct
{
  int     model;
  char   *tuning;        /* software tuning class: "plain", "fused", "nhwc", "xla", "mlperf" */
  double  efficiency;    /* of a step; NAN: the table's */
} ComputeSpec;
extern const Key compute_keys[];

/* Everything that turns work into seconds.  Plain data, no pointers to free. */
typedef struct
{
  const Gpu *gpu;
  Precision  precision;
  gboolean   ideal;
  double     peak_tensor, peak_plain;   /* FLOP/s for gemm, conv, attention; for the rest */
  double     ec, em, q, t0;             /* 0.75, 0.80, 1.5, 3 us: dp-step model 1 */
  double     efficiency;                /* divides all of it: dp-step model 6 */
  double     efficiency_low, efficiency_high;
  Origin     efficiency_origin;
} ComputeModel;

typedef struct
{
  KernelClass kind;
  double      flop, bytes;     /* forward, whole batch, the bytes as the precision moves them */
  gboolean    winograd;        /* 3x3 stride-1 ungrouped convolution: FLOP x 0.45 in fp32 */
} KernelWork;

/* `workload_class`: "resnet", "vgg", "bert", ...: key of the efficiency table.
 * Fall-back order: (class, tuning, precision, generation), without generation,
 * (class, precision), precision: dp-step model 7; the origin text says which. */
gboolean compute_init    (ComputeModel *model, const ComputeSpec *spec, const Gpu *gpu, Precision precision,
                          const char *workload_class, GError **error);
/* s of one forward kernel: t0 + ((F/(ec P))^q + (B/(em W))^q)^(1/q), / efficiency.
 * (The optimizer and copies: bytes/(em W), no efficiency.) */
double   compute_seconds (const ComputeModel *model, const KernelWork *work);
double   compute_copy_seconds (const ComputeModel *model, double bytes);   /* bytes/(em W) */
/* Bytes an element takes in activations, and a weight's gradient on the wire by default. */
double   precision_activation_bytes (Precision precision);
