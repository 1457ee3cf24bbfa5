/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "fuzz.h"
#include "scenario/scenario.h"
#include "scenario/values.h"

static const char head[] = "[cluster]\nmachine = dgx-a100\nnodes = 3\n[workload]\nname = resnet50\n"
                           "[training]\nbatch-per-gpu = 37\n[strategy]\nkind = ddp\n";

const char *const fuzz_seeds[] = {
  "# Why?\n[cluster]\nmachine = dgx-a100\nnodes = 3\n[workload]\nname = resnet50\n[training]\nglobal-batch = 960\n"
  "[strategy]\nkind = ddp\nbucket-size = 25 MiB\n[collective]\nalgorithm = ring\n[sweep]\ncluster.nodes = 1..64 x2\n"
  "strategy.bucket-size = 1..64 MiB x4, 3 MB\n[measured]\n4x8 = 0.167 s\n2x8 = 5000 samples/s\n",
  "[scenario]\ntitle = T\nquestion = Q\ninclude = none.ini\n[cluster]\nmachine = x\n",
  "[sweep]\ncluster.nodes = 0..64 +8, 7\ntraining.global-batch = 8..512 x2\n",
  "[measured]\n1x1 = 3 ms\n", "[network]\nlatency = 5 us\n[reduction-server]\ncount = 16\n",
  "1, 2, 4..1e9 x1.0001", "sweep.cluster.nodes=1, 2", "training.global-batch=96", NULL
};

static void
check_message (const GError *error)
{
  g_assert_nonnull (error);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  if (strpbrk (error->message, "\n\r\x1b") != NULL)
    g_error ("not one clean line: %s", error->message);
}

static void
count_value (gpointer user, G_GNUC_UNUSED const char *group, G_GNUC_UNUSED const char *key, const char *text,
             const char *where)
{
  g_assert_true (text != NULL && where != NULL);
  ++*(guint *) user;
}

static void
check_scenario (Scenario *scenario, GError **error)
{
  guint n = 0;

  if (scenario == NULL)
    {
      check_message (*error);
      return;
    }
  g_assert_no_error (*error);
  g_assert_true ((scenario->training.batch_per_gpu == 0) != (scenario->training.global_batch == 0));
  scenario_values (scenario, count_value, &n);
  g_assert_cmpuint (n, >, 30);
  scenario_free (scenario);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL, set_error = NULL, behind_error = NULL, list_error = NULL;
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autofree char *behind = g_strconcat (head, text, NULL);
  const char *const sets[] = { text, NULL };
  g_autoptr (Scenario) whole = scenario_parse ("fuzz.ini", head, sizeof head - 1, NULL, NULL);
  g_auto (GStrv) values = values_expand (text, 1000, NULL, &list_error);

  check_scenario (scenario_parse ("fuzz.ini", (const char *) data, size, NULL, &error), &error);
  check_scenario (scenario_parse ("fuzz.ini", behind, strlen (behind), NULL, &behind_error), &behind_error);
  check_scenario (scenario_with (whole, sets, &set_error), &set_error);
  if (values == NULL)
    g_assert_nonnull (list_error);
  else
    g_assert_cmpuint (g_strv_length (values), <=, 1000);
  return 0;
}
