/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/kernel-calibrate.h"
#include "calibrate/network-part.h"
#include "calibrate/step-calibrate.h"
#include "cli/cli.h"
#include "base/names.h"

#include <glib/gstdio.h>

/* What a calibration gives, whatever it is of. */
typedef struct
{
  GString   *part;       /* the ini */
  GString   *report;     /* a line a fit */
  GString   *points;     /* CSV for the picture */
  GPtrArray *remarks;    /* char *: what was trimmed and why */
} Calibration;

/* What is calibrated: one row a kind. */
typedef struct
{
  const char *name;
  gboolean  (*fit) (const char *const *paths, Calibration *out, GError **error);
} CalibrateKind;

static gboolean
fit_compute (const char *const *paths, Calibration *out, GError **error)
{
  return kernel_calibrate (paths, out->part, out->report, out->points, out->remarks, error);
}

static gboolean
fit_step (const char *const *paths, Calibration *out, GError **error)
{
  return step_calibrate (paths, out->part, out->report, out->points, out->remarks, error);
}

static gboolean
fit_network (const char *const *paths, Calibration *out, GError **error)
{
  return network_calibrate (paths, out->part, out->report, out->points, out->remarks, error);
}

static const CalibrateKind kinds[] = {
  { "network", fit_network },
  { "compute", fit_compute },
  { "step", fit_step },
};

/* The picture's title is the name of its table. */
static gboolean
draw (const GString *points, const char *path, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("lockstep-XXXXXX", error);
  g_autofree char *csv = folder != NULL ? g_build_filename (folder, "calibration.csv", NULL) : NULL;
  gboolean done;

  if (folder == NULL)
    return FALSE;
  done = g_file_set_contents (csv, points->str, (gssize) points->len, error) && plot_csv (csv, path, error);
  g_unlink (csv);
  g_rmdir (folder);
  return done;
}

static void
calibration_clear (Calibration *calibration)
{
  g_string_free (calibration->part, TRUE);
  g_string_free (calibration->report, TRUE);
  g_string_free (calibration->points, TRUE);
  g_ptr_array_unref (calibration->remarks);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Calibration, calibration_clear)

/* The part goes to -o, its residuals to standard output; without -o the part alone. */
static gboolean
run_calibrate (Call *call, GError **error)
{
  const CalibrateKind *kind = kind_find ("kind of calibration", call->args[0], kinds, G_N_ELEMENTS (kinds), sizeof kinds[0], error);
  g_auto (Calibration) made = { g_string_new (NULL), g_string_new (NULL), g_string_new (NULL), g_ptr_array_new_with_free_func (g_free) };
  g_autofree char *path = NULL;

  if (kind == NULL || !kind->fit ((const char *const *) call->args + 1, &made, error))
    return FALSE;
  for (guint i = 0; i < made.remarks->len; i++)
    call_remark (call, "%s", (const char *) made.remarks->pdata[i]);
  if (call->options.plot != NULL && !draw (made.points, call->options.plot, error))
    return FALSE;
  if (call->options.output == NULL)
    {
      g_string_append_len (call->out, made.part->str, (gssize) made.part->len);
      return TRUE;
    }
  path = g_steal_pointer (&call->options.output);
  if (!output_write (path, made.part->str, made.part->len, error))
    return FALSE;
  g_string_append_len (call->out, made.report->str, (gssize) made.report->len);
  if (kind->fit == fit_network)
    call_remark (call, "a scenario takes it by [calibration] system = %s", path);
  return TRUE;
}

static const Option options[] = {
  { "plot", 0, OPTION_TEXT, offsetof (Options, plot), "FILE.svg", "Draws points, fit and residuals." },
  { "output", 'o', OPTION_TEXT, offsetof (Options, output), "FILE.ini", "The part; its residuals go to standard output." },
  { NULL, 0, 0, 0, NULL, NULL }
};

const Command command_calibrate = {
  .name = "calibrate",
  .summary = "measured tables to the numbers of a part",
  .arguments = "network|compute|step FILE... -o FILE",
  .min_args = 2, .max_args = G_MAXUINT,
  .options = options,
  .details =
    "network: nccl-tests tables, text or JSON of one installation, any number of files (1x2, 1x8,\n"
    "2x8; all-reduce, all-gather, ...), to a part that a scenario names: [calibration] system = FILE.\n"
    "compute: tables of kernels of one GPU (gpu,dtype,m,n,k,batch,time_us and the like) to\n"
    "models/kernel/GPU.ini.  Rows that contradict themselves or beat the GPU's peak are left out\n"
    "and said; a wrong unit or several GPUs are refused.\n"
    "step: tables of measured training steps to models/efficiency.csv: one efficiency a class of\n"
    "network, tuning, precision, GPU generation and source.\n"
    "\n"
    "Examples:\n"
    "  lockstep calibrate network my-nccl-tests.txt -o mine.ini\n"
    "  lockstep run --set calibration.system=mine.ini scenarios/dgx-h100.ini\n"
    "  lockstep calibrate compute gemm_H100-SXM_bf16_mine.csv -o models/kernel/h100-sxm.ini\n",
  .run = run_calibrate,
};
