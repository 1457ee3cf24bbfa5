/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/keys.h"

enum { ARCHITECTURE_NONE, ARCHITECTURE_GPT, ARCHITECTURE_LLAMA, ARCHITECTURE_MPT, ARCHITECTURE_BERT, ARCHITECTURE_VIT, N_ARCHITECTURES };
enum { POSITIONS_AUTO, POSITIONS_LEARNED, POSITIONS_ROTARY, POSITIONS_ALIBI, POSITIONS_NONE };
enum { NORM_AUTO, NORM_LAYER, NORM_RMS };
enum { HEAD_AUTO, HEAD_PRE_TRAINING, HEAD_SQUAD };
enum { SHAPE_AUTO, SHAPE_YES, SHAPE_NO };

/* Shape of a transformer.  As keys of [workload]: 0, NULL and AUTO are "not
 * given"; after shape_settle () everything that its architecture uses is set. */
typedef struct
{
  int     architecture;
  guint64 hidden, heads, kv_heads, head_dim, layers, ffn, vocabulary, sequence;
  guint64 max_sequence;           /* rows of the table of learned positions */
  guint64 experts, top_k;         /* 0, 1: no mixture of experts */
  guint64 shared_experts;         /* visited by all tokens, as one of so many times the width */
  guint64 dense_layers, dense_ffn;   /* blocks at the beginning without a mixture; their width */
  guint64 q_lora_rank, kv_lora_rank; /* multi-head latent attention; kv 0: other attention, q 0: queries straight */
  guint64 qk_nope_head_dim, qk_rope_head_dim, v_head_dim;   /* head_dim is v's then */
  guint64 mtp_layers;             /* blocks that predict further tokens */
  guint64 image, patch, classes;  /* vit: edge of the image and of a patch, pixels */
  int     tied, gated, bias;      /* SHAPE_* */
  int     positions, norm, head;
} Shape;

extern const char *const architecture_names[], *const position_names[], *const norm_names[], *const head_names[],
  *const shape_switch_names[];

/* TRUE where the scenario gives any key of it. */
gboolean shape_given  (const Shape *keys);
/* The row of models/workload/shapes.csv; *found FALSE: it is no transformer of a plain shape. */
gboolean shape_load   (const char *name, Shape *out, gboolean *found, GError **error);
/* Puts the keys given in `keys` over `shape`. */
void     shape_merge  (Shape *shape, const Shape *keys);
/* Defaults of the architecture and checks; errors are "[workload] key: ...". */
gboolean shape_settle (Shape *shape, GError **error);
/* Width of a head's queries and keys; head_dim is that of its values. */
guint64  shape_query_dim (const Shape *shape);
/* "gpt, hidden 768, 12 layers, ..."; caller frees. */
char    *shape_text   (const Shape *shape);
