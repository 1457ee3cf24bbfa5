/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network-model.h"

#include <math.h>
#include <string.h>

/* Lines that never bind: the rates of the legs are the measured ones. */
static const double no_limit = 1e16;
/* LL128 carries 120 of 128 bytes: no share of a line can be above. */
static const double ll128_payload = 120.0 / 128;
/* A GPU with NVLink whose ring stays below this share of it went over the host. */
static const double off_nvlink = 0.15;

/* Tables write "Tesla-M40" where the driver says "Tesla M40". */
static gpointer
load_gpu (gconstpointer what, GError **error)
{
  g_autofree char *spaced = g_strdelimit (g_strdup (what), "-_", ' ');
  const char *plain = g_str_has_prefix (spaced, "Tesla ") ? spaced + 6 : spaced;
  g_autofree char *dashed = g_strdelimit (g_strdup (plain), " ", '-');
  const char *const spellings[] = { spaced, plain, dashed };
  Gpu *gpu = gpu_load (what, error);

  for (gsize i = 0; i < G_N_ELEMENTS (spellings) && gpu == NULL; i++)
    {
      gpu = gpu_load (spellings[i], NULL);
      if (gpu != NULL)
        g_clear_error (error);
    }
  return gpu;
}

static void
free_gpu (gpointer gpu)
{
  gpu_free (gpu);
}

static gpointer
load_transport (gconstpointer what, GError **error)
{
  return transport_load (what, error);
}

static void
free_transport (gpointer transport)
{
  transport_free (transport);
}

static const ShelfKind gpus = { "calibrate-gpu", load_gpu, free_gpu };
static const ShelfKind transports = { "calibrate-transport", load_transport, free_transport };

/* Tables' words -> parts.  The first that the name holds, in this order. */
typedef struct { const char *word, *part; } Word;
static const Word node_words[] = {
  { "nop2p", "pcie-host" }, { "pcie-host", "pcie-host" }, { "pcie", "pcie-p2p" }, { "nvl", "nvlink" }, { "nvswitch", "nvlink" }, { "xgmi", "nvlink" }, { NULL, NULL }
};
static const Word between_words[] = {
  { "slingshot-tcp", "slingshot-tcp" }, { "slingshot", "slingshot" }, { "ipoib", "ipoib" }, { "tcpx", "tcpx" }, { "efa", "efa" },
  { "roce", "roce" }, { "tcp", "tcp" }, { "socket", "tcp" }, { "ethernet", "tcp" }, { "ib", "ib" }, { "rdma", "ib" }, { NULL, NULL }
};

static const char *
part_of (const Word *words, const char *name, const char *otherwise)
{
  g_autofree char *low = g_ascii_strdown (name, -1);

  for (; words->word != NULL; words++)
    if (strstr (low, words->word) != NULL)
      return words->part;
  return otherwise;
}

static gboolean
is_switched (const char *intra, guint64 links)
{
  g_autofree char *low = g_ascii_strdown (intra, -1);

  if (*low == '\0')
    return links > 0;
  return strstr (low, "switch") != NULL || strstr (low, "nvl72") != NULL;
}

gboolean
network_model_init (NetworkModel *model, Shelf *shelf, const NcclTestsSystem *names, double plateau, GError **error)
{
  const char *in_node;

  memset (model, 0, sizeof *model);
  model->gpu = shelf_get (shelf, &gpus, names->gpu, names->gpu, error);
  if (model->gpu == NULL)
    return FALSE;
  in_node = part_of (node_words, names->intra, model->gpu->nvlink > 0 ? "nvlink" : "pcie-p2p");
  if (*names->intra == '\0' && plateau > 0 && plateau < off_nvlink * model->gpu->nvlink)
    in_node = "pcie-host";
  model->nvlink = g_str_equal (in_node, "nvlink");
  model->in_node = shelf_get (shelf, &transports, in_node, in_node, error);
  model->between = model->in_node != NULL
                     ? shelf_get (shelf, &transports, part_of (between_words, names->inter, "ib"), part_of (between_words, names->inter, "ib"), error)
                     : NULL;
  model->nccl = model->between != NULL ? shelf_get (shelf, &nccl_kind, "nccl", "nccl", error) : NULL;
  if (model->nccl == NULL)
    return FALSE;
  model->nominal = model->nvlink && model->gpu->nvlink > 0 ? model->gpu->nvlink : model->gpu->pcie;
  if (!(model->nominal > 0))
    model->nominal = plateau > 0 ? 1.2 * plateau : 12.5e9;   /* assumed: no figure of the slot */
  model->nvswitch = model->nvlink && is_switched (names->intra, model->gpu->nvlink_links);
  model->table = TRUE;
  model->rails = 1;
  model->network = network_new ();
  model->gpu_link = network_add (model->network, "gpu-link", no_limit, 0, 1, FALSE);
  model->nic = network_add (model->network, "nic", no_limit, 0, 1, FALSE);
  return TRUE;
}

