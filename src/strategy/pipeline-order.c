/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/pipeline-order.h"

static void
add_pass (GArray *order, gboolean back, guint chunk, guint micro_batch)
{
  const PipelinePass pass = { back, chunk, micro_batch };

  g_array_append_val (order, pass);
}

/* The k-th pass of one direction: `group` micro-batches through a chunk, then the
 * same through the next (Megatron-LM core/pipeline_parallel/schedules.py,
 * get_schedule_table). */
static PipelinePass
nth_pass (const Pipeline *p, gboolean back, guint k)
{
  const guint block = p->group * p->chunks, first = k / block * p->group;
  const guint width = MIN (p->group, p->micro_batches - first), rest = k % block;
  const guint chunk = rest / width;

  return (PipelinePass) { back, back ? p->chunks - 1 - chunk : chunk, first + rest % width };
}

/* Passes forward before the first one back: all of them (GPipe, Huang et al. 2019),
 * p - rank - 1 (1F1B, Narayanan et al. 2021), 2 (p - rank - 1) + (v - 1) group
 * (interleaved, the same). */
static guint
warm_up (const Pipeline *p, guint stage)
{
  const guint total = p->chunks * p->micro_batches, behind = p->stages - 1 - stage;

  switch (p->schedule)
    {
    case SCHEDULE_GPIPE:
      return total;
    case SCHEDULE_1F1B:
      return MIN (behind, total);
    default:
      return MIN (2 * behind + (p->chunks - 1) * p->group, total);
    }
}

GArray *
pipeline_order (const Pipeline *p, guint stage)
{
  const guint total = p->chunks * p->micro_batches, warm = warm_up (p, stage);
  GArray *order = g_array_sized_new (FALSE, FALSE, sizeof (PipelinePass), 2 * total);

  for (guint k = 0; k < total + warm; k++)
    {
      if (k < total)
        {
          const PipelinePass pass = nth_pass (p, FALSE, k);
          add_pass (order, FALSE, pass.chunk, pass.micro_batch);
        }
      if (k >= warm)
        {
          const PipelinePass pass = nth_pass (p, TRUE, k - warm);
          add_pass (order, TRUE, pass.chunk, pass.micro_batch);
        }
    }
  return order;
}
