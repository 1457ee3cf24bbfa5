/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "network/transport.h"

static const char *const place_names[] = { "node", "between", "both", NULL };
static const char *const link_names[] = { "any", "nvlink", "pcie", NULL };

#define AT(field) offsetof (Transport, field)
#define TIME(name, field, text) { name, KEY_QUANTITY, UNIT_TIME, AT (field), NULL, text, 0, 10 }
#define TIME0(name, field, text) { name, KEY_QUANTITY, UNIT_TIME, AT (field), "0 s", text, 0, 10 }
#define SHARE(name, field, standard, text) { name, KEY_QUANTITY, UNIT_SHARE, AT (field), standard, text, 1e-4, 1 }
#define RATE(name, field, text) { name, KEY_QUANTITY, UNIT_RATE, AT (field), NULL, text }
/* A figure by the GPUs' generation. */
#define LATER(name, field, what, p, of) \
  TIME (name "-ampere", field[GENERATION_AMPERE][p], what ", " of ", Ampere and Ada."), \
  TIME (name "-hopper", field[GENERATION_HOPPER][p], what ", " of ", Hopper."), \
  TIME (name "-blackwell", field[GENERATION_BLACKWELL][p], what ", " of ", Blackwell and after.")

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
  LATER ("launch-ll", launch_of, "Before the first hop", PROTOCOL_LL, "LL"),
  LATER ("launch-ll128", launch_of, "Before the first hop", PROTOCOL_LL128, "LL128"),
  LATER ("launch-simple", launch_of, "Before the first hop", PROTOCOL_SIMPLE, "Simple"),
  LATER ("hop-ll", hop_of, "One hop", PROTOCOL_LL, "LL"),
  LATER ("hop-ll128", hop_of, "One hop", PROTOCOL_LL128, "LL128"),
  LATER ("hop-simple", hop_of, "One hop", PROTOCOL_SIMPLE, "Simple"),
  SHARE ("share-ll", share[PROTOCOL_LL], "1", "Of the rate, LL."),
  SHARE ("share-ll128", share[PROTOCOL_LL128], "1", "Of the rate, LL128."),
  SHARE ("share-simple", share[PROTOCOL_SIMPLE], "1", "Of the rate, Simple."),
  { "ll128", KEY_BOOLEAN, UNIT_NONE, AT (ll128), "true", "Whether LL128 may be used." },
  SHARE ("efficiency-one-gpu", efficiency_one, "1", "Of a NIC's line, one GPU behind it."),
  SHARE ("efficiency-several-gpus", efficiency_several, "1", "Of a NIC's line, several GPUs behind it."),
  RATE ("cap", cap, "Of one node, one way."),
  { "fill", KEY_NUMBER, UNIT_NONE, AT (fill), "0", "Weight of the pipeline fill.", 0, 10 },
  { "fill-blackwell", KEY_NUMBER, UNIT_NONE, AT (fill_blackwell), NULL, "The same, Blackwell and after.", 0, 10 },
  { "ramp", KEY_NUMBER, UNIT_NONE, AT (ramp), "0", "Step of the LL latency.", 0, 10 },
  { "ramp-size", KEY_QUANTITY, UNIT_BYTES, AT (ramp_size), NULL, "Where that step stands half-way." },
  { "norm", KEY_NUMBER, UNIT_NONE, AT (norm), "1", "How latency and bytes of a ring add: 1 a sum, 2 overlap.", 1, 20 },
  { "blend", KEY_NUMBER, UNIT_NONE, AT (blend), NULL, "Exponent of the harmonic mean of the rates in and between nodes.", 1, 100 },
  { "local-ratio", KEY_NUMBER, UNIT_NONE, AT (local_ratio), NULL, "Rate of a rank's own block over the ring's.", 0.01, 1000 },
  { "plateau-fill", KEY_NUMBER, UNIT_NONE, AT (plateau_fill), "0", "Share of the time that fill adds at 512 MiB.", 0, 1 },
  SHARE ("tree-share", tree_share, "1", "Of the rate that a tree reaches."),
  TIME0 ("nvls-latency", nvls_latency, "All-reduce in NVSwitch, before the bytes."),
  { "nvls-share-hopper", KEY_NUMBER, UNIT_NONE, AT (nvls_share[GENERATION_HOPPER]), NULL,
    "Bus bandwidth of NVSwitch's all-reduce over the links' nominal rate, Hopper.", 0.01, 10 },
  { "nvls-share-blackwell", KEY_NUMBER, UNIT_NONE, AT (nvls_share[GENERATION_BLACKWELL]), NULL,
    "The same, Blackwell and after.", 0.01, 10 },
  SHARE ("switch-share", switch_share, "1", "Of the rate, where the switches add."),
  SHARE ("pat-hop", pat_hop, "1", "Hop of PAT over Simple's."),
  SHARE ("pat-share", pat_share, "1", "Of the rate that PAT reaches."),
  TIME ("p2p-launch", p2p.launch, "Before an all-to-all or send."),
  { "p2p-launch-ratio", KEY_NUMBER, UNIT_NONE, AT (p2p.launch_ratio), "1", "Without it, over launch-ll.", 0, 100 },
  TIME ("p2p-simple", p2p.simple, "The same, more for Simple."),
  { "p2p-simple-ratio", KEY_NUMBER, UNIT_NONE, AT (p2p.simple_ratio), "1", "Without it, over launch-simple less launch-ll.", 0, 100 },
  SHARE ("p2p-node-share", p2p.node_share, "1", "Of a ring's rate in the node that all-to-all reaches."),
  SHARE ("p2p-share", p2p.share, "1", "Of the NICs' typical rate that all-to-all reaches."),
  SHARE ("p2p-pair-share", p2p.pair_share, "1", "Of one NIC's typical rate that one pair reaches."),
  SHARE ("p2p-few-share", p2p.few_share, NULL, "The same among at most 64 ranks, where NCCL opens two channels to a peer."),
  SHARE ("p2p-ll", p2p.ll, "1", "Of the rate of all-to-all, LL."),
  RATE ("host-all-reduce", host_reduce, "All-reduce in host memory over MPI or Gloo, bytes of message a second."),
  { "spread", KEY_NUMBER, UNIT_NONE, AT (spread), "1", "Nine of ten measured times lie within this factor, either way.", 1, 100 },
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
  SHARE ("nccl-bus", nccl_bus, NULL, "NCCL's figure of the links over their nominal rate."),
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

