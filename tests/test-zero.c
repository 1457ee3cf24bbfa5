/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sharded-fixture.h"

/* ZeRO against hand arithmetic: bytes, groups, who owns what. */

/* Tables on owners.  DLRM on 16 GPUs with 100 samples each: 26 x 128 values of two
 * bytes a sample leave, 15/16 of them, forward and again backward; the dense network's
 * 2,368,897 gradients of 4 bytes are all-reduced.  A GPU holds 4 x 187,767,399 x 128 / 16
 * bytes of tables and 6 of the rest, and no table's gradient. */
static void
test_owners (void)
{
  static const char sets[] = "workload.name=dlrm_criteo workload.precision=mixed-fp16 strategy.kind=ddp strategy.sparse=model-parallel "
                             "training.optimizer=sgd training.batch-per-gpu=100";
  g_auto (Built) b = build (sets);
  const MemoryUse use = memory (sets);

  near (sent (b.graph, OP_ALL_TO_ALL), 2 * 15.0 / 16 * 100 * 26 * 128 * 2);
  near (sent (b.graph, OP_ALL_REDUCE), 2 * 15.0 / 16 * 2368897 * 4);
  near (sent (b.graph, OP_ALL_GATHER), 0);
  near (use.weights, 4.0 * 187767399 * 128 / 16 + 6 * 2368897.0);
  g_assert_cmpfloat (use.gradients, <=, 4 * 2368897.0);
  g_assert_true (use.fits);
}

/* Whole tables on 15 of the 16 GPUs, two at most, and the bottom network (7,168 + 131,328 +
 * 32,896 parameters) on the last, for all 1,600 samples; only the top network is reduced.
 * The bottom takes longer than two tables: all wait for it. */
static void
test_owners_whole (void)
{
  static const char sets[] = "workload.name=dlrm_criteo workload.precision=mixed-fp16 strategy.kind=ddp training.optimizer=sgd ";
  g_autofree char *whole = g_strconcat (sets, "strategy.sparse=hybrid training.batch-per-gpu=100", NULL);
  g_autofree char *all = g_strconcat (sets, "strategy.sparse=model-parallel training.batch-per-gpu=1600", NULL);
  g_auto (Built) b = build (whole), plain = build (all);
  g_autofree double *forward = data_parallel_forward (&b.point->input), *rows = data_parallel_forward (&plain.point->input);
  const guint bottom = 26, layers = 6;

  near (sent (b.graph, OP_ALL_TO_ALL), 2 * 15.0 / 16 * 1600 * 2 * 128 * 2);
  near (sent (b.graph, OP_ALL_REDUCE), 2 * 15.0 / 16 * (2368897 - 171392) * 4);
  for (guint i = 0; i < bottom; i++)
    near (forward[i], 0);
  for (guint i = bottom; i < bottom + layers; i++)
    near (forward[i], rows[i]);
  g_assert_cmpfloat (forward[bottom + layers], <, rows[bottom + layers]);
}

/* The bottom network runs beside the exchange, the interaction waits for it. */
static void
test_owners_order (void)
{
  g_autoptr (Result) free = result ("workload.name=dlrm_criteo workload.precision=fp32 strategy.kind=ddp strategy.sparse=model-parallel "
                                    "training.optimizer=sgd training.batch-per-gpu=4000 collective.algorithm=auto", FALSE);
  const CollectiveUse *forward = &free->collectives[0];

  g_assert_cmpstr (forward->label, ==, "embeddings");
  g_assert_cmpfloat (forward->exposed_s, <, forward->end - forward->start);
  g_assert_cmpfloat (forward->exposed_s, >, 0);
}

/* Clipping: an all-reduce of one number, 2 x 15/16 x 4 bytes, and 12 bytes a parameter
 * of the GPU's share, read and written at the rate of copies. */
static void
test_clipping (void)
{
  static const char *const kinds[] = { "strategy.kind=fsdp", "strategy.kind=zero strategy.stage=2", "strategy.kind=zero strategy.stage=3" };

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *sets = g_strconcat (kinds[i], " strategy.gradient-clipping=yes", NULL);
      g_auto (Built) plain = build (kinds[i]), clips = build (sets);

      near (sent (clips.graph, ALL_OPS) - sent (plain.graph, ALL_OPS), 2 * 15.0 / 16 * 4);
      g_assert_cmpuint (clips.graph->calls->len, ==, plain.graph->calls->len + 1);
    }
}

