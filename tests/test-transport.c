/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "network/spec.h"
#include "network/transport.h"

static void
test_all_parts_load (void)
{
  g_auto (GStrv) names = part_list ("transport");

  g_assert_cmpuint (g_strv_length (names), >=, 7);
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Transport) t = transport_load (names[i], &error);

      g_assert_no_error (error);
      g_assert_cmpstr (t->summary, !=, NULL);
      for (int p = 0; p < N_PROTOCOLS; p++)
        {
          g_assert_cmpfloat (t->hop[p], >, 0);
          g_assert_cmpfloat (t->share[p], <=, 1);
        }
      g_assert_cmpstr (transport_origin (t, "hop-simple").text, !=, NULL);
    }
}

static void
test_values (void)
{
  g_autoptr (Transport) tcp = transport_load ("tcp", NULL), nvlink = transport_load ("nvlink", NULL);
  g_autoptr (Transport) plain = transport_load ("ideal", NULL);   /* an alias */

  g_assert_cmpfloat_with_epsilon (tcp->efficiency_one, 0.95, 1e-12);
  g_assert_cmpfloat_with_epsilon (tcp->efficiency_several, 0.56, 1e-12);
  g_assert_cmpint (transport_origin (tcp, "efficiency-several-gpus").kind, ==, ORIGIN_MEASURED);
  g_assert_cmpint (transport_origin (tcp, "server-sum-rate").kind, ==, ORIGIN_ASSUMED);
  g_assert_cmpstr (plain->name, ==, "plain");
  g_assert_cmpfloat_with_epsilon (plain->fill + plain->ramp, 0, 1e-15);
  g_assert_true (isnan (plain->local_ratio) && isnan (plain->blend));
}

/* Fits of nccl-tests on 2, 4 and 8 A100: plateaus 190, 217, 228 GB/s, one B of 268. */
static void
test_asymptote (void)
{
  g_autoptr (Transport) nvlink = transport_load ("nvlink", NULL);

  g_assert_cmpfloat_with_epsilon (transport_asymptote (nvlink, 190e9, 2), 268e9, 0.06 * 268e9);
  g_assert_cmpfloat_with_epsilon (transport_asymptote (nvlink, 217e9, 4), 268e9, 0.06 * 268e9);
  g_assert_cmpfloat_with_epsilon (transport_asymptote (nvlink, 228e9, 8), 268e9, 0.06 * 268e9);
}

static void
test_unknown (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (transport_load ("nvlnk", &error));
  g_assert_nonnull (strstr (error->message, "nvlink"));
}

static void
test_servers_needed (void)
{
  g_assert_cmpuint (path_servers_needed (5, 12.5e9, 4e9), ==, 16);   /* 15.6 */
  g_assert_cmpuint (path_servers_needed (8, 12.5e9, 4e9), ==, 25);   /* exactly */
  g_assert_cmpuint (path_servers_needed (3, 12e9, 4e9), ==, 9);
}

static void
test_keys (void)
{
  static const char text[] = "[network]\ntransport = plain\nlatency = 7 us\nnic-bandwidth = 31 Gbit/s\nefficiency = 0.83\n";
  static const KeyGroup group = { "network", "", network_keys, sizeof (NetworkSpec) };
  g_autoptr (KeyFile) file = key_file_parse ("a.ini", text, sizeof text - 1, NULL);
  NetworkSpec spec = { 0 };

  g_assert_true (key_file_read (file, &group, &spec, NULL));
  g_assert_cmpstr (spec.transport, ==, "plain");
  g_assert_cmpfloat_with_epsilon (spec.latency, 7e-6, 1e-15);
  g_assert_cmpfloat_with_epsilon (spec.nic_bandwidth, 3.875e9, 1);
  g_assert_cmpfloat_with_epsilon (spec.oversubscription, 1, 1e-15);
  g_assert_true (isnan (spec.node_bandwidth));
  g_assert_cmpint (spec.topology, ==, TOPOLOGY_SWITCH);
  keys_clear (network_keys, &spec);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/transport/all-parts-load", test_all_parts_load);
  g_test_add_func ("/transport/values", test_values);
  g_test_add_func ("/transport/asymptote", test_asymptote);
  g_test_add_func ("/transport/unknown", test_unknown);
  g_test_add_func ("/transport/servers-needed", test_servers_needed);
  g_test_add_func ("/transport/keys", test_keys);
  return g_test_run ();
}