Origin
transport_origin_of (const Transport *transport, const char *key, Generation generation)
{
  static const char *const suffixes[N_GENERATIONS] = { "", "-ampere", "-hopper", "-blackwell" };
  g_autofree char *own = g_strconcat (key, suffixes[generation], NULL);

  return transport_origin (transport, key_file_get (transport->part, "transport", own) != NULL ? own : key);
}

/* With n ranks an all-reduce moves w = 2(n-1)/n over the wire and l = 1/n through
 * the local slot of rate c B: 1/plateau = (1/B)(1 + l/(w c))(1 + fill). */
double
transport_asymptote (const Transport *transport, double plateau, double n)
{
  const double slot = isnan (transport->local_ratio) ? 0 : 1 / (2 * (n - 1) * transport->local_ratio);

  return plateau * (1 + slot) * (1 + transport->plateau_fill);
}

Generation
generation_find (const char *name)
{
  static const struct { const char *name; Generation generation; } rows[] = {
    { "Ampere", GENERATION_AMPERE }, { "Ada", GENERATION_AMPERE },
    { "Hopper", GENERATION_HOPPER }, { "Blackwell", GENERATION_BLACKWELL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows) && name != NULL; i++)
    if (g_str_has_prefix (name, rows[i].name))
      return rows[i].generation;
  return GENERATION_VOLTA;
}

double
transport_launch (const Transport *transport, Generation generation, Protocol protocol)
{
  const double own = transport->launch_of[generation][protocol];

  return generation == GENERATION_VOLTA || isnan (own) ? transport->launch[protocol] : own;
}

double
transport_hop (const Transport *transport, Generation generation, Protocol protocol)
{
  const double own = transport->hop_of[generation][protocol];

  return generation == GENERATION_VOLTA || isnan (own) ? transport->hop[protocol] : own;
}

static double
given (double value, double otherwise)
{
  return isnan (value) ? otherwise : value;
}

void
transport_fill_node (const Transport *in_node, Generation generation, gboolean nvswitch, Paths *out)
{
  const double nvls_share = in_node->nvls_share[generation];

  for (int p = 0; p < N_PROTOCOLS; p++)
    out->in_node.hop[p] = transport_hop (in_node, generation, (Protocol) p);
  memcpy (out->in_node.share, in_node->share, sizeof out->in_node.share);
  out->p2p_node_share = in_node->p2p.node_share;
  out->nvls_rate = nvswitch && generation >= GENERATION_HOPPER && !isnan (nvls_share) ? nvls_share * out->in_node.capacity : 0;
  out->nvls_latency = in_node->nvls_latency;
}

void
transport_fill (const Transport *t, const Transport *between, Generation generation, Paths *out)
{
  for (int p = 0; p < N_PROTOCOLS; p++)
    out->launch[p] = transport_launch (t, generation, (Protocol) p);
  out->fill = generation == GENERATION_BLACKWELL ? given (t->fill_blackwell, t->fill) : t->fill;
  out->ramp = t->ramp;
  out->ramp_size = given (t->ramp_size, 1);
  out->norm = t->norm;
  out->blend = given (t->blend, INFINITY);
  out->local = isnan (t->local_ratio) || out->in_node.rate <= 0 ? INFINITY : t->local_ratio * out->in_node.rate;
  out->tree_share = out->tree_share_ll = t->tree_share;
  out->switch_share = t->switch_share;
  out->pat_hop = t->pat_hop;
  out->pat_share = t->pat_share;
  out->p2p_launch = given (t->p2p.launch, t->p2p.launch_ratio * out->launch[PROTOCOL_LL]);
  out->p2p_simple = given (t->p2p.simple, t->p2p.simple_ratio * fmax (0, out->launch[PROTOCOL_SIMPLE] - out->launch[PROTOCOL_LL]));
  out->p2p_share = t->p2p.share;
  out->p2p_pair_share = t->p2p.pair_share;
  out->p2p_few_share = given (t->p2p.few_share, t->p2p.pair_share);
  out->p2p_ll = t->p2p.ll;
  out->spread = t->spread;
  out->host_copy = given (between->host_copy, INFINITY);
  out->chunk = given (between->chunk, 0);
  out->local_message = between->local_message;
  out->host_reduce = given (between->host_reduce, INFINITY);
}
