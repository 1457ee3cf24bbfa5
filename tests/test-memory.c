/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/training-validate.h"
#include "run/point.h"
#include <string.h>

/* What runs did, fits: every row of the published tables that can be read as a
 * scenario has run on the GPUs it names, so the verdict must be that it fits.
 * `rows`: how many rows each must give at least.  The tables in the folder of
 * measurements stay outside the tree. */
typedef struct { const char *folder, *table; guint rows; } Ran;
static const Ran tables[] = {
  { "calibration/training-llm", "megatron_sp_2022", 4 },
  { "calibration/training-llm", "megatron_sc21", 5 },
  { "calibration/training-llm", "megascale", 6 },
  { "calibration/training-llm", "megatron_h100", 7 },
  { "calibration/training-llm", "nanotron", 14 },
  { "calibration/training-llm", "megatron_bridge", 120 },
  { "calibration/training-llm", "llama3_405b", 2 },
  { "calibration/training-llm", "dlperf_gpt", 22 },
  { "calibration/transformers", "llm_foundry", 98 },
  { "calibration/training-llm", "bigscience_jz", 40 },
  { "calibration/training-llm", "nemo_long_seq", 8 },
  { "calibration/training-llm", "stas_llama8b", 7 },
  { "calibration/training-llm", "colossalai", 1 },
  { "calibration/transformers", "torchtitan", 12 },
  { "calibration/training", "dle_bert", 150 },
  { "calibration/training", "dle_cnn", 98 },
  { "calibration/training", "dle_nmt_rec_det", 36 },
  { "calibration/training", "dlperf_pytorch_rn50", 20 },
  { "calibration/training", "dlperf_tf2_mwms", 22 },
  { "calibration/training", "dlperf_v100", 66 },
  { "calibration/training", "horovod_2017", 24 },
  { "calibration/training", "lambda", 270 },
  { "calibration/training", "pytorch_ddp_bench", 28 },
  { "calibration/training", "tf_cnn_benchmarks_2017", 90 },
  { NULL, "vtrain_a100", 765 },
  { NULL, "mlperf_training", 60 },
};

static char *
table_path (const Ran *ran)
{
  g_autofree char *file = g_strconcat (ran->table, ".csv", NULL);
  const char *data = g_getenv ("LOCKSTEP_MEASURED");

  if (ran->folder != NULL)
    return g_build_filename (g_getenv ("LOCKSTEP_SOURCE"), ran->folder, file, NULL);
  return data != NULL && *data != '\0' ? g_build_filename (data, "training", file, NULL) : NULL;
}

static guint
check_row (Shelf *parts, const CsvTable *table, guint at, const TrainingRow *row)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Point) point = NULL;
  MemoryUse use;

  if (row->skip != NULL || row->layer)   /* one block by itself */
    return 0;
  point = point_new_from (parts, row->scenario, &error);
  if (point == NULL)
    {
      g_test_message ("%s:%u: %s", csv_name (table), csv_line (table, at), error->message);
      return 0;
    }
  point->strategy->memory (&point->input, &use);
  use.total -= use.activations * (1 - row->share);   /* padding that is left out takes no room */
  use.fits = use.total <= use.capacity;
  if (!use.fits)
    {
      g_printerr ("%s:%u: %s: %.3g GB of %.3g: weights %.3g, gradients %.3g, optimizer %.3g, activations %.3g, buffers %.3g\n",
                      csv_name (table), csv_line (table, at), row->platform, use.total / 1e9, use.capacity / 1e9, use.weights / 1e9,
                      use.gradients / 1e9, use.optimizer / 1e9, use.activations / 1e9, use.buffers / 1e9);
      g_test_fail ();
    }
  return 1;
}

static void
test_ran (gconstpointer data)
{
  const Ran *ran = data;
  g_autofree char *path = table_path (ran);
  g_autoptr (GError) error = NULL;

  if (path == NULL || !g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the published measurements are not here (LOCKSTEP_MEASURED)");
      return;
    }
  g_autoptr (CsvTable) table = training_table (path, &error);
  g_assert_no_error (error);
  g_autoptr (TrainingReader) reader = training_reader_new (&error);
  g_assert_no_error (error);
  g_autoptr (Shelf) parts = shelf_new ();
  guint rows = 0;

  for (guint i = 0; i < csv_rows (table); i++)
    {
      g_autoptr (TrainingRow) row = training_row_read (reader, table, i);

      rows += check_row (parts, table, i, row);
    }
  g_test_message ("%u rows", rows);
  g_assert_cmpuint (rows, >=, ran->rows);
}

static Point *
point_of (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Scenario) scenario = scenario_parse ("memory.ini", text, strlen (text), NULL, &error);

  g_assert_no_error (error);
  Point *point = point_new (scenario, &error);
  g_assert_no_error (error);
  point->scenario = g_steal_pointer (&scenario);
  return point;
}

