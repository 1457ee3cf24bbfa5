/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/origin.h"
#include "workload/workload.h"

/* On failure TAP shows both texts. */
static void
starts_with (const char *text, const char *prefix)
{
  g_autofree char *start = g_strndup (text, strlen (prefix));

  if (!g_str_equal (start, prefix))
    g_assert_cmpstr (text, ==, prefix);
}

static void
same (double got, double want)
{
  g_assert_cmpfloat_with_epsilon (got, want, 0.4);   /* whole numbers below 2^53 */
}

static Workload *
load (const char *name)
{
  g_autoptr (GError) error = NULL;
  Workload *workload = workload_load (&(WorkloadSpec) { .name = (char *) name }, &error);

  g_assert_no_error (error);
  return workload;
}

static CsvTable *
shipped_table (const char *file)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (part_folder (), "workload", file, NULL);
  CsvTable *table = csv_load (path, &error);

  g_assert_no_error (error);
  return table;
}

static double
number (const CsvTable *table, guint row, const char *name)
{
  g_autoptr (GError) error = NULL;
  guint column;
  double value;

  g_assert_true (csv_require (table, name, &column, &error));
  g_assert_true (csv_number (table, row, column, &value, &error));
  return value;
}

static void
check_layers (const Workload *w)
{
  for (guint i = 0; i < w->n_layers; i++)
    {
      double sum = 0;

      for (guint t = 0; t < w->layers[i].n_tensors; t++)
        sum += w->layers[i].tensors[t];
      same (sum, w->layers[i].params);
    }
}

/* SUMMARY.csv was counted by another program from the architectures. */
static void
test_summary (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CsvTable) summary = shipped_table ("SUMMARY.csv");
  g_auto (GStrv) names = workload_list (&error);
  guint column;

  g_assert_no_error (error);
  g_assert_true (csv_require (summary, "model", &column, &error));
  g_assert_cmpuint (csv_rows (summary), ==, g_strv_length (names));
  for (guint row = 0; row < csv_rows (summary); row++)
    {
      g_autoptr (Workload) w = load (csv_text (summary, row, column));

      same (w->params, number (summary, row, "params"));
      same (w->n_tensors, number (summary, row, "trainable_tensors"));
      same (w->flop, number (summary, row, "flops_fwd_per_sample"));
      same (w->out_elems, number (summary, row, "sum_out_elems"));
      same (w->n_layers, number (summary, row, "layers"));
      check_layers (w);
    }
}

/* Every table in the folder is in the index. */
static void
test_index_complete (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_build_filename (part_folder (), "workload", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, &error);
  g_auto (GStrv) names = workload_list (&error);
  const char *file;
  guint tables = 0;

  g_assert_no_error (error);
  while ((file = g_dir_read_name (dir)) != NULL)
    tables += g_str_has_suffix (file, ".csv");
  g_assert_cmpuint (tables, ==, g_strv_length (names) + 4);   /* index, shapes, SUMMARY, SOURCES */
}

/* Parameters: torchvision's and Hugging Face's published counts.  Buffers:
 * Keras' "non-trainable params" of ResNet50 are 53,120 (running mean and
 * variance), and torch keeps one count more in each of the 53 norms; the
 * state_dict of torchvision's resnet50 has 25,610,205 elements in all.
 * ResNeXt-50's 53 norms have 64 + 3(2*128+256)+256 + 4(2*256+512)+512
 * + 6(2*512+1024)+1024 + 3(2*1024+2048)+2048 = 34,112 channels.  BERT and VGG-16
 * have no batch norm. */
typedef struct { const char *name, *family; double params; guint tensors; double buffers, epoch; } Published;
static const Published published[] = {
  { "resnet50", "resnet", 25557032, 161, 25610205 - 25557032, 1281167 },
  { "vgg16", "vgg", 138357544, 32, 0, 1281167 },
  { "bert_base_seq128", "bert", 110106428, 206, 0, NAN },
  { "bert_large_seq128", "bert", 336226108, 398, 0, NAN },
  { "vit_b16", "transformer", 86567656, 152, 0, 1281167 },
  { "resnext50_32x4d", "efficientnet", 25028904, 161, 68224 + 53, 1281167 },
};

static void
test_published (gconstpointer data)
{
  const Published *p = data;
  g_autoptr (Workload) w = load (p->name);

  same (w->params, p->params);
  g_assert_cmpuint (w->n_tensors, ==, p->tensors);
  same (w->buffers, p->buffers);
  g_assert_cmpstr (w->family, ==, p->family);
  if (isnan (p->epoch))
    g_assert_true (isnan (w->samples_per_epoch));
  else
    same (w->samples_per_epoch, p->epoch);
}

