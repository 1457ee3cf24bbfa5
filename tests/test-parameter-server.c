/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy-fixture.h"

/* Variables on servers and BytePS against hand arithmetic. */

/* Seconds of a call on an idle network. */
static double
alone (const Built *b, guint call)
{
  const GraphCall *c = graph_get_call (b->graph, call);

  return c->launch + collective_estimate (&c->flow, cluster_network (b->point->cluster), c->call.size);
}

/* Four nodes of four: fc6 is asked by 12 GPUs of other nodes, twice, at 0.75 GB/s; 4 S
 * over 30 GB/s of copies; two RPCs of 0.25 ms. */
static void
test_servers_hot (void)
{
  g_auto (Built) b = build ("strategy.kind=parameter-server");
  const double hot = 2 * 4 * fc6 * 12 / 0.75e9, copies = 4 * 4 * vgg / 30e9;

  g_assert_cmpuint (b.graph->calls->len, ==, 1);
  near (alone (&b, 0), hot + copies + 0.5e-3);
}

/* Copies in each node spare the wire, not the busiest server; with the gradients
 * added up in the node three ask in place of twelve. */
static void
test_servers_copies (void)
{
  g_auto (Built) copies = build ("strategy.kind=parameter-server strategy.replicated-variables=true");
  g_auto (Built) local = build ("strategy.kind=parameter-server parameter-server.count=4 parameter-server.colocated=true "
                                "parameter-server.local-reduction=true parameter-server.latency=0~s");
  const double staged = 4 * 4 * vgg / 30e9 + 0.5e-3;

  near (alone (&copies, 0), 2 * 4 * fc6 * 12 / 0.75e9 + staged);
  near (graph_get_call (copies.graph, 0)->flow.nic_bytes, 2 * 0.75);
  near (alone (&local, 0), 2 * 4 * fc6 * 3 / 0.75e9 + staged);
}

/* ResNet-101: 44,549,160 parameters, no large one: 3/4 of 4 S over 0.32 of 25 Gbit/s. */
static void
test_servers_wire (void)
{
  g_auto (Built) b = build ("strategy.kind=parameter-server workload.name=resnet101");
  const double bytes = 4 * 44549160.0;

  near (alone (&b, 0), 0.75 * 4 * bytes / (0.32 * 3.125e9) + 4 * bytes / 30e9 + 0.5e-3);
  near (graph_get_call (b.graph, 0)->flow.nic_bytes, 2 * 0.75 * 4);
}

/* Eight servers of 32 Gbit/s in place of the workers: 4 S a node over 0.32 of its
 * line; 16 S/8 a server is less; the server's call takes 0.5 ms more. */
static void
test_servers_apart (void)
{
  g_auto (Built) b = build ("strategy.kind=parameter-server workload.name=resnet101 parameter-server.count=8 parameter-server.sum-rate=900~GB/s");
  const double bytes = 4 * 44549160.0;

  near (alone (&b, 0), 4 * bytes / (0.32 * 3.125e9) + 4 * bytes / 30e9 + 1e-3);
}

/* One box: S (1/10 GB/s + 4/30 GB/s), a variable at a time. */
static void
test_servers_box (void)
{
  g_auto (Built) b = build ("strategy.kind=parameter-server cluster.nodes=1");
  double seconds = 0;

  g_assert_cmpuint (b.graph->calls->len, ==, 32);
  for (guint i = 0; i < 32; i++)
    seconds += alone (&b, i);
  near (seconds, 4 * vgg * (1 / 10e9 + 4 / 30e9));
}

/* n workers and k servers, all cards B: 2n(n - 1)/(n^2 + k n - 2k) M/B (BytePS, OSDI'20,
 * theorem 1; byteps/common/global.cc, Hash_Mixed_Mode), and M/B from k = n on; two
 * messages of 7 us. */
static void
test_byteps (void)
{
  static const struct { guint64 n, k; double times; } cases[] = {
    { 2, 1, 4. / 4 }, { 5, 3, 40. / 34 }, { 8, 5, 112. / 94 }, { 16, 1, 480. / 270 }, { 8, 8, 1 }, { 4, 9, 1 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *sets = g_strdup_printf ("cluster.machine=generic-1gpu cluster.nodes=%" G_GUINT64_FORMAT " network.transport=plain "
                                               "network.latency=7~us network.nic-bandwidth=4~GB/s strategy.kind=ddp parameter-server.colocated=both "
                                               "parameter-server.local-reduction=true parameter-server.sum-rate=900~GB/s parameter-server.count=%"
                                               G_GUINT64_FORMAT, cases[i].n, cases[i].k);
      g_auto (GStrv) list = split (sets);
      g_autoptr (Scenario) s = scenario ((const char *const *) list);
      g_autoptr (Point) point = point_new (s, NULL);
      CollectiveCall call = { .op = OP_ALL_REDUCE, .size = 2.385e7, .protocol = PROTOCOL_AUTO };
      CollectiveFlow flow;
      RankGroup group;
      gboolean on_gpu;

      g_assert_true (collective_find ("parameter-server", &call.algorithm, NULL));
      g_assert_true (price_call (point->cluster, &call, &group, &flow, &on_gpu, NULL));
      near (collective_estimate (&flow, cluster_network (point->cluster), call.size), cases[i].times * call.size / 4e9 + 14e-6);
    }
}

/* Push and pull begin when a tenth of the compute is left. */
static void
test_servers_overlap (void)
{
  const double late = step ("strategy.kind=parameter-server strategy.rpc-overlap=0", FALSE);
  const double shipped = step ("strategy.kind=parameter-server", FALSE);
  const double compute = step ("strategy.kind=single cluster.nodes=1 cluster.gpus-per-node=1", FALSE);

  g_assert_cmpfloat (late - shipped, >, 0.05 * compute);
  g_assert_cmpfloat (late - shipped, <, 0.12 * compute);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/strategies/parameter-server/hot-variable", test_servers_hot);
  g_test_add_func ("/strategies/parameter-server/copies", test_servers_copies);
  g_test_add_func ("/strategies/parameter-server/wire", test_servers_wire);
  g_test_add_func ("/strategies/parameter-server/servers-apart", test_servers_apart);
  g_test_add_func ("/strategies/parameter-server/one-box", test_servers_box);
  g_test_add_func ("/strategies/parameter-server/overlap", test_servers_overlap);
  g_test_add_func ("/strategies/parameter-server/byteps", test_byteps);
  return g_test_run ();
}
