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

/* An installation from parts that never saw the file: medians over donors, rates
 * as shares of the nominal ones.  `what` (caller frees): which parts. */
NetworkFit *network_catalogue (Shelf *shelf, const NcclTestsSystem *names, const char *path, const RankGroup *group, char **what, GError **error);
