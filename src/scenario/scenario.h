/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/cluster.h"
#include "collective/spec.h"
#include "compute/compute.h"
#include "strategy/spec.h"
#include "workload/workload.h"

/* One point of [measured]: "4x8 = 0.167 s" (nodes x GPUs per node), or a throughput "5000 samples/s". */
typedef struct { guint64 nodes, gpus_per_node; double step_time, throughput; /* NAN: not given */ } MeasuredPoint;
/* One line of [sweep]: "cluster.nodes = 1, 2, 4", "8..512 x2", "0..64 +8". */
typedef struct { char *key; guint n; char **values; } SweepAxis;

/* A checked scenario: plain specs, borrowed by everything below.  Immutable. */
typedef struct
{
  char *name;               /* "ddp-5x8": the file's base name; "-" gives "stdin" */
  char *path;
  char *title, *question;   /* NULL: none; question: else the file's first comment */
  KeyFile *file;
  ClusterSpec  cluster;
  NetworkSpec  network;
  ComputeSpec  compute;
  WorkloadSpec workload;
  TrainingSpec training;
  StrategySpec strategy;
  CollectiveSpec collective;
  ServerSpec   reducers, servers;
  InputSpec    input;
  guint n_measured;  MeasuredPoint *measured;
  guint n_axes;      SweepAxis *axes;
} Scenario;

/* `sets`: NULL-terminated "group.key=value" of the command line, or NULL. */
Scenario *scenario_load  (const char *path, const char *const *sets, GError **error);
/* The same scenario with more `sets` on top of those it was loaded with. */
Scenario *scenario_with  (const Scenario *scenario, const char *const *sets, GError **error);
void      scenario_free  (Scenario *scenario);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Scenario, scenario_free)
/* All groups with their tables, for list keys, check and the man page; name NULL ends. */
const KeyGroup *scenario_groups (void);
/* Values as they stand in the structs, group by group, with where each came from
 * ("a.ini:14", "--set", "default"): for show and JSON. */
typedef void (*ScenarioValue) (gpointer user, const char *group, const char *key, const char *text, const char *where);
void      scenario_values (const Scenario *scenario, ScenarioValue value, gpointer user);
