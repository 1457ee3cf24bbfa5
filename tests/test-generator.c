/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/csv.h"
#include "base/origin.h"
#include "workload/workload.h"

/* Whole numbers below 2^53. */
static void
same (double got, double want)
{
  if (isnan (want))
    g_assert_true (isnan (got));
  else
    g_assert_cmpfloat_with_epsilon (got, want, 0.4);
}

static Workload *
load (const WorkloadSpec *spec)
{
  g_autoptr (GError) error = NULL;
  Workload *workload = workload_load (spec, &error);

  g_assert_no_error (error);
  return workload;
}

static void
same_layer (const Layer *got, const Layer *want)
{
  g_assert_cmpstr (got->name, ==, want->name);
  g_assert_cmpint (got->kind, ==, want->kind);
  same (got->params, want->params);
  g_assert_cmpuint (got->n_tensors, ==, want->n_tensors);
  for (guint t = 0; t < want->n_tensors; t++)
    same (got->tensors[t], want->tensors[t]);
  same (got->out_elems, want->out_elems);
  same (got->flop, want->flop);
  same (got->bytes_fp32, want->bytes_fp32);
  same (got->m, want->m);
  same (got->n, want->n);
  same (got->k, want->k);
  g_assert_cmpint (got->winograd, ==, want->winograd);
  g_assert_cmpint (got->tied, ==, want->tied);
}

static void
same_workload (const Workload *got, const Workload *want)
{
  g_assert_cmpuint (got->n_layers, ==, want->n_layers);
  for (guint i = 0; i < want->n_layers; i++)
    same_layer (&got->layers[i], &want->layers[i]);
  same (got->params, want->params);
  same (got->flop, want->flop);
  same (got->out_elems, want->out_elems);
  g_assert_cmpuint (got->n_tensors, ==, want->n_tensors);
  same (got->buffers, want->buffers);
  g_assert_cmpstr (got->family, ==, want->family);
  g_assert_cmpstr (got->sample, ==, want->sample);
}

/* The tables were counted by another program from the architectures: every
 * column of every row. */
static void
test_table (gconstpointer data)
{
  const char *name = data;
  g_autoptr (Workload) table = load (&(WorkloadSpec) { .name = (char *) name });
  /* Its own architecture changes nothing and makes it generate. */
  static const struct { const char *prefix; int architecture; } own[] = {
    { "gpt", ARCHITECTURE_GPT }, { "megatron", ARCHITECTURE_GPT }, { "mpt", ARCHITECTURE_MPT }, { "llama", ARCHITECTURE_LLAMA },
    { "bert", ARCHITECTURE_BERT }, { "vit", ARCHITECTURE_VIT },
  };
  WorkloadSpec spec = { .name = (char *) name };

  for (gsize i = 0; i < G_N_ELEMENTS (own); i++)
    if (g_str_has_prefix (name, own[i].prefix))
      spec.shape.architecture = own[i].architecture;
  g_autoptr (Workload) generated = load (&spec);
  g_assert_nonnull (generated->shape);
  g_assert_null (table->shape);
  same_workload (generated, table);
}

