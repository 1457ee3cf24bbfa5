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

/* When much changes at once, all of it is usually one component.  Seen from above,
 * by joining the links of each transfer (Tarjan's union-find, path halving), the
 * transfers are read in the order in which they lie. */

#define MANY 4096    /* changes, from where that pays */

static Id
root_of (Id *parent, Id link)
{
  while (parent[link] != link)
    link = parent[link] = parent[parent[link]];
  return link;
}

/* The links that limit a transfer, joined: how many joins, less one if nothing
 * limits it, for then it is a component of its own. */
static guint
join_links (NetworkRun *run, const Transfer *transfer)
{
  Id *parent = (Id *) run->parent->data;
  Id root = 0;
  guint joins = 0;

  for (const Use *use = USE (run, transfer->uses), *end = use + transfer->n_uses; use < end; use++)
    {
      const Id other = parent[use->link] != 0 ? root_of (parent, use->link) : root;

      if (root != 0 && other != root)
        {
          parent[other] = root;
          joins++;
        }
      else
        root = other;
    }
  return joins - (root == 0);
}

/* Every link that can limit a root of its own; how many. */
static guint
plant (NetworkRun *run)
{
  guint n = 0;

  g_array_set_size (run->parent, run->n_links + 1);
  for (Id id = 1; id <= run->n_links; id++)
    {
      const gboolean limits = run->link[id].n_uses > 0 && isfinite (run->link[id].capacity);

      g_array_index (run->parent, Id, id) = limits ? id : 0;
      n += limits;
    }
  return n;
}

/* The links of the one component; the others have changed too and carry nothing that counts. */
static void
take_links (NetworkRun *run)
{
  g_array_set_size (run->component_links, 0);
  for (Id id = 1; id <= run->n_links; id++)
    {
      run->link[id].dirty = FALSE;
      link_settle (run, &run->ledger[id]);
      if (g_array_index (run->parent, Id, id) != 0)
        g_array_append_val (run->component_links, id);
      else
        run->ledger[id].load = 0;
    }
}

gboolean
network_component_all (NetworkRun *run)
{
  guint components;

  if (run->dirty->len < MANY || run->dirty->len < run->n_live || run->dirty->len < run->n_links / 4)
    return FALSE;
  components = plant (run);
  g_array_set_size (run->component, 0);
  for (Id id = 1; id < run->transfers->len; id++)
    if (TRANSFER (run, id)->activity != 0)
      {
        components -= join_links (run, TRANSFER (run, id));
        g_array_append_val (run->component, id);
      }
  if (components != 1)
    return FALSE;
  take_links (run);
  return TRUE;
}
