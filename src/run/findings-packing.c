/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/findings.h"
#include "run/played.h"
#include "strategy/blocks.h"
#include "strategy/packed.h"

/* "12.3 %" */
static char *
percent (double share)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_strdup_printf ("%s %%", g_ascii_formatd (text, sizeof text, "%.1f", 100 * share));
}

/* The step with the same work in every sequence, the mean of them. */
static gboolean
unequal (Result *r, const Point *point, const RunOptions *options, GError **error)
{
  const PlayedOptions how = { FALSE, TRUE, options->runs, options->seed };
  StepInput even = point->input;
  g_auto (Played) played = { 0 };
  g_autofree char *share = NULL, *without = NULL;

  even.even = TRUE;
  even.unfold = options->unfold;
  if (!played_step (point, &even, &how, &played, error))
    return FALSE;
  share = findings_cost (r->step_time, played.seconds);
  without = quantity_format (played.seconds, UNIT_TIME);
  findings_add (r, share != NULL
                     ? g_strdup_printf ("sequences of unequal work cost %s of the step: with the same mean in each it would take %s", share, without)
                     : g_strdup ("sequences of unequal work cost nothing: something else bounds the step, or there is nobody to wait for"));
  return TRUE;
}

/* The step with another packing. */
static gboolean
other (const Point *point, const RunOptions *options, Shelf *parts, const char *set, char **out, GError **error)
{
  double seconds;

  if (!findings_step_with (point, options, parts, set, &seconds, error))
    return FALSE;
  *out = quantity_format (seconds, UNIT_TIME);
  return TRUE;
}

static gboolean
mask (Result *r, const Point *point, const RunOptions *options, Shelf *parts, GError **error)
{
  g_autofree char *share = percent (point->workload->packing.squares.mean), *without = NULL;

  if (!packed_fused (&point->input))
    {
      findings_add (r, g_strdup_printf ("documents hold %s of the pairs of tokens, but unfused attention computes all of them and masks the others: "
                                        "nothing is saved", share));
      return TRUE;
    }
  if (!other (point, options, parts, "workload.packing=concatenated", &without, error))
    return FALSE;
  findings_add (r, g_strdup_printf ("attention inside documents is %s of that over whole sequences, with which the step would take %s", share, without));
  return TRUE;
}

static gboolean
padding (Result *r, const Point *point, const RunOptions *options, Shelf *parts, GError **error)
{
  g_autofree char *share = percent (1 - point->workload->packing.tokens.mean), *without = NULL;

  if (!other (point, options, parts, "workload.packing=unpadded", &without, error))
    return FALSE;
  findings_add (r, g_strdup_printf ("padding is %s of the tokens; without it (packing = unpadded) the step would take %s", share, without));
  return TRUE;
}

gboolean
findings_packing (Result *r, const Point *point, const RunOptions *options, Shelf *parts, GError **error)
{
  const int kind = point->workload->packing.kind;

  if (!blocks_transformer (point->workload))
    return TRUE;
  if (kind == PACKING_DOCUMENT_MASK && !mask (r, point, options, parts, error))
    return FALSE;
  if (kind == PACKING_PADDED && !padding (r, point, options, parts, error))
    return FALSE;
  return !packed_uneven (&point->input) || unequal (r, point, options, error);
}
