/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "calibrate/network-model.h"

/* The parameters of one measured installation from the rows of its sweeps, all
 * operations and placements together. */

typedef struct { const NcclTestsRow *row; double residual; } NetworkPoint;   /* ln(measured/model) */

typedef struct
{
  NetworkModel model;
  double       values[N_SYSTEM];
  double       covariance[N_SYSTEM][N_SYSTEM];   /* of ln(parameter), priors in it */
  gboolean     informed[N_SYSTEM];               /* some row depends on it */
  double       median, q90, bias;                /* of ln(measured/model) */
  double       spread;                           /* of a catalogue: nine of ten within this factor; 0: a fit */
  guint64      ranks, nodes;                     /* largest that were fitted */
  guint64      per_node;                         /* the most in one node */
  double       largest;                          /* bytes */
  GArray      *points;                           /* NetworkPoint; rows borrowed */
} NetworkFit;

/* `rows` (NcclTestsRow *) must outlive the fit; `shelf` too. */
NetworkFit *network_fit_new  (Shelf *shelf, const NcclTestsSystem *names, const GPtrArray *rows, GError **error);
void        network_fit_free (NetworkFit *fit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NetworkFit, network_fit_free)

typedef struct
{
  double         time, lo, hi;   /* s; the 90 % interval */
  CollectiveFlow choice;         /* what NCCL takes there */
  gboolean       beyond;         /* more ranks or nodes than were fitted */
  double         doubt;          /* factor between the protocols that NCCL may take there; 1: none */
} NetworkPrediction;
/* `residuals`: with most of what the fitted sizes of the same operation and placement
 * are off. */
NetworkPrediction network_fit_predict (const NetworkFit *fit, const NcclTestsRow *row, gboolean residuals);

/* NCCL's constants and the classes of links as centres, scaled by the floors and
 * plateaus of `rows`; sd of ln.  Rows may be empty. */
typedef struct { double centre[N_SYSTEM], sd[N_SYSTEM]; } NetworkPriors;
void network_priors (const NetworkModel *model, const GPtrArray *rows, NetworkPriors *out);
