/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/batch.h"

typedef struct { const char *name; TrainingSpec spec; guint64 gpus, per_gpu, accumulation, global; } Case;
static const Case cases[] = {
  /* 960/8 = 120 over 64: two micro-steps of 60 */
  { "two-micro-steps", { .global_batch = 960, .batch_per_gpu_max = 64 }, 8, 60, 2, 960 },
  /* 960 on one GPU: the smallest m with 960/m <= 64 that divides is 15 */
  { "one-gpu", { .global_batch = 960, .batch_per_gpu_max = 64 }, 1, 64, 15, 960 },
  /* 94/1 with at most 40: 2 x 47 is too much; 94 has the divisors 1, 2, 47, 94: 47 micro-steps of 2 */
  { "awkward-divisors", { .global_batch = 94, .batch_per_gpu_max = 40 }, 1, 2, 47, 94 },
  { "fits", { .global_batch = 960, .batch_per_gpu_max = 64 }, 40, 24, 1, 960 },
  { "given", { .global_batch = 3840, .accumulation = 4 }, 40, 24, 4, 3840 },
  { "weak", { .batch_per_gpu = 32 }, 16, 32, 1, 512 },
  { "weak-accumulated", { .batch_per_gpu = 32, .accumulation = 3 }, 16, 32, 3, 1536 },
};

static void
test_resolve (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GError) error = NULL;
  Batch batch;

  g_assert_true (batch_resolve (&c->spec, c->gpus, &batch, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (batch.per_gpu, ==, c->per_gpu);
  g_assert_cmpuint (batch.accumulation, ==, c->accumulation);
  g_assert_cmpuint (batch.global, ==, c->global);
}

/* lcm (8, 16, 24, 32, 40) = 480: 960 and 1440 are the multiples around 961. */
static void
test_refuse (void)
{
  static const guint64 gpus[] = { 8, 16, 24, 32, 40 };
  const TrainingSpec spec = { .global_batch = 961 }, small = { .global_batch = 7 }, thirds = { .global_batch = 1000, .accumulation = 3 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) least = NULL;
  g_autoptr (GError) micro = NULL;

  g_assert_false (batch_check (&spec, gpus, G_N_ELEMENTS (gpus), &error));
  g_assert_error (error, KEYS_ERROR, KEYS_ERROR_VALUE);
  g_assert_nonnull (strstr (error->message, "960 and 1440"));
  g_assert_false (batch_check (&small, gpus, G_N_ELEMENTS (gpus), &least));
  g_assert_nonnull (strstr (least->message, "480"));
  /* 1000 divides over 40 GPUs, not over 3 micro-steps on each */
  g_assert_false (batch_check (&thirds, gpus + 4, 1, &micro));
  g_assert_nonnull (strstr (micro->message, "40 GPUs in 3 micro-steps; 960 and 1080 would"));
}

/* Numbers of GPUs without a common multiple below 2^53: an error, not an overflow. */
static void
test_no_multiple (void)
{
  static const guint64 gpus[] = { 999999937, 999999929, 999999893 };
  const TrainingSpec spec = { .global_batch = 1000 };
  g_autoptr (GError) error = NULL;

  g_assert_false (batch_check (&spec, gpus, G_N_ELEMENTS (gpus), &error));
  g_assert_error (error, KEYS_ERROR, KEYS_ERROR_VALUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/batch/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_resolve);
    }
  g_test_add_func ("/batch/refuse", test_refuse);
  g_test_add_func ("/batch/no-common-multiple", test_no_multiple);
  return g_test_run ();
}
