/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/run.h"
#include <math.h>
#include <string.h>

/* A step message by message against the same by flows, which are another program for
 * the same bytes.  Plain wires: latency and bandwidth, nothing fitted. */

static Result *
run (const char *name, const char *const *sets, const RunOptions *options)
{
  g_autofree char *path = g_strdup_printf ("%s/scenarios/%s.ini", g_getenv ("LOCKSTEP_SOURCE"), name);
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) scenario = scenario_load (path, sets, &error);
  Result *r;

  g_assert_no_error (error);
  r = run_scenario (scenario, options, &error);
  g_assert_no_error (error);
  return r;
}

#define PLAIN "network.transport=plain", "network.node-transport=plain"

/* Each with why the two differ at all; every run counts its own bytes by call and link. */
typedef struct { const char *name, *scenario; double within; const char *sets[12]; } Case;
static const Case cases[] = {
  /* rounding of single messages to a tick */
  { "tp8-pp2-dp4", "megatron-22b", 1e-6,
    { PLAIN, "cluster.nodes=8", "strategy.pipeline-parallel=2", "training.global-batch=32" } },
  /* the same as measured wires: floors of NCCL's that messages lack */
  { "tp8-pp2-dp4-measured", "megatron-22b", 0.03, { "cluster.nodes=8", "strategy.pipeline-parallel=2", "training.global-batch=32" } },
  /* both stages in one node: activations share a GPU's links with the collectives of what it computes next */
  { "tp2-pp2-dp2", "megatron-22b", 1e-4,
    { PLAIN, "strategy.pipeline-parallel=2", "strategy.tensor-parallel=2", "training.global-batch=16" } },
  { "tp2-pp2-dp2-all-reduce", "megatron-22b", 1e-4,
    { PLAIN, "strategy.pipeline-parallel=2", "strategy.tensor-parallel=2", "strategy.sequence-parallel=no", "training.global-batch=16" } },
  /* slices of activations that the stage behind gathers */
  { "tp4-pp2-slices", "megatron-22b", 1e-4,
    { PLAIN, "strategy.stack=megatron-2021", "strategy.pipeline-parallel=2", "strategy.tensor-parallel=4", "strategy.sequence-parallel=no",
      "training.global-batch=16" } },
  /* keys and values round a ring; a gradient ring of uneven edges hides some hops of its own */
  { "tp2-cp2-dp2", "megatron-22b", 1e-3, { PLAIN, "strategy.tensor-parallel=2", "strategy.context-parallel=2", "training.global-batch=16" } },
  { "tp2-cp2-dp2-heads", "megatron-22b", 1e-3,
    { PLAIN, "strategy.tensor-parallel=2", "strategy.context-parallel=2", "strategy.cp-comm=a2a", "training.global-batch=16" } },
  /* fc6 passes its server last of all: hot alone, with copies that spare the cards */
  { "variables-copies", "vgg16-16xpascal-25gbe-parameter-server", 1e-6, { "strategy.replicated-variables=true" } },
  { "variables", "vgg16-16xpascal-25gbe-parameter-server", 0.01, { NULL } },
  { "variables-on-servers", "vgg16-16xpascal-25gbe-parameter-server", 0.01, { "parameter-server.count=8" } },
  /* fair shares of a card, small beside large: the last of the large ones leave some cards without work */
  { "variables-many", "vgg16-16xpascal-25gbe-parameter-server", 0.12, { "workload.name=resnet101" } },
  /* the CPU of one box: nothing travels between GPUs */
  { "variables-box", "vgg16-16xpascal-25gbe-parameter-server", 1e-12, { "cluster.nodes=1" } },
  /* of one stage the gradients of one chunk, of others activations: they share cards */
  { "pp4-ep8", "moe-8x7b-ep", 2e-3, { PLAIN, "training.global-batch=64" } },
};

static void
test_megatron (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (Result) flow = run (c->scenario, c->sets, &(RunOptions) { .tier = TIER_STEP_FLOW });
  g_autoptr (Result) messages = run (c->scenario, c->sets, &(RunOptions) { .tier = TIER_STEP_MESSAGE });

  g_assert_cmpstr (messages->tier, ==, "message");
  g_assert_cmpfloat_with_epsilon (messages->step_time, flow->step_time, c->within * flow->step_time);
}

/* Two stages of four GPUs, one micro-batch: 4 messages ahead and 4 back; gradients in a
 * ring of 4 on each stage, 8 x 6; the table's in 4 pairs, 8 x 2; the norm as gradients:
 * 48.  120 in all. */
static void
test_count (void)
{
  static const char *const sets[] = { PLAIN, "strategy.pipeline-parallel=2", "strategy.tensor-parallel=1", "strategy.sequence-parallel=no",
                                      "training.global-batch=16", NULL };
  g_autoptr (Result) r = run ("megatron-22b", sets, &(RunOptions) { .tier = TIER_STEP_MESSAGE });

  g_assert_cmpuint (r->messages, ==, 120);
}

/* Sixteen workers push and pull 32 variables.  The 411 MB of fc6 (25,088 x 4096 weights of
 * 4 bytes) are asked for by the twelve of other nodes, pushed and pulled, at 0.75 GB/s. */
