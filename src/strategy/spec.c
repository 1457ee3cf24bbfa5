/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/spec.h"

static const char *const optimizer_names[] = { "sgd", "momentum", "adam", "lamb", NULL };
static const char *const communication_names[] = { "auto", "ring", "nccl", NULL };
static const char *const host_names[] = { "auto", "eager", "graph", "cuda-graph", NULL };
static const char *const switch_names[] = { "auto", "yes", "no", NULL };
static const char *const compression_names[] = { "none", "fp16", "bf16", NULL };
static const char *const gradient_names[] = { "auto", "fp32", "half", NULL };
static const char *const framework_names[] = { "auto", "tf1", "pytorch", "mxnet", NULL };
static const char *const operation_names[] = { "nccl", "mpi", "gloo", NULL };

const Key training_keys[] = {
  { "batch-per-gpu", KEY_COUNT, UNIT_NONE, offsetof (TrainingSpec, batch_per_gpu), NULL,
    "Samples of one GPU in one step; the total grows with the GPUs (weak scaling)." },
  { "global-batch", KEY_COUNT, UNIT_NONE, offsetof (TrainingSpec, global_batch), NULL,
    "Samples of all GPUs in one step; the total stays (strong scaling)." },
  { "batch-per-gpu-max", KEY_COUNT, UNIT_NONE, offsetof (TrainingSpec, batch_per_gpu_max), NULL,
    "Most samples that one GPU takes at a time; the rest is accumulated." },
  { "accumulation", KEY_COUNT, UNIT_NONE, offsetof (TrainingSpec, accumulation), NULL,
    "Micro-steps in a step; without it the fewest that batch-per-gpu-max allows." },
  { "optimizer", KEY_CHOICE, UNIT_NONE, offsetof (TrainingSpec, optimizer), "adam",
    "Optimizer: bytes moved a parameter 12, 20, 28, 40 (sgd, momentum, adam, lamb).", .choices = optimizer_names },
  { "samples", KEY_COUNT, UNIT_NONE, offsetof (TrainingSpec, samples), NULL,
    "Samples in an epoch; without it the workload's.", 1, 1e15 },
  { "epochs", KEY_COUNT, UNIT_NONE, offsetof (TrainingSpec, epochs), "1",
    "Epochs of the whole training." },
  { NULL }
};

