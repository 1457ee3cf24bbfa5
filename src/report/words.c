/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/words.h"
#include "report/text.h"
#include <math.h>

/* Below this share of the step a loss is not worth a name. */
#define LOSS_NAMED 0.005

gboolean
cause_is_loss (Cause cause)
{
  return cause != CAUSE_COMPUTE && cause != CAUSE_OPTIMIZER;
}

Cause
words_largest_loss (const Result *result)
{
  Cause largest = N_CAUSES;

  for (Cause cause = 0; cause < N_CAUSES; cause++)
    {
      if (cause_is_loss (cause) && result->ledger[cause] > LOSS_NAMED * result->step_time
          && (largest == N_CAUSES || result->ledger[cause] > result->ledger[largest]))
        largest = cause;
    }
  return largest;
}

/* Short, for a cell. */
static const char *const loss_words[N_CAUSES] = {
  [CAUSE_HOST] = "host", [CAUSE_EXPOSED_COMM] = "exposed comm", [CAUSE_BUBBLE] = "bubble", [CAUSE_WAIT] = "wait",
  [CAUSE_INPUT] = "input", [CAUSE_OTHER] = "other",
};

char *
words_loss (const Result *result)
{
  const Cause loss = words_largest_loss (result);

  if (loss == N_CAUSES)
    return g_strdup ("none");
  g_autofree char *share = text_percent (result->ledger[loss] / result->step_time, 0);
  return g_strconcat (loss_words[loss], " ", share, NULL);
}

const NamedTime *
words_worst_link (const Result *result)
{
  const NamedTime *worst = NULL;

  for (guint i = 0; i < result->n_exposed; i++)
    {
      if (result->exposed[i].seconds > 0 && (worst == NULL || result->exposed[i].seconds > worst->seconds))
        worst = &result->exposed[i];
    }
  return worst;
}