static void
test_variables (void)
{
  static const char *const sets[] = { "strategy.replicated-variables=true", NULL };
  g_autoptr (Result) r = run ("vgg16-16xpascal-25gbe-parameter-server", sets, &(RunOptions) { .tier = TIER_STEP_MESSAGE });

  g_assert_cmpuint (r->messages, ==, 2 * 16 * 32);
  g_assert_cmpfloat_with_epsilon (r->collectives[0].wire_s, 2 * 12 * 4. * 25088 * 4096 / 0.75e9, 0.01 * 13);
}

/* Folded, one node (leaf) stands for `times` of them: so many messages fewer, and the same
 * bits.  times 1: nobody stands for others, and the reason says so. */
typedef struct { const char *name, *scenario; guint times; const char *sets[12]; } Fold;
static const Fold folds[] = {
  { "ddp-5x8", "ddp-5x8", 5, { NULL } },
  { "two-nics-for-eight", "ddp-5x8", 5, { "cluster.nics=2", "collective.algorithm=ring", NULL } },
  /* eight rings of shards over two cards */
  { "twins-on-two-nics", "resnet50-dgx-a100", 4, { "cluster.nodes=4", "strategy.kind=fsdp", "strategy.sharding=hybrid", "cluster.nics=2" } },
  { "hierarchical", "ddp-5x8", 5, { "collective.algorithm=hierarchical" } },
  { "all-to-all", "dlrm-dgx-a100", 4, { "cluster.nodes=4", "collective.algorithm=ring" } },
  /* a leaf of two nodes for four; a pod of two leaves for two */
  { "fat-tree", "ddp-5x8", 4,
    { "cluster.nodes=8", "network.topology=fat-tree", "network.nodes-per-leaf=2", "network.oversubscription=4", "collective.algorithm=ring" } },
  { "pods", "ddp-5x8", 2,
    { "cluster.nodes=8", "network.topology=fat-tree", "network.nodes-per-leaf=2", "network.leaves-per-pod=2", "network.oversubscription=4",
      "network.pod-oversubscription=2", "collective.algorithm=ring" } },
  { "rails", "rail-optimised", 4, { "network.topology=rail", "network.nodes-per-leaf=4" } },
  /* stages of four nodes */
  { "stages", "megatron-22b", 4, { "cluster.nodes=8", "strategy.pipeline-parallel=2", "training.global-batch=32" } },
  /* of 19, 19 and 10 layers; two replicas and a half group a node */
  { "uneven-stages", "megatron-22b", 3,
    { "cluster.nodes=9", "strategy.pipeline-parallel=3", "strategy.tensor-parallel=4", "strategy.last-stage-layers=10", "training.global-batch=48",
      "collective.algorithm=ring" } },
  { "experts", "moe-8x7b-ep", 2, { "cluster.nodes=8", "training.global-batch=128", "collective.algorithm=ring" } },
  /* one rank, one card unlike all: each of the others is another number of hops from it */
  { "slow-rank", "ddp-5x8", 1, { "noise.slow-ranks=1" } },
  { "slow-rank-of-a-stage", "megatron-22b", 1, { "cluster.nodes=4", "strategy.pipeline-parallel=2", "training.global-batch=16", "noise.slow-ranks=1" } },
  { "bad-card", "ddp-5x8", 1, { "noise.slow-nodes=1", "noise.slow-nic=0.5" } },
  /* nodes of a tree have parents of their own; leaves that a job fills unevenly are no two alike */
  { "tree", "ddp-5x8", 1, { "collective.algorithm=tree" } },
  { "scattered", "fat-tree-scattered", 1, { NULL } },
};

static void
test_fold (gconstpointer data)
{
  const Fold *f = data;
  g_autoptr (Result) folded = run (f->scenario, f->sets, &(RunOptions) { .tier = TIER_STEP_MESSAGE });
  g_autoptr (Result) unfolded = run (f->scenario, f->sets, &(RunOptions) { .tier = TIER_STEP_MESSAGE, .unfold = TRUE });

  g_assert_true (memcmp (&folded->step_time, &unfolded->step_time, sizeof folded->step_time) == 0);
  g_assert_true (memcmp (folded->ledger, unfolded->ledger, sizeof folded->ledger) == 0);
  g_assert_cmpuint (folded->messages, >, 0);
  g_assert_cmpuint (f->times * folded->messages, ==, unfolded->messages);
  g_assert_true ((f->times == 1) == (strstr (folded->tier_reason, "every rank's own") != NULL));
}

/* A slow rank costs what it costs, not what the tiers differ in: no kernel takes time here,
 * so nothing but the tier changes.  By hand in rail-optimised.expected.csv: 17.423 ms. */
static void
test_like_with_like (void)
{
  static const char *const sets[] = { "network.topology=rail", "network.nodes-per-leaf=32", "noise.slow-ranks=1", NULL };
  g_autoptr (Result) r = run ("rail-optimised", sets, &(RunOptions) { 0 });

  g_assert_cmpstr (r->tier, ==, "message");
  g_assert_cmpfloat_with_epsilon (r->step_time, 17.4230617e-3, 1e-3 * 17.4e-3);
}

