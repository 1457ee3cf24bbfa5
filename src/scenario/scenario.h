/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/traffic.h"
#include "collective/spec.h"
#include "compute/compute.h"
#include "strategy/noise.h"
#include "strategy/spec.h"
#include "workload/workload.h"

/* One point of [measured]: "4x8 = 0.167 s" (nodes x GPUs per node), or a throughput "5000 samples/s". */
typedef struct { guint64 nodes, gpus_per_node; double step_time, throughput; /* NAN: not given */ } MeasuredPoint;
/* One line of [sweep]: "cluster.nodes = 1, 2, 4", "8..512 x2", "0..64 +8". */
typedef struct { char *key; guint n; char **values; } SweepAxis;

#define SCENARIO_MAX_MEASURED 1000u
#define SCENARIO_MAX_AXES     32u
#define SCENARIO_MAX_VALUES   100000u   /* of one axis */
#define SCENARIO_MAX_INCLUDES 4u        /* files deep */

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
  NoiseSpec    noise;
  TrafficSpec  traffic;
  CalibrationSpec calibration;
  guint n_measured;  MeasuredPoint *measured;
  guint n_axes;      SweepAxis *axes;

  /* of scenario/ alone */
  gpointer lists;           /* what measured and axes point into; counted, shared by scenario_with */
  int      batch_key, workload_key;   /* which key of a pair a --set settled */
} Scenario;

/* `sets`: NULL-terminated "group.key=value" of the command line, or NULL. */
Scenario *scenario_load  (const char *path, const char *const *sets, GError **error);
/* Text in place of a file; `name` stands in messages, and relative paths start at its folder. */
Scenario *scenario_parse (const char *name, const char *text, gsize length, const char *const *sets, GError **error);
/* The same scenario with more `sets` on top of those it was loaded with.  Reads no
 * file.  Of two keys that exclude each other the one set last holds. */
Scenario *scenario_with  (const Scenario *scenario, const char *const *sets, GError **error);
void      scenario_free  (Scenario *scenario);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Scenario, scenario_free)
/* All groups with their tables, for list keys, check and the man page; name NULL ends. */
const KeyGroup *scenario_groups (void);
const KeyGroup *scenario_group  (const char *name);   /* NULL: no such group */
/* Values as they stand in the structs, group by group, with where each came from
 * ("a.ini:14", "--set", "default"): for show and JSON.  Text is "" where nothing
 * is given; [measured] and [sweep] come as they stand in the file. */
typedef void (*ScenarioValue) (gpointer user, const char *group, const char *key, const char *text, const char *where);
void      scenario_values (const Scenario *scenario, ScenarioValue value, gpointer user);

/* An error of a deeper module that starts with "[group] key: " gets in front where
 * the key was given: "a.ini:14: ", "--set: ", and where nobody gave it the file's
 * name.  Other errors stay as they are. */
void      scenario_locate_error (const Scenario *scenario, GError **error);
void      key_file_locate_error (const KeyFile *file, GError **error);
