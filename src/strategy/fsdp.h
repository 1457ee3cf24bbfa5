/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/strategy.h"

extern const Strategy strategy_fsdp;
