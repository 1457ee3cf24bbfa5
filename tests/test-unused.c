/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/run.h"
#include "run/unused.h"
#include <math.h>
#include <string.h>

/* What the rules call unused is unused: each such key, given another value, leaves
 * step, ledger, memory and bounds as they were, to the bit.  And what people were
 * caught by is said. */

#define HEAD "[cluster]\nmachine = dgx-a100\nnodes = 4\ngpus-per-node = 4\n[workload]\nname = %s\nprecision = mixed-bf16\n" \
             "[training]\nglobal-batch = 128\n%s[strategy]\nkind = %s\n%s"
typedef struct { const char *name, *workload, *training, *kind, *more; } Base;
#define MICRO "batch-per-gpu-max = 4\n"
static const Base bases[] = {
  { "ddp", "resnet50", MICRO, "ddp", "" },
  { "ddp-gpt2", "gpt2", MICRO, "ddp", "compression = fp16\n" },
  { "flat", "bert_base_seq128", MICRO, "flat", "" },
  { "horovod", "bert_base_seq128", MICRO, "horovod", "" },
  { "workers", "resnet50", MICRO, "multi-worker-mirrored", "" },
  { "servers", "vgg16", MICRO, "parameter-server", "[parameter-server]\ncount = 2\ncolocated = true\n" },
  { "one-node", "gpt2", MICRO, "ddp", "" },
  { "one-gpu", "resnet50", MICRO, "single", "" },
  { "zero-1", "gpt2", MICRO, "zero", "stage = 1\n" },
  { "zero-3", "gpt2", MICRO, "zero", "stage = 3\n" },
  { "zero-resnet", "resnet50", MICRO, "zero", "stage = 2\noffload-optimizer = true\n" },
  { "fsdp", "gpt2", MICRO, "fsdp", "" },
  { "fsdp-2", "gpt2", MICRO, "fsdp", "version = 2\nsharding = no\n" },
  { "megatron", "gpt2", "", "megatron", "tensor-parallel = 2\n" },
  { "megatron-pp", "gpt2", "", "megatron", "pipeline-parallel = 4\ndistributed-optimizer = yes\n" },
  { "fat-tree", "resnet50", MICRO, "ddp", "[network]\ntopology = fat-tree\n" },
  { "dragonfly", "resnet50", MICRO, "ddp", "[network]\ntopology = dragonfly\nnodes-per-group = 2\n" },
  { "noise", "resnet50", MICRO, "ddp", "[noise]\nstep-cv = 0.05\n" },
  { "ideal", "resnet50", MICRO, "ddp", "[compute]\nmodel = ideal\n" },
  { "reducers", "resnet50", MICRO, "ddp", "[reduction-server]\ncount = 4\n" },
};

static Scenario *
load (const Base *base)
{
  const gboolean one = g_str_equal (base->kind, "single"), node = g_str_equal (base->name, "one-node");
  const char *const sets[] = { one || node ? "cluster.nodes=1" : "cluster.nodes=4", one ? "cluster.gpus-per-node=1" : "cluster.gpus-per-node=4", NULL };
  g_autofree char *text = g_strdup_printf (HEAD, base->workload, base->training, base->kind, base->more);
  g_autoptr (GError) error = NULL;
  Scenario *scenario = scenario_parse (base->name, text, strlen (text), sets, &error);

  g_assert_no_error (error);
  return scenario;
}

/* A value of the key that is not the usual one; NULL: none that fits all. */
static const char *
other_value (const KeyGroup *group, const Key *key)
{
  static const struct { const char *key, *value; } given[] = {
    { "strategy.kind", NULL }, { "cluster.machine", NULL }, { "cluster.gpu", NULL }, { "workload.name", NULL }, { "workload.file", NULL },
    { "cluster.placement", "scattered" }, { "network.transport", "tcp" }, { "network.node-transport", "pcie-host" }, { "compute.tuning", "xla" },
    { "compute.without-source", "lambda" }, { "training.recompute-modules", "mlp" }, { "strategy.reshard-after-forward", "false" },
    { "collective.algorithm", "ring" }, { "reduction-server.machine", "n1-highcpu-96" }, { "parameter-server.machine", "n1-highcpu-96" },
    { "strategy.max-reuse-distance", "0" }, { "noise.pause-interval", "60 s" },
  };
  static const char *const quantities[UNIT_MONEY_RATE + 1] = {
    [UNIT_NONE] = "2", [UNIT_TIME] = "500 us", [UNIT_BYTES] = "5 MB", [UNIT_RATE] = "3 GB/s", [UNIT_SHARE] = "0.33",
    [UNIT_FLOP_RATE] = "100 TFLOP/s", [UNIT_SAMPLE_RATE] = "1000 samples/s",
  };
  g_autofree char *name = g_strconcat (group->name, ".", key->name, NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (given); i++)
    if (g_str_equal (given[i].key, name))
      return given[i].value;
  switch (key->type)
    {
    case KEY_BOOLEAN: return g_strcmp0 (key->default_text, "true") == 0 ? "false" : "true";
    case KEY_COUNT: return g_strcmp0 (key->default_text, "2") == 0 ? "3" : "2";
    case KEY_NUMBER: return "2";
    case KEY_QUANTITY: return quantities[key->unit];
    case KEY_CHOICE: return g_str_equal (key->choices[0], key->default_text != NULL ? key->default_text : "") ? key->choices[1] : key->choices[0];
    default: return NULL;
    }
}

