/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/strategy.h"

extern const Strategy strategy_single;
extern const Strategy strategy_ddp;
extern const Strategy strategy_flat;
extern const Strategy strategy_data_parallel;   /* nn.DataParallel: one-process.c */
