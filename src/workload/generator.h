/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "workload/shape.h"
#include "workload/workload.h"

/* The layers of a settled shape, row for row as the tables of models/workload
 * have them.  Fills layers, family and sample; errors are "[workload] key: ...". */
gboolean generator_fill (Workload *workload, const Shape *shape, GError **error);
