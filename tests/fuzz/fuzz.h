/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* What each fuzz-NAME.c gives: the entry, by the name that libFuzzer looks
 * for, and texts to start from (NULL ends). */
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);
extern const char *const fuzz_seeds[];
