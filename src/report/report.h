/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "study/study.h"

/* How tables and text are laid out. */
typedef struct
{
  gboolean colour;   /* ANSI */
  guint    width;    /* columns */
} Look;
extern const Look look_plain;   /* where there is no terminal: always the same */

typedef enum { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON, N_FORMATS } Format;
extern const char *const format_names[];   /* "table", "csv", "json", NULL */

/* Each appends bytes to `out`; no arithmetic of the model.  `look`: of the
 * table only.  JSON as in the command-line contract, CSV with its stable columns. */
void report_run        (GString *out, Format format, const Scenario *const *scenarios, Result *const *results, guint n,
                        gboolean timeline, gboolean verbose, const Look *look);
void report_scale      (GString *out, Format format, const Scenario *scenario, const ScaleStudy *study, const Look *look);
void report_compare    (GString *out, Format format, const Scenario *const *scenarios, const Comparison *comparison, const Look *look);
void report_collective (GString *out, Format format, const CollectiveTable *table, const Look *look);
/* Of a sweep, point by point in key order, then all of it at once. */
typedef struct SweepReport SweepReport;
SweepReport *sweep_report_new  (Format format, const Scenario *scenario, const Look *look);   /* borrowed */
void         sweep_report_free (SweepReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SweepReport, sweep_report_free)
void         sweep_report_add  (SweepReport *report, const SetPoint *point, const Result *result);
void         sweep_report_end  (SweepReport *report, GString *out);
/* ASCII lanes of one step, about `width` columns wide. */
void report_timeline   (GString *out, const Result *result, guint width);

/* Pictures: writes the CSV to a temporary file and spawns gnuplot with an argv.
 * FILE.svg or .png.  A missing or failing gnuplot is an error that says so (PLOT_ERROR, exit 1). */
#define PLOT_ERROR (plot_error_quark ())
typedef enum { PLOT_ERROR_TOOL, PLOT_ERROR_INPUT } PlotError;
GQuark   plot_error_quark (void);
gboolean plot_scaling (const ScaleStudy *study, const char *title, const char *path, GError **error);
/* The losses in ms over the GPUs, stacked. */
/* `lockstep plot FILE.csv`: knows by the header which picture fits. */
gboolean plot_csv     (const char *csv_path, const char *path, GError **error);
/* Any two columns of a CSV.  `by`: a line for each of its values; NULL: for each value
 * of the swept columns beside x, where these are few.  The x axis may be text. */
typedef struct
{
  const char *x, *y, *by;
  gboolean    log_x, log_y;
} PlotColumns;
gboolean plot_columns (const char *csv_path, const PlotColumns *columns, const char *path, GError **error);
