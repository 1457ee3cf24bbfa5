/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/strategy.h"

/* What frameworks add to the arithmetic: host issue, fixed costs, contention.  The
 * numbers and their origins stand in models/framework.csv. */

/* s to issue one operator, a step outside the operators and to issue a collective;
 * operators a trainable tensor in the optimizer.  Origins in the order of the table. */
enum { HOST_OPERATOR, HOST_STEP, HOST_TENSOR, HOST_COLLECTIVE, N_HOST_COSTS };
typedef struct
{
  double operator_s, step_s, tensor_ops, collective_s;
  Origin origin[N_HOST_COSTS];
} HostCosts;

typedef enum
{
  COST_SLOWDOWN_FULL, COST_SLOWDOWN_MIXED, COST_DDP_FIXED, COST_DDP_FIXED_GRAPH, COST_DDP_LAUNCH, COST_FLAT_FIXED, COST_FLAT_LAUNCH,
  COST_MIRRORED_FIXED, COST_REPLICATED_FIXED, COST_REPLICATED_LAUNCH, COST_DATA_PARALLEL_LAUNCH, COST_HOROVOD_LAUNCH,
  COST_FSDP_HOOK, COST_ZERO_HOOK, N_COSTS
} CostName;
typedef struct { double value; Origin origin; } Cost;   /* s, but slowdowns */

/* Errors name file, line and column, or what is not there; caller frees.  O(rows). */
FrameworkCosts *framework_costs_load (GError **error);
void            framework_costs_free (FrameworkCosts *costs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FrameworkCosts, framework_costs_free)

/* Borrowed from the input's table. */
const Cost      *software_cost (const StepInput *in, CostName name);
/* The scenario's value, else (NAN) the framework's, 0 where it has none. */
double           software_settled (double given, const Cost *cost);
/* `kind`: HOST_EAGER, HOST_GRAPH, HOST_CUDA_GRAPH. */
const HostCosts *software_host (const StepInput *in, int kind);

/* Slowdown of a kernel beside a collective: the scenario's, else the precision's, and
 * where that comes from. */
double software_slowdown (const StepInput *in);
const Cost *software_slowdown_cost (const StepInput *in);
/* 1 + box + rank_noise sqrt (2 ln N), 1 for one rank: E max of N normals is at
 * most sqrt (2 ln N) of their deviations. */
double software_box (const StrategySpec *spec, guint64 n_ranks);
/* Bytes that the optimizer moves a parameter, and that its state takes. */
double software_optimizer_traffic (int optimizer);
double software_optimizer_state   (int optimizer);
/* Bytes of a gradient on the wire: fp32 under mixed precision (the parameters are
 * fp32) unless the framework has two-byte gradients there (`half`). */
double software_gradient_bytes    (const StrategySpec *spec, Precision precision, gboolean half);