static void
add_tables (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (part_folder (), "workload", "shapes.csv", NULL);
  g_autoptr (CsvTable) shapes = csv_load (path, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (csv_rows (shapes), ==, 35);
  for (guint row = 0; row < csv_rows (shapes); row++)
    {
      const char *name = g_intern_string (csv_text (shapes, row, 0));
      g_autofree char *test = g_strdup_printf ("/generator/table/%s", name);

      g_test_add_data_func (test, name, test_table);
    }
}

/* From the keys alone: Llama 3 8B (published: 8,030,261,248 parameters). */
static void
test_keys_alone (void)
{
  g_autoptr (Workload) table = load (&(WorkloadSpec) { .name = (char *) "llama3_8b" });
  g_autoptr (Workload) w = load (&(WorkloadSpec) { .shape = {
    .architecture = ARCHITECTURE_LLAMA, .hidden = 4096, .heads = 32, .kv_heads = 8, .layers = 32, .ffn = 14336,
    .vocabulary = 128256, .sequence = 8192 } });

  same (w->params, 8030261248);
  same_workload (w, table);
}

/* ffn of Llama 2: 8/3 x 4096 = 10,922.67, rounded up to a multiple of 256: 11,008. */
static void
test_defaults (void)
{
  g_autoptr (Workload) llama = load (&(WorkloadSpec) { .shape = { .architecture = ARCHITECTURE_LLAMA, .hidden = 4096, .heads = 32, .layers = 32 } });
  g_autoptr (Workload) bert = load (&(WorkloadSpec) { .shape = { .architecture = ARCHITECTURE_BERT, .hidden = 768, .heads = 12, .layers = 12 } });
  g_autoptr (Workload) vit = load (&(WorkloadSpec) { .shape = { .architecture = ARCHITECTURE_VIT, .hidden = 768, .heads = 12, .layers = 12 } });

  same (llama->params, 6738415616);
  same (bert->params, 110106428);
  same (vit->params, 86567656);
}

/* Half the tokens: the same weights; products with weights half, attention a
 * quarter.  Llama 2 7B at 4096: attention 32 x 137,438,953,472, all 58,544,415,047,680. */
static void
test_sequence (void)
{
  g_autoptr (Workload) w = load (&(WorkloadSpec) { .name = (char *) "llama2-7b", .shape = { .sequence = 2048 } });
  const double attention = 32 * 137438953472.0, all = 58544415047680.0;

  same (w->params, 6738415616);
  same (w->flop, (all - attention) / 2 + attention / 4);
  g_assert_cmpstr (w->sample, ==, "sequence of 2048");
  g_assert_cmpstr (w->name, ==, "llama2_7b (sequence 2048)");
}

/* BERT's positions stay 512 below that; GPT-2 with more tokens than positions
 * needs (3000 - 1024) x 768 more weights. */
static void
test_positions (void)
{
  g_autoptr (Workload) bert = load (&(WorkloadSpec) { .name = (char *) "bert_base_seq512", .shape = { .sequence = 128 } });
  g_autoptr (Workload) table = load (&(WorkloadSpec) { .name = (char *) "bert_base_seq128" });
  g_autoptr (Workload) gpt = load (&(WorkloadSpec) { .name = (char *) "gpt2", .shape = { .sequence = 3000 } });

  same_workload (bert, table);
  same (gpt->params, 124439808 + (3000 - 1024) * 768.0);
}

/* The published count of Mixtral 8x7B: 46,702,792,704.  A token visits 2 of 8
 * experts: 12,879,925,248 weights active, as published (12.9 billion). */
static void
test_experts (void)
{
  g_autoptr (Workload) w = load (&(WorkloadSpec) { .shape = {
    .architecture = ARCHITECTURE_LLAMA, .hidden = 4096, .heads = 32, .kv_heads = 8, .layers = 32, .ffn = 14336,
    .vocabulary = 32000, .sequence = 1024, .experts = 8, .top_k = 2 } });
  double gemm = 0;

  same (w->params, 46702792704);
  for (guint i = 0; i < w->n_layers; i++)
    if (w->layers[i].kind == LAYER_GEMM)
      gemm += w->layers[i].flop;
  /* Active weights without the embedding table and norms: 131,072,000 and 266,240. */
  same (gemm, 2 * 1024.0 * (12879925248.0 - 131072000 - 266240));
}

/* Of DeepSeek's papers and configurations. */
static const Shape deepseek_v3 = {
  .architecture = ARCHITECTURE_LLAMA, .hidden = 7168, .heads = 128, .layers = 61, .ffn = 2048, .vocabulary = 129280, .sequence = 4096,
  .experts = 256, .top_k = 8, .shared_experts = 1, .dense_layers = 3, .dense_ffn = 18432, .q_lora_rank = 1536, .kv_lora_rank = 512,
};
static const Shape deepseek_v2 = {
  .architecture = ARCHITECTURE_LLAMA, .hidden = 5120, .heads = 128, .layers = 60, .ffn = 1536, .vocabulary = 102400, .sequence = 4096,
  .experts = 160, .top_k = 6, .shared_experts = 2, .dense_layers = 1, .dense_ffn = 12288, .q_lora_rank = 1536, .kv_lora_rank = 512,
};
static const Shape deepseek_v2_lite = {
  .architecture = ARCHITECTURE_LLAMA, .hidden = 2048, .heads = 16, .layers = 27, .ffn = 1408, .vocabulary = 102400, .sequence = 4096,
  .experts = 64, .top_k = 6, .shared_experts = 2, .dense_layers = 1, .dense_ffn = 10944, .kv_lora_rank = 512,
};

/* Weights that a token meets: all but the routed experts that it passes by. */
static double
active (const Workload *w, const Shape *shape)
{
  const double expert = 3.0 * (double) (shape->hidden * shape->ffn);

  return w->params - (double) (shape->experts - shape->top_k) * expert * (double) (shape->layers - shape->dense_layers);
}

/* Published: V3 671 B, 37 B active without its further prediction (arXiv 2412.19437,
 * section 4.2), V2 236 B and 21 B, V2-Lite 15.7 B and 2.4 B (arXiv 2405.04434, section
 * 3.1.2 and appendix B).  V3 by hand, a layer: attention 7168 x 1536 + 1536 + 1536 x
 * 128 x 192 + 7168 x 576 + 512 + 512 x 128 x 256 + 128 x 128 x 7168 = 187,107,328, norms
 * 14,336; 61 of them; 3 of 3 x 7168 x 18432; 58 of 257 x 3 x 7168 x 2048 + 7168 x 256;
 * two tables of 129280 x 7168; a norm. */
static void
test_latent (void)
{
  g_autoptr (Workload) v3 = load (&(WorkloadSpec) { .shape = deepseek_v3 });
  g_autoptr (Workload) v2 = load (&(WorkloadSpec) { .shape = deepseek_v2 });
  g_autoptr (Workload) lite = load (&(WorkloadSpec) { .shape = deepseek_v2_lite });

  same (v3->params, 671026404352);
  g_assert_cmpfloat_with_epsilon (v3->params, 671e9, 0.5e9);
  g_assert_cmpfloat_with_epsilon (v2->params, 236e9, 0.5e9);
  g_assert_cmpfloat_with_epsilon (lite->params, 15.7e9, 0.05e9);
  /* the papers leave open whether both tables count: V3 36.6 with one, 37.6 with both */
  g_assert_cmpfloat_with_epsilon (active (v3, &deepseek_v3) - 129280.0 * 7168, 37e9, 0.5e9);
  g_assert_cmpfloat_with_epsilon (active (v2, &deepseek_v2) - 102400.0 * 5120, 21e9, 0.5e9);
  g_assert_cmpfloat_with_epsilon (active (lite, &deepseek_v2_lite) - 102400.0 * 2048, 2.4e9, 0.07e9);
}

/* The module behind V3: a block with experts (187,107,328 + 14,336 + 11,320,164,352
 * weights), a product of 14336 x 7168 and three norms; 11.5 B of its own are published
 * (README_WEIGHTS of DeepSeek-V3).  FLOP of products with weights, of a token: twice what
 * it meets, 37,552,297,984 less the table and norms; with the module 8 experts and one
 * shared (9 x 44,040,192), router, attention, product and output layer more. */
static void
test_further (void)
{
  Shape shape = deepseek_v3;
  g_autoptr (Workload) plain = load (&(WorkloadSpec) { .shape = shape });
  shape.mtp_layers = 1;
  g_autoptr (Workload) w = load (&(WorkloadSpec) { .shape = shape });
  const double attention = 187107328, norms = 61 * (14336 + 1536 + 512) + 7168, product = 14336.0 * 7168, table = 129280.0 * 7168;
  const double core = 2.0 * 128 * 4096 * 4096 * (192 + 128) / 2;   /* scores and context, half of them */
  double gemm = 0, scores = 0, before = 0;

  same (w->params - plain->params, attention + 14336 + 257.0 * 44040192 + 7168 * 256 + product + 3 * 7168);
  g_assert_cmpfloat_with_epsilon (w->params - plain->params, 11.5e9, 0.15e9);
  for (guint i = 0; i < w->n_layers; i++)
    {
      gemm += w->layers[i].kind == LAYER_GEMM ? w->layers[i].flop : 0;
      scores += w->layers[i].kind == LAYER_ATTENTION ? w->layers[i].flop : 0;
    }
  for (guint i = 0; i < plain->n_layers; i++)
    before += plain->layers[i].kind == LAYER_GEMM ? plain->layers[i].flop : 0;
  same (before, 2 * 4096 * (active (plain, &deepseek_v3) - table - norms));
  same (gemm - before, 2 * 4096 * (attention - 2048 + 9.0 * 44040192 + 7168 * 256 + product + table));
  same (scores, 62 * core);
  /* 260 GFLOP a token of a step is what Megatron-Bridge's tables count: 1635 TFLOP/s at 6288 tokens/s */
  g_assert_cmpfloat_with_epsilon (3 * (gemm + scores) / 4096, 1635e12 / 6288, 0.003 * 260e9);
}

/* GPT-2 small with rotary positions loses 1024 x 768 weights; with RMS norm 25
 * biases of 768; without biases in its linear layers 12 x (2304 + 768 + 3072 + 768);
 * untied it gains 50257 x 768; a gate of the same width gains 12 x (768 x 3072 + 3072). */
static void
test_variants (void)
{
  static const struct { Shape shape; double change; } cases[] = {
    { { .positions = POSITIONS_ROTARY }, -1024.0 * 768 },
    { { .positions = POSITIONS_ALIBI }, -1024.0 * 768 },
    { { .norm = NORM_RMS }, -25.0 * 768 },
    { { .bias = SHAPE_NO }, -12.0 * (2304 + 768 + 3072 + 768) },
    { { .tied = SHAPE_NO }, 50257.0 * 768 },
    { { .gated = SHAPE_YES }, 12 * (768 * 3072 + 3072.0) },
    { { .kv_heads = 3 }, -12.0 * 2 * 9 * 64 * (768 + 1) },
    { { .layers = 13 }, 7087872 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Workload) w = load (&(WorkloadSpec) { .name = (char *) "gpt2_small", .shape = cases[i].shape });

      same (w->params, 124439808 + cases[i].change);
      g_assert_cmpstr (w->name, ==, "gpt2_small (own shape)");
    }
}

typedef struct { const char *name; WorkloadSpec spec; const char *message; } Refused;
static const Refused refused[] = {
  { "fixed-table", { .name = (char *) "resnet50", .shape = { .sequence = 128 } }, "[workload] name: 'resnet50' is a fixed table*" },
  { "file", { .file = (char *) "x.csv", .shape = { .sequence = 128 } }, "[workload] file: its layers are fixed*" },
  { "no-architecture", { .shape = { .hidden = 768 } }, "[workload] architecture: missing*" },
  { "no-heads", { .shape = { .architecture = ARCHITECTURE_GPT, .hidden = 768, .layers = 2 } }, "[workload] heads: missing*" },
  { "heads", { .shape = { .architecture = ARCHITECTURE_GPT, .hidden = 768, .heads = 7, .layers = 2 } }, "[workload] heads: hidden 768 does not divide by 7*763 and 770*" },
  { "kv-heads", { .shape = { .architecture = ARCHITECTURE_GPT, .hidden = 768, .heads = 12, .kv_heads = 5, .layers = 2 } }, "[workload] kv-heads: 5*" },
  { "top-k", { .shape = { .architecture = ARCHITECTURE_GPT, .hidden = 768, .heads = 12, .layers = 2, .experts = 2, .top_k = 3 } }, "[workload] top-k: 3 of 2*" },
  { "vit-sequence", { .name = (char *) "vit_b16", .shape = { .sequence = 128 } }, "[workload] sequence: does not go with architecture vit; image and patch*" },
  { "vit-image", { .name = (char *) "vit_b16", .shape = { .image = 225 } }, "[workload] image: 225 does not divide*" },
  { "bert-gated", { .name = (char *) "bert_base", .shape = { .gated = SHAPE_YES } }, "[workload] gated: does not go with architecture bert*" },
  { "gpt-head", { .name = (char *) "gpt2", .shape = { .head = HEAD_SQUAD } }, "[workload] head: does not go with architecture gpt*" },
  { "q-lora-alone", { .name = (char *) "llama2_7b", .shape = { .q_lora_rank = 64 } }, "[workload] q-lora-rank: goes with latent attention*" },
  { "latent-gpt", { .name = (char *) "gpt2", .shape = { .kv_lora_rank = 64 } }, "[workload] kv-lora-rank: latent attention goes with architecture llama*" },
  { "latent-kv-heads", { .name = (char *) "llama3_8b", .shape = { .kv_lora_rank = 64 } }, "[workload] kv-heads: does not go with latent attention*" },
  { "shared-alone", { .name = (char *) "gpt2", .shape = { .shared_experts = 1 } }, "[workload] shared-experts: stand beside routed ones*" },
  { "dense-alone", { .name = (char *) "gpt2", .shape = { .dense_layers = 1 } }, "[workload] dense-layers: all layers are dense*" },
  { "dense-all", { .name = (char *) "gpt2", .shape = { .experts = 4, .dense_layers = 12 } }, "[workload] dense-layers: 12 of 12*at most 11*" },
  { "dense-width", { .name = (char *) "gpt2", .shape = { .experts = 4, .dense_ffn = 12 } }, "[workload] dense-ffn: is the width of dense-layers*" },
  { "bert-mtp", { .name = (char *) "bert_base", .shape = { .mtp_layers = 1 } }, "[workload] mtp-layers: does not go with architecture bert*" },
  { "many-layers", { .name = (char *) "gpt2", .shape = { .layers = 100000 } }, "[workload] layers: 100000 make too many rows*" },
  { "many-experts", { .name = (char *) "gpt2", .shape = { .experts = 100000 } }, "[workload] layers: 12 make too many rows or tensors*" },
};

static void
test_refused (gconstpointer data)
{
  const Refused *r = data;
  g_autoptr (GError) error = NULL;

  g_assert_null (workload_load (&r->spec, &error));
  g_assert_nonnull (error);
  if (!g_pattern_match_simple (r->message, error->message))
    g_assert_cmpstr (error->message, ==, r->message);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  add_tables ();
  g_test_add_func ("/generator/keys-alone", test_keys_alone);
  g_test_add_func ("/generator/defaults", test_defaults);
  g_test_add_func ("/generator/sequence", test_sequence);
  g_test_add_func ("/generator/positions", test_positions);
  g_test_add_func ("/generator/experts", test_experts);
  g_test_add_func ("/generator/latent-attention", test_latent);
  g_test_add_func ("/generator/further-tokens", test_further);
  g_test_add_func ("/generator/variants", test_variants);
  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autofree char *path = g_strdup_printf ("/generator/refused/%s", refused[i].name);

      g_test_add_data_func (path, &refused[i], test_refused);
    }
  return g_test_run ();
}
