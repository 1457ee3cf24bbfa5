/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/run.h"

/* Keys that the scenario gives and that happen to change neither the step nor its
 * memory: "[strategy] bucket-size (a.ini:14) changes nothing here".  One run a key
 * given.  Appends to the warnings of the result; without those in its `unused`. */
gboolean effect_remarks (Result *r, const Scenario *scenario, Shelf *parts, GError **error);
