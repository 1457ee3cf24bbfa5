/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/buckets.h"

/* Five layers of lumpy tensors, in elements; fp32 gradients of 4 bytes. */
static const double a[] = { 900, 100 }, b[] = { 300 }, c[] = { 250, 50 }, d[] = { 7000 }, e[] = { 40 };
static Layer layers[] = {
  { .name = "a", .n_tensors = 2, .tensors = a, .params = 1000 },
  { .name = "b", .n_tensors = 1, .tensors = b, .params = 300 },
  { .name = "c", .n_tensors = 2, .tensors = c, .params = 300 },
  { .name = "d", .n_tensors = 1, .tensors = d, .params = 7000 },
  { .name = "e", .n_tensors = 1, .tensors = e, .params = 40 },
};
static const Workload workload = { .n_layers = 5, .layers = layers };

static void
assert_bucket (const GArray *buckets, guint i, double elements, double largest, guint first, guint last)
{
  const Bucket *bucket = &g_array_index (buckets, Bucket, i);

  g_assert_cmpfloat_with_epsilon (bucket->elements, elements, 1e-9);
  g_assert_cmpfloat_with_epsilon (bucket->largest, largest, 1e-9);
  g_assert_cmpuint (bucket->first, ==, first);
  g_assert_cmpuint (bucket->last, ==, last);
}

/* Ready order: e 40, d 7000, c 50, 250, b 300, a 100, 900.  First cap 100 B: e has
 * 160 >= 100, closes.  Then cap 1,200 B = 300 elements: d overshoots (28,000 B);
 * 50 + 250 = 300 closes at exactly the cap; 300; 100 + 900. */
static void
test_ddp (void)
{
  g_autoptr (GArray) buckets = buckets_by_size (&workload, 4, 100, 1200);

  g_assert_cmpuint (buckets->len, ==, 5);
  assert_bucket (buckets, 0, 40, 40, 4, 4);
  assert_bucket (buckets, 1, 7000, 7000, 3, 3);
  assert_bucket (buckets, 2, 300, 250, 2, 2);
  assert_bucket (buckets, 3, 300, 300, 1, 1);
  assert_bucket (buckets, 4, 1000, 900, 0, 0);
}

/* Two-byte gradients: e has 80 B, under the first cap: d joins it; then 600 elements:
 * c 300 and b 300 together; the rest stays in the last. */
static void
test_half (void)
{
  g_autoptr (GArray) buckets = buckets_by_size (&workload, 2, 100, 1200);

  g_assert_cmpuint (buckets->len, ==, 3);
  assert_bucket (buckets, 0, 7040, 7000, 4, 3);
  assert_bucket (buckets, 1, 600, 300, 2, 1);
  assert_bucket (buckets, 2, 1000, 900, 0, 0);
}

/* TensorFlow: 0 is one pack; else a pack closes once it is LARGER: 300 elements
 * are exactly 1,200 B and stay open for b. */
static void
test_packs (void)
{
  g_autoptr (GArray) one = buckets_by_pack (&workload, 4, 0);
  g_autoptr (GArray) packs = buckets_by_pack (&workload, 4, 1200);

  g_assert_cmpuint (one->len, ==, 1);
  assert_bucket (one, 0, 8640, 7000, 4, 0);
  g_assert_cmpuint (packs->len, ==, 3);
  assert_bucket (packs, 0, 7040, 7000, 4, 3);
  assert_bucket (packs, 1, 600, 300, 2, 1);
  assert_bucket (packs, 2, 1000, 900, 0, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/buckets/ddp", test_ddp);
  g_test_add_func ("/buckets/two-byte", test_half);
  g_test_add_func ("/buckets/packs", test_packs);
  return g_test_run ();
}
