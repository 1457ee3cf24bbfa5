/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "compute/gpu.h"
#include "import/nccl-tests.h"
#include "network/nccl.h"
#include "network/system.h"

/* A measured installation without its machine part: a GPU, what joins GPUs and
 * nodes, NCCL.  Times come from collective_flow () over the same Paths that a
 * prediction fills, with trial values in them. */

typedef struct
{
  const Gpu       *gpu;
  const Transport *in_node, *between;
  const Nccl      *nccl;
  Network         *network;
  Id               gpu_link, nic;
  double           nominal;       /* bytes/s of the link between GPUs */
  gboolean         nvlink, nvswitch;
  gboolean         table;         /* NCCL's own table picks in a box */
  guint            rails;         /* NICs of a node */
  SystemOnset      onset[SYSTEM_MAX_ONSETS];
  guint            n_onsets;
} NetworkModel;

/* What a table calls the links -> transport parts; `plateau` (bytes/s of the largest bus bandwidth seen in one
 * node, 0: none) settles what a table leaves open. */
gboolean network_model_init  (NetworkModel *model, Shelf *shelf, const NcclTestsSystem *names, double plateau, GError **error);
void     network_model_clear (NetworkModel *model);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NetworkModel, network_model_clear)
/* Paths of a placement with the transports' values. */
void     network_model_paths (const NetworkModel *model, const RankGroup *group, Paths *out);
/* Seconds of a row with `values` over `base`.  `choice`, which may be NULL: what was chosen. */
double   network_model_time  (const NetworkModel *model, const Paths *base, const double values[N_SYSTEM],
                              const NcclTestsRow *row, CollectiveFlow *choice);
/* Is the library known to choose by the table of NCCL 2.30 ("2.27.3")? */
gboolean network_table_version (const char *version);
RankGroup network_row_group  (const NcclTestsRow *row);