static MemoryUse
use_of (const char *text)
{
  Point *point = point_of (text);
  Scenario *scenario = (Scenario *) point->scenario;
  MemoryUse use;

  point->strategy->memory (&point->input, &use);
  point_free (point);
  scenario_free (scenario);
  return use;
}

/* 70 billion parameters of two bytes alone are 141 GB; 6.7 billion with Adam in
 * mixed precision 16 bytes each, 108 GB. */
static const char *const never[] = {
  "[cluster]\nmachine = dgx-h100\nnodes = 1\ngpus-per-node = 1\n[workload]\nname = llama2_70b\nprecision = bf16\n"
  "[training]\nbatch-per-gpu = 1\n[strategy]\nkind = single\n",
  "[cluster]\nmachine = dgx-h100\nnodes = 1\ngpus-per-node = 1\n[workload]\nname = llama2_70b\nprecision = mixed-bf16\n"
  "[training]\nglobal-batch = 1\nrecompute = full\n[strategy]\nkind = megatron\n",
  "[cluster]\nmachine = hgx-a100-40gb-roce\nnodes = 1\n[workload]\nname = llama2_7b\nprecision = mixed-bf16\n"
  "[training]\nbatch-per-gpu = 1\noptimizer = adam\n[strategy]\nkind = ddp\n",
  "[cluster]\nmachine = hgx-a100-40gb-roce\nnodes = 1\n[workload]\nname = llama2_7b\nprecision = mixed-bf16\n"
  "[training]\nbatch-per-gpu = 1\nrecompute = full\n[strategy]\nkind = zero\nstage = 0\n",
  "[cluster]\nmachine = hgx-a100-40gb-roce\nnodes = 1\n[workload]\nname = llama2_7b\nprecision = mixed-bf16\n"
  "[training]\nbatch-per-gpu = 1\nrecompute = full\n[strategy]\nkind = fsdp\nsharding = no\n",
};

static void
test_never (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (never); i++)
    {
      const MemoryUse use = use_of (never[i]);

      g_assert_false (use.fits);
      g_assert_cmpfloat (use.margin, <, 0);
      g_assert_cmpfloat_with_epsilon (use.margin, use.capacity - use.total, 1);
    }
}

/* Llama 3 405B on 8,192 GPUs, stage 2 of 16, the fullest.  Parameters of its 8 blocks
 * over 8 tensor ranks: (16384 x (16384 + 2 x 1024) + 16384^2 + 3 x 16384 x 53248) / 8 +
 * 2 x 16384 each.  A block keeps, of 8,192 tokens at two bytes: inputs of two norms and
 * of the products behind them 4 x 16384/8, queries, keys, values 2048 + 2 x 128, context
 * 2048, gate, up and their product 3 x 6656; its own input is freed.  Passes under way:
 * 2 x 14 + 7 x 16 + 1 (Narayanan et al. 2021). */
static void
test_llama (void)
{
  static const char text[] =
    "[cluster]\nmachine = dgx-h100\nnodes = 1024\n[workload]\nname = llama3_405b\nprecision = mixed-bf16\n"
    "[training]\nglobal-batch = 2048\n[strategy]\nkind = megatron\nstack = megatron-core-2023\ntensor-parallel = 8\n"
    "sequence-parallel = yes\npipeline-parallel = 16\nvirtual-stages = 8\naccount-for-embedding = true\naccount-for-loss = true\n"
    "distributed-optimizer = yes\nshard-gradients = yes\nfree-stage-inputs = true\n";
  const double params = 8 * ((16384.0 * 18432 + 16384.0 * 16384 + 3 * 16384.0 * 53248) / 8 + 2 * 16384);
  const double kept = 8192 * 2 * (4 * 16384.0 / 8 + 2304 + 2048 + 3 * 6656.0 - 16384.0 / 8);
  Point *point = point_of (text);
  Scenario *scenario = (Scenario *) point->scenario;
  g_autoptr (GArray) stages = point->strategy->stages (&point->input);
  const MemoryUse *use = &g_array_index (stages, MemoryStage, 1).use;

  g_assert_cmpuint (stages->len, ==, 16);
  g_assert_cmpfloat_with_epsilon (use->weights, 2 * params, 1);
  g_assert_cmpfloat_with_epsilon (use->gradients, 4 * params * (1.0 / 64 + 1.0 / 8), 1);
  g_assert_cmpfloat_with_epsilon (use->optimizer, 12 * params / 64, 1);
  g_assert_cmpfloat_with_epsilon (use->activations, 141 * kept, 1);
  g_assert_true (use->fits);
  point_free (point);
  scenario_free (scenario);
}

