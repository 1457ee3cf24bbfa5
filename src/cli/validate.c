/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/kernel-table.h"
#include "calibrate/kernel-validate.h"
#include "calibrate/network-validate.h"
#include "calibrate/training-validate.h"
#include "calibrate/validate.h"
#include "cli/cli.h"
#include "base/names.h"

/* What is validated: one row a kind. */
typedef struct
{
  const char *name;
  gboolean  (*check)   (const Options *options, GError **error);   /* options that do not fit the kind */
  gboolean  (*predict) (const Call *call, const char *const *paths, Validation *validation, GPtrArray *keep, GError **error);
  GDestroyNotify unkeep;
} ValidateKind;

static gboolean
check_compute (const Options *options, GError **error)
{
  if (options->hold_out != NULL && !g_str_equal (options->hold_out, "shapes"))
    usage_error (error, "--hold-out: '%s' is not what kernels have; give --hold-out shapes", options->hold_out);
  else if ((options->hold_out != NULL) + options->catalogue + (options->fit != NULL) > 1)
    usage_error (error, "--hold-out, --fit and --catalogue exclude each other: each says what the prediction may know");
  else
    return TRUE;
  return FALSE;
}

static gboolean
predict_compute (const Call *call, const char *const *paths, Validation *validation, GPtrArray *keep, GError **error)
{
  const KernelValidation how = {
    .hold_out_shapes = call->options.hold_out != NULL, .catalogue = call->options.catalogue,
    .fit = (const char *const *) call->options.fit
  };

  return kernel_validate (paths, &how, validation, keep, error);
}

static gboolean
check_training (const Options *options, GError **error)
{
  if (options->hold_out != NULL || options->fit != NULL || options->catalogue || options->bags)
    usage_error (error, "training steps take --anchor and --where, not --hold-out, --fit, --catalogue or --bags");
  else if (options->anchor != NULL && !g_strv_contains (training_anchor_names, options->anchor))
    {
      g_autofree char *wrong = names_unknown ("anchor", options->anchor, training_anchor_names);
      usage_error (error, "--anchor: %s", wrong);
    }
  else
    return TRUE;
  return FALSE;
}

static gboolean
predict_training (const Call *call, const char *const *paths, Validation *validation, GPtrArray *keep, GError **error)
{
  g_autoptr (GString) remarks = g_string_new (NULL);
  TrainingValidation how = { ANCHOR_SMALLEST, (const char *const *) call->options.where };

  for (int i = 0; call->options.anchor != NULL && training_anchor_names[i] != NULL; i++)
    if (g_str_equal (training_anchor_names[i], call->options.anchor))
      how.anchor = (TrainingAnchor) i;
  if (!training_validate (paths, &how, validation, keep, remarks, error))
    return FALSE;
  if (!call->options.quiet)
    g_printerr ("%s", remarks->str);
  return TRUE;
}

static gboolean
read_min_size (const char *text, double *size, GError **error)
{
  g_autoptr (GError) wrong = NULL;

  *size = 0;
  if (text == NULL || quantity_parse (text, UNIT_BYTES, size, &wrong))
    return TRUE;
  usage_error (error, "--min-size: %s", wrong->message);
  return FALSE;
}

static gboolean
check_network (const Options *options, GError **error)
{
  double size;

  if (options->hold_out != NULL && !g_str_equal (options->hold_out, "sizes"))
    usage_error (error, "--hold-out: '%s' is not what collectives have; give --hold-out sizes", options->hold_out);
  else if ((options->hold_out != NULL) + options->catalogue + (options->fit != NULL) > 1)
    usage_error (error, "--hold-out, --fit and --catalogue exclude each other: each says what the prediction may know");
  else if (options->bags || options->anchor != NULL || options->where != NULL)
    usage_error (error, "collectives take --hold-out sizes, --fit, --catalogue and --min-size, not --bags, --anchor or --where");
  else
    return read_min_size (options->min_size, &size, error);
  return FALSE;
}

static gboolean
predict_network (const Call *call, const char *const *paths, Validation *validation, GPtrArray *keep, GError **error)
{
  g_autoptr (GPtrArray) remarks = g_ptr_array_new_with_free_func (g_free);
  NetworkValidation how = {
    .hold_out_sizes = call->options.hold_out != NULL, .catalogue = call->options.catalogue,
    .fit = (const char *const *) call->options.fit, .hold_out_first = NETWORK_HOLD_OUT_FIRST
  };

  if (!read_min_size (call->options.min_size, &how.min_size, error)
      || !network_validate (paths, &how, validation, keep, remarks, error))
    return FALSE;
  for (guint i = 0; i < remarks->len; i++)
    call_remark (call, "%s", (const char *) g_ptr_array_index (remarks, i));
  return TRUE;
}

