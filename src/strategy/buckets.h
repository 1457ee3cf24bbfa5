/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "workload/workload.h"

/* Gradients that travel together. */
typedef struct
{
  double elements;
  double largest;       /* elements of its largest tensor */
  guint  first, last;   /* layers whose backward pass makes its first and its last gradient ready */
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
