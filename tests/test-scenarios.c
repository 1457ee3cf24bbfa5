/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/study.h"
#include "strategy/price.h"
#include <math.h>
#include <string.h>

/* What the shipped scenarios must show.  Bounds and shares come from outside the
 * code: byte counts and sizing rules by hand, the step times of ddp-5x8 from an
 * independent calculation (a fluid model of the backward pass written apart). */

static Scenario *
load (const char *name, const char *const *sets)
{
  g_autofree char *path = g_strdup_printf ("%s/scenarios/%s.ini", g_getenv ("LOCKSTEP_SOURCE"), name);
  g_autoptr (GError) error = NULL;
  Scenario *scenario = scenario_load (path, sets, &error);

  g_assert_no_error (error);
  return scenario;
}

static Result *
run (const char *name, const char *const *sets, const RunOptions *options)
{
  g_autoptr (Scenario) scenario = load (name, sets);
  g_autoptr (GError) error = NULL;
  Result *r = run_scenario (scenario, options, &error);

  g_assert_no_error (error);
  return r;
}

static double
step_with (const char *name, const char *set)
{
  const RunOptions options = { 0 };
  const char *const sets[] = { set, NULL };
  g_autoptr (Result) r = run (name, sets, &options);

  return r->step_time;
}

static double
what_if (const Result *r, const char *name)
{
  for (guint i = 0; i < r->n_what_if; i++)
    {
      if (g_str_equal (r->what_if[i].name, name))
        return r->what_if[i].seconds;
    }
  g_assert_not_reached ();
}

static Cause
largest_loss (const Result *r)
{
  Cause largest = CAUSE_HOST;

  for (guint cause = CAUSE_HOST; cause < N_CAUSES; cause++)
    if (r->ledger[cause] > r->ledger[largest])
      largest = (Cause) cause;
  return largest;
}

static ScaleStudy *
scale (const char *name)
{
  const ScaleOptions options = { 0 };
  g_autoptr (Scenario) scenario = load (name, NULL);
  g_autoptr (GError) error = NULL;
  ScaleStudy *study = study_scale (scenario, &options, &error);

  g_assert_no_error (error);
  study->measured = NULL;   /* the scenario goes */
  study->n_measured = 0;
  return study;
}

static void
test_ddp_curve (void)
{
  /* ms, by the independent calculation; two nodes take a tree */
  static const double independent[] = { 280, 185.5, 175, 166, 161 };
  g_autoptr (ScaleStudy) study = scale ("ddp-5x8");
  const Curve *curve = &study->curves[0];
  const Result *last = curve->points[4];

  g_assert_true (study->strong);
  g_assert_cmpuint (curve->n_points, ==, 5);
  for (guint i = 0; i < 5; i++)
    g_assert_cmpfloat_with_epsilon (curve->points[i]->step_time, independent[i] * 1e-3, 0.02 * independent[i] * 1e-3);
  for (guint i = 3; i < 5; i++)
    {
      const double gain = curve->points[i]->throughput / curve->points[i - 1]->throughput - 1;

      g_assert_cmpfloat (gain, >, 0);
      g_assert_cmpfloat (gain, <, 0.10);
    }
  g_assert_cmpfloat (last->gpu_idle_share, >, 0.40);
  g_assert_cmpint (largest_loss (last), ==, CAUSE_EXPOSED_COMM);
  g_assert_cmpstr (last->exposed[0].name, ==, "nic-out");
  g_assert_cmpfloat (last->exposed[0].seconds, >, 0.5 * last->ledger[CAUSE_EXPOSED_COMM]);
}