/* VGG-16 at batch 1: 138 M parameters are 553 MB of gradients, far more than its
 * activations; they come as these go, so the step needs no room for both, unless
 * micro-steps add them up. */
static void
test_gradients_for_activations (void)
{
#define VGG "[cluster]\nmachine = dgx-h100\nnodes = 1\ngpus-per-node = 1\n[workload]\nname = vgg16\nprecision = fp32\n[strategy]\nkind = single\n"
  const MemoryUse once = use_of (VGG "[training]\nbatch-per-gpu = 1\noptimizer = sgd\n");
  const MemoryUse summed = use_of (VGG "[training]\nbatch-per-gpu = 2\nbatch-per-gpu-max = 1\noptimizer = sgd\n");

  g_assert_cmpfloat_with_epsilon (summed.gradients, 138357544 * 4.0, 1);
  g_assert_cmpfloat_with_epsilon (summed.activations, once.activations, 1);
  /* the classifier's 123,642,856 come first; behind them convolutions that keep more than they weigh */
  g_assert_cmpfloat (once.gradients, >, 123642856 * 4.0 - once.activations);
  g_assert_cmpfloat (once.gradients, <, summed.gradients);
#undef VGG
}

/* ResNet-50 has 25,557,032 parameters, 102 MB of fp32 gradients.  DDP's buckets hold
 * as much all the time: a copy of the gradients, or, where these are views, themselves. */
static void
test_bucket_view (void)
{
#define DDP "[cluster]\nmachine = dgx-a100\nnodes = 2\n[workload]\nname = resnet50\nprecision = fp32\n[training]\nbatch-per-gpu = 64\n" \
  "[strategy]\nkind = ddp\ngradient-as-bucket-view = "
  const MemoryUse copies = use_of (DDP "false\n"), views = use_of (DDP "true\n");

  g_assert_cmpfloat_with_epsilon (copies.buffers - views.buffers, 25557032 * 4.0, 1);
  g_assert_cmpfloat_with_epsilon (views.gradients, 25557032 * 4.0, 1);
  g_assert_cmpfloat_with_epsilon (copies.total - views.total, copies.gradients, 1);
  g_assert_cmpfloat_with_epsilon (views.margin, views.capacity - views.total, 1);
#undef DDP
}

/* [training] offload-activations: 10 of 32 blocks leave, but one at work. */
static void
test_offload (void)
{
#define SHARDED "[cluster]\nmachine = dgx-h100\nnodes = 1\n[workload]\nname = llama2_7b\nprecision = mixed-bf16\n" \
  "[strategy]\nkind = fsdp\n[training]\nbatch-per-gpu = 1\n"
  const MemoryUse all = use_of (SHARDED), some = use_of (SHARDED "offload-activations = 10\n"), none = use_of (SHARDED "offload-activations = 32\n");
  const double block = (all.activations - none.activations) / 31;

  /* Llama 2 7B, a token and block: 2 x (2 x 4096 norm inputs and 2 x 4096 outputs, 3 x 4096, 4096, 3 x 11008) */
  g_assert_cmpfloat_with_epsilon (block, 4096 * 2 * (8 * 4096.0 + 3 * 11008), 1);
  g_assert_cmpfloat_with_epsilon (all.activations - some.activations, 9 * block, 1);
#undef SHARDED
}

/* Logits of 8,192 tokens and 128,256 words, two bytes and their fp32 copy. */
static void
test_chunked_loss (void)
{
  static const char head[] = "[cluster]\nmachine = dgx-h100\nnodes = 1\n[workload]\nname = llama3_8b\nsequence = 8192\nprecision = mixed-bf16\n"
                             "[training]\nbatch-per-gpu = 1\nrecompute = full\nchunked-loss = ";
  static const char tail[] = "\n[strategy]\nkind = zero\nstage = 3\n";
  g_autofree char *whole = g_strconcat (head, "false", tail, NULL), *pieces = g_strconcat (head, "true", tail, NULL);

  g_assert_cmpfloat_with_epsilon (use_of (whole).activations - use_of (pieces).activations, (2 + 4) * 8192.0 * 128256, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      g_autofree char *path = g_strdup_printf ("/memory/ran/%s", tables[i].table);

      g_test_add_data_func (path, &tables[i], test_ran);
    }
  g_test_add_func ("/memory/never", test_never);
  g_test_add_func ("/memory/llama-3", test_llama);
  g_test_add_func ("/memory/gradients-for-activations", test_gradients_for_activations);
  g_test_add_func ("/memory/bucket-view", test_bucket_view);
  g_test_add_func ("/memory/offload", test_offload);
  g_test_add_func ("/memory/chunked-loss", test_chunked_loss);
  return g_test_run ();
}
