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
  int     recompute;          /* activations of transformer blocks computed again in the backward pass */
  char   *recompute_modules;  /* what selective recomputation computes again; NULL: core_attn */
  int     attention;          /* AUTO: flash where the framework's stack has it */
  gboolean chunked_loss;      /* output layer and loss in pieces */
  guint64 offload_activations; /* blocks whose activations wait in host memory */
  double  offload_rate;       /* bytes/s one way between a GPU and the host; NAN: of its slot */
} TrainingSpec;
enum { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL, RECOMPUTE_PER_OP };
enum { ATTENTION_AUTO, ATTENTION_UNFUSED, ATTENTION_FLASH };
extern const Key training_keys[];

/* [strategy] */
enum { COMMUNICATION_AUTO, COMMUNICATION_RING, COMMUNICATION_NCCL };
enum { HOST_AUTO, HOST_EAGER, HOST_GRAPH, HOST_CUDA_GRAPH, N_HOSTS };
enum { AUTO_AUTO, AUTO_YES, AUTO_NO };
enum { COMPRESSION_NONE, COMPRESSION_FP16, COMPRESSION_BF16 };
enum { GRADIENTS_AUTO, GRADIENTS_FP32, GRADIENTS_HALF };
enum { SYNC_EVERY, SYNC_LAST };
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
  int      sparse;              /* how gradients of embeddings travel */
  /* zero, fsdp; sizes in elements */
  guint64  stage;
  int      overlap_comm;
  gboolean bucket_all_reduce;   /* stage 1, 2: a bucket is all-reduced, else reduced to its owners */
  double   reduce_bucket, gather_bucket, prefetch_bucket, persistence, max_live, reuse_distance;
  guint64  hpz_partition, mics_shard;   /* GPUs; 0: none */
  int      clipping;            /* AUTO_*: gradients are cut to a norm over all GPUs */
  gboolean offload;             /* optimizer state in host memory */
  double   host_optimizer_rate; /* bytes/s of memory that a node's CPUs move in the optimizer */
  guint64  version;
  int      sharding, wrap, backward_prefetch, gradient_sync;
  double   min_wrap;            /* parameters */
  gboolean forward_prefetch, limit_all_gathers;
  char    *reshard;             /* after forward: "true", "false", GPUs */
  guint64  shard_size;          /* GPUs of a hybrid shard group; 0: a node */
  int      param_dtype, reduce_dtype;   /* GRADIENTS_* */
  /* megatron; degrees count GPUs */
  guint64  tensor_parallel, pipeline_parallel, context_parallel, expert_parallel;
  guint64  expert_tensor_parallel;              /* 0: tensor_parallel */
  guint64  virtual_stages, micro_batch, interleave_group;   /* group 0: pipeline_parallel */
  int      schedule, cp_comm, dispatcher, stack;            /* stack: an index of llm_stacks */
  int      sequence_parallel, distributed_optimizer, overlap_grad_reduce, overlap_param_gather, tp_comm_overlap;
  int      grad_fp32, overlap_p2p, dropout;     /* AUTO_* */
  guint64  last_stage_layers;                   /* 0: as the others */
  char    *stage_layers;                        /* "1, 2*30, 0"; NULL: equal shares */
  int      shard_gradients;                     /* summed gradients live with their owners */
  gboolean free_inputs;                         /* of a model chunk */
  gboolean stages_by_cost;                      /* nanotron */
  gboolean account_embedding, account_loss;     /* each takes a layer's place when layers are dealt out */
  double   imbalance;                           /* busiest expert over the mean */
} StrategySpec;
enum { SCHEDULE_KEY_AUTO, SCHEDULE_KEY_GPIPE, SCHEDULE_KEY_1F1B, SCHEDULE_KEY_INTERLEAVED };
enum { CP_COMM_P2P, CP_COMM_ALL_GATHER, CP_COMM_A2A };
enum { DISPATCHER_AUTO, DISPATCHER_ALL_TO_ALL, DISPATCHER_FLEX };
enum { SPARSE_DENSE, SPARSE_ALL_GATHER, SPARSE_MODEL_PARALLEL, SPARSE_HYBRID };
enum { SHARDING_FULL, SHARDING_GRAD_OP, SHARDING_NO, SHARDING_HYBRID, SHARDING_HYBRID_GRAD_OP };
enum { WRAP_LAYER, WRAP_SIZE };
enum { PREFETCH_PRE, PREFETCH_POST, PREFETCH_NONE };
extern const Key strategy_keys[];

/* [input] */
typedef struct
{
  double   rate;                /* samples/s a node can feed; NAN: no ceiling */
  double   serial_time;         /* s a step on top, in series with it; NAN: none */
  gboolean in_step;             /* the step waits for its own input: nothing is prepared ahead */
} InputSpec;
extern const Key input_keys[];
