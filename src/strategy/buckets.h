/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "workload/workload.h"

/* Gradients that travel together. */
typedef struct
{
  double elements;
  double largest;       /* elements of its largest tensor */
  guint  first, last;   /* layers whose backward pass makes its first and its last gradient ready */
  guint  n_tensors;
  double delay;         /* s that it waits, gradients ready and the framework idle, for the next cycle; 0 behind the first of a cycle */
} Bucket;

/* As PyTorch's reducer builds them after the first iteration
 * (torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size):
 * tensors in the order in which gradients become ready, a bucket closes once it
 * holds at least its cap, so it overshoots by its last tensor; the first cap is
 * smaller.  Caps in bytes, `element` bytes a gradient.  Array of Bucket; caller
 * frees with g_array_unref. */
GArray *buckets_by_size (const Workload *workload, double element, double first_cap, double cap);
/* TensorFlow's packs (cross_device_utils group_by_size): the same order, a pack
 * closes once it is LARGER than `cap`; 0: one pack of everything. */
GArray *buckets_by_pack (const Workload *workload, double element, double cap);
/* Horovod's tensor fusion (horovod/common/operations.cc RunLoopOnce, controller.cc
 * FuseResponses): a loop wakes every `cycle` seconds, takes the gradients that are
 * ready and fuses them in that order, up to `cap` bytes; a larger tensor goes
 * alone.  `ready`: s by layer from the start of the backward pass.  `busy`: s that
 * a group of so many bytes stops the loop; NULL: never.  (It also looks past a
 * tensor that does not fit for smaller ones; left out.) */
typedef double (*BucketBusy) (gpointer user, double bytes);
GArray *buckets_by_cycle (const Workload *workload, double element, double cap, double cycle, const double *ready,
                          BucketBusy busy, gpointer user);