static Result *
run (const Scenario *scenario, Shelf *parts)
{
  const RunOptions options = { .parts = parts, .interval = TRUE, .unused = TRUE, .runs = 20 };

  return run_scenario (scenario, &options, NULL);
}

static void
assert_same (const Result *a, const Result *b)
{
  const double as[] = { a->step_time, a->step_lo, a->step_hi, a->memory.total }, bs[] = { b->step_time, b->step_lo, b->step_hi, b->memory.total };

  g_assert_cmpmem (as, sizeof as, bs, sizeof bs);
  g_assert_cmpmem (a->ledger, sizeof a->ledger, b->ledger, sizeof b->ledger);
}

static void
test_sound (gconstpointer data)
{
  g_autoptr (Shelf) parts = shelf_new ();
  g_autoptr (Scenario) scenario = load (data);
  g_autoptr (Result) plain = run (scenario, parts);
  guint said = 0, tried = 0;

  g_assert_nonnull (plain);
  for (const KeyGroup *group = scenario_groups (); group->name != NULL; group++)
    for (const Key *key = group->keys; key != NULL && key->name != NULL; key++)
      {
        const char *value = other_value (group, key);
        g_autofree char *set = value != NULL ? g_strdup_printf ("%s.%s=%s", group->name, key->name, value) : NULL;
        const char *const sets[] = { set, NULL };
        g_autoptr (Scenario) with = set != NULL ? scenario_with (scenario, sets, NULL) : NULL;
        g_autoptr (Point) point = with != NULL ? point_new_from (parts, with, NULL) : NULL;
        g_autoptr (GArray) unused = point != NULL ? unused_keys (point) : NULL;
        g_autoptr (Result) result = NULL;

        tried += unused != NULL;
        if (unused == NULL || !unused_has (unused, group->name, key->name))
          continue;
        g_test_message ("%s", set);
        result = run (with, parts);
        if (result != NULL)   /* else refused, and so said */
          assert_same (plain, result);
        said += result != NULL;
      }
  g_assert_cmpuint (tried, >, 130);
  g_assert_cmpuint (said, >, 30);
}

/* Each of them was once given in vain without a word. */
typedef struct { const char *base, *set; gboolean unused; } Caught;
static const Caught caught[] = {
  { "ddp", "noise.pause-steps=100", TRUE }, { "ddp", "noise.distribution=normal", TRUE }, { "noise", "noise.distribution=normal", FALSE },
  { "ddp", "training.offload-rate=3 GB/s", TRUE }, { "fsdp", "training.offload-rate=3 GB/s", TRUE },
  { "ddp", "training.offload-activations=99", TRUE }, { "fsdp", "training.offload-activations=2", FALSE },
  { "ddp", "network.nodes-per-leaf=2", TRUE }, { "fat-tree", "network.nodes-per-leaf=2", FALSE },
  { "ddp", "network.groups=9", TRUE }, { "dragonfly", "network.groups=9", FALSE }, { "fat-tree", "network.oversubscription=4", TRUE },
  { "fsdp", "strategy.bucket-size=5 MB", TRUE }, { "ddp", "strategy.bucket-size=5 MB", FALSE }, { "zero-1", "strategy.persistence-threshold=10", TRUE },
  { "zero-3", "strategy.persistence-threshold=10", FALSE }, { "megatron", "strategy.cp-comm=a2a", TRUE }, { "megatron", "training.accumulation=2", TRUE },
  { "ddp", "reduction-server.sum-rate=3 GB/s", TRUE }, { "reducers", "reduction-server.count=3", TRUE }, { "ddp", "cluster.placement=scattered", TRUE },
  { "ddp", "workload.document-length-cv=0", TRUE }, { "ddp", "traffic.flows=4", TRUE }, { "ideal", "compute.kernel-floor=5 us", TRUE }, { "ddp", "compute.kernel-floor=5 us", FALSE },
};

static void
test_caught (gconstpointer data)
{
  const Caught *row = data;
  const char *const sets[] = { row->set, NULL };
  const Base *base = bases;

  while (!g_str_equal (base->name, row->base))
    base++;
  g_autoptr (Scenario) scenario = load (base);
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) with = scenario_with (scenario, sets, &error);
  g_assert_no_error (error);
  g_autoptr (Point) point = point_new (with, &error);
  g_assert_no_error (error);
  g_autoptr (GArray) unused = unused_keys (point);
  g_auto (GStrv) key = g_strsplit_set (row->set, ".=", 3);

  g_assert_cmpint (unused_has (unused, key[0], key[1]), ==, row->unused);
}

/* Of several points only what is unused at each remains. */
static void
test_meet (void)
{
  const UnusedKey a = { "noise", "ranks", "" }, b = { "noise", "pause-steps", "" }, c = { "traffic", "flows", "" };
  g_autoptr (GArray) some = g_array_new (FALSE, FALSE, sizeof (UnusedKey)), others = g_array_new (FALSE, FALSE, sizeof (UnusedKey));

  g_array_append_val (some, a);
  g_array_append_val (some, b);
  g_array_append_val (others, c);
  g_array_append_val (others, b);
  unused_meet (some, others);
  g_assert_cmpuint (some->len, ==, 1);
  g_assert_true (unused_has (some, "noise", "pause-steps"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (bases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/unused/sound/%s", bases[i].name);
      g_test_add_data_func (path, &bases[i], test_sound);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (caught); i++)
    {
      g_autofree char *path = g_strdup_printf ("/unused/said/%s/%s", caught[i].base, caught[i].set);
      g_test_add_data_func (path, &caught[i], test_caught);
    }
  g_test_add_func ("/unused/meet", test_meet);
  return g_test_run ();
}
