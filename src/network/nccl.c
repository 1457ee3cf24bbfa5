/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "network/nccl.h"

typedef struct { double nvlink[N_PROTOCOLS], pcie[N_PROTOCOLS]; } HopTable;
struct Nccl
{
  char    *name, *summary;
  double   ring_base[N_PROTOCOLS], tree_base[N_PROTOCOLS];
  HopTable ring_hop, tree_hop;
  double   ring_share[N_PROTOCOLS], tree_share, tree_share_of[N_PROTOCOLS];
  double   ll_max[N_GENERATIONS], ring_ll128[N_GENERATIONS], tree_ll128[N_GENERATIONS], tree_channel[N_GENERATIONS];
  double   nvls_latency, nvls_share[N_GENERATIONS], nvls_channels[N_GENERATIONS];
  guint64  channels, nvls_min_ranks;
  char    *tree_size_text[N_PROTOCOLS];
  double   tree_size[N_PROTOCOLS][NCCL_SIZES];
};

#define AT(field) offsetof (Nccl, field)
#define TIME(name, field, text) { name, KEY_QUANTITY, UNIT_TIME, AT (field), NULL, text, 0, 1, .required = TRUE }
#define SHARE(name, field, text) { name, KEY_QUANTITY, UNIT_SHARE, AT (field), NULL, text, 0.01, 1, .required = TRUE }
#define RATE(name, field, text) { name, KEY_QUANTITY, UNIT_RATE, AT (field), NULL, text, .required = TRUE }
#define BY_PROTOCOL(name, field, text) \
  TIME (name "-ll", field[PROTOCOL_LL], text ", LL."), \
  TIME (name "-ll128", field[PROTOCOL_LL128], text ", LL128."), \
  TIME (name "-simple", field[PROTOCOL_SIMPLE], text ", Simple.")
#define BY_GENERATION(name, field, text) \
  RATE (name "-volta", field[GENERATION_VOLTA], text ", Volta and before."), \
  RATE (name "-ampere", field[GENERATION_AMPERE], text ", Ampere and Ada."), \
  RATE (name "-hopper", field[GENERATION_HOPPER], text ", Hopper."), \
  RATE (name "-blackwell", field[GENERATION_BLACKWELL], text ", Blackwell and after.")
#define SIZES(name, p) \
  { "tree-size-" name, KEY_STRING, UNIT_NONE, AT (tree_size_text[p]), NULL, "Factor of the tree's rate from 64 B on, one a doubling.", .required = TRUE }

static const Key nccl_keys[] = {
  { "name", KEY_STRING, UNIT_NONE, AT (name), NULL, "Name.", .required = TRUE },
  { "summary", KEY_STRING, UNIT_NONE, AT (summary), NULL, "One line for lists.", .required = TRUE },
  { "channels", KEY_COUNT, UNIT_NONE, AT (channels), NULL, "Channels on NVLink.", 1, 64, .required = TRUE },
  BY_PROTOCOL ("ring-base", ring_base, "Base latency of the ring"),
  BY_PROTOCOL ("tree-base", tree_base, "Base latency of the tree"),
  BY_PROTOCOL ("nvlink-ring-hop", ring_hop.nvlink, "Hop of the ring on NVLink"),
  BY_PROTOCOL ("nvlink-tree-hop", tree_hop.nvlink, "Hop of the tree on NVLink"),
  BY_PROTOCOL ("pcie-ring-hop", ring_hop.pcie, "Hop of the ring on PCIe"),
  BY_PROTOCOL ("pcie-tree-hop", tree_hop.pcie, "Hop of the tree on PCIe"),
  TIME ("nvls-latency", nvls_latency, "All of NVLS in one node."),
  SHARE ("ring-share-ll", ring_share[PROTOCOL_LL], "Of the links' rate, ring, LL."),
  SHARE ("ring-share-ll128", ring_share[PROTOCOL_LL128], "Of the links' rate, ring, LL128."),
  SHARE ("tree-share", tree_share, "Of the links' rate, tree."),
  SHARE ("tree-share-ll", tree_share_of[PROTOCOL_LL], "Of the tree's rate, LL."),
  SHARE ("tree-share-ll128", tree_share_of[PROTOCOL_LL128], "Of the tree's rate, LL128, one node."),
  BY_GENERATION ("ll-max", ll_max, "Limit of LL"),
  BY_GENERATION ("ring-ll128", ring_ll128, "Limit of LL128, ring, a channel"),
  BY_GENERATION ("tree-ll128", tree_ll128, "Limit of LL128, tree, a channel"),
  BY_GENERATION ("tree-channel", tree_channel, "Limit of the tree, a channel"),
  { "nvls-min-ranks", KEY_COUNT, UNIT_NONE, AT (nvls_min_ranks), NULL, "Ranks from which it takes NVLS.", 2, 1e6, .required = TRUE },
  SHARE ("nvls-share-hopper", nvls_share[GENERATION_HOPPER], "Of the links' rate, NVLS, Hopper."),
  SHARE ("nvls-share-blackwell", nvls_share[GENERATION_BLACKWELL], "Of the links' rate, NVLS, Blackwell and after."),
  { "nvls-channels-hopper", KEY_NUMBER, UNIT_NONE, AT (nvls_channels[GENERATION_HOPPER]), NULL, "Channels of NVLS, Hopper.", 1, 64, .required = TRUE },
  { "nvls-channels-blackwell", KEY_NUMBER, UNIT_NONE, AT (nvls_channels[GENERATION_BLACKWELL]), NULL, "The same, Blackwell and after.", 1, 64, .required = TRUE },
  SIZES ("ll", PROTOCOL_LL), SIZES ("ll128", PROTOCOL_LL128), SIZES ("simple", PROTOCOL_SIMPLE),
  { NULL }
};
static const KeyGroup nccl_groups[] = {
  { "nccl", "What NCCL believes.", nccl_keys, sizeof (Nccl) },
  { "origin", "Where the values come from.", NULL, 0 },
  { NULL }
};