char *
words_link (const char *name)
{
  static const struct { const char *name, *words; } known[] = {
    { "nic-out", "the NICs of the nodes, outward" },
    { "nic-in", "the NICs of the nodes, inward" },
    { "server-in", "the NICs of the servers, inward" },
    { "server-out", "the NICs of the servers, outward" },
    { "server-nic-in", "the NICs of the parameter servers, inward" },
    { "server-nic-out", "the NICs of the parameter servers, outward" },
    { "reducer-nic-in", "the NICs of the reduction servers, inward" },
    { "reducer-nic-out", "the NICs of the reduction servers, outward" },
    { "host-bridge", "the bridges of the CPUs that cards share" },
    { "socket-link", "the link between the CPUs of a node" },
    { "leaf-up", "the uplinks of the leaf switches" },
    { "leaf-down", "the downlinks of the leaf switches" },
    { "pod-up", "the uplinks of the pods" },
    { "pod-down", "the downlinks of the pods" },
    { "global-out", "the links from a group of nodes to others" },
    { "global-in", "the links to a group of nodes from others" },
    { "software", "the software between the nodes, below the rate of their NICs" },
    { "contention", "kernels slowed by a collective beside them" },
    { "nvlink", "the NVLinks between GPUs" },
    { "pcie", "the PCIe links inside a node" },
    { "latency", "latency before the bytes flow" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    {
      if (g_strcmp0 (name, known[i].name) == 0)
        return g_strdup_printf ("%s (%s)", known[i].words, name);
    }
  return g_strdup (name != NULL ? name : "");
}

const char *
words_what_if (const char *name)
{
  static const struct { const char *name, *words; } known[] = {
    { "ideal network", "ideal network (bytes take no time)" },
    { "ideal GPU", "ideal GPU (kernels take no time)" },
    { "ideal input", "ideal input (samples are always there)" },
    { "no noise", "no noise (all ranks equally fast)" },
    { "ideal network, no noise", "ideal network and no noise" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_str_equal (name, known[i].name))
      return known[i].words;
  return name;
}

const char *
words_resource (const char *name)
{
  static const struct { const char *name, *words; } known[] = {
    { "nic", "NICs" }, { "software", "software between the nodes" }, { "server-nic", "NICs of the parameter servers" }, { "reducer-nic", "NICs of the reduction servers" },
    { "leaf-up", "uplinks of the leaves" }, { "leaf-down", "downlinks of the leaves" }, { "pod-up", "uplinks of the pods" },
    { "pod-down", "downlinks of the pods" }, { "global", "links between groups of nodes" }, { "host-bridge", "bridges of the CPUs" },
    { "socket-link", "link between CPUs" }, { "nvlink", "NVLink" }, { "pcie", "PCIe" }, { "GPU rate", "GPU arithmetic" }, { "GPU memory rate", "GPU memory" },
    { "kernel floor", "least time of a kernel" }, { "host", "host (issuing kernels)" }, { "framework", "fixed time of the framework" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_str_equal (name, known[i].name))
      return known[i].words;
  return name;
}

/* The collective whose exposed part is the largest on that link. */
static const CollectiveUse *
worst_collective (const Result *result, const char *link)
{
  const CollectiveUse *worst = NULL;

  for (guint i = 0; i < result->n_collectives; i++)
    {
      const CollectiveUse *use = &result->collectives[i];
      if (g_strcmp0 (use->link, link) == 0 && use->exposed_s > 0
          && (worst == NULL || use->exposed_s > worst->exposed_s))
        worst = use;
    }
  return worst;
}

static void
append_exposed (GString *out, const Result *result)
{
  const NamedTime *worst = words_worst_link (result);
  const double exposed = result->ledger[CAUSE_EXPOSED_COMM];

  if (worst == NULL)
    return;

  g_autofree char *link = words_link (worst->name);
  g_autofree char *share = text_percent (worst->seconds / exposed, 0);
  const CollectiveUse *use = worst_collective (result, worst->name);

  g_string_append_printf (out, ", %s of it on %s", share, link);
  if (use != NULL && use->op != NULL && use->algorithm != NULL)
    g_string_append_printf (out, ", by the %s (%s)", use->op, use->algorithm);
}

/* What each loss means for the reader: who waits for what. */
static const char *const loss_meaning[N_CAUSES] = {
  [CAUSE_HOST] = "the GPU waits for the host to issue its kernels",
  [CAUSE_EXPOSED_COMM] = "the GPU waits for bytes that no computation hides",
  [CAUSE_BUBBLE] = "a pipeline stage waits for another stage",
  [CAUSE_WAIT] = "a rank waits for a slower rank",
  [CAUSE_INPUT] = "the GPU waits for its input",
  [CAUSE_OTHER] = "what no other line explains, as the time of a checkpoint",
};

/* As a part of a sentence. */
static const char *const loss_nouns[N_CAUSES] = {
  [CAUSE_HOST] = "waiting for the host", [CAUSE_EXPOSED_COMM] = "exposed communication", [CAUSE_BUBBLE] = "the pipeline bubble",
  [CAUSE_WAIT] = "waiting for other ranks", [CAUSE_INPUT] = "waiting for input", [CAUSE_OTHER] = "'other'",
};

const char *
words_loss_noun (Cause loss)
{
  return loss_nouns[loss];
}

char *
words_why (const Result *result)
{
  const Cause loss = words_largest_loss (result);
  GString *out = g_string_new (NULL);

  if (loss == N_CAUSES)
    {
      g_string_append (out, "Why: no loss takes more than 0.5 % of the step; the GPU's own work bounds it.");
      return g_string_free (out, FALSE);
    }

  g_autofree char *time = text_time (result->ledger[loss]);
  g_autofree char *step = text_time (result->step_time);

  g_string_append_printf (out, "Why: the largest loss is %s, %s of %s", loss_nouns[loss], time, step);
  if (loss == CAUSE_EXPOSED_COMM)
    append_exposed (out, result);
  if (loss_meaning[loss] != NULL)
    g_string_append_printf (out, ": %s", loss_meaning[loss]);
  g_string_append_c (out, '.');
  return g_string_free (out, FALSE);
}

char *
words_count (guint64 n, const char *singular, const char *plural)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT " %s", n, n == 1 ? singular : plural);
}

char *
words_gpus (const Result *result)
{
  if (result->nodes > 1 && result->gpus_per_node > 1)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT " GPUs", result->nodes, result->gpus_per_node);
  return words_count (result->gpus, "GPU", "GPUs");
}
