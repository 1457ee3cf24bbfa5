/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "calibrate/network-validate.h"

/* What a table leaves open, from calibration/network-platforms.csv. */
typedef struct
{
  char   *intra, *launch, *origin;   /* NULL: not known */
  double  node_rate;                 /* bytes/s; NAN: not known */
  guint   rails;                     /* 0: not known */
} NetworkPlatform;
/* What the first line says whose pattern the file's name fits; none: nothing known.  Errors are of CSV_ERROR. */
gboolean network_platform_find  (const char *path, NetworkPlatform *out, GError **error);
void     network_platform_clear (NetworkPlatform *platform);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NetworkPlatform, network_platform_clear)

/* `lockstep calibrate network`: tables and logs of one installation to the text of
 * a part.  `report`: a line a placement; `points`: CSV with measured and fitted
 * times; `remarks` (char *, freed by the array): what was trimmed, and why. */
gboolean network_calibrate (const char *const *paths, GString *part, GString *report, GString *points, GPtrArray *remarks,
                            GError **error);

/* What of its NICs' nominal rate a fitted installation's large all-reduce reaches, as bus
 * bandwidth; carried over to `nodes`.  NAN: not known.  O(1). */
double      network_plateau_share (Shelf *shelf, const System *system, guint64 nodes, GError **error);
/* The rate between nodes with which a large all-reduce of the group reaches that share. */
void        network_plateau_set   (NetworkFit *fit, const RankGroup *group, double node_rate, double share);

/* An installation from parts that never saw the file: medians over donors, rates
 * as shares of the nominal ones.  `what` (caller frees): which parts. */
NetworkFit *network_catalogue (Shelf *shelf, const NcclTestsSystem *names, const char *path, const RankGroup *group, char **what, GError **error);
