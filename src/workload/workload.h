/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/keys.h"
#include "base/precision.h"
#include "workload/packing.h"
#include "workload/shape.h"

typedef enum { LAYER_CONV, LAYER_GEMM, LAYER_ATTENTION, LAYER_SOFTMAX, LAYER_NORM, LAYER_ELEMENTWISE, LAYER_POOL, LAYER_EMBEDDING, LAYER_RECURRENT, LAYER_OTHER } LayerKind;

/* One row of models/workload/NAME.csv; per sample, forward. */
typedef struct
{
  const char *name;
  LayerKind   kind;
  double      params;
  guint       n_tensors;
  const double *tensors;        /* elements of each, in registration order */
  double      out_elems, flop, bytes_fp32;
  double      m, n, k;          /* NAN: none; of a recurrent layer: time steps, four gates of its width, inputs and width */
  gboolean    winograd;         /* 3x3, stride 1, one group */
  gboolean    depthwise;        /* convolution of each channel by itself */
  gboolean    tied;             /* its weight is another layer's: gradient ready when BOTH have run (name holds "(tied)") */
} Layer;

/* Limits of a table. */
#define WORKLOAD_MAX_LAYERS  20000u
#define WORKLOAD_MAX_TENSORS 1000000u

typedef struct
{
  char   *name;
  char   *family;               /* key of the efficiency table: "resnet", "vgg", "efficientnet", "bert", "gnmt", "ncf", "dlrm", "transformer"; "other": has no row */
  char   *sample;               /* "image", "sequence of 128" */
  Shape   dims;                 /* of a plain transformer; its architecture NONE: none is known */
  Packing packing;              /* what its samples are; kind NONE (0): whole sequences */
  char   *shape;                /* of a generated transformer, for people; NULL: read from a table */
  guint   n_layers;
  Layer  *layers;               /* forward order */
  double  params, flop, out_elems;
  guint   n_tensors;
  double  buffers;              /* elements of non-trained state that DDP broadcasts: 2 per BatchNorm channel + 1 per layer; 0 without BatchNorm */
  double  samples_per_epoch;    /* NAN: not known */
  gpointer storage;
} Workload;

/* [workload] */
typedef struct
{
  char  *name;                  /* models/workload/NAME.csv */
  char  *file;                  /* or a file of the same columns */
  int    precision;             /* Precision */
  char  *family;                /* override of the efficiency class */
  Shape  shape;                 /* or the shape of a transformer; beside a name: what differs from it */
  PackingSpec packing;          /* what a sequence holds */
} WorkloadSpec;
extern const Key workload_keys[];
extern const char *const workload_families[];   /* NULL-terminated */
extern const char *const layer_kind_names[];    /* "conv", ...: LayerKind's, NULL-terminated */

/* Elements of the scores of an attention row, one sample; 0: it is none, or of no known shape. */
double    layer_scores     (const Layer *layer);
/* A row that only exists where scores are written to memory. */
gboolean  layer_is_softmax (const Layer *layer);

/* A name of models/workload/index.csv or one of its aliases; case and the
 * separators '-', '_' and blank do not matter.  Errors of the scenario start
 * with "[workload] key: ", those of a table with "file:line: ". */
Workload *workload_load (const WorkloadSpec *spec, GError **error);
void      workload_free (Workload *workload);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Workload, workload_free)
/* All shipped names in the order of the index; g_strfreev. */
char    **workload_list (GError **error);
