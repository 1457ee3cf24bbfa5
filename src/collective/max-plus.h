/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "collective/play.h"

/* The max-plus tier: a schedule whose tracks share no link needs no clock.  A
 * message ends at max (what it waits for + latency, the one before it) + bytes/rate;
 * the same ticks as the message tier.  `apart` as there.  FALSE: tracks share
 * links, or a schedule (servers) whose counts do not say whose messages they are. */
gboolean max_plus_run (const Fabric *fabric, gboolean apart, const PlayJob *job, Tick *end, GError **error);
