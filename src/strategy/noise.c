/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/noise.h"
#include <math.h>
#include <stddef.h>

static const char *const distribution_names[] = { "lognormal", "normal", NULL };
static const char *const rank_names[] = { "auto", "each", "slowest", NULL };

#define AT(field) offsetof (NoiseSpec, field)
const Key noise_keys[] = {
  { "kernel-cv", KEY_QUANTITY, UNIT_SHARE, AT (kernel_cv), "0",
    "Spread of the time of one kernel (deviation over mean; the mean stays): 0.5 to 2 % with fixed shapes.", 0, 2 },
  { "step-cv", KEY_QUANTITY, UNIT_SHARE, AT (step_cv), "0",
    "Spread of all kernels of a rank together, drawn anew in each step: 5 to 10 % with samples of unequal length.", 0, 2 },
  { "distribution", KEY_CHOICE, UNIT_NONE, AT (distribution), "lognormal",
    "Of both spreads; normal: a time below zero counts as zero.", .choices = distribution_names },
  { "slow-ranks", KEY_COUNT, UNIT_NONE, AT (slow_ranks), "0",
    "GPUs that are slow in every step, from the first one on.", 0, 1e9 },
  { "slow-factor", KEY_NUMBER, UNIT_NONE, AT (slow_factor), "1.1",
    "Time of their kernels over that of the others.", 1, 1000 },
  { "slow-nodes", KEY_COUNT, UNIT_NONE, AT (slow_nodes), "0",
    "Nodes with a degraded network card; what all nodes share waits for them.", 0, 1e9 },
  { "slow-nic", KEY_QUANTITY, UNIT_SHARE, AT (slow_nic), "0.5",
    "Share of the line that these cards have left.", 1e-4, 1 },
  { "pause", KEY_QUANTITY, UNIT_TIME, AT (pause), "0 s",
    "Time for which a rank stands still, as in a collection of garbage; with pause-steps or pause-interval.", 0, 1e4 },
  { "pause-steps", KEY_COUNT, UNIT_NONE, AT (pause_steps), NULL,
    "A rank pauses once in so many steps.", 1, 1e9 },
  { "pause-interval", KEY_QUANTITY, UNIT_TIME, AT (pause_interval), NULL,
    "A rank pauses once in this time; in place of pause-steps.", 1e-3, 1e9 },
  { "pause-together", KEY_BOOLEAN, UNIT_NONE, AT (pause_together), "false",
    "All ranks pause in the same step; false: each at its own time." },
  { "ranks", KEY_CHOICE, UNIT_NONE, AT (ranks), "auto",
    "Draws for each rank, or of the slowest between two meetings alone; auto: each, up to 4,096 ranks and 150,000 tasks of a step, 8,000 for packing alone.",
    .choices = rank_names },
  { NULL }
};
#undef AT

static gboolean
wrong (GError **error, const char *what)
{
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[noise] %s", what);
  return FALSE;
}

static gboolean
check_count (const char *key, guint64 count, guint64 most, const char *unit, GError **error)
{
  if (count <= most)
    return TRUE;
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[noise] %s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " %s; give 0 to %"
               G_GUINT64_FORMAT, key, count, most, unit, most);
  return FALSE;
}

gboolean
noise_check (const NoiseSpec *spec, guint64 nodes, guint64 gpus, GError **error)
{
  if (!check_count ("slow-ranks", spec->slow_ranks, gpus, "GPUs", error)
      || !check_count ("slow-nodes", spec->slow_nodes, nodes, "nodes", error))
    return FALSE;
  if (spec->pause_steps > 0 && !isnan (spec->pause_interval))
    return wrong (error, "pause-interval: given together with pause-steps; give one of the two");
  if (spec->pause > 0 && spec->pause_steps == 0 && isnan (spec->pause_interval))
    return wrong (error, "pause: how often is not given; add pause-steps = 100, or pause-interval = 60 s");
  return TRUE;
}

gboolean
noise_spread (const NoiseSpec *spec)
{
  return spec != NULL && (spec->kernel_cv > 0 || spec->step_cv > 0);
}

gboolean
noise_uneven (const NoiseSpec *spec)
{
  return spec != NULL && (noise_drawn (spec) || (spec->slow_ranks > 0 && spec->slow_factor > 1));
}

gboolean
noise_drawn (const NoiseSpec *spec)
{
  return noise_spread (spec) || (spec != NULL && spec->pause > 0);
}
