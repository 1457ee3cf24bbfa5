/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps of ranks that spread, drawn by the program (of ranks alike the slowest; up to
 * 4,096 also each) and by the Monte Carlo of the tests, with enough steps to see a thousandth:
 * CSV with mean, 95 % and the CPU time of a drawn step. */
#include "bench.h"
#include "../noise-apart.h"
#include <stdio.h>

typedef struct { Drawing shape; double kernel_cv, step_cv; int distribution; guint apart, slowest, each; } Row;   /* steps; 0: not done */

typedef Drawn (*DrawSteps) (const Drawing *shape, const NoiseSpec *spec, guint steps);

static void
print (const Row *row, const char *how, DrawSteps draw_steps, gboolean each, guint steps)
{
  const NoiseSpec spec = spec_of (row->kernel_cv, row->step_cv, row->distribution);
  const double start = bench_cpu ();
  Drawing shape = row->shape;
  Drawn drawn;
  double cpu;

  shape.each = each;
  drawn = draw_steps (&shape, &spec, steps);
  cpu = bench_cpu () - start;
  printf ("%" G_GUINT64_FORMAT ",%u,%u,%g,%g,%s,%s,%u,%.6f,%.6f,%.3g\n", row->shape.ranks, row->shape.kernels, row->shape.buckets,
          row->kernel_cv, row->step_cv, row->distribution == NOISE_NORMAL ? "normal" : "lognormal", how, steps, drawn.mean, drawn.p95,
          cpu / steps);
  fflush (stdout);
}

static void
measure (gconstpointer data)
{
  const Row *row = data;

  print (row, "apart", apart_draw, FALSE, row->apart);
  print (row, "slowest", draw, FALSE, row->slowest);
  if (row->each > 0)
    print (row, "each", draw, TRUE, row->each);
}

int
main (void)
{
  static const Row rows[] = {
    { { 64, FALSE, 9, 3, 0.2, FALSE }, 0.08, 0.06, NOISE_LOGNORMAL, 50000, 50000, 20000 },
    { { 512, FALSE, 9, 3, 0.2, FALSE }, 0.08, 0.06, NOISE_LOGNORMAL, 20000, 20000, 4000 },
    { { 512, FALSE, 9, 3, 0.2, FALSE }, 0.08, 0.06, NOISE_NORMAL, 20000, 20000, 4000 },
    { { 1024, FALSE, 500, 1, 0, FALSE }, 0.02, 0, NOISE_LOGNORMAL, 200, 2000, 0 },
    { { 4096, FALSE, 9, 3, 0.2, FALSE }, 0.08, 0.06, NOISE_LOGNORMAL, 5000, 20000, 200 },
    { { 65536, FALSE, 9, 3, 0.2, FALSE }, 0.08, 0.06, NOISE_LOGNORMAL, 300, 20000, 0 },
  };

  printf ("ranks,kernels,buckets,kernel_cv,step_cv,distribution,drawn,steps,mean_s,p95_s,cpu_s_a_step\n");
  fflush (stdout);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    bench_apart (measure, &rows[i]);
  return 0;
}
