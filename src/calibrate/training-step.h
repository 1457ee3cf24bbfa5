/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/shelf.h"
#include "calibrate/training-row.h"
#include "strategy/cause.h"

/* The step of a row by the program's own run, at one efficiency. */
typedef struct { double seconds, ledger[N_CAUSES]; } TrainingStep;
/* `efficiency` NAN: the scenario's own. */
gboolean training_step   (Shelf *parts, const TrainingRow *row, double efficiency, TrainingStep *out, GError **error);
/* The efficiency at which that step is `seconds`; where no efficiency makes it so
 * short (host, input and network alone take longer), the largest one tried.  NAN and an
 * error where the scenario cannot run. */
double training_solve    (Shelf *parts, const TrainingRow *row, double seconds, double start, GError **error);

/* What of a row keys its efficiency. */
typedef struct { char *family, *tuning, *precision, *generation; } TrainingKey;
gboolean training_key       (Shelf *parts, const TrainingRow *row, TrainingKey *out, GError **error);
void     training_key_clear (TrainingKey *key);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TrainingKey, training_key_clear)