/* A tree's messages take less than its flow says: auto stays with the flow. */
static void
test_unlike (void)
{
  static const char *const sets[] = { "cluster.machine=generic-1gpu", "cluster.nodes=3", "network.transport=plain", "collective.algorithm=tree",
                                      "noise.slow-ranks=1", NULL };
  g_autoptr (Result) r = run ("ddp-5x8", sets, &(RunOptions) { 0 });

  g_assert_cmpstr (r->tier, ==, "flow");
  g_assert_nonnull (strstr (r->tier_reason, "by messages it takes another time for ranks alike too"));
}

/* What keeps auto from the messages of unequal ranks is said, one thing at a time. */
static void
test_obstacles (void)
{
  static const struct { const char *says, *sets[6]; } rows[] = {
    { "messages lack the measured floors of this transport", { "noise.slow-ranks=1" } },
    { "the messages of so many ranks are played only when asked for",
      { "noise.slow-ranks=1", "network.transport=plain", "cluster.nodes=160", "training.global-batch=1280" } },
    { "so many messages are played only when asked for",
      { "noise.slow-ranks=1", "network.transport=plain", "cluster.nodes=64", "training.global-batch=512" } },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (Result) r = run ("ddp-5x8", rows[i].sets, &(RunOptions) { 0 });
      g_autoptr (Result) asked = run ("ddp-5x8", rows[i].sets, &(RunOptions) { .tier = TIER_STEP_FLOW });

      g_assert_cmpstr (r->tier, ==, "flow");
      g_assert_true (g_str_has_suffix (r->tier_reason, rows[i].says));
      g_assert_true (g_str_has_prefix (asked->tier_reason, "as asked: ranks are unequal"));
      g_assert_null (strstr (asked->tier_reason, rows[i].says));
    }
}

static const Check *
check_named (const Result *r, const char *name)
{
  for (guint i = 0; i < r->n_checks; i++)
    if (g_str_equal (r->checks[i].name, name))
      return &r->checks[i];
  return NULL;
}

/* What is checked is of messages, not of flows that there are none of.  A GPU of eight
 * sends its tensor-parallel bytes, none of which leaves the node. */
static void
test_checks (void)
{
  static const char *const sets[] = { PLAIN, NULL };
  g_autoptr (Result) r = run ("megatron-22b", sets, &(RunOptions) { .tier = TIER_STEP_MESSAGE, .unfold = TRUE });
  const Check *links = check_named (r, "messages' bytes are conserved on every link");

  g_assert_null (check_named (r, "bytes are conserved on every link"));
  g_assert_nonnull (check_named (r, "every call sent its messages"));
  g_assert_nonnull (links);
  g_assert_true (g_str_has_prefix (links->detail, "gpu-out ") && strstr (links->detail, "on 8; gpu-in") != NULL);
  g_assert_null (strstr (links->detail, "gpu-out 0 B"));
}

/* Twins one by one or as one: what is printed of calls is that of a GPU. */
static void
test_calls (void)
{
  static const char *const sets[] = { "cluster.nodes=4", "strategy.pipeline-parallel=2", "strategy.tensor-parallel=4", "training.global-batch=16", NULL };
  g_autoptr (Result) folded = run ("megatron-22b", sets, &(RunOptions) { .tier = TIER_STEP_FLOW });
  g_autoptr (Result) unfolded = run ("megatron-22b", sets, &(RunOptions) { .tier = TIER_STEP_FLOW, .unfold = TRUE });

  g_assert_cmpuint (folded->n_collectives, ==, unfolded->n_collectives);
  for (guint i = 0; i < folded->n_collectives; i++)
    {
      const CollectiveUse *a = &folded->collectives[i], *b = &unfolded->collectives[i];

      g_assert_cmpstr (a->label, ==, b->label);
      g_assert_cmpuint (a->calls, ==, b->calls);
      g_assert_cmpfloat_with_epsilon (a->wire_s, b->wire_s, 1e-9 * a->wire_s);
      g_assert_cmpfloat_with_epsilon (a->latency_s, b->latency_s, 1e-9 * a->latency_s);
      g_assert_cmpfloat_with_epsilon (a->exposed_s, b->exposed_s, 1e-9 * a->wire_s);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/tiers/megatron/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_megatron);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (folds); i++)
    {
      g_autofree char *path = g_strdup_printf ("/tiers/fold/%s", folds[i].name);

      g_test_add_data_func (path, &folds[i], test_fold);
    }
  g_test_add_func ("/tiers/count", test_count);
  g_test_add_func ("/tiers/variables", test_variables);
  g_test_add_func ("/tiers/like-with-like", test_like_with_like);
  g_test_add_func ("/tiers/unlike", test_unlike);
  g_test_add_func ("/tiers/obstacles", test_obstacles);
  g_test_add_func ("/tiers/checks", test_checks);
  g_test_add_func ("/tiers/calls", test_calls);
  return g_test_run ();
}
