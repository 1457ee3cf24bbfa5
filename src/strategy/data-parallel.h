/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/buckets.h"
#include "strategy/software.h"

/* The skeleton of every data-parallel step: forward, backward in reverse,
 * gradients in groups on one communication queue, optimizer.  A framework is a
 * policy over it. */
typedef struct DataParallel DataParallel;
typedef struct Builder Builder;   /* strategy/builder.h */
struct DataParallel
{
  gboolean    one_process;     /* one host thread issues for all GPUs of a node */
  gboolean    root;            /* the first GPU keeps the weights: they leave it before each forward pass, gradients return to it */
  int         host;            /* HOST_* where the scenario says auto */
  const Cost *fixed;           /* s of the framework's own a step with several ranks, before the first kernel: a slow host hides it; NULL: none */
  const Cost *launch;          /* s a collective on its queue; NULL: none */
  gboolean    always_sync;     /* the host waits for the gradients (else: only a loss scaler makes it) */
  const char *algorithm;       /* where neither scenario nor library chooses; NULL: the library */
  gboolean    buffers;         /* BatchNorm state is broadcast before forward passes */
  gboolean    view;            /* no copies into and out of the groups */
  gboolean    half;            /* gradients travel in two bytes under automatic mixed precision */
  double      slowdown;        /* of a kernel beside a collective; 0: the precision's */
  gboolean    remote_update;   /* the optimizer does not run on the GPUs */
  GArray     *groups;          /* of Bucket; NULL: no gradients travel */
  /* Around each forward pass, whose last row is `last`, on several GPUs; NULL: nothing. */
  gboolean  (*leave)   (Builder *b, GError **error);
  gboolean  (*gather)  (Builder *b, guint last, GError **error);
  /* s more of a group on the communication queue; NULL: none. */
  double    (*group_s) (const StepInput *in, const Bucket *group);
  /* Fills flow and group of a call that is no collective; NULL: by algorithm.  launch is added to. */
  gboolean  (*price)   (const StepInput *in, Arena *arena, GraphCall *call, GError **error);
};

gboolean data_parallel_build  (const StepInput *in, const DataParallel *policy, StepGraph *graph, GError **error);
/* Weights, gradients, optimizer state and activations; buffers for `group_bytes` of copies. */
void     data_parallel_memory (const StepInput *in, double group_bytes, MemoryUse *out);
/* Parts of it: activations of one micro-step; what the framework and NCCL take;
 * sums, with that reserve put into the buffers. */
double   memory_activations   (const StepInput *in);
/* [training] offload-activations, where the strategy has it: blocks; the bytes of
 * one micro-step that leave the GPU. */
guint64  memory_offloaded     (const StepInput *in);
double   memory_offloaded_bytes (const StepInput *in);
double   memory_reserve       (void);
void     memory_settle        (const StepInput *in, MemoryUse *out);
/* Sums and verdict alone. */
void     memory_sum           (const StepInput *in, MemoryUse *out);
/* s of each layer's forward kernel at the batch of one micro-step; caller frees. */
double  *data_parallel_forward (const StepInput *in);
/* The same of each layer's backward pass, what is computed again with it. */
double  *data_parallel_backward (const StepInput *in, const double *forward);
/* The time of attention over whole sequences, over that of packed ones. */
double   data_parallel_whole (const StepInput *in, const double *forward);
/* s from the start of the backward pass to the end of each layer's, as kernels or
 * the host of `policy` pace it when nothing slows them; caller frees. */
double  *data_parallel_ready  (const StepInput *in, const DataParallel *policy);
/* What the policy settles where the scenario says nothing. */
void     data_parallel_values (const StepInput *in, const DataParallel *policy, ClusterValue value, gpointer user);
/* One such value of [strategy]; takes the text. */
void     data_parallel_say    (ClusterValue value, gpointer user, const char *key, char *text, OriginKind kind, const char *why);
/* A time with its own origin; NULL: 0. */
void     data_parallel_say_cost (ClusterValue value, gpointer user, const char *key, const Cost *cost);
