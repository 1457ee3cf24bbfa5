/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "collective/play.h"
#include "run/run.h"
#include "study/sets.h"

/* Points of one curve, in order, all with the same values of the swept keys. */
typedef struct
{
  guint    n_swept;  char **keys, **values;      /* outer sweep: "training.global-batch", "64"; the scale axis is not among them */
  guint    n_points; Result **points;
  double   crossing;     /* NAN: none; only where a curve has its outer values as points, see Curves */
  guint    knee;         /* index of the last point worth its GPUs (marginal gain over half of linear); n_points: all */
} Curve;

/* A scaling study. */
typedef struct
{
  gboolean strong;
  guint    n_curves; Curve *curves;
  char    *baseline;         /* "1 node (8 GPUs)" */
  /* where the last scale point stops being slower than the first one, along the (single, numeric) outer key: */
  double   crossing;         /* NAN: none */
  char    *crossing_key, *crossing_text;   /* "4 GPUs overtake 1 GPU at training.global-batch = 11.9" */
  guint    n_measured; MeasuredPoint *measured;   /* of the scenario: borrowed */
} ScaleStudy;
typedef struct
{
  guint    n_nodes;  guint64 *nodes;   /* --nodes */
  guint    n_gpus;   guint64 *gpus;    /* --gpus */
  int      mode;                       /* 0 as the scenario, 1 weak, 2 strong */
} ScaleOptions;
ScaleStudy *study_scale (const Scenario *scenario, const ScaleOptions *options, GError **error);
void        scale_study_free (ScaleStudy *study);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ScaleStudy, scale_study_free)

/* Every point of the scenario's [sweep], on several threads.  What comes out does
 * not depend on how many: points are pure functions of the scenario and their
 * place, and are handed over in key order. */
typedef struct
{
  guint      jobs;     /* threads; 0: one a processor */
  RunOptions run;      /* parts: set by the study */
  /* Called in the caller's thread for point after point; `result` is freed after it. */
  void     (*point)    (gpointer user, const SetPoint *point, const Result *result);
  /* After each of them; may be NULL. */
  void     (*progress) (gpointer user, guint done, guint n);
  gpointer   user;
} SweepOptions;
/* The first point in key order that fails ends it: the error names the point. */
gboolean    study_sweep (const Scenario *scenario, const SweepOptions *options, GError **error);
/* The threads that `jobs` means for n points. */
guint       sweep_jobs  (guint jobs, guint n);

/* Side by side. */
typedef struct { char *key; char **values; } Difference;    /* values[n], as text */
typedef struct
{
  guint    n;  Result **results;             /* in the order given */
  guint   *rank;                             /* rank[i]: 1 is the fastest; ties share it */
  char   **reasons;                          /* one sentence each: why it stands there */
  guint    n_differences; Difference *differences;   /* of the inputs */
} Comparison;
Comparison *study_compare (Scenario *const *scenarios, guint n, gboolean allow_unequal_batch, GError **error);
void        comparison_free (Comparison *comparison);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Comparison, comparison_free)

/* `collective`: one line of a predicted nccl-tests table. */
typedef struct
{
  double size, time, algbw, busbw, wire, time_lo, time_hi;   /* wire: bytes/s each way on a node's NICs (or a GPU's link in one node) */
  const char *op, *algorithm, *protocol;
} CollectiveRow;
typedef struct
{
  char *machine, *gpu; guint64 nodes, ranks;
  guint n; CollectiveRow *rows;
  char *note;     /* NULL: none */
} CollectiveTable;
/* `sizes` in bytes. */
CollectiveTable *study_collective (const char *op, const Cluster *cluster, const char *algorithm, const char *protocol,
                                   const double *sizes, guint n_sizes, GError **error);
/* Why some bus bandwidth may pass what a link carries, with the numbers; NULL where none may.  Caller frees. */
char            *study_collective_explain (const CollectiveTable *table, const Cluster *cluster);
void             collective_table_free (CollectiveTable *table);
/* How the times of a table come about; `auto` is the flow. */
typedef enum { TIER_AUTO, TIER_FLOW, TIER_MESSAGE, TIER_MAX_PLUS } CollectiveTier;
extern const char *const collective_tier_names[];
gboolean         collective_tier_find (const char *name, CollectiveTier *out, GError **error);
/* The times again by this tier, with the algorithms and protocols that stand in the
 * rows.  `chunks` 0: as the algorithm cuts.  Errors: no messages known, too many. */
gboolean         study_collective_tier (CollectiveTable *table, const Cluster *cluster, CollectiveTier tier, guint chunks, GError **error);
const char      *study_collective_tier_reason (CollectiveTier tier);
/* How a table came about: as it was asked for (borrowed). */
typedef struct { const char *algorithm, *protocol; CollectiveTier tier; guint chunks; } CollectiveHow;
/* Nodes that change the leaf more often than they must where they follow each other by rank:
 * into the note, with what the last size would get on `best`, the same cluster with ranks
 * numbered leaf by leaf.  Nothing for operations of pairs, which no order helps. */
gboolean         study_collective_order (CollectiveTable *table, const Cluster *cluster, const Cluster *best, const CollectiveHow *how, GError **error);
/* Each message of a table's only row, in the order in which they end; an error where
 * they are far more than `most`. */
gboolean         study_collective_steps (const CollectiveTable *table, const Cluster *cluster, guint chunks, guint most,
                                         PlaySeen seen, gpointer user, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CollectiveTable, collective_table_free)
