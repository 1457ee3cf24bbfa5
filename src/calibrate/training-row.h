/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "calibrate/rules.h"
#include "scenario/scenario.h"

/* Rows of the tidy tables of measured training runs (source, model, framework,
 * strategy, precision, gpu, ... , throughput, step_time_s, notes), each read as
 * a scenario.  calibration/software.csv and calibration/platforms.csv say what a
 * source means by its words, and which machine it ran on. */

typedef struct
{
  Rules    *software;
  CsvTable *platforms;
} TrainingReader;

/* From the folder of calibration tables: LOCKSTEP_CALIBRATION, else
 * calibration/ beside the folder of parts. */
TrainingReader *training_reader_new  (GError **error);
void            training_reader_free (TrainingReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TrainingReader, training_reader_free)

/* Why a row is not used: one of these. */
extern const char *const skip_no_time;        /* "no throughput or time" */
extern const char *const skip_no_shape;       /* "unknown model shape" */
extern const char *const skip_inconsistent;   /* "inconsistent with itself" */
extern const char *const skip_slip;           /* "listed as a source slip" */
extern const char *const skip_few_sizes;      /* "too few sizes" */

typedef struct
{
  const char *skip;            /* one of the reasons; NULL: usable */
  char       *why;             /* more about skip, or NULL */
  Scenario   *scenario;        /* NULL where skipped */
  double      measured;        /* s a step of all accumulation */
  guint64     nodes, per_node, gpus;
  guint64     batch;           /* samples of one GPU in one micro-step */
  guint64     accumulation;
  double      samples;         /* of all GPUs and a step */
  double      share;           /* of the counted work that is there: padding left out */
  char       *label;           /* of the source, as in models/efficiency.csv */
  char       *tuned;           /* as in models/efficiency.csv: "nhwc/xla"; NULL: the scenario's tuning */
  char       *apart;           /* what sets the row apart from others of its table, with a line of its own; NULL: nothing */
  char       *group;           /* what one efficiency is good for: all but size, batch and layout */
  char       *layout;          /* strategy and what the rules set of it; TF's two strategies are one */
  gboolean    constant;        /* a constant of a part or rule was set by it: never counted */
  gboolean    loose;           /* group holds all that must agree: the batch may differ */
  gboolean    layer;           /* measured is of one block and micro-batch */
  gboolean    link_assumed;    /* the source names the machine, not its links */
  gboolean    input_unknown;   /* real data through an input path of unknown rate */
  char       *platform;        /* for people */
} TrainingRow;

/* A row that cannot be used says why (skip); never NULL.  Caller frees. */
TrainingRow *training_row_read (const TrainingReader *reader, const CsvTable *table, guint row);
void         training_row_free (TrainingRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TrainingRow, training_row_free)
