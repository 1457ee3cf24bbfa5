/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/random.h"
#include <glib.h>
#include <math.h>

/* Known answers: Random123 1.14, tests/kat_vectors, philox4x32 10. */
static const struct { uint32_t counter[4], key[2], out[4]; } known[] = {
  { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
  { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff }, { 0xffffffff, 0xffffffff },
    { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
  { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }, { 0xa4093822, 0x299f31d0 },
    { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
};

static void
test_known (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    {
      uint32_t out[4];

      random_philox (known[i].counter, known[i].key, out);
      for (int j = 0; j < 4; j++)
        g_assert_cmphex (out[j], ==, known[i].out[j]);
    }
}

/* Every part of the key opens another stream; the same key the same draw. */
static void
test_streams (void)
{
  const RandomKey keys[] = {
    { 0, 0, 0, 0 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 },
    { (uint64_t) 1 << 40, 0, 0, 0 }, { 0, (uint64_t) 1 << 40, 0, 0 },
    { 0, 0, (uint64_t) 1 << 40, 0 }, { 0, 0, 0, (uint64_t) 1 << 40 },
  };
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    for (uint64_t index = 0; index < 1000; index++)
      {
        gint64 *bits = g_new (gint64, 1);

        *bits = (gint64) random_bits (&keys[i], index);
        g_assert_cmphex ((guint64) *bits, ==, random_bits (&keys[i], index));
        g_assert_true (g_hash_table_add (seen, bits));
      }
}

/* n draws of a uniform variate: the mean is within 5 deviations sqrt (1/12n)
 * of 1/2, the variance within 5 of sqrt (1/180n) of 1/12. */
static void
test_uniform (void)
{
  const RandomKey key = { .seed = 11, .run = 3, .entity = 77, .purpose = 5 };
  const int n = 200000;
  double sum = 0, squares = 0;

  for (int i = 0; i < n; i++)
    {
      const double u = random_uniform (&key, (uint64_t) i);

      g_assert_true (u > 0.0 && u < 1.0);
      sum += u;
      squares += (u - 0.5) * (u - 0.5);
    }
  g_assert_cmpfloat_with_epsilon (sum / n, 0.5, 5 * sqrt (1.0 / 12 / n));
  g_assert_cmpfloat_with_epsilon (squares / n, 1.0 / 12, 5 * sqrt (1.0 / 180 / n));
}

/* The first two are Wichura's own check values (1988, p. 479); the others
 * are from tables of the normal distribution to 10 digits. */
static void
test_quantile (void)
{
  static const struct { double p, x; } rows[] = {
    { 0.25, -0.6744897501960817 }, { 0.001, -3.090232306167814 }, { 1e-20, -9.262340089798408 },
    { 0.5, 0.0 }, { 0.975, 1.959963984540054 }, { 0.95, 1.644853626951473 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpfloat_with_epsilon (random_normal_quantile (rows[i].p), rows[i].x, 1e-14);
  /* Property: the quantile undoes the distribution, P (x) = erfc (-x / sqrt 2) / 2. */
  for (double p = 0.0007; p < 1.0; p += 0.0131)
    g_assert_cmpfloat_with_epsilon (0.5 * erfc (-random_normal_quantile (p) / sqrt (2.0)), p, 1e-14);
}

/* Mean within 5/sqrt n, variance within 5 sqrt (2/n), and the share beyond
 * 1.96 is 5 % within 5 of its own deviations. */
static void
test_normal (void)
{
  const RandomKey key = { .seed = 2, .run = 0, .entity = 9, .purpose = 1 };
  const int n = 200000;
  double sum = 0, squares = 0;
  int outside = 0;

  for (int i = 0; i < n; i++)
    {
      const double x = random_normal (&key, (uint64_t) i);

      g_assert_true (isfinite (x));
      sum += x;
      squares += x * x;
      outside += fabs (x) > 1.959963984540054;
    }
  g_assert_cmpfloat_with_epsilon (sum / n, 0.0, 5 / sqrt (n));
  g_assert_cmpfloat_with_epsilon (squares / n, 1.0, 5 * sqrt (2.0 / n));
  g_assert_cmpfloat_with_epsilon ((double) outside / n, 0.05, 5 * sqrt (0.05 * 0.95 / n));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/random/philox/known-answers", test_known);
  g_test_add_func ("/random/streams", test_streams);
  g_test_add_func ("/random/uniform", test_uniform);
  g_test_add_func ("/random/normal/quantile", test_quantile);
  g_test_add_func ("/random/normal/moments", test_normal);
  return g_test_run ();
}
