/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network/network-private.h"

/* Who is on a link: blocks of one cache line each, so that a solve walks them
 * without a miss per transfer.  One that leaves leaves a hole: the order of those
 * who stay, and with it the order of all that follows, does not change. */

static Id
new_crowd (NetworkRun *run)
{
  const Id id = run->spare_crowd != 0 ? run->spare_crowd : run->crowds->len;

  if (id == run->crowds->len)
    g_array_set_size (run->crowds, id + 1);
  else
    run->spare_crowd = CROWD_AT (run, id)->after;
  return id;
}

void
network_crowd_join (NetworkRun *run, Id link, Id transfer, Use *use)
{
  LinkState *state = &run->link[link];

  if (state->last == 0 || CROWD_AT (run, state->last)->n == CROWD)
    {
      const Id id = new_crowd (run);
      Crowd *crowd = CROWD_AT (run, id);

      crowd->before = state->last;
      crowd->after = 0;
      crowd->n = crowd->live = 0;
      *(state->last != 0 ? &CROWD_AT (run, state->last)->after : &state->first) = id;
      state->last = id;
    }

  Crowd *crowd = CROWD_AT (run, state->last);

  use->place = state->last * CROWD + crowd->n;
  crowd->transfer[crowd->n++] = transfer;
  crowd->live++;
  state->n_uses++;
  run->ledger[link].demand += demand_fixed (use->demand);
}

void
network_crowd_leave (NetworkRun *run, const Use *use)
{
  const Id id = use->place / CROWD;
  Crowd *crowd = CROWD_AT (run, id);
  LinkState *state = &run->link[use->link];

  crowd->transfer[use->place % CROWD] = 0;
  state->n_uses--;
  run->ledger[use->link].demand -= demand_fixed (use->demand);
  if (--crowd->live > 0)
    return;
  crowd->n = 0;
  if (crowd->after == 0)   /* kept for those who come */
    return;
  *(crowd->before != 0 ? &CROWD_AT (run, crowd->before)->after : &state->first) = crowd->after;
  CROWD_AT (run, crowd->after)->before = crowd->before;
  crowd->after = run->spare_crowd;
  run->spare_crowd = id;
}
