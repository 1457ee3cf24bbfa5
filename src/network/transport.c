/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stddef.h>

#include "network/transport.h"

static const char *const place_names[] = { "node", "between", "both", NULL };
static const char *const link_names[] = { "any", "nvlink", "pcie", NULL };

#define AT(field) offsetof (Transport, field)
#define TIME(name, field, text) { name, KEY_QUANTITY, UNIT_TIME, AT (field), NULL, text, 0, 10 }
#define TIME0(name, field, text) { name, KEY_QUANTITY, UNIT_TIME, AT (field), "0 s", text, 0, 10 }
#define SHARE(name, field, standard, text) { name, KEY_NUMBER, UNIT_SHARE, AT (field), standard, text, 1e-4, 1 }
#define RATE(name, field, text) { name, KEY_QUANTITY, UNIT_RATE, AT (field), NULL, text }

static const Key transport_keys[] = {
  { "name", KEY_STRING, UNIT_NONE, AT (name), NULL, "Name.", .required = TRUE },
  { "aliases", KEY_STRING, UNIT_NONE, AT (aliases), NULL, "Other names, a comma list." },
  { "summary", KEY_STRING, UNIT_NONE, AT (summary), NULL, "One line for lists.", .required = TRUE },
  { "place", KEY_CHOICE, UNIT_NONE, AT (place), "between", "In the node, between nodes or both.", .choices = place_names },
  { "link", KEY_CHOICE, UNIT_NONE, AT (link), "any", "Which link of a GPU it takes.", .choices = link_names },
  TIME0 ("launch-ll", launch[PROTOCOL_LL], "Before the first hop, LL."),
  TIME0 ("launch-ll128", launch[PROTOCOL_LL128], "Before the first hop, LL128."),
  TIME0 ("launch-simple", launch[PROTOCOL_SIMPLE], "Before the first hop, Simple."),
  TIME0 ("hop-ll", hop[PROTOCOL_LL], "One hop, LL."),
  TIME0 ("hop-ll128", hop[PROTOCOL_LL128], "One hop, LL128."),
  TIME0 ("hop-simple", hop[PROTOCOL_SIMPLE], "One hop, Simple."),
  SHARE ("share-ll", share[PROTOCOL_LL], "1", "Of the rate, LL."),
  SHARE ("share-ll128", share[PROTOCOL_LL128], "1", "Of the rate, LL128."),
  SHARE ("share-simple", share[PROTOCOL_SIMPLE], "1", "Of the rate, Simple."),
  { "ll128", KEY_BOOLEAN, UNIT_NONE, AT (ll128), "true", "Whether LL128 may be used." },
  SHARE ("efficiency-one-gpu", efficiency_one, "1", "Of a NIC's line, one GPU behind it."),
  SHARE ("efficiency-several-gpus", efficiency_several, "1", "Of a NIC's line, several GPUs behind it."),
  RATE ("cap", cap, "Of one node, one way."),
  { "fill", KEY_NUMBER, UNIT_NONE, AT (fill), "0", "Weight of the pipeline fill.", 0, 10 },
  { "ramp", KEY_NUMBER, UNIT_NONE, AT (ramp), "0", "Step of the LL latency.", 0, 10 },
  { "ramp-size", KEY_QUANTITY, UNIT_BYTES, AT (ramp_size), NULL, "Where that step stands half-way." },
  { "norm", KEY_NUMBER, UNIT_NONE, AT (norm), "1", "How latency and bytes of a ring add: 1 a sum, 2 overlap.", 1, 20 },
  { "blend", KEY_NUMBER, UNIT_NONE, AT (blend), NULL, "Exponent of the harmonic mean of the rates in and between nodes.", 1, 100 },
  { "local-ratio", KEY_NUMBER, UNIT_NONE, AT (local_ratio), NULL, "Rate of a rank's own block over the ring's.", 0.01, 1000 },
  { "plateau-fill", KEY_NUMBER, UNIT_NONE, AT (plateau_fill), "0", "Share of the time that fill adds at 512 MiB.", 0, 1 },
  SHARE ("ring-share-2", ring_share[0], NULL, "Of the slot's nominal rate that a ring of 2 GPUs keeps."),
  SHARE ("ring-share-4", ring_share[1], NULL, "The same for 4."),
  SHARE ("ring-share-8", ring_share[2], NULL, "The same for 8."),
  SHARE ("ring-share-16", ring_share[3], NULL, "The same for 16."),
  RATE ("host-copy", host_copy, "One copy between GPU and host."),
  { "chunk", KEY_QUANTITY, UNIT_BYTES, AT (chunk), NULL, "Largest message of a path over the host." },
  TIME0 ("local-message", local_message, "Message of a host path that stays in the node."),
  TIME ("server-latency", server_latency, "One call over reduction servers, software of both ends."),
  SHARE ("server-efficiency", server_efficiency, NULL, "Of the line at most, on a server path."),
  RATE ("server-sum-rate", server_sum_rate, "What a server sums per 16 vCPU."),
  TIME0 ("nccl-launch-ll", nccl_launch[PROTOCOL_LL], "NCCL's base latency, LL."),
  TIME0 ("nccl-launch-ll128", nccl_launch[PROTOCOL_LL128], "NCCL's base latency, LL128."),
  TIME0 ("nccl-launch-simple", nccl_launch[PROTOCOL_SIMPLE], "NCCL's base latency, Simple."),
  TIME0 ("nccl-hop-ll", nccl_hop[PROTOCOL_LL], "NCCL's hop, LL."),
  TIME0 ("nccl-hop-ll128", nccl_hop[PROTOCOL_LL128], "NCCL's hop, LL128."),
  TIME0 ("nccl-hop-simple", nccl_hop[PROTOCOL_SIMPLE], "NCCL's hop, Simple."),
  SHARE ("nccl-bus", nccl_bus, NULL, "NCCL's figure of the links over their nominal rate."),
  SHARE ("nccl-share-ll", nccl_share[PROTOCOL_LL], "1", "NCCL's factor, LL."),
  SHARE ("nccl-share-ll128", nccl_share[PROTOCOL_LL128], "1", "NCCL's factor, LL128."),
  SHARE ("nccl-share-simple", nccl_share[PROTOCOL_SIMPLE], "1", "NCCL's factor, Simple."),
  RATE ("nccl-ll-max-volta", nccl_ll_max[0], "NCCL's limit of LL, Volta and before."),
  RATE ("nccl-ll-max-ampere", nccl_ll_max[1], "NCCL's limit of LL, Ampere."),
  RATE ("nccl-ll-max-hopper", nccl_ll_max[2], "NCCL's limit of LL, Hopper."),
  RATE ("nccl-ll-max-blackwell", nccl_ll_max[3], "NCCL's limit of LL, Blackwell and after."),
  { NULL }
};
static const KeyGroup transport_groups[] = {
  { "transport", "What software makes of a link.", transport_keys, sizeof (Transport) },
  { "origin", "Where the values come from.", NULL, 0 },
  { NULL }
};