void
network_model_clear (NetworkModel *model)
{
  g_clear_pointer (&model->network, network_free);
}

RankGroup
network_row_group (const NcclTestsRow *row)
{
  return (RankGroup) { .n_ranks = row->nodes * row->per_node, .n_nodes = row->nodes, .per_node = row->per_node, .twins_per_node = 1 };
}

void
network_model_paths (const NetworkModel *model, const RankGroup *group, Paths *out)
{
  const Transport *t = group->n_nodes > 1 ? model->between : model->in_node;
  const Generation generation = generation_find (model->gpu->generation);
  const double share = isnan (model->in_node->nccl_bus) ? 1 : model->in_node->nccl_bus;

  memset (out, 0, sizeof *out);
  out->in_node = (PathLeg) { .out = model->gpu_link, .in = model->gpu_link, .links = 1, .capacity = model->nominal, .rate = model->nominal };
  transport_fill_node (model->in_node, generation, model->nvswitch, out);
  out->in_node.capacity = no_limit;
  out->between = (PathLeg) { .out = model->nic, .in = model->nic, .capacity = no_limit, .rate = no_limit,
                             .links = (double) MIN (model->rails, group->per_node) };
  memcpy (out->between.share, model->between->share, sizeof out->between.share);
  for (int p = 0; p < N_PROTOCOLS; p++)
    out->between.hop[p] = model->between->hop[p];
  transport_fill (t, model->between, generation, out);
  out->local = INFINITY;
  system_onset (model->onset, model->n_onsets, group->n_nodes, out);
  out->ll128 = model->between->ll128 && (group->per_node < 2 || model->in_node->ll128);
  if (group->n_nodes < 2)
    out->ll128 = model->in_node->ll128;
  if (group->per_node > 1)
    nccl_table (model->nccl, model->in_node, generation, share * model->nominal, out->nvls_rate > 0, group->per_node, &out->nccl);
}

/* Where NCCL has no figure of its own for the links, it measures as we do. */
static void
settle_table (const NetworkModel *model, const RankGroup *group, Paths *paths)
{
  if (group->per_node < 2)
    return;
  if (!model->table)
    {
      const double nvls = paths->nccl.nvls_rate;

      memset (&paths->nccl, 0, sizeof paths->nccl);
      paths->nccl.nvls_rate = nvls;
    }
  else if (isnan (model->in_node->nccl_bus))
    nccl_table (model->nccl, model->in_node, generation_find (model->gpu->generation), paths->in_node.rate, FALSE,
                group->per_node, &paths->nccl);
}

double
network_model_time (const NetworkModel *model, const Paths *base, const double values[N_SYSTEM], const NcclTestsRow *row,
                    CollectiveFlow *choice)
{
  const RankGroup group = network_row_group (row);
  CollectiveCall call = { .op = row->op, .size = row->size, .protocol = PROTOCOL_AUTO };
  CollectiveFlow flow;
  Paths paths = *base;
  double within[N_SYSTEM];
  g_autoptr (GError) error = NULL;
  g_autofree char *name = row->algorithm != NULL ? g_ascii_strdown (row->algorithm, -1) : NULL;

  memcpy (within, values, sizeof within);
  within[SYSTEM_FMN] = fmin (within[SYSTEM_FMN], ll128_payload);
  system_apply (within, &group, model->rails, &paths);
  settle_table (model, &group, &paths);
  if (name != NULL)
    collective_find (name, &call.algorithm, NULL);
  if (!collective_flow (&call, &group, &paths, model->network, &flow, &error))
    return NAN;
  if (choice != NULL)
    *choice = flow;
  return collective_estimate (&flow, model->network, row->size);
}

/* Measured switches of protocol agree with it on 2.26 to 2.29. */
gboolean
network_table_version (const char *version)
{
  char *end;
  const guint64 major = g_ascii_strtoull (version, &end, 10);

  return major > 2 || (major == 2 && *end == '.' && g_ascii_strtoull (end + 1, NULL, 10) >= 24);
}