/* 2(N-1)/N S = 1.95 S in a ring against S: no reduction server gains more. */
static void
test_reduction_server (void)
{
  const double ring = step_with ("ddp-5x8", "cluster.nodes=5");
  const double eight = step_with ("ddp-5x8-reduction-server", "reduction-server.count=8");
  const double sixteen = step_with ("ddp-5x8-reduction-server", "reduction-server.count=16");
  const double twenty = step_with ("ddp-5x8-reduction-server", "reduction-server.count=20");
  const double none = step_with ("ddp-5x8-reduction-server", "reduction-server.count=0");

  g_assert_cmpfloat (ring / sixteen, >=, 1.4);
  g_assert_cmpfloat (ring / sixteen, <=, 1.8);
  g_assert_cmpfloat (ring / sixteen, <=, 1.95);
  g_assert_cmpfloat_with_epsilon (eight, ring, 0.05 * ring);
  g_assert_cmpfloat_with_epsilon (twenty, sixteen, 0.01 * sixteen);
  g_assert_cmpfloat_with_epsilon (none, ring, 1e-9);
}

/* The parameter server loses to the ring; as BytePS it ties with matched
 * reduction servers; one node loses to five. */
static void
test_alternatives (void)
{
  const double ring = step_with ("ddp-5x8", "cluster.nodes=5");
  const double servers = step_with ("ddp-5x8-reduction-server", "reduction-server.count=16");
  const double each = step_with ("ddp-5x8-parameter-server", "cluster.nodes=5");
  const double local = step_with ("ddp-5x8-parameter-server", "parameter-server.local-reduction=true");

  g_assert_cmpfloat (each, >, ring);
  g_assert_cmpfloat_with_epsilon (local, servers, 0.005 * servers);
  g_assert_cmpfloat (step_with ("ddp-5x8-one-node", "cluster.nodes=1"), >, ring);
}

/* gRPC carries 12 Gbit/s of a node's 50, as models/transport/grpc.ini assumes: cards of
 * twice the rate change nothing, so the cards are not what bounds the step.  Those of
 * ddp-5x8 are: with half of their rate the step is longer. */
static void
test_software_bound (void)
{
  const RunOptions options = { 0 };
  g_autoptr (Result) grpc = run ("mwms-4x4", NULL, &options), line = run ("ddp-5x8", NULL, &options);

  g_assert_cmpfloat_with_epsilon (step_with ("mwms-4x4", "network.nic-bandwidth=100 Gbit/s"), grpc->step_time, 1e-12);
  g_assert_cmpstr (grpc->exposed[0].name, ==, "software");
  g_assert_cmpfloat (step_with ("ddp-5x8", "network.nic-bandwidth=50 Gbit/s"), >, 1.5 * line->step_time);
  g_assert_cmpstr (line->exposed[0].name, ==, "nic-out");
}

/* On one node nothing goes to the reducers: bit-equal. */
static void
test_one_node (void)
{
  g_assert_cmpfloat_with_epsilon (step_with ("ddp-5x8-reduction-server", "cluster.nodes=1"),
                                  step_with ("ddp-5x8", "cluster.nodes=1"), 1e-12);
}

/* Bytes each way a node's NIC for S of gradients: ring 2(N-1)/N, hierarchical
 * 2(n-1)/n, reduction server 1. */
static void
assert_nic_bytes (const char *scenario, const char *algorithm, guint64 nodes, double expected)
{
  g_autofree char *set_nodes = g_strdup_printf ("cluster.nodes=%" G_GUINT64_FORMAT, nodes);
  const char *const sets[] = { set_nodes, NULL };
  g_autoptr (Scenario) s = load (scenario, sets);
  g_autoptr (Cluster) cluster = cluster_new (&s->cluster, &s->network, &s->reducers, &s->servers, NULL);
  CollectiveCall call = { .op = OP_ALL_REDUCE, .size = 1e8, .protocol = PROTOCOL_SIMPLE };
  CollectiveFlow flow;
  RankGroup group;
  gboolean on_gpu;

  g_assert_true (collective_find (algorithm, &call.algorithm, NULL));
  g_assert_true (price_call (cluster, &call, &group, &flow, &on_gpu, NULL));
  g_assert_cmpfloat_with_epsilon (flow.nic_bytes, expected, 1e-9);
}

static void
test_nic_bytes (void)
{
  assert_nic_bytes ("ddp-5x8", "ring", 5, 2 * 39 / 40.0);
  assert_nic_bytes ("ddp-5x8", "hierarchical", 5, 2 * 4 / 5.0);
  assert_nic_bytes ("ddp-5x8-reduction-server", "reduction-server", 5, 1);
  assert_nic_bytes ("mwms-4x4", "ring", 4, 2 * 15 / 16.0);
}

