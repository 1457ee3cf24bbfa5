/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/software.h"
#include <math.h>

/* Assumed, of the size reported for PyTorch eager, TensorFlow graphs and CUDA
 * graphs; an operator a forward and two a backward layer.  The collective call:
 * eager less graph time of one tiny all-reduce is 14 to 39 us by host
 * (calibration/launch_overhead.csv). */
static const HostCosts host_costs[] = {
  [HOST_EAGER] = { .operator_s = 9e-6, .step_s = 0.5e-3, .tensor_ops = 0.3, .collective_s = 25e-6 },
  [HOST_GRAPH] = { .operator_s = 4e-6, .step_s = 1.5e-3, .tensor_ops = 1.0, .collective_s = 25e-6 },
  [HOST_CUDA_GRAPH] = { .operator_s = 0.5e-6, .step_s = 0.1e-3, .tensor_ops = 0.1, .collective_s = 1e-6 },
};

const HostCosts *
software_host (int kind)
{
  return &host_costs[kind];
}

/* Fitted over 609 rows of eight published tables of data-parallel training; the
 * mixed-precision value is badly identified there (1.0 to 2.0). */
static const double slowdown_fp32 = 1.2, slowdown_mixed = 1.35;
double
software_slowdown (const StrategySpec *spec, Precision precision)
{
  if (!isnan (spec->slowdown))
    return spec->slowdown;
  return precision == PRECISION_FP32 || precision == PRECISION_TF32 ? slowdown_fp32 : slowdown_mixed;
}

double
software_box (const StrategySpec *spec, guint64 n_ranks)
{
  return n_ranks <= 1 ? 1 : 1 + spec->box + spec->rank_noise * sqrt (2 * log ((double) n_ranks));
}

/* fp32 weights and gradient read, weight and state read and written. */
double
software_optimizer_traffic (int optimizer)
{
  static const double bytes[] = { [OPTIMIZER_SGD] = 12, [OPTIMIZER_MOMENTUM] = 20, [OPTIMIZER_ADAM] = 28, [OPTIMIZER_LAMB] = 40 };

  return bytes[optimizer];
}

double
software_optimizer_state (int optimizer)
{
  static const double bytes[] = { [OPTIMIZER_SGD] = 0, [OPTIMIZER_MOMENTUM] = 4, [OPTIMIZER_ADAM] = 8, [OPTIMIZER_LAMB] = 8 };

  return bytes[optimizer];
}

static gboolean
is_mixed (Precision precision)
{
  return precision == PRECISION_MIXED_FP16 || precision == PRECISION_MIXED_BF16 || precision == PRECISION_FP8;
}

double
software_gradient_bytes (const StrategySpec *spec, Precision precision, gboolean half)
{
  if (spec->compression != COMPRESSION_NONE)
    return 2;
  if (spec->gradients != GRADIENTS_AUTO)
    return spec->gradients == GRADIENTS_HALF ? 2 : 4;
  return precision == PRECISION_FP16 || precision == PRECISION_BF16 || (half && is_mixed (precision)) ? 2 : 4;
}
