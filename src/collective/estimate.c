/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Alone in its file: a test puts a constant in its place, to show that only
 * automatic choices and the `collective` command read it. */
#include "collective/collective.h"

double
collective_estimate (const CollectiveFlow *flow, const Network *network, double size)
{
  if (size <= 0)
    return flow->latency;
  return flow->latency + size / network_idle_rate (network, flow->load, flow->n_loads, flow->cap);
}
