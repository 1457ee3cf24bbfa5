/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/software.h"
#include <math.h>

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
