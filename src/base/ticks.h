/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/id.h"
#include <glib.h>

/* The time of a step: picoseconds.  THE conversions, so that what is priced apart and
 * what is run agree to the tick. */
#define TICKS_PER_S 1e12
/* The engine keeps time in 63 bits: 106 days. */
#define TICKS_MOST ((Tick) G_MAXINT64)

/* Rounds up; a ten-thousandth of a tick is floating-point dust, not time. */
static inline Tick
ticks_from_seconds (double seconds)
{
  const double ticks = seconds * TICKS_PER_S - 1e-4;
  const Tick whole = ticks < 0x1p63 ? (Tick) (gint64) ticks : TICKS_MOST;

  return (double) whole < ticks && whole < TICKS_MOST ? whole + 1 : whole;
}

static inline double
seconds_from_ticks (Tick ticks)
{
  return (double) ticks / TICKS_PER_S;
}
