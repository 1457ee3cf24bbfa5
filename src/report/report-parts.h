/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "report/report.h"

/* The forms behind report.h, one file each.  All append whole lines. */
void run_table        (GString *out, const Result *result, gboolean verbose, const Look *look);
void scale_table      (GString *out, const Scenario *scenario, const ScaleStudy *study, const Look *look);
void compare_table    (GString *out, const Scenario *const *scenarios, const Comparison *comparison, const Look *look);
void collective_table (GString *out, const CollectiveTable *table, const Look *look);
/* The collectives of one step, equal ones as one line. */
void collectives_table (GString *out, const Result *result, const Look *look);

void run_csv          (GString *out, Result *const *results, guint n);
void scale_csv        (GString *out, const ScaleStudy *study);
void compare_csv      (GString *out, const Comparison *comparison);
void collective_csv   (GString *out, const CollectiveTable *table);
/* "nodes,gpus,...": the columns of one Result, and one Result in them; no line end. */
void result_csv_header (GString *out);
void result_csv_row    (GString *out, const Result *result);

void run_json         (GString *out, const Scenario *const *scenarios, Result *const *results, guint n);
void scale_json       (GString *out, const Scenario *scenario, const ScaleStudy *study);
void compare_json     (GString *out, const Scenario *const *scenarios, const Comparison *comparison);
/* A sweep is too much for one tree: its document without points, and one point as
 * it stands in there. */
void sweep_json_frame (GString *out, const Scenario *scenario);
void sweep_json_point (GString *out, const SetPoint *point, const Result *result);
void collective_json  (GString *out, const CollectiveTable *table);

/* A heading line, bold where there is colour. */
void report_heading   (GString *out, const char *text, const Look *look);
/* A paragraph: no wider than it is easy to read; later lines are indented. */
void report_text      (GString *out, const char *text, guint indent, const Look *look);
/* The measured step time of a point: NAN: none.  A throughput is the point's batch over its time. */
double measured_step_time (const ScaleStudy *study, const Result *result);