static void
nccl_free (gpointer data)
{
  if (data != NULL)
    keys_clear (nccl_keys, data);
  g_free (data);
}

/* "1, 0.9, ...": NCCL_SIZES factors. */
static gboolean
read_sizes (const KeyFile *part, const char *key, const char *text, double out[NCCL_SIZES], GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ",", NCCL_SIZES + 1);
  gboolean ok = g_strv_length (items) == NCCL_SIZES;

  for (guint i = 0; ok && i < NCCL_SIZES; i++)
    {
      char *end;

      g_strstrip (items[i]);
      out[i] = g_ascii_strtod (items[i], &end);
      ok = end != items[i] && *end == '\0' && out[i] > 0 && out[i] <= 1;
    }
  if (!ok)
    key_file_error (part, "nccl", key, error, "'%s' is wrong; give %d numbers up to 1, a comma between them", text, NCCL_SIZES);
  return ok;
}

static gpointer
nccl_load (gconstpointer what, GError **error)
{
  static const char *const size_keys[] = { "tree-size-ll", "tree-size-ll128", "tree-size-simple" };
  g_autofree char *path = part_find ("library", what, error);
  g_autoptr (KeyFile) part = path != NULL ? key_file_load (path, error) : NULL;
  Nccl *nccl = g_new0 (Nccl, 1);
  gboolean ok = part != NULL && key_file_check (part, nccl_groups, error) && key_file_read (part, &nccl_groups[0], nccl, error);

  for (int p = 0; ok && p < N_PROTOCOLS; p++)
    ok = read_sizes (part, size_keys[p], nccl->tree_size_text[p], nccl->tree_size[p], error);
  if (ok)
    return nccl;
  nccl_free (nccl);
  return NULL;
}

const ShelfKind nccl_kind = { "library", nccl_load, nccl_free };

void
nccl_table (const Nccl *nccl, const Transport *in_node, Generation generation, double bus, gboolean nvls,
            guint64 ranks, NcclTable *out)
{
  const gboolean pcie = in_node->link == TRANSPORT_LINK_PCIE;
  const double channels = (double) nccl->channels, nvls_channels = nccl->nvls_channels[generation];
  const double tree = fmin (nccl->tree_share * bus, channels * nccl->tree_channel[generation]);

  memset (out, 0, sizeof *out);
  memcpy (out->ring.base, nccl->ring_base, sizeof out->ring.base);
  memcpy (out->tree.base, nccl->tree_base, sizeof out->tree.base);
  memcpy (out->ring.hop, pcie ? nccl->ring_hop.pcie : nccl->ring_hop.nvlink, sizeof out->ring.hop);
  memcpy (out->tree.hop, pcie ? nccl->tree_hop.pcie : nccl->tree_hop.nvlink, sizeof out->tree.hop);
  out->ring.rate[PROTOCOL_SIMPLE] = bus;
  out->tree.rate[PROTOCOL_SIMPLE] = tree;
  out->ring.rate[PROTOCOL_LL] = fmin (nccl->ll_max[generation], nccl->ring_share[PROTOCOL_LL] * bus);
  out->tree.rate[PROTOCOL_LL] = fmin (nccl->ll_max[generation], nccl->tree_share_of[PROTOCOL_LL] * tree);
  if (in_node->ll128)
    {
      out->ring.rate[PROTOCOL_LL128] = fmin (nccl->ring_share[PROTOCOL_LL128] * bus, channels * nccl->ring_ll128[generation]);
      out->tree.rate[PROTOCOL_LL128] = fmin (nccl->tree_share_of[PROTOCOL_LL128] * tree, channels * nccl->tree_ll128[generation]);
    }
  if (nvls && ranks >= nccl->nvls_min_ranks && nvls_channels > 0)
    {
      out->nvls_latency = nccl->nvls_latency;
      out->nvls_rate = 2 * bus * nccl->nvls_share[generation] * (nvls_channels - 1) / nvls_channels;
    }
  out->tree_size = nccl->tree_size;
}
