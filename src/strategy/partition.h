/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* Ranks r of a stage that meet: those with the same r % stride and r / (stride x size). */
typedef struct { guint64 size, stride; } PipelineGroup;

/* Ranks of a stage in parts that do the same at the same instants: the coarsest
 * parts in which all ranks of one see, in each kind of group, as many ranks of
 * each part (an equitable partition, by colour refinement). */
typedef struct
{
  guint64  ranks;
  guint    n;
  guint   *part;      /* of each rank, numbered by their first ranks; NULL: one part, or each rank its own */
  guint64 *first;     /* rank of each part */
  guint64 *size;
} Partition;

/* The first `special` ranks differ from the others; `each`: every rank is a part. */
Partition *partition_new  (guint64 ranks, guint64 special, gboolean each, const PipelineGroup *groups, guint n_groups);
/* Ranks r and r + period are one part, which is as fine as it is asked for. */
Partition *partition_periodic (guint64 ranks, guint64 period);
void       partition_free (Partition *partition);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Partition, partition_free)
/* Which of the meetings of one kind of group each part takes part in, numbered by
 * their first parts: groups of the same parts are one meeting.  *meetings: how
 * many.  Caller frees. */
guint     *partition_meetings (const Partition *partition, const PipelineGroup *group, guint *meetings);
