/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/shelf.h"
#include "network/transport.h"

/* models/library/nccl.ini: NCCL's own constants, NCCL 2.30 src/graph/tuning.cc. */
typedef struct Nccl Nccl;
extern const ShelfKind nccl_kind;   /* of Nccl; what: the name, "nccl" */

/* What it believes of a node's links of `bus` bytes/s, bus bandwidth. */
void nccl_table (const Nccl *nccl, const Transport *in_node, Generation generation, double bus, gboolean nvls,
                 guint64 ranks, NcclTable *out);