/* 5 x 100 Gbit/s want ceil (500/32) = 16 reducers, 8 x 100 want 25. */
static void
assert_needed (guint64 nodes, const char *needed)
{
  g_autofree char *set_nodes = g_strdup_printf ("cluster.nodes=%" G_GUINT64_FORMAT, nodes);
  const char *const sets[] = { set_nodes, "reduction-server.count=2", "training.global-batch=1920", NULL };
  const RunOptions options = { 0 };
  g_autoptr (Result) r = run ("ddp-5x8-reduction-server", sets, &options);

  g_assert_nonnull (r->warnings[0]);
  g_assert_nonnull (strstr (r->warnings[0], needed));
}

static void
test_sizing (void)
{
  assert_needed (5, "16");
  assert_needed (8, "25");
}

static void
test_mirrored (void)
{
  g_autoptr (ScaleStudy) study = scale ("mirrored-small-batch");

  g_assert_cmpuint (study->n_curves, ==, 7);
  for (guint i = 0; i < study->n_curves; i++)
    {
      const Curve *curve = &study->curves[i];
      const Result *one = curve->points[0], *four = curve->points[1];
      const guint64 batch = one->global_batch;

      g_assert_cmpuint (one->gpus, ==, 1);
      g_assert_cmpuint (four->gpus, ==, 4);
      g_assert_true (four->memory.fits && one->memory.fits);
      if (batch <= 8)
        {
          g_assert_cmpfloat (four->step_time, >, one->step_time);
          g_assert_cmpint (largest_loss (four), ==, CAUSE_HOST);
          g_assert_cmpfloat (four->ledger[CAUSE_HOST], >, 2 * four->ledger[CAUSE_EXPOSED_COMM]);
        }
      if (batch >= 32)
        g_assert_cmpfloat (four->step_time, <, one->step_time);
    }
  g_assert_cmpfloat_with_epsilon (study->crossing, 12, 3);
  /* between 8 and 16, where the straight line over log (batch) passes 1 */
  const double at_8 = study->curves[1].points[1]->throughput / study->curves[1].points[0]->throughput;
  const double at_16 = study->curves[2].points[1]->throughput / study->curves[2].points[0]->throughput;
  g_assert_cmpfloat_with_epsilon (study->crossing, 8 * pow (2, (1 - at_8) / (at_16 - at_8)), 1e-9);
  g_assert_nonnull (study->crossing_text);
}

static void
test_mwms (void)
{
  const RunOptions options = { .what_if = TRUE, .one_gpu = TRUE };
  g_autoptr (Result) r = run ("mwms-4x4", NULL, &options);
  g_autoptr (Result) nccl = run ("mwms-4x4-nccl", NULL, &options);
  const double one_gpu_step = 32 / r->one_gpu_throughput;

  g_assert_cmpint (largest_loss (r), ==, CAUSE_EXPOSED_COMM);
  g_assert_cmpfloat (one_gpu_step / what_if (r, "ideal network, no noise"), >, 0.95);
  g_assert_cmpfloat (one_gpu_step / what_if (r, "ideal network, no noise"), <, 1);
  g_assert_cmpfloat (one_gpu_step / what_if (r, "ideal network"), >, 0.92);
  g_assert_cmpstr (r->collectives[0].algorithm, ==, "grpc-ring");
  g_assert_cmpstr (nccl->collectives[0].algorithm, ==, "ring");
  g_assert_cmpfloat (nccl->step_time, <, r->step_time);
  /* fp32 gradients of all 25,557,032 parameters in one pack */
  g_assert_cmpuint (r->n_collectives, ==, 1);
  g_assert_cmpfloat_with_epsilon (r->collectives[0].bytes, 4.0 * 25557032, 0.5);
}

/* Strong mode: 961 divides nowhere; 960 and 1440 are the multiples of
 * lcm (8, 16, 24, 32, 40) = 480 around it. */
