/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "noise-apart.h"

/* Drawn steps against a Monte Carlo of its own (noise-apart.h), which gives all the
 * expected values here: its draws are so many that they are off by a tenth of what is
 * allowed. */

typedef struct { const char *path; Drawing shape; double kernel_cv, step_cv; int distribution; guint apart, each; } Row;   /* steps */
static const Row rows[] = {
  { "64",             { 64, FALSE, 9, 3, 0.2, FALSE }, 0.08, 0.06, NOISE_LOGNORMAL, 4000, 2000 },
  { "512",            { 512, FALSE, 9, 3, 0.2, FALSE }, 0.08, 0.06, NOISE_LOGNORMAL, 2000, 250 },
  { "4096",           { 4096, FALSE, 9, 3, 0.2, FALSE }, 0.08, 0.06, NOISE_LOGNORMAL, 400 },
  { "normal-512",     { 512, FALSE, 9, 3, 0.2, FALSE }, 0.08, 0.06, NOISE_NORMAL, 2000 },
  { "kernels-4096",   { 4096, FALSE, 8, 4, 0.05, FALSE }, 0.15, 0, NOISE_LOGNORMAL, 400 },
  { "steps-4096",     { 4096, FALSE, 2, 2, 0.3, FALSE }, 0, 0.1, NOISE_NORMAL, 1000 },
  { "kernels-256",    { 256, FALSE, 60, 1, 0, FALSE }, 0.2, 0, NOISE_LOGNORMAL, 200 },
};

/* Ranks alike, of which the slowest is drawn: mean within 1 %, 95 % within 3 %. */
static void
test_slowest (gconstpointer data)
{
  const Row *row = data;
  const NoiseSpec spec = spec_of (row->kernel_cv, row->step_cv, row->distribution);
  const Drawn want = apart_draw (&row->shape, &spec, row->apart), got = draw (&row->shape, &spec, 2000);

  g_test_message ("mean %.5f, apart %.5f; p95 %.5f, apart %.5f", got.mean, want.mean, got.p95, want.p95);
  g_assert_cmpfloat_with_epsilon (got.mean, want.mean, 0.01 * want.mean);
  g_assert_cmpfloat_with_epsilon (got.p95, want.p95, 0.03 * want.p95);
}

/* Every rank drawn: another generator and loop is all that differs. */
static void
test_each (gconstpointer data)
{
  const Row *row = data;
  const NoiseSpec spec = spec_of (row->kernel_cv, row->step_cv, row->distribution);
  Drawing shape = row->shape;
  Drawn want, got;

  shape.each = TRUE;
  want = apart_draw (&shape, &spec, row->apart);
  got = draw (&shape, &spec, row->each);
  g_test_message ("mean %.5f, apart %.5f; p95 %.5f, apart %.5f", got.mean, want.mean, got.p95, want.p95);
  g_assert_cmpfloat_with_epsilon (got.mean, want.mean, 0.005 * want.mean);
  g_assert_cmpfloat_with_epsilon (got.p95, want.p95, 0.02 * want.p95);
}

/* Work of mean 1 and CV 0.4 a rank and step, one meeting: the efficiency 1/mean within
 * 0.3 points, of the slowest and of every rank. */
static void
test_efficiency (void)
{
  for (guint64 ranks = 8; ranks <= 32; ranks *= 2)
    for (int distribution = NOISE_LOGNORMAL; distribution <= NOISE_NORMAL; distribution++)
      {
        const NoiseSpec spec = spec_of (0, 0.4, distribution);
        const Drawing folded = { ranks, FALSE, 1, 1, 0, FALSE }, each = { ranks, TRUE, 1, 1, 0, FALSE };
        const double want = 100 / apart_draw (&folded, &spec, 50000).mean;

        g_assert_cmpfloat_with_epsilon (100 / draw (&folded, &spec, 20000).mean, want, 0.3);
        g_assert_cmpfloat_with_epsilon (100 / draw (&each, &spec, 20000).mean, want, 0.3);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *slowest = g_strdup_printf ("/noise-apart/slowest/%s", rows[i].path);
      g_autofree char *each = g_strdup_printf ("/noise-apart/each/%s", rows[i].path);

      g_test_add_data_func (slowest, &rows[i], test_slowest);
      if (rows[i].each > 0)
        g_test_add_data_func (each, &rows[i], test_each);
    }
  g_test_add_func ("/noise-apart/efficiency", test_efficiency);
  return g_test_run ();
}
