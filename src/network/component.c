/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network/network-private.h"
#include <math.h>

/* Who shares what with whom: transfers are joined by each link that can limit them. */

static void
visit_link (NetworkRun *run, Id id)
{
  if (!component_take_link (run, id))
    return;

  CrowdWalk walk = crowd_walk (&run->link[id]);

  for (Id transfer; (transfer = crowd_next (run, &walk)) != 0;)
    component_take_transfer (run, transfer);
}

/* Asks for the records of transfers that come up some steps later, each when what
 * leads to it is there. */
static void
ask_ahead (const NetworkRun *run, guint at)
{
  enum { HEADS = 16, USES = 12, LINKS = 8, CROWDS = 4 };
  const Id *component = (const Id *) run->component->data;

  if (at + HEADS < run->component->len)
    PREFETCH (TRANSFER (run, component[at + HEADS]));
  if (at + USES < run->component->len)
    PREFETCH (USE (run, TRANSFER (run, component[at + USES])->uses));
  if (at + LINKS < run->component->len)
    {
      const Transfer *t = TRANSFER (run, component[at + LINKS]);

      for (guint k = 0; k < t->n_uses; k++)
        PREFETCH (&run->link[USE (run, t->uses + k)->link]);
    }
  if (at + CROWDS < run->component->len)
    {
      const Transfer *t = TRANSFER (run, component[at + CROWDS]);

      for (guint k = 0; k < t->n_uses; k++)
        PREFETCH (CROWD_AT (run, run->link[USE (run, t->uses + k)->link].first));
    }
}

void
network_component (NetworkRun *run, Id seed)
{
  g_array_set_size (run->component, 0);
  g_array_set_size (run->component_links, 0);
  if (seed & DIRTY_TRANSFER)
    component_take_transfer (run, seed & ~DIRTY_TRANSFER);
  else
    visit_link (run, seed);
  for (guint i = 0; i < run->component->len; i++)
    {
      const Transfer *transfer = TRANSFER (run, g_array_index (run->component, Id, i));

      ask_ahead (run, i);
      for (guint k = transfer->n_uses; k-- > 0;)
        visit_link (run, USE (run, transfer->uses + k)->link);
    }
}

/* When much changes at once, all is rated: rates of several components found together
 * are those of each.  So the transfers are read in the order in which they lie. */

#define MANY 4096    /* changes, from where that pays */

static void
take_links (NetworkRun *run)
{
  g_array_set_size (run->component_links, 0);
  for (Id id = 1; id <= run->n_links; id++)
    {
      LinkState *link = &run->link[id];

      link->dirty = FALSE;
      link_settle (run, &run->ledger[id]);
      if (link->n_uses > 0 && isfinite (link->capacity))
        g_array_append_val (run->component_links, id);
      else
        run->ledger[id].load = 0;
    }
}

gboolean
network_component_all (NetworkRun *run)
{
  if (run->dirty->len < MANY || run->dirty->len < run->n_live || run->dirty->len < run->n_links / 4)
    return FALSE;
  g_array_set_size (run->component, 0);
  for (Id id = 1; id < run->transfers->len; id++)
    if (TRANSFER (run, id)->activity != 0)
      g_array_append_val (run->component, id);
  take_links (run);
  return TRUE;
}