static void
test_batch_error (void)
{
  const ScaleOptions options = { 0 };
  const char *const sets[] = { "training.global-batch=961", NULL };
  g_autoptr (Scenario) scenario = load ("ddp-5x8", sets);
  g_autoptr (GError) error = NULL;

  g_assert_null (study_scale (scenario, &options, &error));
  g_assert_error (error, KEYS_ERROR, KEYS_ERROR_VALUE);
  g_assert_nonnull (strstr (error->message, "960 and 1440"));
}

/* compare refuses four times the batch, unless told. */
static void
test_compare_batch (void)
{
  g_autoptr (Scenario) a = load ("ddp-5x8", NULL);
  g_autoptr (Scenario) b = load ("ddp-5x8-accumulation", NULL);
  Scenario *const both[] = { a, b };
  g_autoptr (GError) error = NULL;
  g_autoptr (Comparison) refused = study_compare (both, 2, FALSE, &error);
  g_autoptr (Comparison) taken = study_compare (both, 2, TRUE, NULL);

  g_assert_null (refused);
  g_assert_nonnull (strstr (error->message, "3840"));
  g_assert_nonnull (taken);
}

/* ResNet-50 at a large batch on a fast network: communication is hidden, and
 * compare says so. */
static void
test_hidden (void)
{
  const char *const fast[] = { "cluster.nodes=2", NULL };
  const char *const faster[] = { "cluster.nodes=2", "network.nic-bandwidth=400 Gbit/s", NULL };
  g_autoptr (Scenario) a = load ("resnet50-dgx-a100", fast);
  g_autoptr (Scenario) b = load ("resnet50-dgx-a100", faster);
  Scenario *const both[] = { a, b };
  g_autoptr (Comparison) c = study_compare (both, 2, FALSE, NULL);

  g_assert_nonnull (c);
  g_assert_cmpuint (c->rank[0], ==, 1);
  g_assert_cmpuint (c->rank[1], ==, 1);
  g_assert_nonnull (strstr (c->reasons[1], "hidden"));
}

/* Servers add up all-reduces and nothing else: gathers, reduce-scatters and the
 * all-to-all of experts go on without them.  DDP on the same nodes feels them. */
static void
test_past_servers (gconstpointer data)
{
  const char *const servers[] = { "collective.algorithm=reduction-server", "reduction-server.count=64", NULL };
  g_autoptr (Scenario) a = load (data, NULL), b = load (data, servers);
  Scenario *const both[] = { a, b };
  g_autoptr (Comparison) c = study_compare (both, 2, FALSE, NULL);

  g_assert_nonnull (c);
  g_assert_cmpuint (c->results[1]->reducers, ==, 64);
  if (g_str_equal (data, "ddp-5x8"))
    {
      g_assert_cmpfloat (c->results[1]->step_time, <, 0.9 * c->results[0]->step_time);
      g_assert_null (strstr (c->reasons[1], "servers only"));
      return;
    }
  g_assert_true (memcmp (&c->results[0]->step_time, &c->results[1]->step_time, sizeof (double)) == 0);
  g_assert_nonnull (strstr (c->reasons[1], "servers only do all-reduces"));
  g_assert_nonnull (strstr (c->reasons[1], g_str_equal (data, "moe-8x7b-ep") ? "all-to-all" : "all-gather and reduce-scatter"));
}

/* Folded to one class or a class for every rank: the same bits. */
static void
test_unfold (void)
{
  static const char *const names[] = { "ddp-5x8", "mwms-4x4", "mwms-4x4-nccl" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const RunOptions folded = { 0 }, unfolded = { .unfold = TRUE };
      const char *const sets[] = { "cluster.nodes=2", NULL };
      g_autoptr (Result) a = run (names[i], sets, &folded);
      g_autoptr (Result) b = run (names[i], sets, &unfolded);

      g_assert_true (memcmp (&a->step_time, &b->step_time, sizeof a->step_time) == 0);
      g_assert_true (memcmp (a->ledger, b->ledger, sizeof a->ledger) == 0);
      g_assert_cmpuint (b->tasks, >, a->tasks);
    }
}

