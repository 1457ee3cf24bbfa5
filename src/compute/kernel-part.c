/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/kernel-part.h"

#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/names.h"

static const KernelPrecision precisions[] = {
  { "fp32", 4, 4, PRECISION_FP32, "fp32", TRUE },
  { "tf32", 4, 4, PRECISION_TF32, "tf32", FALSE },
  { "fp16", 2, 2, PRECISION_FP16, "half", FALSE },
  { "bf16", 2, 2, PRECISION_BF16, "half", FALSE },
  { "fp8", 1, 2, PRECISION_FP8, "fp8", FALSE },
  { "fp16io-fp32math", 2, 2, PRECISION_FP32, "fp32", TRUE },
};

const KernelPrecision *
kernel_precision (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (precisions); i++)
    if (g_str_equal (precisions[i].name, name))
      return &precisions[i];
  return NULL;
}

KernelDevice
kernel_device (const Gpu *gpu, const KernelPrecision *precision)
{
  return (KernelDevice) { .peak = gpu->peak[precision->peak], .bandwidth = gpu->memory_bandwidth, .l2 = gpu->l2,
                          .sms = gpu->sms > 0 ? (double) gpu->sms : 100 };
}

void
kernel_part_free (KernelPart *part)
{
  if (part == NULL)
    return;
  g_free (part->gpu);
  g_free (part->family);
  g_free (part->dtype);
  g_free (part->label);
  g_free (part->sources);
  g_free (part->date);
  kernel_residuals_free (part->residuals);
  g_free (part);
}

gboolean
kernel_part_has_row (const KernelPart *part, guint64 row_hash)
{
  guint low = 0, high = part->n_sketch;

  while (low < high)
    {
      const guint middle = (low + high) / 2;

      if (part->sketch[middle] < row_hash)
        low = middle + 1;
      else
        high = middle;
    }
  return low < part->n_sketch && part->sketch[low] == row_hash;
}

/* The keys of every group; behind them those of its form. */
typedef struct
{
  char   *form, *sources, *date, *spread, *covariance, *sketch;
  guint64 rows;
  double  median, q90, bias;
  double  values[KERNEL_MAX_PARAMETERS];
} PartText;

#define FIELD(field) offsetof (PartText, field)
static const Key common_keys[] = {
  { .name = "form", .type = KEY_STRING, .offset = FIELD (form), .required = TRUE, .help = "detailed, roofline, stream or attention." },
  { .name = "sources", .type = KEY_STRING, .offset = FIELD (sources), .required = TRUE, .help = "The measured files." },
  { .name = "date", .type = KEY_STRING, .offset = FIELD (date), .help = "Of the fit." },
  { .name = "rows", .type = KEY_COUNT, .offset = FIELD (rows), .required = TRUE, .help = "How many rows were fitted." },
  { .name = "residual-median", .type = KEY_QUANTITY, .unit = UNIT_SHARE, .offset = FIELD (median), .required = TRUE, .max = 100, .help = "Half of the rows lie nearer, in ln." },
  { .name = "residual-q90", .type = KEY_QUANTITY, .unit = UNIT_SHARE, .offset = FIELD (q90), .required = TRUE, .max = 100, .help = "Nine of ten rows lie nearer, in ln." },
  { .name = "sum-bias", .type = KEY_QUANTITY, .unit = UNIT_SHARE, .offset = FIELD (bias), .min = -100, .max = 100, .help = "Error of the summed time." },
  { .name = "spread", .type = KEY_STRING, .offset = FIELD (spread), .help = "residual-q90 by predicted time: SECONDS:VALUE, kernels up to that long." },
  { .name = "covariance", .type = KEY_STRING, .offset = FIELD (covariance), .help = "Of ln(parameter), lower triangle, row by row." },
  { .name = "sketch", .type = KEY_STRING, .offset = FIELD (sketch), .help = "Smallest hashes of the rows: they tell whether a table was part of the fit." },
};
#define N_COMMON G_N_ELEMENTS (common_keys)

/* Keys of a group of this form; ends with { NULL }. */
static void
form_keys (const KernelForm *form, Key keys[N_COMMON + KERNEL_MAX_PARAMETERS + 1])
{
  memset (keys, 0, (N_COMMON + KERNEL_MAX_PARAMETERS + 1) * sizeof *keys);
  memcpy (keys, common_keys, sizeof common_keys);
  for (guint i = 0; i < form->n_parameters; i++)
    keys[N_COMMON + i] = (Key) {
      .name = form->parameters[i].name, .type = form->parameters[i].unit == UNIT_NONE ? KEY_NUMBER : KEY_QUANTITY,
      .unit = form->parameters[i].unit, .offset = FIELD (values) + i * sizeof (double), .required = TRUE,
      .help = form->parameters[i].help
    };
}
#undef FIELD

