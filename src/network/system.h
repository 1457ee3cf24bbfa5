/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/origin.h"
#include "base/shelf.h"
#include "network/path.h"

/* One measured installation, models/system/NAME.ini: what `calibrate network`
 * fitted to its nccl-tests sweeps.  Its values beat those of the transports. */

/* Names as in the cost model of collectives (network/path.h). */
typedef enum
{
  SYSTEM_T0, SYSTEM_GL, SYSTEM_GM, SYSTEM_GS, SYSTEM_DM, SYSTEM_DS, SYSTEM_B, SYSTEM_FL, SYSTEM_FM, SYSTEM_CL, SYSTEM_PHI,
  SYSTEM_Q, SYSTEM_GAM, SYSTEM_NU, SYSTEM_BV, SYSTEM_AV,
  SYSTEM_HL, SYSTEM_HM, SYSTEM_HS, SYSTEM_BN, SYSTEM_FT, SYSTEM_FTL, SYSTEM_FLN, SYSTEM_FMN,
  SYSTEM_TP, SYSTEM_DP, SYSTEM_FP, SYSTEM_FLP, SYSTEM_FPN, SYSTEM_FPP,
  N_SYSTEM
} SystemParameter;

/* Where Simple begins on a placement, as measured. */
#define SYSTEM_MAX_ONSETS 16u
typedef struct { guint64 nodes, per_node; double size; gboolean ring; } SystemOnset;   /* ring: no trees from there on */
/* That of the placement nearest in nodes, into the paths; rings only on just as many. */
void    system_onset (const SystemOnset *onsets, guint n, guint64 nodes, Paths *paths);

typedef struct { const char *name; Unit unit; const char *help; } SystemParameterInfo;
extern const SystemParameterInfo system_parameters[N_SYSTEM];

typedef struct
{
  char    *name, *aliases, *summary, *gpu, *machine, *node_transport, *transport, *launch_style, *files, *date;
  guint64  ranks, nodes;          /* largest that were fitted */
  double   link_rate, node_rate;  /* bytes/s, nominal: of a GPU's links, of a node's NICs; NAN: not known */
  guint64  rails;                 /* NICs of a node that Bn is the sum of */
  gboolean table;                 /* NCCL's own table picks in a box; else the cheapest */
  double   value[N_SYSTEM];       /* NAN: not given */
  double   covariance[N_SYSTEM][N_SYSTEM];   /* of ln(parameter); 0: not given */
  char    *onset_text;
  SystemOnset onset[SYSTEM_MAX_ONSETS];
  guint    n_onsets;
  double   median, q90;           /* of |ln(model/measured)| of the fitted rows */
  guint64  rows;
  KeyFile *part;
} System;

/* Errors list the near names; caller frees. */
System *system_load   (const char *name, GError **error);
void    system_free   (System *system);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (System, system_free)
extern const ShelfKind system_kind;   /* of System; what: the name */
Origin  system_origin (const System *system, SystemParameter parameter);
/* Is the file (its name without folders) one of those that were fitted? */
gboolean system_has_file (const System *system, const char *path);

/* Nine of ten times lie within this factor: half as far again as those that were
 * fitted, more beyond the ranks and nodes that were. */
double  system_spread (const System *system, const RankGroup *group);

/* The given values over `paths`; NAN leaves what is there.  `rails`: links of a
 * whole node, of which paths->between.links are in use. */
void    system_apply  (const double values[N_SYSTEM], const RankGroup *group, double rails, Paths *paths);
