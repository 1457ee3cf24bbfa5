/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/kernel-part.h"

#include <math.h>
#include <string.h>

/* 90 % of a normal variate lie within this many deviations. */
#define NORMAL_90 1.645
/* No kernel repeats better than this. */
#define FLOOR 0.001
/* A fit to this many rows stands for its GPU whatever the source; a smaller one
 * only for its own source. */
#define TRUSTED_ROWS 500u
/* Rows at which a fit weighs half of one to very many. */
#define HALF_WEIGHT_ROWS 300.0
/* Distance, in ln of memory bandwidth, at which a GPU says half as much. */
#define NEAR 0.5
/* A few GPUs that agree still say little of another: assumed. */
#define BETWEEN_LEAST 0.10
/* One library or way to measure against another on one GPU: 4 to 28 % in the
 * median between AIConfigurator, Vidur, SimuMax and LLMCompass. */
#define OTHER_SOURCE 0.12

/* Kinds of kernels whose fits stand in for each other. */
static const char *
kind_of (const char *family)
{
  static const char *const norms[] = { "ln", "layernorm", "rmsnorm", "batchnorm", NULL };
  const char *dash = strchr (family, '-');

  if (g_str_equal (family, "gemm") || g_str_equal (family, "bmm"))
    return "matrix";
  if (g_strv_contains (norms, family))
    return "norm";
  if (g_str_equal (family, "softmax"))
    return "softmax";
  if (dash != NULL && g_str_has_prefix (family, "conv-"))
    return "conv";
  if (dash != NULL && g_str_has_prefix (family, "attention-"))
    return "attention";
  return "element-wise";
}

#define KIN 4

/* What is asked for, and how far a part is from it: 0 is nearest, -1 never. */
typedef struct
{
  const char       *gpu, *family, *dtype, *kind, *class;
  const KernelForm *form;
} Wanted;

static int
distance (const Wanted *wanted, const KernelPart *part)
{
  const KernelPrecision *precision = kernel_precision (part->dtype);
  const gboolean family = g_str_equal (part->family, wanted->family), dtype = g_str_equal (part->dtype, wanted->dtype);
  const gboolean class = g_str_equal (precision->class, wanted->class);
  const gboolean by_bytes = part->form == &kernel_stream;   /* its precision is in the bytes */
  const gboolean halves = g_str_equal (precision->class, "half") && g_str_equal (wanted->class, "fp8");

  if (part->form != wanted->form || !g_str_equal (kind_of (part->family), wanted->kind))
    return -1;
  if (!class && !by_bytes && !halves)
    return -1;
  return (family ? 0 : KIN) + (dtype ? 0 : class ? 1 : 2);
}

/* fp16 and bf16 are alike; another kind of kernel, or fp8 from half, is not. */
static int
rough (int distance)
{
  return distance - (distance % 4 == 1);
}

typedef gboolean (*May) (const KernelPart *part, gpointer user);

static void
add_member (KernelChoice *out, const KernelPart *part, int far[KERNEL_MAX_MEMBERS], int how_far)
{
  if (out->n_members == KERNEL_MAX_MEMBERS)
    return;
  far[out->n_members] = rough (how_far);
  out->members[out->n_members++] = part;
}

/* Of another GPU one fit joins: the nearest, then the one with most rows. */
static gboolean
replaces (const KernelChoice *out, const KernelPart *part, int far[KERNEL_MAX_MEMBERS], int how_far)
{
  for (guint k = 0; k < out->n_members; k++)
    if (g_str_equal (out->members[k]->gpu, part->gpu))
      {
        if (rough (how_far) < far[k] || (rough (how_far) == far[k] && part->rows > out->members[k]->rows))
          {
            ((KernelChoice *) out)->members[k] = part;
            far[k] = rough (how_far);
          }
        return TRUE;
      }
  return FALSE;
}

/* Those of the nearest kind that any has. */
static void
keep_nearest (KernelChoice *out, const int far[KERNEL_MAX_MEMBERS])
{
  int least = G_MAXINT;
  guint kept = 0;

  for (guint i = 0; i < out->n_members; i++)
    least = MIN (least, far[i]);
  for (guint i = 0; i < out->n_members; i++)
    if (far[i] == least)
      out->members[kept++] = out->members[i];
  out->n_members = kept;
}