static void
append_pair (GString *text, const char *key, double value, const char *format, const char *unit)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (text, "%s = %s%s\n", key, g_ascii_formatd (number, sizeof number, format, value), unit);
}

void
kernel_part_head (GString *text, const KernelPart *part)
{
  g_string_append_printf (text, "# SPDX-License-Identifier: GPL-3.0-or-later\n# Kernels of %s, fitted by `lockstep calibrate compute`. "
                          "Do not edit: fit again.\n[kernel]\ngpu = %s\n", part->gpu, part->gpu);
  append_pair (text, "memory-bandwidth", part->bandwidth / 1e9, "%.6g", " GB/s");
}

void
kernel_part_append (GString *text, const KernelPart *part)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  const guint n = part->form->n_parameters;

  g_string_append_printf (text, "\n[%s.%s.%s]\nform = %s\nsources = %s\ndate = %s\nrows = %" G_GUINT64_FORMAT "\n", part->family,
                          part->dtype, part->label, part->form->name, part->sources, part->date, part->rows);
  for (guint i = 0; i < n; i++)
    {
      const gboolean time = part->form->parameters[i].unit == UNIT_TIME;

      append_pair (text, part->form->parameters[i].name, part->values[i] * (time ? 1e6 : 1), "%.5g", time ? " us" : "");
    }
  append_pair (text, "residual-median", part->median * 100, "%.3g", " %");
  append_pair (text, "residual-q90", part->q90 * 100, "%.3g", " %");
  append_pair (text, "sum-bias", part->bias * 100, "%.3g", " %");
  g_string_append (text, "spread =");
  for (guint i = 0; i < part->n_spread; i++)
    {
      g_string_append_printf (text, " %s", g_ascii_formatd (number, sizeof number, "%.3g", part->spread_to[i]));
      g_string_append_printf (text, ":%s", g_ascii_formatd (number, sizeof number, "%.3g", part->spread[i]));
    }
  g_string_append (text, "\ncovariance =");
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j <= i; j++)
      g_string_append_printf (text, " %s", g_ascii_formatd (number, sizeof number, "%.3g", part->covariance[i * n + j]));
  g_string_append (text, "\nsketch =");
  for (guint i = 0; i < part->n_sketch; i++)
    g_string_append_printf (text, " %016" G_GINT64_MODIFIER "x", part->sketch[i]);
  g_string_append (text, "\n");
}

static gboolean
read_number (const char *text, double *value)
{
  char *end;

  *value = g_ascii_strtod (text, &end);
  return end != text && *end == '\0' && isfinite (*value);
}

static gboolean
read_covariance (KernelPart *part, const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  const guint n = part->form->n_parameters;
  guint at = 0;

  if (g_strv_length (words) != n * (n + 1) / 2)
    return FALSE;
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j <= i; j++)
      {
        double value;

        if (!read_number (words[at++], &value) || (i == j && value < 0))
          return FALSE;
        part->covariance[i * n + j] = part->covariance[j * n + i] = value;
      }
  return TRUE;
}

static gboolean
read_spread (KernelPart *part, const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  for (char **word = words; *word != NULL; word++)
    {
      char *colon = strchr (*word, ':');

      if (colon == NULL || part->n_spread == KERNEL_MAX_SPREAD)
        return FALSE;
      *colon = '\0';
      if (!read_number (*word, &part->spread_to[part->n_spread]) || !read_number (colon + 1, &part->spread[part->n_spread]) ||
          part->spread[part->n_spread] < 0)
        return FALSE;
      part->n_spread++;
    }
  return TRUE;
}

static gboolean
read_sketch (KernelPart *part, const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  for (char **word = words; *word != NULL; word++)
    {
      char *end;

      if (part->n_sketch == KERNEL_MAX_SKETCH)
        return FALSE;
      part->sketch[part->n_sketch] = g_ascii_strtoull (*word, &end, 16);
      if (end == *word || *end != '\0' || (part->n_sketch > 0 && part->sketch[part->n_sketch] <= part->sketch[part->n_sketch - 1]))
        return FALSE;
      part->n_sketch++;
    }
  return TRUE;
}

