/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy-fixture.h"

/* Horovod: tensors into fused groups, and their graph, by hand. */

/* Lumpy tensors, last layer first: e 40 (ready at 2 ms), d 7000 (3.5), c 50, 250
 * (3.6), b 300 (9.2), a 100, 900 (9.9). */
static const double a[] = { 900, 100 }, b_[] = { 300 }, c_[] = { 250, 50 }, d[] = { 7000 }, e[] = { 40 };
static Layer layers[] = {
  { .name = "a", .n_tensors = 2, .tensors = a }, { .name = "b", .n_tensors = 1, .tensors = b_ },
  { .name = "c", .n_tensors = 2, .tensors = c_ }, { .name = "d", .n_tensors = 1, .tensors = d },
  { .name = "e", .n_tensors = 1, .tensors = e },
};
static const Workload lumpy = { .n_layers = 5, .layers = layers, .n_tensors = 7 };
static const double ready[] = { 9.9e-3, 9.2e-3, 3.6e-3, 3.5e-3, 2e-3 };

static void
assert_bucket (const GArray *buckets, guint i, double elements, guint tensors, guint last, double delay)
{
  const Bucket *bucket = &g_array_index (buckets, Bucket, i);

  near (bucket->elements, elements);
  g_assert_cmpuint (bucket->n_tensors, ==, tensors);
  g_assert_cmpuint (bucket->last, ==, last);
  g_assert_cmpfloat_with_epsilon (bucket->delay, delay, 1e-12);
}

/* Cycle of 4 ms: at 4 ms e, d and c are there; room for 7,100 fp32 gradients: e and d
 * (7,040), which wait 0.5 ms; c's 50 fit no more, so c behind them; at 12 ms the rest. */
static void
test_cycles (void)
{
  g_autoptr (GArray) buckets = buckets_by_cycle (&lumpy, 4, 4 * 7080.0, 4e-3, ready, NULL, NULL);

  g_assert_cmpuint (buckets->len, ==, 3);
  assert_bucket (buckets, 0, 7040, 2, 3, 0.5e-3);
  assert_bucket (buckets, 1, 300, 2, 2, 0);
  assert_bucket (buckets, 2, 1300, 3, 0, 2.1e-3);
}

/* No fusion: each tensor leaves as it comes. */
static void
test_no_fusion (void)
{
  g_autoptr (GArray) buckets = buckets_by_cycle (&lumpy, 4, 0, 0, ready, NULL, NULL);

  g_assert_cmpuint (buckets->len, ==, 7);
  for (guint i = 0; i < 7; i++)
    g_assert_cmpuint (g_array_index (buckets, Bucket, i).n_tensors, ==, 1);
}

static double
one_us_an_element (gpointer user, double bytes)
{
  (void) user;
  return bytes / 4 * 1e-6;
}

/* The loop reduces itself, 1 us an element: e at 2 ms until 2.04; d at 3.5 until
 * 10.5; by then all others are there and go together, without a wait of the loop. */
static void
test_blocking (void)
{
  g_autoptr (GArray) buckets = buckets_by_cycle (&lumpy, 4, 1e9, 0, ready, one_us_an_element, NULL);

  g_assert_cmpuint (buckets->len, ==, 3);
  assert_bucket (buckets, 0, 40, 1, 4, 0);
  assert_bucket (buckets, 1, 7000, 1, 3, 0);
  assert_bucket (buckets, 2, 1600, 5, 0, 0);
}

/* Everything fused: 1.4 ms and 2 S over 0.4 of 732 GB/s before the all-reduce. */
static void
test_horovod_fused (void)
{
  g_auto (Built) b = build ("strategy.fusion-size=1~GB strategy.cycle-time=10~s");
  const GraphCall *call = graph_get_call (b.graph, 0);

  g_assert_cmpuint (b.graph->calls->len, ==, 1);
  near (call->call.size, 4 * vgg);
  near (call->launch, 1.4e-3 + 2 * 4 * vgg / (0.4 * 732e9));
  near (call->slowdown, 1.2);
}

/* fp32 tensors alone are not copied; without the cache rank 0 hears 16 requests of 1 us. */
static void
test_horovod_alone (void)
{
  g_auto (Built) b = build ("strategy.fusion-size=0~B strategy.response-cache=false");

  g_assert_cmpuint (b.graph->calls->len, ==, 32);
  near (sum_of_sizes (b.graph, "gradients"), 4 * vgg);
  for (guint i = 0; i < 32; i++)
    near (graph_get_call (b.graph, i)->launch, 1.4e-3 + 16e-6);
}

static void
test_horovod_algorithms (void)
{
  g_auto (Built) mpi = build ("strategy.operations=mpi");
  g_auto (Built) gloo = build ("strategy.operations=gloo");
  g_auto (Built) hierarchical = build ("strategy.hierarchical-allreduce=true");

  g_assert_cmpstr (graph_get_call (mpi.graph, 0)->flow.algorithm->name, ==, "host-mpi");
  near (graph_get_call (mpi.graph, 0)->slowdown, 1);   /* no kernels on the GPUs */
  g_assert_cmpstr (graph_get_call (gloo.graph, 0)->flow.algorithm->name, ==, "gloo");
  g_assert_cmpstr (graph_get_call (hierarchical.graph, 0)->flow.algorithm->name, ==, "hierarchical");
}

/* A cycle of 0.9 s is waited for, past what the launch of 1.4 ms covers. */
static void
test_cycle_is_felt (void)
{
  const double fast = step ("strategy.cycle-time=1~ms", FALSE), slow = step ("strategy.cycle-time=900~ms", FALSE);

  g_assert_cmpfloat (slow - fast, >, 0.3);
  g_assert_cmpfloat (slow - fast, <, 0.9);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/strategies/horovod/cycles", test_cycles);
  g_test_add_func ("/strategies/horovod/no-fusion", test_no_fusion);
  g_test_add_func ("/strategies/horovod/blocking", test_blocking);
  g_test_add_func ("/strategies/horovod/fused", test_horovod_fused);
  g_test_add_func ("/strategies/horovod/alone", test_horovod_alone);
  g_test_add_func ("/strategies/horovod/algorithms", test_horovod_algorithms);
  g_test_add_func ("/strategies/horovod/cycle-is-felt", test_cycle_is_felt);
  return g_test_run ();
}
