/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/collective.h"
#include "study/study.h"
#include <string.h>

/* This program replaces collective_estimate () by a constant.  A step with a
 * forced algorithm and protocol must keep its bits: nothing but `auto` and the
 * `collective` command may read an estimate. */

static guint asked;

double
collective_estimate (const CollectiveFlow *flow, const Network *network, double size)
{
  (void) flow;
  (void) network;
  (void) size;
  asked++;
  return 0.12345;
}

/* Against the program that estimates. */
static void
test_forced (void)
{
  static const char *const forced[] = { "collective.algorithm=ring", "collective.protocol=simple", "cluster.nodes=3", NULL };
  const RunOptions options = { .what_if = TRUE, .one_gpu = TRUE };
  g_autofree char *path = g_build_filename (g_getenv ("LOCKSTEP_SOURCE"), "scenarios", "ddp-5x8.ini", NULL);
  g_autofree char *lockstep = g_strdup (g_getenv ("LOCKSTEP_PROGRAM"));
  g_autofree char *out = NULL, *step = NULL;
  char *argv[] = { lockstep, (char *) "run", (char *) "--format=csv", (char *) "--set", (char *) forced[0], (char *) "--set",
                   (char *) forced[1], (char *) "--set", (char *) forced[2], path, NULL };
  g_autoptr (Scenario) scenario = scenario_load (path, forced, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (Result) r = run_scenario (scenario, &options, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (asked, ==, 0);
  step = g_strdup_printf (",%.9g,", r->step_time);
  g_assert_true (g_spawn_sync (NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, NULL, NULL, &error));
  g_assert_no_error (error);
  if (strstr (out, step) == NULL)
    g_error ("with estimates the step is in\n%s, without%s", out, step);
}

/* The replacement is really in place: `auto` across nodes asks it. */
static void
test_auto (void)
{
  static const char *const automatic[] = { "collective.algorithm=auto", "collective.protocol=auto", "cluster.nodes=3", NULL };
  const RunOptions options = { 0 };
  g_autofree char *path = g_build_filename (g_getenv ("LOCKSTEP_SOURCE"), "scenarios", "ddp-5x8.ini", NULL);
  g_autoptr (Scenario) scenario = scenario_load (path, automatic, NULL);
  g_autoptr (Result) r = run_scenario (scenario, &options, NULL);

  g_assert_nonnull (r);
  g_assert_cmpuint (asked, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/estimate-blind/forced", test_forced);
  g_test_add_func ("/estimate-blind/auto", test_auto);
  return g_test_run ();
}
