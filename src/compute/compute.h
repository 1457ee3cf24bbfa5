/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "compute/detailed.h"

typedef enum { KERNEL_GEMM, KERNEL_CONV, KERNEL_DEPTHWISE, KERNEL_ATTENTION, KERNEL_ELEMENTWISE, KERNEL_NORM, KERNEL_SOFTMAX, KERNEL_POOL, KERNEL_EMBEDDING, KERNEL_OPTIMIZER, N_KERNEL_CLASSES } KernelClass;

/* [compute] */
enum { COMPUTE_ROOFLINE, COMPUTE_IDEAL, COMPUTE_DETAILED };
typedef struct
{
  int     model;
  char   *tuning;        /* software tuning class: "plain", "graph", "fused", "nhwc", "xla", "mlperf"; NULL, "auto": the strategy's */
  double  efficiency;    /* of a step; NAN or 0: the table's */
  /* The roofline's shape.  0: the key's default. */
  double  compute_efficiency, memory_efficiency;   /* shares of the peak rates */
  double  norm;          /* of the sum of compute and memory time */
  double  kernel_floor;  /* s of a kernel without work */
  double  winograd;      /* share of the direct FLOP that an fp32 3x3 convolution runs */
  double  depthwise;     /* share of the plain peak that a depthwise convolution reaches in four-byte precision */
  double  large_gemm_rate;   /* FLOP/s measured of large matrix products; NAN or 0: none */
  char  *without;           /* a source of measured steps that no constant is taken from; NULL or "": none */
} ComputeSpec;
extern const Key compute_keys[];

/* Everything that turns work into seconds.  Plain data, no pointers to free. */
typedef struct
{
  const Gpu *gpu;
  Precision  precision;
  gboolean   ideal;
  gboolean   detailed;                  /* kernels with a shape by `kernels` */
  DetailedModel kernels;
  double     peak_tensor, peak_plain;   /* FLOP/s for gemm, conv, attention; for the rest */
  double     bandwidth;                 /* bytes/s of the memory */
  double     ec, em, q, t0;             /* as in compute_seconds */
  double     winograd, depthwise;
  double     efficiency;                /* divides all of it */
  double     efficiency_low, efficiency_high;   /* where it may lie */
  Origin     efficiency_origin;
  const char *efficiency_match;         /* Efficiency.match, or "user" */
  const char *without;                  /* interned; NULL: no source left out */
} ComputeModel;

typedef struct
{
  KernelClass kind;
  double      flop, bytes;     /* forward, whole batch, the bytes as the precision moves them */
  gboolean    winograd;        /* 3x3 stride-1 ungrouped convolution: fewer FLOP in fp32 */
  double      m, n, k;         /* of the (implicit) matrix product, whole batch; 0 or NAN: not known.  Only `detailed` asks */
} KernelWork;

/* `workload_class`: "resnet", "vgg", "bert", ...: key of models/efficiency.csv.
 * Fall-back order: (class, tuning, precision, generation), without generation,
 * (class, precision), precision, 0.8; the origin text says which.  `gpu` is
 * borrowed.  Errors are of KEYS_ERROR and start with "[group] key: ". */
gboolean compute_init    (ComputeModel *model, const ComputeSpec *spec, const Gpu *gpu, Precision precision,
                          const char *workload_class, GError **error);
/* s of one forward kernel: t0 + ((F/(ec P))^q + (B/(em W))^q)^(1/q), / efficiency.
 * (The optimizer and copies: bytes/(em W), no efficiency.)  Under `detailed` the
 * kernel's own fit, where its shape is known. */
double   compute_seconds (const ComputeModel *model, const KernelWork *work);
double   compute_copy_seconds (const ComputeModel *model, double bytes);   /* bytes/(em W) */
/* Bytes an element takes in activations.  (Gradients under a mixed precision
 * have the master weights' 4 bytes: the strategy's business.) */
double   precision_activation_bytes (Precision precision);
