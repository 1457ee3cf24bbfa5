/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/kernel.h"

#include <math.h>

#include "base/names.h"

/* (a^q + b^q)^(1/q), without overflow. */
static double
norm_of (double a, double b, double q)
{
  const double most = fmax (a, b), least = fmin (a, b);

  return most > 0 ? most * pow (1 + pow (least / most, q), 1 / q) : 0.0;
}

/* What is touched again and fits runs at the cache's rate: gain over the
 * memory's bandwidth, 1 + r/(1 + (working set/(c L2))^3). */
static double
cache_gain (double r, double c, const KernelDevice *device, const KernelShape *shape)
{
  if (!isfinite (shape->working_set) || !(device->l2 > 0))
    return 1.0;
  const double fill = shape->working_set / (c * device->l2);

  return 1 + r / (1 + fill * fill * fill);
}

/* A fitted norm is 1 + x with x > 0; beyond 8 it is a maximum. */
static double
norm_from (double excess)
{
  return fmin (1 + excess, 8);
}

/* Matrix product by waves of tiles: the library takes the best of five tiles
 * and five splits of k.  Tile efficiency emax a/(a + a0) with a = tm tn/(tm + tn),
 * FLOP per byte of the tile; k0 is the prologue of a tile in steps of k; a split
 * writes and adds its parts and costs another launch; the rate of a long kernel
 * is capped by the power limit.  Form chosen over the GEMM tables of
 * AIConfigurator, Vidur, NeuSight and DeepBench, where one fixed tile was worse
 * than a roofline. */
enum { G_T0, G_EMAX, G_EM, G_A0, G_K0, G_NORM, G_TS, G_ECAP, G_L2_GAIN, G_L2_SHARE, G_WINOGRAD, G_N };
static const KernelParameter gemm_parameters[G_N] = {
  [G_T0] = { "t0", UNIT_TIME, 2.2e-6, 0.5, "Time of a kernel without work." },
  [G_EMAX] = { "emax", UNIT_NONE, 1.0, 0.4, "Share of the peak that an endless tile would reach." },
  [G_EM] = { "em", UNIT_NONE, 0.85, 0.15, "Share of the memory bandwidth." },
  [G_A0] = { "a0", UNIT_NONE, 15, 1.0, "Intensity at which a tile reaches half of emax." },
  [G_K0] = { "k0", UNIT_NONE, 165, 0.7, "Prologue of a tile, in steps of k." },
  [G_NORM] = { "norm-excess", UNIT_NONE, 2.0, 0.6, "Norm of compute and memory time, less 1." },
  [G_TS] = { "ts", UNIT_TIME, 2.4e-6, 0.5, "Extra time of a split of k." },
  [G_ECAP] = { "ecap", UNIT_NONE, 0.75, 0.25, "Share of the peak that lasts." },
  [G_L2_GAIN] = { "l2-gain", UNIT_NONE, 0.3, 1.2, "Gain of the memory rate in the cache, less 1." },
  [G_L2_SHARE] = { "l2-share", UNIT_NONE, 0.3, 0.7, "Share of the cache that a loop fills before it spills." },
  [G_WINOGRAD] = { "winograd", UNIT_NONE, 0.45, 0.25, "Share of the FLOP that an fp32 3x3 convolution runs." },
};

static double
gemm_seconds (const double *p, const KernelDevice *device, const KernelShape *shape)
{
  static const struct { double m, n; } tiles[] = { { 256, 128 }, { 128, 256 }, { 128, 128 }, { 128, 64 }, { 64, 64 } };
  const double q = norm_from (p[G_NORM]);
  const double work = shape->winograd ? p[G_WINOGRAD] : 1.0;
  const double bandwidth = p[G_EM] * device->bandwidth * cache_gain (p[G_L2_GAIN], p[G_L2_SHARE], device, shape);
  double count[G_N_ELEMENTS (tiles)], cost[G_N_ELEMENTS (tiles)];
  double best = INFINITY;

  for (gsize i = 0; i < G_N_ELEMENTS (tiles); i++)
    {
      const double a = tiles[i].m * tiles[i].n / (tiles[i].m + tiles[i].n);

      count[i] = ceil (shape->m / tiles[i].m) * ceil (shape->n / tiles[i].n) * shape->batch / device->sms;
      cost[i] = 2 * tiles[i].m * tiles[i].n * device->sms * (a + p[G_A0]) / (p[G_EMAX] * a * device->peak);
    }
  for (double s = 1; s <= 16; s *= 2)
    {
      const double split = s > 1 ? 1 : 0;
      const double g = (shape->bytes + split * 8 * s * shape->m * shape->n * shape->batch) / bandwidth;
      double c = INFINITY;

      for (gsize i = 0; i < G_N_ELEMENTS (tiles); i++)
        c = fmin (c, ceil (count[i] * s) * cost[i]);
      c *= (work * shape->k / s + p[G_K0]);
      if (fmax (c, g) + split * p[G_TS] < best)   /* the norm is above both */
        best = fmin (best, norm_of (c, g, q) + split * p[G_TS]);
    }
  return p[G_T0] + fmax (best, work * shape->flop / (p[G_ECAP] * device->peak));
}