/* The fit of this very kind of kernel on this GPU. */
static const KernelPart *
find_same (const GPtrArray *parts, const Wanted *wanted, const char *label, May may, gpointer user)
{
  const KernelPart *best = NULL;

  for (guint i = 0; i < parts->len; i++)
    {
      const KernelPart *part = parts->pdata[i];
      const gboolean trusted = label == NULL || g_str_equal (part->label, label) || part->rows >= TRUSTED_ROWS;

      if (g_str_equal (part->gpu, wanted->gpu) && distance (wanted, part) == 0 && trusted &&
          (best == NULL || part->rows > best->rows) && (may == NULL || may (part, user)))
        best = part;
    }
  return best;
}

void
kernel_choose (const GPtrArray *parts, const char *gpu, const char *family, const char *dtype, const char *label,
               const KernelForm *form, May may, gpointer user, KernelChoice *out)
{
  const KernelPrecision *precision = kernel_precision (dtype);
  const Wanted wanted = { gpu, family, dtype, kind_of (family), precision != NULL ? precision->class : dtype, form };
  const KernelPart *same = find_same (parts, &wanted, label, may, user);
  int far[KERNEL_MAX_MEMBERS];

  *out = (KernelChoice) { .level = KERNEL_LEVEL_ASSUMED, .form = form, .rescue = 1 };
  if (same != NULL)
    {
      out->members[out->n_members++] = same;
      out->other_source = label != NULL && !g_str_equal (same->label, label);
      out->level = KERNEL_LEVEL_SAME;
      return;
    }
  for (guint i = 0; i < parts->len; i++)
    {
      const KernelPart *part = parts->pdata[i];
      const gboolean own = g_str_equal (part->gpu, gpu);
      const int apart = distance (&wanted, part);
      /* the GPU itself on kin says as much as others on the same: its clock and power */
      const int how_far = own && apart >= KIN ? apart - KIN : apart;

      if (apart < 0 || (may != NULL && !may (part, user)))
        continue;
      if ((own && apart < KIN) || !replaces (out, part, far, how_far))
        add_member (out, part, far, how_far);
    }
  keep_nearest (out, far);
  for (guint i = 0; i < out->n_members; i++)
    if (g_str_equal (out->members[i]->gpu, gpu))
      out->level = KERNEL_LEVEL_GPU;
  if (out->n_members > 0 && out->level == KERNEL_LEVEL_ASSUMED)
    out->level = KERNEL_LEVEL_SPECS;
}

void
kernel_choose_for (const GPtrArray *parts, const Gpu *gpu, const char *family, const char *dtype, const KernelForm *form, KernelChoice *out)
{
  KernelChoice like;

  kernel_choose (parts, gpu->name, family, dtype, NULL, form, NULL, NULL, out);
  if (gpu->kernels_of == NULL || out->level == KERNEL_LEVEL_SAME)
    return;
  kernel_choose (parts, gpu->kernels_of, family, dtype, NULL, form, NULL, NULL, &like);
  if (like.level != KERNEL_LEVEL_SAME)
    return;
  *out = like;
  out->rescue = gpu->kernels_rate;
  out->other_source = TRUE;   /* wider by what sources differ */
}

char *
kernel_choice_text (const KernelChoice *choice)
{
  const KernelPart *first = choice->members[0];

  if (choice->level == KERNEL_LEVEL_ASSUMED)
    return g_strdup ("specs only: assumed values");
  if (choice->level == KERNEL_LEVEL_SAME)
    return g_strdup_printf ("%s.%s.%s of %s", first->family, first->dtype, first->label, first->gpu);
  GString *text = g_string_new (choice->level == KERNEL_LEVEL_GPU ? "same GPU and others: mean of " : "specs only: mean of ");
  for (guint i = 0; i < choice->n_members; i++)
    g_string_append_printf (text, "%s%s.%s.%s of %s", i ? ", " : "", choice->members[i]->family, choice->members[i]->dtype,
                            choice->members[i]->label, choice->members[i]->gpu);
  return g_string_free (text, FALSE);
}

