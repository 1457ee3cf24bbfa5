/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/names.h"
#include "base/precision.h"
#include <string.h>

static const char *const keys[] = { "nic-bandwidth", "latency", "transport", "nodes", "gpu", "gpus-per-node", NULL };

typedef struct { const char *name, *typed, *near; } Case;

/* Edits counted by hand; at most a third of the longer name. */
static const Case cases[] = {
  { "left-out", "nic-bandwith", "nic-bandwidth" },       /* 1 of 13 */
  { "swapped", "ndoes", "nodes" },                       /* 1 of 5, a swap is one edit */
  { "two-swaps", "ndose", NULL },                        /* 2 of 5 is more than a third */
  { "case", "GPU", "gpu" },
  { "underscore", "gpus_per_node", "gpus-per-node" },
  { "one-of-three", "gpx", "gpu" },
  { "two-of-three", "gxx", NULL },
  { "far", "momentum", NULL },
  { "nothing", "", NULL },
  { "exact", "latency", "latency" },
};

static void
test_nearest (gconstpointer data)
{
  const Case *row = data;

  g_assert_cmpstr (names_nearest (row->typed, keys), ==, row->near);
}

static void
test_long (void)
{
  g_autofree char *typed = g_strnfill (1000000, 'n');

  g_assert_null (names_nearest (typed, keys));
}

static void
test_unknown (void)
{
  static const char *const many[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p",
                                     "q", "r", "s", "t", "u", "v", NULL };
  static const char *const none[] = { NULL };
  g_autofree char *near = names_unknown ("key", "latencyy", keys);
  g_autofree char *far = names_unknown ("key", "momentum", keys);
  g_autofree char *cut = names_unknown ("letter", "omega", many);
  g_autofree char *empty = names_unknown ("machine", "x", none);

  g_assert_cmpstr (near, ==, "unknown key 'latencyy'; did you mean 'latency'?");
  g_assert_cmpstr (far, ==, "unknown key 'momentum'; there are: nic-bandwidth, latency, transport, nodes, gpu, gpus-per-node");
  g_assert_cmpstr (cut, ==, "unknown letter 'omega'; there are: a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t and 2 more");
  g_assert_cmpstr (empty, ==, "unknown machine 'x'; there is none");
}

static void
test_quote (void)
{
  g_autofree char *line = names_quote ("a\nb\x1b[1m\xc3\xa9\xff");
  g_autofree char *text = g_strnfill (100, 'x');
  g_autofree char *cut = names_quote (text);

  g_assert_cmpstr (line, ==, "'a\\x0ab\\x1b[1m\xc3\xa9\\xff'");
  g_assert_cmpuint (strlen (cut), ==, 60 + 3 + 2);
  g_assert_true (g_str_has_suffix (cut, "xxx...'"));
}

static void
test_precision (void)
{
  for (int i = 0; i < N_PRECISIONS; i++)
    g_assert_nonnull (precision_names[i]);
  g_assert_null (precision_names[N_PRECISIONS]);
  g_assert_cmpstr (precision_names[PRECISION_MIXED_BF16], ==, "mixed-bf16");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/names/nearest/%s", cases[i].name);
      g_test_add_data_func (path, &cases[i], test_nearest);
    }
  g_test_add_func ("/names/nearest/long", test_long);
  g_test_add_func ("/names/unknown", test_unknown);
  g_test_add_func ("/names/quote", test_quote);
  g_test_add_func ("/names/precision", test_precision);
  return g_test_run ();
}
