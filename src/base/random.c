/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/random.h"
#include <math.h>

/* Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC11, section 3.3: multipliers, Weyl increments of the key, ten rounds. */
#define PHILOX_M0 0xD2511F53u
#define PHILOX_M1 0xCD9E8D57u
#define PHILOX_W0 0x9E3779B9u
#define PHILOX_W1 0xBB67AE85u
#define PHILOX_ROUNDS 10

void
random_philox (const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  uint32_t k0 = key[0], k1 = key[1];

  for (int round = 0; round < PHILOX_ROUNDS; round++)
    {
      const uint64_t p0 = (uint64_t) PHILOX_M0 * c0;
      const uint64_t p1 = (uint64_t) PHILOX_M1 * c2;

      c0 = (uint32_t) (p1 >> 32) ^ c1 ^ k0;
      c1 = (uint32_t) p1;
      c2 = (uint32_t) (p0 >> 32) ^ c3 ^ k1;
      c3 = (uint32_t) p0;
      k0 += PHILOX_W0;
      k1 += PHILOX_W1;
    }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

typedef struct { uint64_t low, high; } Block;

static Block
philox_64 (uint64_t low, uint64_t high, uint64_t key)
{
  const uint32_t counter[4] = { (uint32_t) low, (uint32_t) (low >> 32), (uint32_t) high, (uint32_t) (high >> 32) };
  const uint32_t keys[2] = { (uint32_t) key, (uint32_t) (key >> 32) };
  uint32_t out[4];

  random_philox (counter, keys, out);
  return (Block) { out[0] | (uint64_t) out[1] << 32, out[2] | (uint64_t) out[3] << 32 };
}

/* Key and index are wider than one counter and key of Philox.  The first block
 * is a bijection of (run, entity) under the seed, so two streams meet only if
 * 128 bits do. */
RandomStream
random_stream (const RandomKey *key)
{
  const Block block = philox_64 (key->run, key->entity, key->seed);

  return (RandomStream) { block.low, block.high ^ key->purpose };
}

static uint64_t
stream_bits (const RandomStream *stream, uint64_t index)
{
  return philox_64 (index, stream->high, stream->key).low;
}

uint64_t
random_bits (const RandomKey *key, uint64_t index)
{
  const RandomStream stream = random_stream (key);

  return stream_bits (&stream, index);
}

/* 52 bits and a half: neither 0 nor 1 can come out. */
static double
stream_uniform (const RandomStream *stream, uint64_t index)
{
  return ((double) (stream_bits (stream, index) >> 12) + 0.5) * 0x1p-52;
}

double
random_uniform (const RandomKey *key, uint64_t index)
{
  const RandomStream stream = random_stream (key);

  return stream_uniform (&stream, index);
}

static double
polynomial (const double *c, double x)
{
  double sum = c[7];

  for (int i = 6; i >= 0; i--)
    sum = sum * x + c[i];
  return sum;
}

/* Wichura 1988, algorithm AS 241, PPND16: about 1 part in 1e16. */
double
random_normal_quantile (double p)
{
  static const double a[8] = { 3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
    1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4,
    2.5090809287301226727e+3 };
  static const double b[8] = { 1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
    2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3 };
  static const double c[8] = { 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
    3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2,
    7.74545014278341407640e-4 };
  static const double d[8] = { 1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
    1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9 };
  static const double e[8] = { 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
    2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5,
    2.01033439929228813265e-7 };
  static const double f[8] = { 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
    7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15 };
  const double q = p - 0.5;

  if (fabs (q) <= 0.425)
    {
      const double r = 0.180625 - q * q;
      return q * polynomial (a, r) / polynomial (b, r);
    }
  const double r = sqrt (-log (q < 0 ? p : 1.0 - p));
  const double x = r <= 5.0 ? polynomial (c, r - 1.6) / polynomial (d, r - 1.6)
                            : polynomial (e, r - 5.0) / polynomial (f, r - 5.0);
  return q < 0 ? -x : x;
}

double
random_stream_normal (const RandomStream *stream, uint64_t index)
{
  return random_normal_quantile (stream_uniform (stream, index));
}

double
random_normal (const RandomKey *key, uint64_t index)
{
  return random_normal_quantile (random_uniform (key, index));
}
