/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "scenario/scenario.h"

/* Inside scenario/: the groups and what they fill. */

/* [scenario] */
typedef struct { char *title, *question, *include; } ScenarioHead;
extern const Key scenario_keys[];

/* Does the group fill a struct of Scenario ([scenario] and lists do not)? */
gboolean group_fills  (const KeyGroup *group);
gpointer group_struct (Scenario *scenario, const KeyGroup *group);

/* [measured] and [sweep], read. */
typedef struct
{
  guint n_measured;  MeasuredPoint *measured;
  guint n_axes;      SweepAxis *axes;
} Lists;
/* In an atomic reference-counted box. */
Lists *lists_read  (const KeyFile *file, GError **error);
void   lists_unref (Lists *lists);
