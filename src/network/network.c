/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network/network-private.h"
#include <math.h>

struct Network
{
  GArray *links;   /* of LinkClass; [0] is not used */
};

Network *
network_new (void)
{
  Network *network = g_new0 (Network, 1);

  network->links = g_array_new (FALSE, TRUE, sizeof (LinkClass));
  g_array_set_size (network->links, 1);
  return network;
}

void
network_free (Network *network)
{
  if (network == NULL)
    return;
  for (guint i = 1; i < network->links->len; i++)
    g_free ((char *) g_array_index (network->links, LinkClass, i).name);
  g_array_unref (network->links);
  g_free (network);
}

Id
network_add (Network *network, const char *name, double capacity, double latency,
             guint64 multiplicity, gboolean shared)
{
  g_return_val_if_fail (capacity > 0 && latency >= 0, 0);

  const LinkClass link = {
    .name = g_strdup (name),
    .capacity = capacity,
    .latency = latency,
    .multiplicity = multiplicity,
    .shared = shared,
  };

  g_array_append_val (network->links, link);
  return network->links->len - 1;
}

void
network_set_capacity (Network *network, Id link, double capacity)
{
  g_return_if_fail (link > 0 && link < network->links->len && capacity > 0);
  g_array_index (network->links, LinkClass, link).capacity = capacity;
}

guint
network_n_links (const Network *network)
{
  return network->links->len - 1;
}

const LinkClass *
network_link (const Network *network, Id link)
{
  g_return_val_if_fail (link > 0 && link < network->links->len, NULL);
  return &g_array_index (network->links, LinkClass, link);
}

/* A link named twice carries both. */
guint
network_merge_loads (const LinkLoad *loads, guint n_loads, double weight, MergedLoad *out)
{
  guint n = 0;

  for (guint i = 0; i < n_loads; i++)
    {
      guint j = 0;

      if (!(loads[i].bytes > 0))
        continue;
      while (j < n && out[j].link != loads[i].link)
        j++;
      if (j == n)
        out[n++] = (MergedLoad) { .link = loads[i].link };
      out[j].bytes += weight * loads[i].bytes;
      out[j].demand += weight * loads[i].bytes / loads[i].efficiency;
    }
  return n;
}

Id
network_slowest (const Network *network, const LinkLoad *loads, guint n_loads)
{
  double least = INFINITY;
  Id link = 0;

  for (guint i = 0; i < n_loads; i++)
    {
      const double rate = network_link (network, loads[i].link)->capacity * loads[i].efficiency / loads[i].bytes;

      if (loads[i].bytes > 0 && rate < least)
        {
          least = rate;
          link = loads[i].link;
        }
    }
  return link;
}

double
network_idle_rate (const Network *network, const LinkLoad *loads, guint n_loads, double cap)
{
  g_autofree MergedLoad *merged = g_new (MergedLoad, MAX (n_loads, 1));
  const guint n = network_merge_loads (loads, n_loads, 1, merged);
  double rate = cap;

  for (guint i = 0; i < n; i++)
    rate = MIN (rate, network_link (network, merged[i].link)->capacity / merged[i].demand);
  return rate;
}
