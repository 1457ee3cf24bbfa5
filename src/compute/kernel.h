/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/keys.h"

/* Seconds of one kernel from its shape: closed forms with a few fitted numbers
 * each.  Pure and allocation-free; the same functions price a kernel and are
 * fitted to measured ones. */

#define KERNEL_MAX_PARAMETERS 12u
#define KERNEL_MAX_FEATURES   6u

/* What the maker says of the GPU. */
typedef struct
{
  double peak;        /* FLOP/s, dense, of the kernel's precision */
  double bandwidth;   /* bytes/s of the memory */
  double l2;          /* bytes; NAN: not known */
  double sms;
} KernelDevice;

typedef struct
{
  double flop, bytes;          /* the bytes at least: each operand once */
  double element;              /* bytes of one element of the result */
  double m, n, k, batch;       /* matrix product; a convolution: the implicit one */
  double rows, cols;           /* element-wise, norm, softmax; cols: of one row */
  double heads, kv_heads, seq, head_dim;   /* attention; heads: batch x heads */
  double working_set;          /* bytes that a loop over it touches again; INFINITY: comes from memory */
  gboolean causal, winograd;   /* winograd: fp32 3x3 stride-1 convolution */
} KernelShape;

/* One fitted number.  It is searched as ln: centre and deviation of ln are what
 * is known before any measurement, and what stands in for one. */
typedef struct
{
  const char *name;
  Unit        unit;            /* UNIT_NONE or UNIT_TIME */
  double      centre, sd;
  const char *help;
} KernelParameter;

typedef struct
{
  const char            *name, *summary;
  const KernelParameter *parameters;
  guint                  n_parameters;
  double               (*seconds)  (const double *p, const KernelDevice *device, const KernelShape *shape);
  /* ln of what tells two shapes apart; for residual interpolation. */
  guint                (*features) (const KernelShape *shape, double out[KERNEL_MAX_FEATURES]);
} KernelForm;

extern const KernelForm kernel_gemm, kernel_roofline, kernel_stream, kernel_attention;
/* NULL and an error that names the forms. */
const KernelForm *kernel_form_find (const char *name, GError **error);

/* FLOP and bytes of a product m x n x k, `batch` times, and of fused attention; sizes of an
 * element in bytes. */
void kernel_shape_gemm      (KernelShape *shape, double m, double n, double k, double batch, double in_bytes, double out_bytes);
void kernel_shape_attention (KernelShape *shape, double batch, double seq, double heads, double kv_heads, double head_dim,
                             gboolean causal, double element);