static guint
gemm_features (const KernelShape *shape, double out[KERNEL_MAX_FEATURES])
{
  out[0] = log (shape->m);
  out[1] = log (shape->n);
  out[2] = log (shape->k);
  out[3] = log (shape->batch);
  return 4;
}

const KernelForm kernel_gemm = {
  .name = "detailed",
  .summary = "matrix product by waves of tiles, with split k, cache and sustained rate",
  .parameters = gemm_parameters, .n_parameters = G_N,
  .seconds = gemm_seconds, .features = gemm_features,
};

/* t0 + ((F/(ec P))^q + (B/(em W))^q)^(1/q).  Never max(): 3 to 12 % off in sums. */
enum { R_T0, R_EC, R_EM, R_NORM, R_N };
static const KernelParameter roofline_parameters[R_N] = {
  [R_T0] = { "t0", UNIT_TIME, 3e-6, 0.7, "Time of a kernel without work." },
  [R_EC] = { "ec", UNIT_NONE, 0.75, 0.3, "Share of the peak." },
  [R_EM] = { "em", UNIT_NONE, 0.80, 0.2, "Share of the memory bandwidth." },
  [R_NORM] = { "norm-excess", UNIT_NONE, 0.8, 0.6, "Norm of compute and memory time, less 1." },
};

static double
roofline_seconds (const double *p, const KernelDevice *device, const KernelShape *shape)
{
  return p[R_T0] + norm_of (shape->flop / (p[R_EC] * device->peak), shape->bytes / (p[R_EM] * device->bandwidth),
                            norm_from (p[R_NORM]));
}

const KernelForm kernel_roofline = {
  .name = "roofline",
  .summary = "a norm of compute and memory time",
  .parameters = roofline_parameters, .n_parameters = R_N,
  .seconds = roofline_seconds, .features = gemm_features,
};

/* Element-wise kernels, norms and softmax: t0 + B/(e W), faster where the loop
 * stays in the cache; short rows fill the multiprocessors badly: e c/(c + c0). */
enum { S_T0, S_E, S_L2_GAIN, S_L2_SHARE, S_SHORT, S_NORM, S_N };
static const KernelParameter stream_parameters[S_N] = {
  [S_T0] = { "t0", UNIT_TIME, 3e-6, 0.7, "Time of a kernel without work." },
  [S_E] = { "e", UNIT_NONE, 0.80, 0.3, "Share of the memory bandwidth." },
  [S_L2_GAIN] = { "l2-gain", UNIT_NONE, 0.5, 0.7, "Gain of the memory rate in the cache, less 1." },
  [S_L2_SHARE] = { "l2-share", UNIT_NONE, 0.5, 0.4, "Share of the cache that a loop fills before it spills." },
  [S_SHORT] = { "short-row", UNIT_NONE, 10, 1.2, "Length of a row that halves the rate." },
  [S_NORM] = { "norm-excess", UNIT_NONE, 0.3, 0.8, "Norm of fixed and streaming time, less 1." },
};

static double
stream_seconds (const double *p, const KernelDevice *device, const KernelShape *shape)
{
  const double rate = p[S_E] * device->bandwidth * cache_gain (p[S_L2_GAIN], p[S_L2_SHARE], device, shape);
  const double row = shape->cols > 0 ? 1 + p[S_SHORT] / shape->cols : 1.0;

  return norm_of (p[S_T0], shape->bytes * row / rate, norm_from (p[S_NORM]));
}

static guint
stream_features (const KernelShape *shape, double out[KERNEL_MAX_FEATURES])
{
  out[0] = log (shape->bytes);
  out[1] = log (fmax (shape->cols, 1));
  return 2;
}

