/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cluster/cluster.h"

/* [traffic]: what else moves over the job's links. */
typedef struct
{
  double   nic_rate;            /* bytes/s that other flows ask of each card, each way; 0: none */
  double   uplink_rate;         /* the same of all uplinks of a leaf (dragonfly: group) together */
  guint64  flows;               /* so many equal ones, each with a fair share */
  double   job_size;            /* bytes that a second job moves over each card, each way, a round; 0: no such job */
  double   job_compute;         /* s between its rounds */
  double   input_size;          /* bytes of a sample, read over the cards; 0: not read there */
  double   checkpoint_size;     /* bytes, all ranks together; NAN: of weights and optimizer */
  guint64  checkpoint_steps;    /* one in so many steps; 0: none */
  gboolean checkpoint_blocking; /* GPUs stand still for it */
  double   storage_rate;        /* bytes/s, reading or writing, of the storage for all nodes together; INFINITY */
} TrafficSpec;
extern const Key traffic_keys[];

/* One or several equal flows; `load`: of all of them. */
typedef struct
{
  LinkLoad load[2];
  guint    n_loads;
  double   rate;                /* bytes/s over each of these links at most; INFINITY */
  double   flows;
} TrafficFlow;

/* The same on the links of a cluster.  Sizes are of one network card. */
typedef struct
{
  guint       n_steady;
  TrafficFlow steady[4];
  TrafficFlow job, input, checkpoint;
  double      job_size, job_compute;
  double      job_seconds;      /* that its bytes take alone */
  double      input_size;       /* a step */
  double      checkpoint_size;
  double      checkpoint_seconds;   /* on links that only the steady flows share */
  guint64     checkpoint_steps;
  gboolean    checkpoint_blocking;
} Traffic;

/* `samples` of a step and `state` bytes of weights and optimizer, all ranks together.
 * FALSE: nothing moves. */
gboolean cluster_traffic (const Cluster *cluster, const TrafficSpec *spec, double samples, double state, Traffic *out);
/* Samples/s that a node can read; INFINITY: nothing limits it. */
double   cluster_reading (const Cluster *cluster, const TrafficSpec *spec);
/* A key that asks for something of it, for errors. */
const char *traffic_key  (const Traffic *traffic);
/* The largest demand that loads make on links that others use; 0: on none. */
double   traffic_demand  (const Traffic *traffic, const LinkLoad *loads, guint n_loads);
