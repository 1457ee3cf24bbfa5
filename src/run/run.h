/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/shelf.h"
#include "run/point.h"
#include "run/result.h"
#include "scenario/scenario.h"

enum { SENSITIVITIES_NONE, SENSITIVITIES_WHERE_CHEAP, SENSITIVITIES_ALWAYS };
typedef struct
{
  gboolean what_if;      /* run the counterfactuals too */
  gboolean one_gpu;      /* run one GPU alone for the efficiency */
  gboolean lanes;        /* keep the spans */
  gboolean unfold;       /* a class for every rank */
  StepTier tier;
  gboolean interval;     /* step_lo and step_hi, to first order */
  gboolean monte_carlo;  /* these from draws instead, of this seed */
  guint64  seed;         /* also of [noise] */
  guint    runs;         /* steps that [noise] draws; 0: the usual number */
  int      sensitivities; /* SENSITIVITIES_* */
  gboolean effects;      /* say which keys change nothing, where that is cheap to find out */
  gboolean unused;       /* name the keys that can change nothing */
  gboolean validated;    /* name the validated table nearest to the hardware */
  Shelf   *parts;        /* shared with other runs; NULL: read anew */
} RunOptions;

#define RUN_ERROR (run_error_quark ())
typedef enum { RUN_ERROR_CHECK } RunError;   /* a self-check failed: a bug of ours, exit 70 */
GQuark  run_error_quark (void);

/* For scenario_with: one GPU alone.  It has nobody to sum with, so no servers either:
 * five on the workers would need five workers. */
extern const char *const run_one_gpu_sets[];

/* Pure: the same scenario gives the same Result, in any thread.  Errors: wrong
 * input (KEYS_ERROR, COLLECTIVE_ERROR...: exit 2), ENGINE_ERROR_DEADLOCK (exit 1). */
Result *run_scenario (const Scenario *scenario, const RunOptions *options, GError **error);
