/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>
#include <stdint.h>

typedef uint32_t Id;    /* an index in an array; 0: none */
typedef uint64_t Tick;  /* integer time; run/ says what one is: 1 ps in a step */
