/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "network/path.h"

typedef enum
{
  OP_ALL_REDUCE = 1, OP_REDUCE_SCATTER = 2, OP_ALL_GATHER = 4, OP_BROADCAST = 8, OP_ALL_TO_ALL = 16, OP_SEND_RECV = 32,
} CollectiveOp;

typedef struct CollectiveAlgorithm CollectiveAlgorithm;

/* Variables on servers, each whole on one: what is where, and what calls to them reach. */
typedef struct
{
  guint           n;
  const double   *bytes;
  const uint32_t *home;        /* of each: a node, or (not on_workers) a server */
  uint32_t        homes;
  gboolean        on_workers, one_a_node;   /* one_a_node: one rank of a node pushes and pulls for all */
  double          efficiency;  /* share of a line that they reach */
  double          endpoint;    /* bytes/s of one variable, to and from other nodes */
  double          part;        /* of a message's bytes that cards and sums see: copies in a node spare them, not the endpoint */
} Variables;

typedef struct
{
  CollectiveOp op;
  double       size;                      /* bytes, nccl-tests convention: all-gather and reduce-scatter the whole vector */
  const CollectiveAlgorithm *algorithm;   /* NULL: auto */
  Protocol     protocol;
  double       largest;                   /* bytes of the largest tensor (parameter server: it sits on one server); 0: spread evenly */
  gboolean     one_way;                   /* send/recv: the first rank to the second, and nobody else */
  const Variables *variables;             /* of collective_push and _pull, borrowed */
} CollectiveCall;

/* What one collective asks of the network, seen as one activity (view 1). */
#define COLLECTIVE_MAX_LOADS 16
typedef struct
{
  double   latency;        /* s until the bytes flow: launch, hops by protocol, pipeline fill */
  double   cap;            /* bytes of message/s, the protocol's own limit; INFINITY: none */
  guint    n_loads;
  LinkLoad load[COLLECTIVE_MAX_LOADS];   /* per byte of message, twins counted */
  const CollectiveAlgorithm *algorithm;  /* as chosen */
  Protocol protocol;
  gboolean software;       /* the NICs are asked for what the transport's cap leaves of them: faster ones change nothing */
  double   nic_bytes;      /* wire bytes each way a node per byte of message (of one group) */
  double   messages;       /* host RPCs or steps, for reports */
  double   spread;         /* of its time: nine of ten measured times lie within this factor either way; 0: not known */
} CollectiveFlow;

/* View 2, its messages: collective/schedule.h. */
typedef struct Schedule Schedule;
typedef struct CollectiveSteps CollectiveSteps;

struct CollectiveAlgorithm
{
  const char *name;        /* as written in scenario files: "ring" */
  const char *summary;     /* one line, shown by `list algorithms` */
  guint       ops;         /* bits of CollectiveOp */
  gboolean    automatic;   /* NCCL may choose it; several nodes: where `exists` says so or is NULL */
  gboolean    protocols;   /* priced by NCCL protocol; else the protocol means nothing to it */
  gboolean    on_gpu;      /* its kernels run on the GPUs and slow others */
  const char *paths;       /* whose paths it takes: "nccl", "grpc", "parameter-server" (see cluster_paths) */
  gboolean  (*exists) (const RankGroup *group, const Paths *paths);
  /* Another algorithm that runs in its place here, or NULL.  May be NULL.  Where
   * that is the library's choice, it may read estimates. */
  const CollectiveAlgorithm *(*stands_for) (const CollectiveCall *call, const RankGroup *group, const Paths *paths);
  /* View 1 for a protocol of N_PROTOCOLS, more than one rank, size > 0. */
  gboolean (*flow)    (const CollectiveCall *call, const RankGroup *group, const Paths *paths,
                       CollectiveFlow *out, GError **error);
  const CollectiveSteps *steps;   /* view 2; NULL: no messages are known */
};

#define COLLECTIVE_ERROR (collective_error_quark ())
typedef enum { COLLECTIVE_ERROR_UNKNOWN, COLLECTIVE_ERROR_UNSUPPORTED } CollectiveError;
GQuark collective_error_quark (void);

/* Borrowed.  "auto" gives NULL without an error. */
gboolean collective_find (const char *name, const CollectiveAlgorithm **out, GError **error);
const CollectiveAlgorithm *const *collective_algorithms (void);   /* NULL-terminated */
/* Of an algorithm, NULL being auto: the paths to ask cluster_paths for, and whether its kernels run on the GPUs. */
const char *collective_paths  (const CollectiveAlgorithm *algorithm);
gboolean    collective_on_gpu (const CollectiveAlgorithm *algorithm);
const char *collective_op_name (CollectiveOp op);                 /* "all-reduce" */
gboolean    collective_op_find (const char *name, CollectiveOp *op, GError **error);

/* View 1, with algorithm and protocol settled: as named, else as NCCL chooses
 * (inside a box its own constants pick, across nodes the cheapest estimate).
 * One rank, or size 0: a flow of no time.  The only reader of the estimate
 * besides the `collective` command. */
gboolean collective_flow (const CollectiveCall *call, const RankGroup *group, const Paths *paths,
                          const Network *network, CollectiveFlow *out, GError **error);
/* View 3, seconds on an idle network, the same for every algorithm:
 * latency + size/idle rate. */
double   collective_estimate (const CollectiveFlow *flow, const Network *network, double size);
/* busbw = algbw x this (nccl-tests): all-reduce 2(n-1)/n, all-gather, reduce-scatter, all-to-all (n-1)/n, others 1. */
double   collective_bus_factor (CollectiveOp op, guint64 n_ranks);
