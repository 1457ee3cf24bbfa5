/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "network/path.h"

const char *const protocol_names[] = { "ll", "ll128", "simple", "auto", NULL };

guint64
path_servers_needed (guint64 nodes, double node_line, double server_line)
{
  const double exact = (double) nodes * node_line / server_line;

  g_return_val_if_fail (server_line > 0 && isfinite (exact), 0);
  return (guint64) ceil (exact * (1 - 1e-12));   /* 8 x 100 over 32 is 25 and not 26 */
}

/* NCCL's ncclTopoGetNchannels: two channels to a peer over the network while twice
 * the ranks are no more than four times the 32 channels, then one. */
static const double few_ranks = 64;

double
path_pair_share (const Paths *paths, double ranks)
{
  return ranks > few_ranks ? paths->p2p_pair_share : paths->p2p_few_share;
}
