/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "compute/llm.h"
#include "strategy/pipeline.h"
#include "strategy/strategy.h"

/* What the files of megatron share; nobody else includes it. */

/* [strategy] kind = megatron with everything settled and checked. */
typedef struct
{
  const StepInput *in;
  const Shape     *shape;
  PipelineSchedule schedule;
  guint64  world, tp, pp, cp, ep, etp, dp, edp, v;   /* dp: without cp; edp: GPUs that hold the same experts */
  guint    group;
  guint64  micro, micro_batches;           /* samples of one; of a replica and step */
  gboolean sp, distributed, shard_gradients, overlap_grad, overlap_param, tp_overlap, overlap_p2p, flash, dropout, gated, experts;
  gboolean send_once, fused_experts;       /* a token goes once to each GPU or node; grouped products, casts and gates are one kernel */
  guint    modules;                        /* MODULE_*: computed again; 0 unless recomputation is selective */
  double   gradient;                       /* bytes on the wire */
  guint64 *layers;                         /* of each virtual stage */
  LlmModel llm;
  Arena   *arena;                          /* of the graph; NULL: nothing is built */
} Megatron;

gboolean megatron_refuse (GError **error, const char *where, const char *format, ...) G_GNUC_PRINTF (3, 4);
gboolean megatron_plan  (const StepInput *in, Megatron *out, GError **error);
void     megatron_clear (Megatron *m);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Megatron, megatron_clear)
/* Parts of a layer that selective recomputation may name (recompute-modules). */
enum { MODULE_CORE_ATTENTION = 1, MODULE_NORM = 2, MODULE_UP = 4, MODULE_DENSE = 8, MODULE_EXPERTS = 16, MODULE_ACTIVATION = 32, MODULE_SHARED = 64 };

/* The part of it that needs no workload. */
gboolean megatron_batch (const StrategySpec *spec, const TrainingSpec *training, guint64 gpus, Batch *out, GError **error);
guint    megatron_virtual_stages (const Megatron *m);
/* Layers of each of its stages, uneven, by what they and the output layer cost. */
void     megatron_deal_by_cost (Megatron *m);
/* As [strategy] stage-layers says. */
gboolean megatron_deal_list    (Megatron *m, GError **error);

/* Blocks by their second half: one feed-forward part, or experts. */
typedef enum { BLOCK_DENSE, BLOCK_EXPERTS, N_BLOCKS } MegatronBlock;
/* How many a virtual stage has, those for further tokens counted; the width of one part or expert. */
double megatron_blocks (const Megatron *m, guint virtual_stage, MegatronBlock kind);
double megatron_ffn    (const Megatron *m, MegatronBlock kind);

/* Parameters of one GPU: of a block outside its experts, of a block's experts. */
double megatron_block_params   (const Megatron *m, MegatronBlock kind);
double megatron_expert_params  (const Megatron *m);
double megatron_embedding_params (const Megatron *m);
/* All of a virtual stage, with embedding and output layer: outside experts, and its experts. */
void   megatron_chunk_params   (const Megatron *m, guint virtual_stage, double *dense, double *experts);
/* The same of a stage. */
void   megatron_stage_params   (const Megatron *m, guint stage, double *dense, double *experts);

/* Groups of ranks of one stage, in Megatron's order: tensor, context, data; of
 * experts tensor, expert, data (core/parallel_state.py). */
typedef enum { GROUP_TENSOR, GROUP_CONTEXT, GROUP_DATA, GROUP_EXPERT_TENSOR, GROUP_EXPERT, GROUP_EXPERT_NODE, GROUP_EXPERT_DATA } MegatronGroup;
PipelineGroup megatron_group (const Megatron *m, MegatronGroup which);
/* Boxes that NVLink joins over which the GPUs of an expert-parallel group lie. */
guint64       megatron_expert_boxes (const Megatron *m);
/* Of `places` that hold equal parts of a layer's experts, how many a token's top-k lie
 * on in the mean, all sets being alike. */
double        megatron_visited (const Megatron *m, guint64 places);

/* Several calls behind each other that come as one: of an idle network, shared
 * with nobody (stages sit on other nodes, the collectives of one wait for each
 * other). */
#define MEGATRON_PARTS 12
typedef struct
{
  double        size, latency, wire, nic_bytes;
  GraphCall     first;
  MegatronGroup group;
  guint         n_parts;
  GraphPart     part[MEGATRON_PARTS];   /* of one size and kind each */
} MegatronCalls;
/* `count` calls of `size` bytes more; *seconds: of one (may be NULL). */
gboolean megatron_add_calls (const Megatron *m, MegatronGroup group, CollectiveOp op, double size, double count,
                             MegatronCalls *calls, double *seconds, GError **error);
/* `times` of what one stands for more on the other. */
void      megatron_pile     (MegatronCalls *on, const MegatronCalls *calls, double times);
GraphCall megatron_call     (const Megatron *m, const MegatronCalls *calls, const char *label);
/* A call between a rank of one stage and its like of another. */
gboolean megatron_pair      (const Megatron *m, guint from, guint to, CollectiveOp op, double size, const char *label, GraphCall *out,
                             GError **error);
/* The activations that go there. */
gboolean megatron_message   (const Megatron *m, guint from, guint to, const char *label, GraphCall *out, GError **error);

/* Kernels, host and calls of one pass of one micro-batch through a virtual stage. */
gboolean megatron_work (const Megatron *m, PipelineWork *forward, PipelineWork *backward, GError **error);

/* Bytes of the fullest GPU; of each stage (MemoryStage, caller frees). */
void megatron_memory (const StepInput *in, MemoryUse *out);
GArray *megatron_stages (const StepInput *in);