const Key strategy_keys[] = {
  { "kind", KEY_STRING, UNIT_NONE, offsetof (StrategySpec, kind), NULL,
    "How training is spread: see `lockstep list strategies`.", .required = TRUE },
  { "communication", KEY_CHOICE, UNIT_NONE, offsetof (StrategySpec, communication), "auto",
    "TensorFlow's choice for several workers; auto is its gRPC ring.", .choices = communication_names },
  { "bytes-per-pack", KEY_QUANTITY, UNIT_BYTES, offsetof (StrategySpec, bytes_per_pack), "0 B",
    "TensorFlow: a pack of gradients closes above this size; 0 B: one pack, no overlap.", 0, 1e12 },
  { "bucket-size", KEY_QUANTITY, UNIT_BYTES, offsetof (StrategySpec, bucket_size), NULL,
    "DDP: bucket_cap_mb; without it 25 MiB with a first bucket of 1 MiB.", 1, 1e12 },
  { "first-bucket-size", KEY_QUANTITY, UNIT_BYTES, offsetof (StrategySpec, first_bucket_size), NULL,
    "DDP: cap of the first bucket; without it 1 MiB, or bucket-size where that is given.", 1, 1e12 },
  { "compression", KEY_CHOICE, UNIT_NONE, offsetof (StrategySpec, compression), "none",
    "DDP, Horovod: gradients are cast to two bytes for the wire.", .choices = compression_names },
  { "gradients", KEY_CHOICE, UNIT_NONE, offsetof (StrategySpec, gradients), "auto",
    "Gradients on the wire: 4 or 2 bytes; auto is the framework's way (half: apex, MXNet).", .choices = gradient_names },
  { "no-sync", KEY_BOOLEAN, UNIT_NONE, offsetof (StrategySpec, no_sync), "true",
    "Reduce gradients only in the last micro-step of an accumulation." },
  { "gradient-as-bucket-view", KEY_BOOLEAN, UNIT_NONE, offsetof (StrategySpec, bucket_view), "false",
    "DDP: gradients live in the buckets, no copies in and out." },
  { "broadcast-buffers", KEY_BOOLEAN, UNIT_NONE, offsetof (StrategySpec, broadcast_buffers), "true",
    "DDP: rank 0 sends the BatchNorm state before each forward pass." },
  { "host", KEY_CHOICE, UNIT_NONE, offsetof (StrategySpec, host), "auto",
    "How the host issues operators; auto is the framework's way.", .choices = host_names },
  { "host-sync", KEY_CHOICE, UNIT_NONE, offsetof (StrategySpec, host_sync), "auto",
    "The host waits for the reduced gradients before it issues the optimizer.", .choices = switch_names },
  { "fixed", KEY_QUANTITY, UNIT_TIME, offsetof (StrategySpec, fixed), NULL,
    "Fixed cost of a step with several GPUs; without it the strategy's.", 0, 1e6 },
  { "launch", KEY_QUANTITY, UNIT_TIME, offsetof (StrategySpec, launch), NULL,
    "Time of a collective before its first byte, on its queue; without it the strategy's.", 0, 10 },
  { "slowdown", KEY_NUMBER, UNIT_NONE, offsetof (StrategySpec, slowdown), NULL,
    "Factor on a kernel while a collective runs on its GPU; without it the precision's.", 1, 100 },
  { "box-noise", KEY_BOOLEAN, UNIT_NONE, offsetof (StrategySpec, box_noise), "true",
    "Slow compute of several ranks by 1 + box + rank-noise sqrt (2 ln N)." },
  { "box", KEY_NUMBER, UNIT_SHARE, offsetof (StrategySpec, box), "0.005",
    "Slowdown of compute with several GPUs at work: shared host, power and clocks.", 0, 10 },
  { "rank-noise", KEY_NUMBER, UNIT_SHARE, offsetof (StrategySpec, rank_noise), "0.017",
    "Spread of one rank's compute around the mean, of which a group of N feels the largest.", 0, 10 },
#define AT(field) offsetof (StrategySpec, field)
  { "framework", KEY_CHOICE, UNIT_NONE, AT (framework), "auto",
    "Horovod: the framework it serves; auto is TensorFlow 1.", .choices = framework_names },
  { "fusion-size", KEY_QUANTITY, UNIT_BYTES, AT (fusion_size), "128 MiB",
    "Horovod: HOROVOD_FUSION_THRESHOLD, 64 MiB before release 0.20; 0 B: every tensor alone.", 0, 1e12 },
  { "cycle-time", KEY_QUANTITY, UNIT_TIME, AT (cycle_time), "1 ms",
    "Horovod: HOROVOD_CYCLE_TIME, 5 and 3.5 ms in older releases.", 0, 10 },
  { "response-cache", KEY_BOOLEAN, UNIT_NONE, AT (response_cache), "true",
    "Horovod: known tensors are agreed on by bits; without it rank 0 hears of each tensor from each rank." },
  { "coordinator-time", KEY_QUANTITY, UNIT_TIME, AT (coordinator_time), "1 us",
    "Horovod without response cache: time of rank 0 for one rank's request of one tensor.", 0, 1 },
  { "hierarchical-allreduce", KEY_BOOLEAN, UNIT_NONE, AT (hierarchical), "false",
    "Horovod: reduce in the node, between nodes, in the node." },
  { "operations", KEY_CHOICE, UNIT_NONE, AT (operations), "nccl",
    "Horovod: the library that reduces; mpi and gloo work in host memory.", .choices = operation_names },
  { "replicated-variables", KEY_BOOLEAN, UNIT_NONE, AT (replicated_variables), "false",
    "Parameter server: a node keeps copies of the variables and adds up its gradients; the busiest server gains nothing by it." },
  { "rpc-efficiency", KEY_NUMBER, UNIT_SHARE, AT (rpc_efficiency), "0.64",
    "Parameter server: share of the line that push or pull reach over gRPC.", 1e-4, 1 },
  { "rpc-overlap", KEY_NUMBER, UNIT_SHARE, AT (rpc_overlap), "0.1",
    "Parameter server between nodes: share of the compute that hides push and pull.", 0, 1 },
  { "endpoint-rate", KEY_QUANTITY, UNIT_RATE, AT (endpoint_rate), "0.75 GB/s",
    "Parameter server: rate at which one tensor passes its server, pushed and pulled by everybody." },
  { "host-copy-rate", KEY_QUANTITY, UNIT_RATE, AT (host_copy_rate), "30 GB/s",
    "Parameter server: copies of a node between host and all its GPUs." },
  { "variable-rate", KEY_QUANTITY, UNIT_RATE, AT (variable_rate), "10 GB/s",
    "Parameter server in one box: gradients that its CPU adds and applies." },
#undef AT
  { NULL }
};

const Key input_keys[] = {
  { "rate", KEY_QUANTITY, UNIT_SAMPLE_RATE, offsetof (InputSpec, rate), NULL,
    "Samples that the input pipeline of one node delivers; without it no ceiling." },
  { "serial-time", KEY_QUANTITY, UNIT_TIME, offsetof (InputSpec, serial_time), NULL,
    "Host time of a step in series with the input of its samples; without it none.", 0, 1e4 },
  { "in-step", KEY_BOOLEAN, UNIT_NONE, offsetof (InputSpec, in_step), "false",
    "A step waits for its own input; false: the next step's is prepared while the GPUs work." },
  { NULL }
};