static gboolean
fill_part (KernelPart *part, const KeyFile *file, const char *group, PartText *text, GError **error)
{
  part->sources = g_strdup (text->sources);
  part->date = g_strdup (text->date != NULL ? text->date : "not said");
  part->rows = text->rows;
  part->median = text->median;
  part->q90 = text->q90;
  part->bias = isnan (text->bias) ? 0 : text->bias;
  memcpy (part->values, text->values, sizeof part->values);
  if (text->covariance != NULL && !read_covariance (part, text->covariance))
    key_file_error (file, group, "covariance", error, "not the lower triangle of a %u x %u matrix; write its numbers row by row",
                    part->form->n_parameters, part->form->n_parameters);
  else if (text->spread != NULL && !read_spread (part, text->spread))
    key_file_error (file, group, "spread", error, "not understood; write at most %u pairs such as '1e-05:0.12'", KERNEL_MAX_SPREAD);
  else if (text->sketch != NULL && !read_sketch (part, text->sketch))
    key_file_error (file, group, "sketch", error, "not understood; write at most %u hexadecimal hashes, ascending", KERNEL_MAX_SKETCH);
  else
    return TRUE;
  return FALSE;
}

/* What all groups of a file share. */
typedef struct { char *gpu; double bandwidth; } HeadText;
static const Key head_keys[] = {
  { .name = "gpu", .type = KEY_STRING, .offset = offsetof (HeadText, gpu), .required = TRUE,
    .help = "Name of its part in models/gpu." },
  { .name = "memory-bandwidth", .type = KEY_QUANTITY, .unit = UNIT_RATE, .offset = offsetof (HeadText, bandwidth), .required = TRUE,
    .help = "Peak bandwidth that the shares of this file are of." },
  { .name = NULL },
};

static KernelPart *
read_group (const KeyFile *file, const HeadText *head, const char *group, GError **error)
{
  g_auto (GStrv) words = g_strsplit (group, ".", 3);
  g_autoptr (KernelPart) part = g_new0 (KernelPart, 1);
  const char *form = key_file_get (file, group, "form");
  Key keys[N_COMMON + KERNEL_MAX_PARAMETERS + 1];
  PartText text = { 0 };
  gboolean good;

  if (g_strv_length (words) != 3 || kernel_precision (words[1]) == NULL)
    {
      key_file_error (file, group, NULL, error, "not a fit; a group is [FAMILY.DTYPE.SOURCE], as in [gemm.bf16.vidur]");
      return NULL;
    }
  part->form = kernel_form_find (form != NULL ? form : "detailed", error);
  if (part->form == NULL)
    return NULL;
  part->gpu = g_strdup (head->gpu);
  part->bandwidth = head->bandwidth;
  part->family = g_strdup (words[0]);
  part->dtype = g_strdup (words[1]);
  part->label = g_strdup (words[2]);
  form_keys (part->form, keys);
  const KeyGroup key_group = { group, "", keys, sizeof text };
  if (!key_file_read (file, &key_group, &text, error))
    return NULL;
  good = fill_part (part, file, group, &text, error);
  keys_clear (keys, &text);
  return good ? g_steal_pointer (&part) : NULL;
}

static gboolean
read_groups (const KeyFile *file, const HeadText *head, GPtrArray *parts, GError **error)
{
  g_auto (GStrv) groups = key_file_groups (file);

  for (char **group = groups; *group != NULL; group++)
    {
      KernelPart *part = NULL;

      if (g_str_equal (*group, "kernel"))
        continue;
      part = read_group (file, head, *group, error);
      if (part == NULL)
        return FALSE;
      g_ptr_array_add (parts, part);
    }
  return TRUE;
}

gboolean
kernel_parts_read (const char *path, GPtrArray *parts, GError **error)
{
  static const KeyGroup head_group = { "kernel", "", head_keys, sizeof (HeadText) };
  g_autoptr (KeyFile) file = key_file_load (path, error);
  HeadText head = { NULL, NAN };
  gboolean good;

  if (file == NULL || !key_file_read (file, &head_group, &head, error))
    return FALSE;
  good = read_groups (file, &head, parts, error);
  keys_clear (head_keys, &head);
  return good;
}

GPtrArray *
kernel_parts_load (GError **error)
{
  g_auto (GStrv) names = part_list ("kernel");
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify) kernel_part_free);

  for (char **name = names; *name != NULL; name++)
    {
      g_autofree char *file = g_strconcat (*name, ".ini", NULL);
      g_autofree char *path = g_build_filename (part_folder (), "kernel", file, NULL);

      if (!kernel_parts_read (path, parts, error))
        return NULL;
    }
  return g_steal_pointer (&parts);
}
