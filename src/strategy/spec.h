/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/keys.h"

/* [training] */
enum { OPTIMIZER_SGD, OPTIMIZER_MOMENTUM, OPTIMIZER_ADAM, OPTIMIZER_LAMB };
typedef struct
{
  guint64 batch_per_gpu;      /* 0: not given */
  guint64 global_batch;       /* 0: not given */
  guint64 batch_per_gpu_max;  /* 0: no limit */
  guint64 accumulation;       /* 0: the smallest that fits batch-per-gpu-max */
  int     optimizer;
  guint64 samples;            /* in an epoch; 0: the workload's */
  guint64 epochs;
} TrainingSpec;
extern const Key training_keys[];

/* [strategy] */
enum { COMMUNICATION_AUTO, COMMUNICATION_RING, COMMUNICATION_NCCL };
enum { HOST_AUTO, HOST_EAGER, HOST_GRAPH, HOST_CUDA_GRAPH };
enum { AUTO_AUTO, AUTO_YES, AUTO_NO };
enum { COMPRESSION_NONE, COMPRESSION_FP16, COMPRESSION_BF16 };
typedef struct
{
  char    *kind;                /* "ddp"; see strategy.h */
  int      communication;       /* TensorFlow's */
  double   bytes_per_pack;      /* TensorFlow; 0: one pack */
  double   bucket_size;         /* DDP bucket_cap_mb; NAN: 25 MiB with a first bucket of 1 MiB */
  double   first_bucket_size;   /* NAN: 1 MiB if bucket-size is not given, else bucket-size */
  int      compression;         /* DDP communication hook */
  gboolean no_sync;             /* no reduction before the last micro-step */
  gboolean bucket_view;         /* gradient_as_bucket_view */
  gboolean broadcast_buffers;
  int      host;                /* how the host issues: AUTO is the framework's */
  int      host_sync;           /* the host waits for the step's gradients before it issues the optimizer */
  double   fixed;               /* s a step; NAN: the strategy's */
  double   slowdown;            /* of a kernel beside a collective, >= 1; NAN: the precision's */
  gboolean box_noise;           /* box(N) factor on compute */
} StrategySpec;
extern const Key strategy_keys[];

/* [input] */
typedef struct { double rate; } InputSpec;   /* samples/s a node can feed; NAN: no ceiling */
extern const Key input_keys[];