/* A ring over cards alone on plain wires: by messages within 1e-6 of the flow, and the same
 * bits folded (one rank's messages, n times fewer) or not. */
static void
test_messages (void)
{
  static const char *const sets[] = { "cluster.machine=generic-1gpu", "cluster.nodes=6", "network.transport=plain",
                                      "network.efficiency=1", "collective.algorithm=ring", NULL };
  g_autoptr (Result) flow = run ("ddp-5x8", sets, &(RunOptions) { .tier = TIER_STEP_FLOW });
  g_autoptr (Result) folded = run ("ddp-5x8", sets, &(RunOptions) { .tier = TIER_STEP_MESSAGE });
  g_autoptr (Result) unfolded = run ("ddp-5x8", sets, &(RunOptions) { .tier = TIER_STEP_MESSAGE, .unfold = TRUE });

  g_assert_cmpstr (flow->tier, ==, "flow");
  g_assert_cmpstr (folded->tier, ==, "message");
  g_assert_cmpfloat_with_epsilon (folded->step_time, flow->step_time, 1e-6 * flow->step_time);
  g_assert_true (memcmp (&folded->step_time, &unfolded->step_time, sizeof folded->step_time) == 0);
  g_assert_true (memcmp (folded->ledger, unfolded->ledger, sizeof folded->ledger) == 0);
  /* 2 x 5 messages of each rank in each of 14 buckets */
  g_assert_cmpuint (folded->messages, ==, 14 * 10);
  g_assert_cmpuint (unfolded->messages, ==, 6 * 14 * 10);
}

/* Shards in the node, replicas over the nodes: groups and twins of both kinds are told
 * apart, and every byte comes (the run's own checks).  Plain wires: near the flow. */
static void
test_messages_groups (void)
{
  static const char *const sets[] = { "cluster.machine=dgx-a100", "cluster.nodes=2", "network.transport=plain", "strategy.kind=fsdp",
                                      "strategy.sharding=hybrid", NULL };
  g_autoptr (Result) flow = run ("resnet50-dgx-a100", sets, &(RunOptions) { .tier = TIER_STEP_FLOW });
  g_autoptr (Result) messages = run ("resnet50-dgx-a100", sets, &(RunOptions) { .tier = TIER_STEP_MESSAGE });

  g_assert_cmpfloat_with_epsilon (messages->step_time, flow->step_time, 0.03 * flow->step_time);
}

/* Auto: the flow, unless a rank is slow and the wires are the textbook's. */
static void
test_auto_tier (void)
{
  static const char *const alike[] = { "cluster.nodes=2", NULL };
  static const char *const slow[] = { "cluster.nodes=2", "noise.slow-ranks=1", NULL };
  static const char *const textbook[] = { "cluster.machine=generic-1gpu", "cluster.nodes=2", "network.transport=plain",
                                          "noise.slow-ranks=1", NULL };
  g_autoptr (Result) a = run ("ddp-5x8", alike, &(RunOptions) { 0 }), b = run ("ddp-5x8", slow, &(RunOptions) { 0 });
  g_autoptr (Result) c = run ("ddp-5x8", textbook, &(RunOptions) { 0 });

  g_assert_cmpstr (a->tier, ==, "flow");
  g_assert_cmpstr (b->tier, ==, "flow");
  g_assert_cmpstr (c->tier, ==, "message");
  g_assert_nonnull (strstr (c->tier_reason, "unequal"));
}

/* Every duration at the hands of one resource: slower is never faster, and a
 * resource slowed by f never slows the step by more than f. */
static void
test_monotone (void)
{
  const double base = step_with ("ddp-5x8", "network.efficiency=0.56");
  const double slower = step_with ("ddp-5x8", "network.efficiency=0.28");
  const double twice = step_with ("ddp-5x8", "network.nic-bandwidth=200 Gbit/s");

  g_assert_cmpfloat (slower, >, base);
  g_assert_cmpfloat (slower, <=, 2 * base);
  g_assert_cmpfloat (twice, <, base);
  g_assert_cmpfloat (twice, >=, base / 2);
}

