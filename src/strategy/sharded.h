/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/builder.h"

/* What ZeRO and FSDP share: groups of GPUs over which weights are spread, units
 * that are gathered and released as one, the passes around them. */

/* Layers [first, last] whose weights travel together.  The root of FSDP holds
 * what no other unit does and has no layers of its own here. */
typedef struct
{
  guint  first, last;
  double elements;
  guint  n_tensors;
  gboolean whole;       /* gathered: lies whole on the GPU at this point of the step */
  guint  gathered;      /* row of its gather; NO_ROW */
  const char *label;
} ShardUnit;

typedef struct
{
  Builder    b;
  DataParallel policy;
  RankGroup  shard, replicas;      /* replicas.n_ranks 1: one copy in all */
  GArray    *units;                /* of ShardUnit, forward order */
  guint     *unit_of;              /* unit of each layer, NO_UNIT */
  double     slowdown;             /* of a kernel beside a collective */
  guint      last_row;             /* of the compute queue, issued so far; NO_ROW */
  double     gather_bytes, reduce_bytes;   /* an element */
} Sharded;
#define NO_UNIT G_MAXUINT

/* `size` neighbours; and the ranks that hold the same shard.  FALSE where `size` does
 * not fit nodes and GPUs; the error names `key` and the nearest sizes that do. */
gboolean sharded_groups   (const StepInput *in, guint64 size, const char *key, RankGroup *shard, RankGroup *replicas, GError **error);
/* Refuses steps of too many tasks; sets up builder and queues.  Clear with sharded_clear. */
gboolean sharded_init     (Sharded *s, const StepInput *in, StepGraph *graph, GError **error);
void     sharded_clear    (Sharded *s);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sharded, sharded_clear)
/* Times of the kernels, for sharded_init. */
gboolean sharded_kernels  (Sharded *s, GError **error);
/* A kernel of one layer, forward or backward. */
void     sharded_layer    (Sharded *s, guint layer, gboolean backward, guint wait);
/* Marks the place on the compute queue; later than all before it. */
guint    sharded_mark     (Sharded *s, const char *label);
/* The compute queue waits for a row. */
void     sharded_wait     (Sharded *s, guint row, const char *label);
void     sharded_input    (Sharded *s, gboolean first);
/* The optimizer over `share` of the parameters, behind the gradients in `open`. */
gboolean sharded_optimizer (Sharded *s, double share, GError **error);
const char *sharded_label (Sharded *s, const char *what, const char *of);
/* Shared parts of `values` and `memory`. */
void     sharded_values   (const StepInput *in, ClusterValue value, gpointer user);
double   sharded_largest  (const GArray *units);
