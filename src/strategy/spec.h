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
enum { GRADIENTS_AUTO, GRADIENTS_FP32, GRADIENTS_HALF };
enum { FRAMEWORK_AUTO, FRAMEWORK_TF1, FRAMEWORK_PYTORCH, FRAMEWORK_MXNET };
enum { OPERATIONS_NCCL, OPERATIONS_MPI, OPERATIONS_GLOO };
typedef struct
{
  char    *kind;                /* "ddp"; see strategy.h */
  int      communication;       /* TensorFlow's */
  double   bytes_per_pack;      /* TensorFlow; 0: one pack */
  double   bucket_size;         /* DDP bucket_cap_mb; NAN: 25 MiB with a first bucket of 1 MiB */
  double   first_bucket_size;   /* NAN: 1 MiB if bucket-size is not given, else bucket-size */
  int      compression;         /* DDP communication hook, Horovod's Compression.fp16 */
  int      gradients;           /* bytes on the wire: AUTO is the framework's */
  gboolean no_sync;             /* no reduction before the last micro-step */
  gboolean bucket_view;         /* gradient_as_bucket_view */
  gboolean broadcast_buffers;
  int      host;                /* how the host issues: AUTO is the framework's */
  int      host_sync;           /* the host waits for the step's gradients before it issues the optimizer */
  double   fixed;               /* s a step; NAN: the strategy's */
  double   launch;              /* s a collective; NAN: the strategy's */
  double   slowdown;            /* of a kernel beside a collective, >= 1; NAN: the precision's */
  gboolean box_noise;           /* box(N) factor on compute */
  double   box, rank_noise;     /* its terms: 1 + box + rank_noise sqrt (2 ln N) */
  /* Horovod */
  int      framework;           /* AUTO: TensorFlow 1 */
  double   fusion_size;         /* bytes; 0: no fusion */
  double   cycle_time;          /* s */
  gboolean response_cache;
  double   coordinator_time;    /* s that rank 0 takes for the request of one tensor of one rank */
  gboolean hierarchical;
  int      operations;          /* which library reduces */
  /* parameter server */
  gboolean replicated_variables; /* a node keeps copies and adds up its gradients first */
  double   rpc_efficiency;      /* share of the line that push or pull reach */
  double   rpc_overlap;         /* share of the compute that hides them */
  double   endpoint_rate;       /* bytes/s of one tensor at its server, push and pull */
  double   host_copy_rate;      /* bytes/s of a node's copies between host and GPUs, all together */
  double   variable_rate;       /* bytes/s at which the CPU of a box adds and applies */
} StrategySpec;
extern const Key strategy_keys[];

/* [input] */
typedef struct
{
  double   rate;                /* samples/s a node can feed; NAN: no ceiling */
  double   serial_time;         /* s a step on top, in series with it; NAN: none */
  gboolean in_step;             /* the step waits for its own input: nothing is prepared ahead */
} InputSpec;
extern const Key input_keys[];