/* conv1 of ResNet-50: 7x7x3x64 weights, 112x112x64 outputs, 2 FLOP a MAC. */
static void
test_layer_by_hand (void)
{
  g_autoptr (Workload) w = load ("resnet50");
  const Layer *conv1 = &w->layers[0];
  guint winograd = 0, tied = 0;

  g_assert_cmpstr (conv1->name, ==, "conv1");
  g_assert_cmpint (conv1->kind, ==, LAYER_CONV);
  same (conv1->params, 7 * 7 * 3 * 64);
  same (conv1->out_elems, 112 * 112 * 64);
  same (conv1->flop, 2.0 * 112 * 112 * 64 * 7 * 7 * 3);
  same (conv1->bytes_fp32, 4.0 * (224 * 224 * 3 + 112 * 112 * 64));
  g_assert_cmpstr (w->sample, ==, "224x224x3 image");
  for (guint i = 0; i < w->n_layers; i++)
    winograd += w->layers[i].winograd;
  g_assert_cmpuint (winograd, ==, 16 - 3);   /* a 3x3 a block; stride 2 where stages 2, 3, 4 begin */

  g_autoptr (Workload) bert = load ("bert_base_seq128");
  for (guint i = 0; i < bert->n_layers; i++)
    tied += bert->layers[i].tied;
  g_assert_cmpuint (tied, ==, 1);
}

/* One of 16 blocks each: EfficientNet-B0 (Tan and Le 2019, table 1); none has grouped ones. */
static void
test_depthwise (void)
{
  static const struct { const char *name; guint depthwise; } cases[] = { { "efficientnet_b0", 16 }, { "resnext50_32x4d", 0 }, { "resnet50", 0 } };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    {
      g_autoptr (Workload) w = load (cases[k].name);
      guint n = 0;

      for (guint i = 0; i < w->n_layers; i++)
        n += w->layers[i].depthwise;
      g_assert_cmpuint (n, ==, cases[k].depthwise);
    }
}

/* Grouped 3x3 convolutions (ResNeXt) gain nothing. */
static void
test_grouped (void)
{
  g_autoptr (Workload) w = load ("resnext50_32x4d");

  for (guint i = 0; i < w->n_layers; i++)
    g_assert_false (w->layers[i].winograd);
}

