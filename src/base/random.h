/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <stdint.h>

/* Counter-based random numbers (Salmon et al. 2011, Philox-4x32-10): draw i of a
 * stream is a pure function of the key, so the order of events changes nothing. */
typedef struct { uint64_t seed, run, entity, purpose; } RandomKey;
/* The part of a key that all draws of one stream share, worked out once. */
typedef struct { uint64_t key, high; } RandomStream;
RandomStream random_stream (const RandomKey *key);
double   random_stream_normal (const RandomStream *stream, uint64_t index);   /* the same numbers as by the key */
void     random_philox  (const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
uint64_t random_bits    (const RandomKey *key, uint64_t index);
double   random_uniform (const RandomKey *key, uint64_t index);  /* (0, 1) */
double   random_normal  (const RandomKey *key, uint64_t index);  /* mean 0, deviation 1; inverse distribution (gsl-free rational approximation, Wichura 1988) */
/* The value that a normal variate stays below with probability p in (0, 1). */
double   random_normal_quantile (double p);
