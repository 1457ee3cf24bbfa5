/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/strategy.h"

/* What frameworks add to the arithmetic: host issue, fixed costs, contention.
 * Values and where they come from stand in software.c. */

typedef struct
{
  double operator_s;     /* s to issue one operator */
  double step_s;         /* s a step outside the operators */
  double tensor_ops;     /* operators a trainable tensor in the optimizer */
  double collective_s;   /* s to issue a collective */
} HostCosts;

/* `kind`: HOST_EAGER, HOST_GRAPH, HOST_CUDA_GRAPH. */
const HostCosts *software_host (int kind);

/* Slowdown of a kernel beside a collective: the scenario's, else the precision's. */
double software_slowdown (const StrategySpec *spec, Precision precision);
/* 1 + box + rank_noise sqrt (2 ln N), 1 for one rank: E max of N normals is at
 * most sqrt (2 ln N) of their deviations. */
double software_box (const StrategySpec *spec, guint64 n_ranks);
/* Bytes that the optimizer moves a parameter, and that its state takes. */
double software_optimizer_traffic (int optimizer);
double software_optimizer_state   (int optimizer);
/* Bytes of a gradient on the wire: fp32 under mixed precision (the parameters are
 * fp32) unless the framework has two-byte gradients there (`half`). */
double software_gradient_bytes    (const StrategySpec *spec, Precision precision, gboolean half);
