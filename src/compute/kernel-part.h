/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "compute/gpu.h"
#include "compute/kernel.h"

/* Fitted kernels, models/kernel/GPU.ini: one group [FAMILY.DTYPE.SOURCE] a fit. */

/* How a table of kernels writes a precision. */
typedef struct
{
  const char *name;                 /* "bf16" */
  double      in_bytes, out_bytes;  /* of an element of an operand; of the result */
  Precision   peak;                 /* whose rate it runs at */
  const char *class;                /* fits of one class stand in for each other: "half" */
  gboolean    winograd;             /* its 3x3 convolutions run by Winograd */
} KernelPrecision;
const KernelPrecision *kernel_precision (const char *name);   /* NULL: unknown */
KernelDevice           kernel_device    (const Gpu *gpu, const KernelPrecision *precision);

#define KERNEL_MAX_SPREAD 8u
#define KERNEL_MAX_SKETCH 64u

/* Residuals of the rows of a fit, ln(measured/model), for interpolation. */
typedef struct
{
  guint   n, n_features;
  double *features;    /* n x n_features */
  double *residual;
  double *left;        /* what interpolation from the other rows leaves of it */
} KernelResiduals;

typedef struct
{
  char             *gpu, *family, *dtype, *label;
  const KernelForm *form;
  double            values[KERNEL_MAX_PARAMETERS];
  double            covariance[KERNEL_MAX_PARAMETERS * KERNEL_MAX_PARAMETERS];   /* of ln */
  double            bandwidth;            /* of its GPU's memory, as the fit took it: bytes/s */
  guint64           rows;
  char             *sources, *date;       /* files; of the fit */
  double            median, q90, bias;    /* of |ln(model/measured)|; of the sum of times, share */
  /* q90 by predicted time: of kernels up to `spread_to` seconds. */
  guint             n_spread;
  double            spread_to[KERNEL_MAX_SPREAD], spread[KERNEL_MAX_SPREAD];
  /* The smallest row hashes: a table that has one of them fed the fit. */
  guint             n_sketch;
  guint64           sketch[KERNEL_MAX_SKETCH];
  KernelResiduals  *residuals;            /* NULL: not kept */
} KernelPart;

void        kernel_part_free    (KernelPart *part);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KernelPart, kernel_part_free)
/* Was the measured row of this hash (KernelRow) in the fit? */
gboolean    kernel_part_has_row (const KernelPart *part, guint64 row_hash);
/* A file's beginning; then each group. */
void        kernel_part_head    (GString *text, const KernelPart *part);
void        kernel_part_append  (GString *text, const KernelPart *part);
/* Every group of the file joins `parts` (KernelPart *). */
gboolean    kernel_parts_read   (const char *path, GPtrArray *parts, GError **error);
/* Every file of models/kernel.  Caller unrefs. */
GPtrArray  *kernel_parts_load   (GError **error);

/* From the narrowest to the widest. */
typedef enum { KERNEL_LEVEL_SAME, KERNEL_LEVEL_GPU, KERNEL_LEVEL_SPECS, KERNEL_LEVEL_ASSUMED } KernelLevel;
#define KERNEL_MAX_MEMBERS 12u

/* What prices a kernel: one fit, or the mean of those of other sources and GPUs
 * (members of this GPU: KERNEL_LEVEL_GPU), or the numbers that were there before any measurement. */
typedef struct
{
  KernelLevel       level;
  const KernelForm *form;
  guint             n_members;
  const KernelPart *members[KERNEL_MAX_MEMBERS];   /* borrowed */
  gboolean          other_source;   /* the fit is of another source than the one that is predicted */
  double            rescue;   /* divides emax and ecap's time: one measured rate of large products, kernels-rate; 1: none */
} KernelChoice;

/* `label`: of the source to predict, NULL: any.  `may`: NULL, or which parts may
 * be used.  Never fails: the last resort is KERNEL_LEVEL_ASSUMED. */
void  kernel_choose (const GPtrArray *parts, const char *gpu, const char *family, const char *dtype, const char *label,
                     const KernelForm *form, gboolean (*may) (const KernelPart *part, gpointer user), gpointer user, KernelChoice *out);
/* Of any source for a GPU: its own fit, else that of the one whose kernels are like
 * its own (kernels-of), else of others. */
void  kernel_choose_for (const GPtrArray *parts, const Gpu *gpu, const char *family, const char *dtype, const KernelForm *form, KernelChoice *out);
/* "gemm.fp16.vidur of A100-SXM-80GB", "mean of 3 GPUs: ...", "assumed".  Caller frees. */
char *kernel_choice_text (const KernelChoice *choice);

/* Seconds, and the half-width of its 90 % interval in ln (NULL: not wanted). */
double kernel_predict (const KernelChoice *choice, const KernelDevice *device, const KernelShape *shape, double *half_width);

/* Residuals: takes nothing, copies nothing it does not own. */
KernelResiduals *kernel_residuals_new  (const KernelForm *form, const KernelShape *const *shapes, const double *residual, guint n);
void             kernel_residuals_free (KernelResiduals *residuals);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KernelResiduals, kernel_residuals_free)
/* ln to add to the model's; `spread`: q90 of what is left near the shape. */
double           kernel_residuals_at   (const KernelResiduals *residuals, const KernelForm *form, const KernelShape *shape, double *spread);