/* DDP's bucket size means nothing to TensorFlow, an uplink nothing to one ideal
 * switch: said.  bytes-per-pack moves the step: not said. */
static void
test_no_effect (void)
{
  const char *const sets[] = { "strategy.bucket-size=13 MiB", "network.oversubscription=3", "strategy.bytes-per-pack=17 MiB", NULL };
  const RunOptions options = { .effects = TRUE };
  g_autoptr (Result) r = run ("mwms-4x4", sets, &options);
  g_autofree char *all = g_strjoinv ("\n", r->warnings);

  g_assert_nonnull (strstr (all, "[strategy] bucket-size (--set) changes nothing"));
  g_assert_nonnull (strstr (all, "[network] oversubscription (--set) changes nothing"));
  g_assert_null (strstr (all, "bytes-per-pack"));
}

/* A pipeline of p stages and m micro-batches sends m activations and m gradients over
 * each of its p - 1 borders: 2 x 512 x 63 messages, all alike. */
static void
test_calls_of_a_kind (void)
{
  const RunOptions options = { 0 };
  g_autoptr (Result) r = run ("megatron-1t", NULL, &options);
  guint64 sent = 0, calls = 0;
  double exposed = 0;

  for (guint i = 0; i < r->n_collectives; i++)
    {
      calls += r->collectives[i].calls;
      exposed += r->collectives[i].exposed_s;
      if (g_str_equal (r->collectives[i].op, "send-recv"))
        {
          sent += r->collectives[i].calls;
          /* bf16 activations of 2,048 tokens x 25,600, split over 8 tensor-parallel ranks */
          g_assert_cmpfloat_with_epsilon (r->collectives[i].bytes, 2.0 * 2048 * 25600 / 8, 0.5);
        }
    }
  g_assert_cmpuint (sent, ==, 2 * 512 * 63);
  g_assert_cmpuint (calls * r->steps, ==, r->meetings);
  g_assert_cmpfloat_with_epsilon (exposed, r->ledger[CAUSE_EXPOSED_COMM], 1e-9 * r->step_time);
  g_assert_cmpuint (r->n_collectives, <, 16);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scenarios/software-bound", test_software_bound);
  g_test_add_func ("/scenarios/ddp-5x8", test_ddp_curve);
  g_test_add_func ("/scenarios/reduction-server", test_reduction_server);
  g_test_add_func ("/scenarios/alternatives", test_alternatives);
  g_test_add_func ("/scenarios/one-node", test_one_node);
  g_test_add_func ("/scenarios/nic-bytes", test_nic_bytes);
  g_test_add_func ("/scenarios/sizing", test_sizing);
  g_test_add_func ("/scenarios/mirrored-small-batch", test_mirrored);
  g_test_add_func ("/scenarios/mwms-4x4", test_mwms);
  g_test_add_func ("/scenarios/batch-error", test_batch_error);
  g_test_add_func ("/scenarios/compare-batch", test_compare_batch);
  g_test_add_func ("/scenarios/hidden", test_hidden);
  g_test_add_data_func ("/scenarios/past-servers/ddp", "ddp-5x8", test_past_servers);
  g_test_add_data_func ("/scenarios/past-servers/fsdp", "fsdp-7b-h100", test_past_servers);
  g_test_add_data_func ("/scenarios/past-servers/zero-3", "zero3-2-nodes-tcp", test_past_servers);
  g_test_add_data_func ("/scenarios/past-servers/experts", "moe-8x7b-ep", test_past_servers);
  g_test_add_func ("/scenarios/unfold", test_unfold);
  g_test_add_func ("/scenarios/messages", test_messages);
  g_test_add_func ("/scenarios/messages-groups", test_messages_groups);
  g_test_add_func ("/scenarios/auto-tier", test_auto_tier);
  g_test_add_func ("/scenarios/monotone", test_monotone);
  g_test_add_func ("/scenarios/no-effect", test_no_effect);
  g_test_add_func ("/scenarios/calls-of-a-kind", test_calls_of_a_kind);
  return g_test_run ();
}
