/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/keys.h"

/* [noise]: how ranks differ from each other and from step to step. */
enum { NOISE_LOGNORMAL, NOISE_NORMAL };
enum { NOISE_RANKS_AUTO, NOISE_RANKS_EACH, NOISE_RANKS_SLOWEST };
typedef struct
{
  double   kernel_cv, step_cv;  /* deviation over mean: of a kernel, of all kernels of a rank in a step */
  int      distribution;        /* NOISE_LOGNORMAL, NOISE_NORMAL */
  int      ranks;               /* NOISE_RANKS_*: what is drawn */
  guint64  slow_ranks;
  double   slow_factor;         /* on their kernels, >= 1 */
  guint64  slow_nodes;
  double   slow_nic;            /* share of the line that their NICs have left */
  double   pause;               /* s that a rank stands still; 0: never */
  guint64  pause_steps;         /* one pause in so many steps; 0: not given */
  double   pause_interval;      /* or one in so many s; NAN: not given */
  gboolean pause_together;
} NoiseSpec;
extern const Key noise_keys[];

/* What the keys say of each other and of so many nodes and GPUs; errors "[noise] key: ...". */
gboolean noise_check  (const NoiseSpec *spec, guint64 nodes, guint64 gpus, GError **error);
/* Does it give a spread: then the average of the strategies (box-noise) is not taken. */
gboolean noise_spread (const NoiseSpec *spec);
/* Are there slow ranks, a spread or pauses? */
gboolean noise_uneven (const NoiseSpec *spec);
/* Must steps be drawn: a spread, or pauses? */
gboolean noise_drawn  (const NoiseSpec *spec);
