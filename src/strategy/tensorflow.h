/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/strategy.h"

extern const Strategy strategy_mirrored;
extern const Strategy strategy_multi_worker_mirrored;
extern const Strategy strategy_replicated;         /* TensorFlow 1, tf_cnn_benchmarks */
extern const Strategy strategy_parameter_server;   /* TensorFlow 1: parameter-server.c */
