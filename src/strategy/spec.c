/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/spec.h"

static const char *const optimizer_names[] = { "sgd", "momentum", "adam", "lamb", NULL };
static const char *const communication_names[] = { "auto", "ring", "nccl", NULL };
static const char *const host_names[] = { "auto", "eager", "graph", "cuda-graph", NULL };
static const char *const switch_names[] = { "auto", "yes", "no", NULL };
static const char *const compression_names[] = { "none", "fp16", "bf16", NULL };

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
    "DDP: communication hook that casts gradients to two bytes.", .choices = compression_names },
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
  { "slowdown", KEY_NUMBER, UNIT_NONE, offsetof (StrategySpec, slowdown), NULL,
    "Factor on a kernel while a collective runs on its GPU; without it the precision's.", 1, 100 },
  { "box-noise", KEY_BOOLEAN, UNIT_NONE, offsetof (StrategySpec, box_noise), "true",
    "Slow compute by 1 + 0.005 + 0.017 sqrt (2 ln N): shared host, clocks, the slowest of N ranks." },
  { NULL }
};

const Key input_keys[] = {
  { "rate", KEY_QUANTITY, UNIT_SAMPLE_RATE, offsetof (InputSpec, rate), NULL,
    "Samples that the input pipeline of one node delivers; without it no ceiling." },
  { NULL }
};
