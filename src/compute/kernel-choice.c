/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/kernel-part.h"

#include <math.h>
#include <string.h>

/* 90 % of a normal variate lie within this many deviations. */
#define NORMAL_90 1.645
/* No kernel repeats better than this. */
#define FLOOR 0.001
/* The fit of another precision or source of the same GPU: assumed. */
#define OTHER_FIT 2.0
/* A few GPUs that agree still say little of another: assumed. */
#define BETWEEN_LEAST 0.06

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
  return (family ? 0 : 4) + (dtype ? 0 : class ? 1 : 2);
}

static gboolean
better (int distance_a, const KernelPart *a, int distance_b, const KernelPart *b)
{
  return b == NULL || distance_a < distance_b || (distance_a == distance_b && a->rows > b->rows);
}

typedef gboolean (*May) (const KernelPart *part, gpointer user);

static const KernelPart *
nearest_of_gpu (const GPtrArray *parts, const Wanted *wanted, const char *gpu, May may, gpointer user, int *how_far)
{
  const KernelPart *best = NULL;

  *how_far = -1;
  for (guint i = 0; i < parts->len; i++)
    {
      const KernelPart *part = parts->pdata[i];
      const int far = g_str_equal (part->gpu, gpu) ? distance (wanted, part) : -1;

      if (far >= 0 && better (far, part, *how_far, best) && (may == NULL || may (part, user)))
        {
          best = part;
          *how_far = far;
        }
    }
  return best;
}

/* One fit of every other GPU, all of the nearest kind that any has. */
static void
choose_others (const GPtrArray *parts, const Wanted *wanted, May may, gpointer user, KernelChoice *out)
{
  int far[KERNEL_MAX_MEMBERS], least = 100;

  for (guint i = 0; i < parts->len; i++)
    {
      const KernelPart *part = parts->pdata[i], *nearest;
      gboolean seen = g_str_equal (part->gpu, wanted->gpu);
      int how_far;

      for (guint k = 0; k < out->n_members; k++)
        seen |= g_str_equal (out->members[k]->gpu, part->gpu);
      if (seen || out->n_members == KERNEL_MAX_MEMBERS)
        continue;
      nearest = nearest_of_gpu (parts, wanted, part->gpu, may, user, &how_far);
      if (nearest == NULL)
        continue;
      far[out->n_members] = how_far / 4 * 4 + (how_far % 4 == 2 ? 2 : 0);   /* fp16 and bf16 count alike */
      least = MIN (least, far[out->n_members]);
      out->members[out->n_members++] = nearest;
    }
  guint kept = 0;
  for (guint i = 0; i < out->n_members; i++)
    if (far[i] == least)
      out->members[kept++] = out->members[i];
  out->n_members = kept;
}

void
kernel_choose (const GPtrArray *parts, const char *gpu, const char *family, const char *dtype, const KernelForm *form,
               May may, gpointer user, KernelChoice *out)
{
  const KernelPrecision *precision = kernel_precision (dtype);
  const Wanted wanted = { gpu, family, dtype, kind_of (family), precision != NULL ? precision->class : dtype, form };
  int how_far;

  *out = (KernelChoice) { .level = KERNEL_LEVEL_ASSUMED, .form = form, .rescue = 1 };
  out->members[0] = nearest_of_gpu (parts, &wanted, gpu, may, user, &how_far);
  if (out->members[0] != NULL)
    {
      out->n_members = 1;
      out->level = how_far == 0 ? KERNEL_LEVEL_SAME : KERNEL_LEVEL_GPU;
      return;
    }
  choose_others (parts, &wanted, may, user, out);
  if (out->n_members > 0)
    out->level = KERNEL_LEVEL_SPECS;
}

char *
kernel_choice_text (const KernelChoice *choice)
{
  const KernelPart *first = choice->members[0];

  if (choice->level == KERNEL_LEVEL_ASSUMED)
    return g_strdup ("specs only: assumed values");
  if (choice->level != KERNEL_LEVEL_SPECS)
    return g_strdup_printf ("%s.%s.%s of %s", first->family, first->dtype, first->label, first->gpu);
  GString *text = g_string_new ("specs only: mean of ");
  for (guint i = 0; i < choice->n_members; i++)
    g_string_append_printf (text, "%s%s.%s of %s", i ? ", " : "", choice->members[i]->family, choice->members[i]->dtype,
                            choice->members[i]->gpu);
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

/* One fit of this GPU: with interpolated residuals where its rows are at hand. */
static double
predict_one (const KernelChoice *choice, const KernelDevice *device, const KernelShape *shape, double *half_width)
{
  const KernelPart *part = choice->members[0];
  double seconds = part->form->seconds (part->values, device, shape), spread;

  if (part->residuals != NULL)
    seconds *= exp (kernel_residuals_at (part->residuals, part->form, shape, &spread));
  else
    spread = spread_of (part, seconds);
  if (choice->level == KERNEL_LEVEL_GPU)
    spread *= OTHER_FIT;
  if (half_width != NULL)
    *half_width = NORMAL_90 * sqrt (variance (part, device, shape) + pow (fmax (spread / NORMAL_90, FLOOR), 2));
  return seconds;
}

/* A GPU of about the same size says most: weight by the distance of ln
 * bandwidth.  (Sustained rates go with the class of card: 0.79, 0.79 and 0.68 of
 * the peak on A100, H100 and B200, 0.57 on L40S, 0.60 on T4.) */
static double
weight_of (const KernelPart *part, const KernelDevice *device)
{
  static const double near = 0.3;
  const double distance = log (part->bandwidth / device->bandwidth);

  return 1 / (distance * distance + near * near);
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
  if (choice->level == KERNEL_LEVEL_SPECS)
    return predict_mean (choice, &rescued, shape, half_width);
  return predict_one (choice, &rescued, shape, half_width);
}