static void
test_names (void)
{
  static const char *const same_name[][2] = {
    { "bert-base-seq128", "bert_base_seq128" }, { "resnet-50", "resnet50" }, { "ResNet-50", "resnet50" },
    { "bert-large", "bert_large_seq128" }, { "vgg-16", "vgg16" }, { "gpt3-1.3b", "gpt3_1.3b" },
    { "gpt3-13b", "gpt3_13b" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (same_name); i++)
    {
      g_autoptr (Workload) w = load (same_name[i][0]);
      g_assert_cmpstr (w->name, ==, same_name[i][1]);
    }
}

typedef struct { const char *name; WorkloadSpec spec; const char *says; } Bad;
static const Bad bad_specs[] = {
  { "near-name", { .name = "resnet5O" }, "[workload] name: unknown workload 'resnet5O'; did you mean 'resnet50'?" },
  { "no-path", { .name = "../workload/resnet50" }, "[workload] name: unknown workload" },
  { "not-a-workload", { .name = "SUMMARY" }, "[workload] name: unknown workload" },
  { "empty", { .name = "" }, "[workload] name: unknown workload" },
  { "nothing", { .name = NULL }, "[workload] name: missing" },
  { "both", { .name = "resnet50", .file = "x.csv" }, "[workload] file: stands beside a name" },
  { "family", { .name = "resnet50", .family = "resnets" },
    "[workload] family: unknown family 'resnets'; did you mean 'resnet'?" },
  { "no-file", { .file = "/nonexistent/x.csv" }, "[workload] file: /nonexistent/x.csv: no such file" },
  { "directory", { .file = "/" }, "[workload] file: /" },
};

static void
test_bad_spec (gconstpointer data)
{
  const Bad *bad = data;
  g_autoptr (GError) error = NULL;

  g_assert_null (workload_load (&bad->spec, &error));
  g_assert_nonnull (error);
  starts_with (error->message, bad->says);
}

static Workload *
load_text (const char *text, gsize length, char **path, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("lockstep-XXXXXX", NULL);

  *path = g_build_filename (folder, "net.csv", NULL);
  g_assert_true (g_file_set_contents (*path, text, (gssize) length, NULL));
  Workload *workload = workload_load (&(WorkloadSpec) { .file = *path }, error);
  g_remove (*path);
  g_rmdir (folder);
  return workload;
}

#define HEADER "layer,kind,params,tensors,tensor_sizes,out_elems,flops_fwd_per_sample,bytes_fwd_per_sample_fp32," \
               "m,n,k,cin,cout,kh,kw,stride,groups,hin,win,hout,wout\n"
typedef struct { const char *name, *text, *says; } BadText;   /* says: follows the file's name */
static const BadText bad_texts[] = {
  { "missing-column", "layer,kind,params,tensors,tensor_sizes,out_elems,flops_fwd_per_sample,m,n,k,kh,kw,stride,groups\n",
    ":1: column 'bytes_fwd_per_sample_fp32' is missing" },
  { "no-layers", HEADER, ":1: " },
  { "bad-number", HEADER "a,gemm,12,1,12,7,24,x4,,,,,,,,,,,,,\n", ":2: " },
  { "negative", HEADER "a,gemm,12,1,12,-7,24,4,,,,,,,,,,,,,\n", ":2: out_elems: " },
  { "half-a-parameter", HEADER "a,gemm,12.5,1,12,7,24,4,,,,,,,,,,,,,\n", ":2: params: " },
  { "empty-number", HEADER "a,gemm,12,1,12,7,24,4,,,,,,,,,,,,,\nb,gemm,,1,12,7,24,4,,,,,,,,,,,,,\n", ":3: params: is empty" },
  { "absurd", HEADER "a,gemm,1e300,1,12,7,24,4,,,,,,,,,,,,,\n", ":2: params: " },
  { "unknown-kind", HEADER "a,gem,12,1,12,7,24,4,,,,,,,,,,,,,\n", ":2: kind: unknown kind 'gem'; did you mean 'gemm'?" },
  { "sum", HEADER "a,gemm,12,2,5+6,7,24,4,,,,,,,,,,,,,\n", ":2: tensor_sizes: the sizes add up to 11, but column params says 12" },
  { "count", HEADER "a,gemm,12,3,5+7,7,24,4,,,,,,,,,,,,,\n", ":2: tensor_sizes: 2 sizes, but column tensors says 3" },
  { "size", HEADER "a,gemm,12,2,5+-7,7,24,4,,,,,,,,,,,,,\n", ":2: tensor_sizes: '-7' is not a count" },
  { "no-name", HEADER ",gemm,12,1,12,7,24,4,,,,,,,,,,,,,\n", ":2: layer: is empty" },
  { "bad-shape", HEADER "a,gemm,12,1,12,7,24,4,-3,,,,,,,,,,,,\n", ":2: m: " },
  { "no-steps", HEADER "a,recurrent,12,1,12,7,24,4,,16,8,,,,,,,,,,\n", ":2: m: is not there; a recurrent layer needs its time steps" },
  { "no-gates", HEADER "a,recurrent,12,1,12,7,24,4,32,,8,,,,,,,,,,\n", ":2: n: is not there; a recurrent layer needs its time steps" },
  { "few-fields", HEADER "a,gemm,12\n", ":2: " },
  { "empty-file", "", "" },
};

static void
test_bad_text (gconstpointer data)
{
  const BadText *bad = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;

  g_assert_null (load_text (bad->text, strlen (bad->text), &path, &error));
  g_assert_nonnull (error);
  starts_with (error->message, path);
  starts_with (error->message + strlen (path), bad->says);
  g_assert_null (strchr (error->message, '\n'));
}

static void
test_too_many_layers (void)
{
  g_autoptr (GString) text = g_string_new (HEADER);
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;

  for (guint i = 0; i <= WORKLOAD_MAX_LAYERS; i++)
    g_string_append (text, "a,gemm,12,1,12,7,24,4,,,,,,,,,,,,,\n");
  g_assert_null (load_text (text->str, text->len, &path, &error));
  g_assert_nonnull (strstr (error->message, "20001 layers; 1 to 20000 are right"));
}

/* Two rows by hand; a table of one's own has no class unless it says so. */
static void
test_own_file (void)
{
  static const char text[] = HEADER "a,conv,12,2,5+7,7,24,4,,,,,,3,3,1,1,,,,\nb,norm,6,2,3+3,7,11,13,,,,,,,,,,,,,\n";
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  g_autoptr (Workload) w = load_text (text, strlen (text), &path, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (w->name, ==, "net");
  g_assert_cmpstr (w->family, ==, "other");
  same (w->params, 18);
  same (w->flop, 35);
  same (w->buffers, 7);   /* 3 means, 3 variances, 1 counter */
  g_assert_true (w->layers[0].winograd);
  same (w->layers[0].tensors[1], 7);
  same (w->layers[1].tensors[0], 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/workload/summary", test_summary);
  g_test_add_func ("/workload/index-complete", test_index_complete);
  g_test_add_func ("/workload/layer-by-hand", test_layer_by_hand);
  g_test_add_func ("/workload/grouped", test_grouped);
  g_test_add_func ("/workload/depthwise", test_depthwise);
  g_test_add_func ("/workload/names", test_names);
  g_test_add_func ("/workload/too-many-layers", test_too_many_layers);
  g_test_add_func ("/workload/own-file", test_own_file);
  for (guint i = 0; i < G_N_ELEMENTS (published); i++)
    {
      g_autofree char *path = g_strconcat ("/workload/published/", published[i].name, NULL);
      g_test_add_data_func (path, &published[i], test_published);
    }
  for (guint i = 0; i < G_N_ELEMENTS (bad_specs); i++)
    {
      g_autofree char *path = g_strconcat ("/workload/bad-spec/", bad_specs[i].name, NULL);
      g_test_add_data_func (path, &bad_specs[i], test_bad_spec);
    }
  for (guint i = 0; i < G_N_ELEMENTS (bad_texts); i++)
    {
      g_autofree char *path = g_strconcat ("/workload/bad-text/", bad_texts[i].name, NULL);
      g_test_add_data_func (path, &bad_texts[i], test_bad_text);
    }
  return g_test_run ();
}
