/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "calibrate/training-row.h"

/* What the readers of a row share; nobody else includes it. */
typedef struct
{
  const TrainingReader *reader;
  const CsvTable *table;
  guint           row;
  GHashTable     *keys;       /* "group.key" of the scenario -> value, owned; what came first holds */
  GHashTable     *words;      /* names without a dot of the rules -> value, borrowed */
  GString        *layout;     /* [strategy] keys of the rules */
  TrainingRow    *out;
} Reading;

const char *reading_cell        (const Reading *r, const char *column);
/* 0 where the cell is empty or no number. */
double      reading_number      (const Reading *r, const char *column);
/* "group.key" of the scenario; both copied.  A key that is there stays. */
void        reading_put         (Reading *r, const char *key, const char *value);
void        reading_put_count   (Reading *r, const char *key, guint64 value);
/* What the rules say; NULL: nothing. */
const char *reading_word        (const Reading *r, const char *name);
double      reading_word_number (const Reading *r, const char *name, double otherwise);
/* The value of the first line whose patterns fit the text; NULL: none does.  A line
 * without patterns ends the list. */
typedef struct { const char *patterns, *value; } ReadingWords;
const char *reading_translate   (const ReadingWords *words, const char *text);
/* The row is not used; `reason`: one of training-row.h.  The first reason stays. */
void        reading_refuse      (Reading *r, const char *reason, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* Nodes and GPUs of the row; its machine, from calibration/platforms.csv, else from what
 * the row itself says. */
void        platform_size       (Reading *r);
void        platform_read       (Reading *r);

/* Rows of [strategy] kind = megatron, by columns tp, pp, microbatch and by what
 * strategy and notes say: degrees, shape, samples of a step. */
gboolean    transformer_row     (const Reading *r);
void        transformer_shape   (Reading *r);
void        transformer_layout  (Reading *r);
/* Seconds of a step of `samples` where only a rate of FLOP is printed, counted as
 * the word "flop" says; 0: nothing to tell it by. */
double      transformer_time    (const Reading *r, double samples);
