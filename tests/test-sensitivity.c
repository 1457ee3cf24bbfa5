/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/run.h"
#include "run/sensitivity.h"
#include <math.h>

/* Properties that hold for any model made of durations: all of them three times
 * as long make the step three times as long; the sensitivities add up to 1
 * (Euler's theorem for a function homogeneous of degree 1), but for kinks. */

static Point *
load (const char *name)
{
  g_autofree char *path = g_strdup_printf ("%s/scenarios/%s.ini", g_getenv ("LOCKSTEP_SOURCE"), name);
  g_autoptr (GError) error = NULL;
  Scenario *scenario = scenario_load (path, NULL, &error);
  Point *point;

  g_assert_no_error (error);
  point = point_new (scenario, &error);
  g_assert_no_error (error);
  return point;
}

static void
unload (Point *point)
{
  Scenario *scenario = (Scenario *) point->scenario;

  point_free (point);
  scenario_free (scenario);
}

static void
test_sum (gconstpointer name)
{
  Point *point = load (name);
  NamedTime *list = NULL;
  guint n = 0;
  double sum = 0;

  g_assert_true (sensitivity_list (point, &list, &n, NULL));
  for (guint i = 0; i < n; i++)
    {
      g_test_message ("%s %s %.4f", (const char *) name, list[i].name, list[i].seconds);
      g_assert_cmpfloat (list[i].seconds, >, -1e-3);   /* longer is never faster */
      g_assert_cmpfloat (list[i].seconds, <, 1.001);   /* nor by more than itself */
      sum += list[i].seconds;
      g_free (list[i].name);
    }
  g_free (list);
  g_assert_cmpfloat_with_epsilon (sum, 1, 0.03);
  unload (point);
}

/* A ring of 16 ranks over 25 GB/s that crosses uplinks just as wide: 2 x 15/16 x 4 B x
 * 354,823,168 parameters / 25 GB/s = 106.45 ms of bytes, 30 latencies of 5 us and 0.2 ms
 * of launch behind 3 ms of host: 109.8 ms.  Cards, or uplinks, 1 % slower alone are
 * 1.06 ms: 0.970 of it each, though 1 % faster ones would change nothing. */
static void
test_equally_narrow (void)
{
  static const char *const names[] = { "nic", "leaf-up", "leaf-down", NULL };
  Point *point = load ("fat-tree-scattered");
  NamedTime *list = NULL;
  guint n = 0, found = 0;

  g_assert_true (sensitivity_list (point, &list, &n, NULL));
  for (guint i = 0; i < n; i++)
    {
      if (g_strv_contains (names, list[i].name))
        {
          g_assert_cmpfloat_with_epsilon (list[i].seconds, 0.970, 0.005);
          found++;
        }
      g_free (list[i].name);
    }
  g_free (list);
  g_assert_cmpuint (found, ==, 3);
  unload (point);
}

static void
test_three_times (gconstpointer name)
{
  Point *point = load (name);
  double once, thrice;

  g_assert_true (sensitivity_all (point, 1, &once, NULL));
  g_assert_true (sensitivity_all (point, 3, &thrice, NULL));
  g_assert_cmpfloat_with_epsilon (thrice / once, 3, 1e-7);   /* ticks round */
  unload (point);
}

int
main (int argc, char **argv)
{
  static const char *const names[] = { "ddp-5x8", "ddp-5x8-reduction-server", "mwms-4x4", "resnet50-dgx-a100", "mirrored-small-batch" };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sensitivity/equally-narrow", test_equally_narrow);
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *sum = g_strdup_printf ("/sensitivity/sum/%s", names[i]);
      g_autofree char *thrice = g_strdup_printf ("/sensitivity/three-times/%s", names[i]);

      g_test_add_data_func (sum, names[i], test_sum);
      g_test_add_data_func (thrice, names[i], test_three_times);
    }
  return g_test_run ();
}