static const ValidateKind kinds[] = {
  { "network", check_network, predict_network, (GDestroyNotify) network_table_free },
  { "compute", check_compute, predict_compute, (GDestroyNotify) kernel_table_free },
  { "training", check_training, predict_training, (GDestroyNotify) csv_free },
};

static gboolean
write_rows (const Validation *validation, const char *path, GError **error)
{
  g_autoptr (GString) rows = g_string_new (NULL);

  validation_rows (validation, rows);
  return output_write (path, rows->str, rows->len, error);
}

static gboolean
run_validate (Call *call, GError **error)
{
  const ValidateKind *kind = kind_find ("kind of table", call->args[0], kinds, G_N_ELEMENTS (kinds), sizeof kinds[0], error);
  g_autoptr (Validation) validation = validation_new ();
  g_autoptr (GPtrArray) keep = g_ptr_array_new ();

  if (kind == NULL || !kind->check (&call->options, error))
    return FALSE;
  g_ptr_array_set_free_func (keep, kind->unkeep);
  if (!kind->predict (call, (const char *const *) call->args + 1, validation, keep, error))
    return FALSE;
  if (call->options.rows != NULL && !write_rows (validation, call->options.rows, error))
    return FALSE;
  if (call->options.format == FORMAT_JSON)
    validation_json (validation, call->options.bags, call->out);
  else if (call->options.format == FORMAT_CSV)
    validation_csv (validation, call->options.bags, call->out);
  else
    validation_print (validation, call->options.bags, call->out);
  return TRUE;
}

static const Option options[] = {
  { "hold-out", 0, OPTION_TEXT, offsetof (Options, hold_out), "shapes|sizes",
    "Fits 70 % of the shapes (compute), or every fourth size (network), of each file and predicts the others." },
  { "fit", 0, OPTION_REPEATED, offsetof (Options, fit), "FILE", "Fits this file and predicts the arguments; may be repeated." },
  { "catalogue", 0, OPTION_FLAG, offsetof (Options, catalogue), NULL, "Fits nothing: the shipped parts, none that was fitted to the file." },
  { "anchor", 0, OPTION_TEXT, offsetof (Options, anchor), "smallest|full-node|none",
    "Training: the row of each group that sets its one efficiency (default: smallest); none: models/efficiency.csv." },
  { "where", 0, OPTION_REPEATED, offsetof (Options, where), "COLUMN=VALUE", "Training: only rows that fit; shell patterns; may be repeated." },
  { "min-size", 0, OPTION_TEXT, offsetof (Options, min_size), "SIZE", "Network: predict only messages from this size on (1MiB)." },
  { "bags", 0, OPTION_FLAG, offsetof (Options, bags), NULL, "Also the error of the summed time of random bags of 100 kernels." },
  { "rows", 0, OPTION_TEXT, offsetof (Options, rows), "FILE.csv", "Writes every row with its prediction, interval and error." },
  { NULL, 0, 0, 0, NULL, NULL }
};

const Command command_validate = {
  .name = "validate",
  .summary = "predicted against measured, for whole tables",
  .arguments = "network|compute|training FILE...",
  .min_args = 2, .max_args = G_MAXUINT,
  .options = options,
  .formats = TRUE, .writes = TRUE,
  .details =
    "Predicts each row of measured tables and says how far off: a line a file and a last line for\n"
    "all.  A row is never predicted by a part that was fitted to its file: the next wider one is\n"
    "taken (same GPU and kind of kernel, then what other GPUs say of the specs), and the line says\n"
    "which.  Intervals are meant to hold 90 % of the rows.\n"
    "\n"
    "network: nccl-tests tables or logs.  --hold-out sizes fits every fourth size of each file, all\n"
    "files of one installation together; --fit predicts by the files given there; else the parts of\n"
    "models/system that never saw the file give, as shares of nominal rates.\n"
    "\n"
    "Examples:\n"
    "  lockstep validate network --hold-out sizes --min-size 1MiB allreduce_*.csv\n"
    "  lockstep validate compute --hold-out shapes --bags gemm_A100-SXM_bf16_vidur.csv\n",
  .run = run_validate,
};