/* Stage 1 and 2: 2(N-1)/N of gradients all-reduced, (N-1)/N of weights gathered; 3:
 * weights twice, gradients once.  MPT-7B: 14 buckets of at most 5e8 elements. */
static void
test_zero_bytes (void)
{
  const double f = 15.0 / 16;
  g_auto (Built) one = build ("strategy.kind=zero strategy.stage=1"), two = build ("strategy.kind=zero");
  g_auto (Built) scatter = build ("strategy.kind=zero strategy.multi-rank-allreduce=false");
  g_auto (Built) three = build ("strategy.kind=zero strategy.stage=3 strategy.persistence-threshold=0 strategy.max-reuse-distance=0");
  g_auto (Built) keeps = build ("strategy.kind=zero strategy.stage=3");
  g_auto (Built) none = build ("strategy.kind=zero strategy.stage=0");

  near (sent (none.graph, ALL_OPS), f * 2 * 2 * mpt);
  near (sent (one.graph, ALL_OPS), f * 3 * 2 * mpt);
  near (sent (two.graph, ALL_OPS), f * 3 * 2 * mpt);
  near (sent (scatter.graph, ALL_OPS), f * 2 * 2 * mpt);
  near (sent (three.graph, ALL_OPS), f * 3 * 2 * mpt);
  g_assert_cmpfloat (sent (keeps.graph, ALL_OPS), <, f * 2 * (3 * mpt - 3e8));
}

/* hpZ gathers inside a node in the backward pass; MiCS keeps a copy in each node. */
static void
test_zero_groups (void)
{
  g_auto (Built) hpz = build ("strategy.kind=zero strategy.stage=3 strategy.hpz-partition-size=8 strategy.max-reuse-distance=0");
  g_auto (Built) mics = build ("strategy.kind=zero strategy.stage=3 strategy.mics-shard-size=8 strategy.max-reuse-distance=0");
  double inside = 0, over = 0;

  for (guint i = 0; i < hpz.graph->calls->len; i++)
    {
      const GraphCall *call = graph_get_call (hpz.graph, i);

      if (g_str_has_prefix (call->label, "gather"))
        *(call->group.n_nodes == 1 ? &inside : &over) += call->call.size;
    }
  near (inside, over);
  near (sent (mics.graph, OP_ALL_REDUCE), 2 * (1.0 / 2) * 2 * mpt / 8);
  for (guint i = 0; i < mics.graph->calls->len; i++)
    g_assert_cmpuint (graph_get_call (mics.graph, i)->group.n_ranks, ==, graph_get_call (mics.graph, i)->call.op == OP_ALL_REDUCE ? 2 : 8);
}

/* ZeRO-2 without overlap: the compute queue stands while a bucket is reduced; with
 * it the last bucket and the weights (a third of the bytes), and kernels beside it
 * take half as long again. */
static void
test_zero_overlap (void)
{
  g_autoptr (Result) without = result ("strategy.kind=zero", FALSE), with = result ("strategy.kind=zero strategy.overlap-comm=yes", FALSE);
  double wire = 0;

  for (guint i = 0; i < without->n_collectives; i++)
    wire += without->collectives[i].wire_s;
  g_assert_cmpfloat (without->ledger[CAUSE_EXPOSED_COMM], >=, 0.999 * wire);
  g_assert_cmpfloat (with->ledger[CAUSE_EXPOSED_COMM], <, 0.7 * wire);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sharded/clipping", test_clipping);
  g_test_add_func ("/sharded/owners", test_owners);
  g_test_add_func ("/sharded/owners-whole", test_owners_whole);
  g_test_add_func ("/sharded/owners-order", test_owners_order);
  g_test_add_func ("/sharded/zero/bytes", test_zero_bytes);
  g_test_add_func ("/sharded/zero/groups", test_zero_groups);
  g_test_add_func ("/sharded/zero/overlap", test_zero_overlap);
  return g_test_run ();
}