Transport *
transport_load (const char *name, GError **error)
{
  g_autofree char *path = part_find ("transport", name, error);
  g_autoptr (KeyFile) part = path != NULL ? key_file_load (path, error) : NULL;
  g_autoptr (Transport) transport = g_new0 (Transport, 1);

  if (part == NULL || !key_file_check (part, transport_groups, error)
      || !key_file_read (part, &transport_groups[0], transport, error))
    return NULL;
  if (transport->ramp > 0 && isnan (transport->ramp_size))
    {
      key_file_error (part, "transport", "ramp", error, "needs ramp-size, the bytes where the step stands half-way");
      return NULL;
    }
  transport->part = g_steal_pointer (&part);
  return g_steal_pointer (&transport);
}

void
transport_free (Transport *transport)
{
  if (transport == NULL)
    return;
  keys_clear (transport_keys, transport);
  g_clear_pointer (&transport->part, key_file_free);
  g_free (transport);
}

Origin
transport_origin (const Transport *transport, const char *key)
{
  Origin origin = { ORIGIN_ASSUMED, "the part does not say" };

  origin_read (transport->part, key, &origin, NULL);
  return origin;
}

/* With n ranks an all-reduce moves w = 2(n-1)/n over the wire and l = 1/n through
 * the local slot of rate c B: 1/plateau = (1/B)(1 + l/(w c))(1 + fill). */
double
transport_asymptote (const Transport *transport, double plateau, double n)
{
  const double slot = isnan (transport->local_ratio) ? 0 : 1 / (2 * (n - 1) * transport->local_ratio);

  return plateau * (1 + slot) * (1 + transport->plateau_fill);
}