const KernelForm kernel_stream = {
  .name = "stream",
  .summary = "bytes over bandwidth: element-wise, norm, softmax",
  .parameters = stream_parameters, .n_parameters = S_N,
  .seconds = stream_seconds, .features = stream_features,
};

/* Fused attention: t0 + norm of F/(ec P s/(s + s0) u/(u + u0) d/(d + d0)) and
 * B/(em W), u the blocks of 128 rows in waves of the multiprocessors. */
enum { A_T0, A_EC, A_S0, A_U0, A_D0, A_EM, A_NORM, A_TILE, A_N };
static const KernelParameter attention_parameters[A_N] = {
  [A_T0] = { "t0", UNIT_TIME, 8e-6, 0.5, "Time of a kernel without work." },
  [A_EC] = { "ec", UNIT_NONE, 0.6, 0.4, "Share of the peak." },
  [A_S0] = { "s0", UNIT_NONE, 300, 0.8, "Sequence that reaches half of ec." },
  [A_U0] = { "u0", UNIT_NONE, 60, 1.0, "Blocks of 128 rows that reach half of ec." },
  [A_D0] = { "d0", UNIT_NONE, 10, 1.2, "Head dimension that reaches half of ec." },
  [A_EM] = { "em", UNIT_NONE, 0.7, 0.3, "Share of the memory bandwidth." },
  [A_NORM] = { "norm-excess", UNIT_NONE, 1.0, 0.6, "Norm of compute and memory time, less 1." },
  [A_TILE] = { "block-time", UNIT_NONE, 0.3, 1.0, "Time of a block's prologue, in blocks of 128 keys." },
};

static double
attention_seconds (const double *p, const KernelDevice *device, const KernelShape *shape)
{
  const double u = shape->heads * fmax (ceil (shape->seq / 128), 1);
  const double waves = ceil (u / device->sms) * device->sms / u;
  const double s = shape->seq, keys = ceil (s / 128);
  const double share = p[A_EC] * s / (s + p[A_S0]) * u / (u + p[A_U0]) * shape->head_dim / (shape->head_dim + p[A_D0]);
  const double c = shape->flop * pow (waves, 0.5) * (1 + p[A_TILE] / keys) / (share * device->peak);

  return p[A_T0] + norm_of (c, shape->bytes / (p[A_EM] * device->bandwidth), norm_from (p[A_NORM]));
}

static guint
attention_features (const KernelShape *shape, double out[KERNEL_MAX_FEATURES])
{
  out[0] = log (shape->heads);
  out[1] = log (shape->seq);
  out[2] = log (shape->head_dim);
  out[3] = log (shape->heads / shape->kv_heads);
  return 4;
}

const KernelForm kernel_attention = {
  .name = "attention",
  .summary = "fused attention, forward",
  .parameters = attention_parameters, .n_parameters = A_N,
  .seconds = attention_seconds, .features = attention_features,
};

const KernelForm *
kernel_form_find (const char *name, GError **error)
{
  static const KernelForm *const forms[] = { &kernel_gemm, &kernel_roofline, &kernel_stream, &kernel_attention };
  const char *names[G_N_ELEMENTS (forms) + 1] = { NULL };

  for (gsize i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      if (g_str_equal (forms[i]->name, name))
        return forms[i];
      names[i] = forms[i]->name;
    }
  g_autofree char *wrong = names_unknown ("form", name, names);
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_UNKNOWN, "%s", wrong);
  return NULL;
}

void
kernel_shape_gemm (KernelShape *shape, double m, double n, double k, double batch, double in_bytes, double out_bytes)
{
  *shape = (KernelShape) { .m = m, .n = n, .k = k, .batch = batch, .element = out_bytes };
  shape->flop = 2 * m * n * k * batch;
  shape->bytes = batch * (in_bytes * (m * k + k * n) + out_bytes * m * n);
  shape->working_set = shape->bytes;
}

void
kernel_shape_attention (KernelShape *shape, double batch, double seq, double heads, double kv_heads, double head_dim,
                        gboolean causal, double element)
{
  *shape = (KernelShape) { .seq = seq, .heads = batch * heads, .kv_heads = batch * kv_heads, .head_dim = head_dim,
                           .causal = causal, .element = element };
  shape->flop = 4 * shape->heads * seq * seq * head_dim * (causal ? 0.5 : 1.0);
  shape->bytes = element * seq * head_dim * 2 * (shape->heads + shape->kv_heads);
  shape->working_set = shape->bytes;
}