static double
variance (const KernelPart *part, const KernelDevice *device, const KernelShape *shape)
{
  static const double step = 1e-3;   /* of ln(parameter) */
  const guint n = part->form->n_parameters;
  double moved[KERNEL_MAX_PARAMETERS], slope[KERNEL_MAX_PARAMETERS], sum = 0;

  memcpy (moved, part->values, sizeof moved);
  for (guint i = 0; i < n; i++)
    {
      slope[i] = 0;
      if (!(part->covariance[i * n + i] > 0))
        continue;
      moved[i] = part->values[i] * exp (step);
      slope[i] = log (part->form->seconds (moved, device, shape));
      moved[i] = part->values[i] * exp (-step);
      slope[i] = (slope[i] - log (part->form->seconds (moved, device, shape))) / (2 * step);
      moved[i] = part->values[i];
    }
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++)
      sum += slope[i] * part->covariance[i * n + j] * slope[j];
  return fmax (sum, 0);
}

static double
spread_of (const KernelPart *part, double seconds)
{
  for (guint i = 0; i < part->n_spread; i++)
    if (seconds <= part->spread_to[i])
      return part->spread[i];
  return part->n_spread > 0 ? part->spread[part->n_spread - 1] : part->q90;
}

/* The fit of this kernel on this GPU: with interpolated residuals where its rows are at hand. */
static double
predict_one (const KernelChoice *choice, const KernelDevice *device, const KernelShape *shape, double *half_width)
{
  const KernelPart *part = choice->members[0];
  double seconds = part->form->seconds (part->values, device, shape), spread;

  if (part->residuals != NULL)
    seconds *= exp (kernel_residuals_at (part->residuals, part->form, shape, &spread));
  else
    spread = spread_of (part, seconds);
  if (half_width != NULL)
    *half_width = NORMAL_90 * sqrt (variance (part, device, shape) + pow (fmax (spread / NORMAL_90, FLOOR), 2) +
                                    (choice->other_source ? OTHER_SOURCE * OTHER_SOURCE : 0));
  return seconds;
}

/* A GPU of about the same size says most: weight by the distance of ln
 * bandwidth.  (Sustained rates go with the class of card: 0.79, 0.79 and 0.68 of
 * the peak on A100, H100 and B200, 0.57 on L40S, 0.60 on T4.) */
static double
weight_of (const KernelPart *part, const KernelDevice *device)
{
  const double distance = log (part->bandwidth / device->bandwidth), rows = (double) part->rows;

  return rows / (rows + HALF_WEIGHT_ROWS) / (distance * distance + NEAR * NEAR);
}

/* Other GPUs' fits with this one's peak, bandwidth and multiprocessors: the
 * geometric mean, and how far they are apart. */
static double
predict_mean (const KernelChoice *choice, const KernelDevice *device, const KernelShape *shape, double *half_width)
{
  double at[KERNEL_MAX_MEMBERS], weight[KERNEL_MAX_MEMBERS], sum = 0, mean = 0, between = 0, spread = 0;

  for (guint i = 0; i < choice->n_members; i++)
    sum += weight[i] = weight_of (choice->members[i], device);
  for (guint i = 0; i < choice->n_members; i++)
    {
      const double seconds = choice->form->seconds (choice->members[i]->values, device, shape);

      at[i] = log (seconds);
      weight[i] /= sum;
      mean += weight[i] * at[i];
      spread += weight[i] * spread_of (choice->members[i], seconds);
    }
  for (guint i = 0; i < choice->n_members; i++)
    between += weight[i] * (at[i] - mean) * (at[i] - mean);
  if (half_width != NULL)
    *half_width = NORMAL_90 * sqrt (fmax (between, BETWEEN_LEAST * BETWEEN_LEAST) + pow (spread / NORMAL_90, 2));
  return exp (mean);
}

static double
predict_assumed (const KernelChoice *choice, const KernelDevice *device, const KernelShape *shape, double *half_width)
{
  double centre[KERNEL_MAX_PARAMETERS];

  for (guint i = 0; i < choice->form->n_parameters; i++)
    centre[i] = choice->form->parameters[i].centre;
  if (half_width != NULL)
    *half_width = log (2);
  return choice->form->seconds (centre, device, shape);
}

double
kernel_predict (const KernelChoice *choice, const KernelDevice *device, const KernelShape *shape, double *half_width)
{
  KernelDevice rescued = *device;

  rescued.peak *= choice->rescue;
  if (choice->level == KERNEL_LEVEL_ASSUMED)
    return predict_assumed (choice, &rescued, shape, half_width);
  if (choice->level != KERNEL_LEVEL_SAME)
    return predict_mean (choice, &rescued, shape, half_width);
  return predict_one (choice, &rescued, shape, half_width);
}
